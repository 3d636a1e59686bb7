/** A received body as an object of its target kind. */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { unmarshalError } from '../../apimachinery/go/goJson.ts'
import { apiVersionOf, isRecord, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { FORMS } from '../registry/forms.ts'

/** Narrows a decoded body to an object of `type`, as sent by a create, update or apply. @throws StatusError BadRequest */
export function objectOf(
  value: unknown,
  type: ResourceType,
  expected?: { apiVersion: string; kind: string },
): KubeObject {
  const want = expected ?? { apiVersion: apiVersionOf(type), kind: type.kind }
  if (!isRecord(value))
    throw statusError.badRequest(
      `the object provided is unrecognized (must be of type ${want.kind}): the body must be a JSON object`,
    )
  // A body of a compiled-in kind may omit the parts that the URL gives; custom resources must have them, as upstream.
  const { unstructured } = FORMS[type.form]
  if (!unstructured) {
    value.apiVersion ||= want.apiVersion
    value.kind ||= want.kind
  }
  const { apiVersion = '', kind } = value
  if (kind === undefined || kind === '') throw statusError.badRequest(`Object 'Kind' is missing in '${excerpt(value)}'`)
  const isReadable = apiVersion === '' || (typeof apiVersion === 'string' && parseApiVersion(apiVersion) !== undefined)
  if (!isReadable || typeof kind !== 'string') {
    throw statusError.badRequest(
      `unexpected apiVersion ${JSON.stringify(apiVersion)} or kind ${JSON.stringify(kind)}: both must be strings, apiVersion as GROUP/VERSION`,
    )
  }
  if (apiVersion !== want.apiVersion) {
    throw statusError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${want.apiVersion})`,
    )
  }
  if (kind !== want.kind && unstructured) throw otherKind(type, { apiVersion, kind, metadata: value.metadata })
  if (kind !== want.kind) {
    throw statusError.badRequest(
      `${kind} in version "${type.version}" cannot be handled as a ${want.kind}: the kind in the data does not match the resource`,
    )
  }
  if (value.metadata === undefined || value.metadata === null) value.metadata = {}
  const undecoded = (wrong: unknown, wanted: string): StatusError =>
    statusError.badRequest(
      `${kind} in version "${type.version}" cannot be handled as a ${kind}: ${unmarshalError(wrong, wanted)}`,
    )
  if (!isRecord(value.metadata)) {
    const place = unstructured ? 'value' : `struct field ${kind}.metadata`
    throw undecoded(value.metadata, `${place} of type v1.ObjectMeta`)
  }
  for (const field of ['name', 'namespace', 'generateName', 'uid', 'resourceVersion'] as const) {
    const member = value.metadata[field]
    if (member === null) delete value.metadata[field]
    else if (member !== undefined && typeof member !== 'string') {
      // what is compiled in is decoded as a whole, so that the path is longer
      const path = unstructured ? field : `metadata.${field}`
      throw undecoded(member, `struct field ObjectMeta.${path} of type ${field === 'uid' ? 'types.UID' : 'string'}`)
    }
  }
  return value as KubeObject
}

/** Custom resources are decoded whatever they say they are; validation compares. */
export function otherKind(
  type: ResourceType,
  { apiVersion, kind, metadata }: { apiVersion: string; kind: string; metadata: unknown },
): StatusError {
  const name = isRecord(metadata) && typeof metadata.name === 'string' ? metadata.name : ''
  const wanted = { kind: type.kind, apiVersion: apiVersionOf(type) }
  const errors = [
    ...(kind === wanted.kind ? [] : [fieldError.invalid('kind', kind, `must be ${wanted.kind}`)]),
    ...(apiVersion === wanted.apiVersion
      ? []
      : [fieldError.invalid('apiVersion', apiVersion, `must be ${wanted.apiVersion}`)]),
  ]
  return statusError.invalid({ group: parseApiVersion(apiVersion)?.group ?? '', kind }, name, errors)
}

function excerpt(value: unknown): string {
  return JSON.stringify(value).slice(0, 256)
}
