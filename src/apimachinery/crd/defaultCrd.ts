/** Defaults of a CustomResourceDefinition. */
import { list, record, str } from '../fields.ts'
import { isRecord, type KubeObject } from '../object.ts'

/** Fills defaults in place, as upstream does: derived names, no conversion, the storage version as stored. Idempotent. */
export function defaultCrd(crd: KubeObject): void {
  if (!isRecord(crd.spec)) return
  const { spec } = crd
  if (isRecord(spec.names)) {
    const { names } = spec
    const kind = str(names.kind)
    if (str(names.singular) === '' && kind !== '') names.singular = kind.toLowerCase()
    if (str(names.listKind) === '' && kind !== '') names.listKind = `${kind}List`
  }
  if (!isRecord(spec.conversion)) spec.conversion = { strategy: 'None' }
  else defaultWebhook(spec.conversion)
}

/** Versions that the store may hold: those recorded plus the (first) storage version. */
export function storedVersionsOf(crd: KubeObject): string[] {
  const versions = list(record(crd.spec).versions).filter(isRecord)
  const recorded = list(record(crd.status).storedVersions).map(value => str(value))
  const storage = versions.find(version => version.storage === true)
  return storage === undefined ? recorded : [...new Set([...recorded, str(storage.name)])]
}

function defaultWebhook(conversion: Record<string, unknown>): void {
  const service = record(record(record(conversion.webhook).clientConfig).service)
  if (str(service.name) !== '' && service.port === undefined) service.port = 443
}
