/** References to fields and resources of a pod from its own containers and volumes (the downward API). */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, record, records, str } from '../../apimachinery/fields.ts'
import { qualifiedName } from '../../apimachinery/names.ts'
import { canonicalQuantity } from '../../apimachinery/quantity.ts'
import { invalidBy, required } from '../checks.ts'
import { fileMode, ownPath } from './filePaths.ts'

const IN_VOLUMES = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid']
export const IN_ENVIRONMENT: readonly string[] = [
  ...['metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName'],
  ...['status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
]
const KNOWN: ReadonlySet<string> = new Set([
  ...IN_VOLUMES,
  ...IN_ENVIRONMENT,
  ...['spec.restartPolicy', 'spec.schedulerName', 'status.phase'],
])
const SUBSCRIPTABLE = ['metadata.annotations', 'metadata.labels']

/** @param paths fields that can be had here, sorted */
export function fieldReference(reference: Fields, path: string, paths: readonly string[]): FieldError[] {
  const [version, fieldPath] = [str(reference, 'apiVersion'), str(reference, 'fieldPath')]
  if (version === '') return [fieldError.required(`${path}.apiVersion`)]
  if (fieldPath === '') return [fieldError.required(`${path}.fieldPath`)]
  const unreadable = (why: string): FieldError[] => [
    fieldError.invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`),
  ]
  if (version !== 'v1') return unreadable(`unsupported pod version: ${version}`)
  const open = fieldPath.indexOf("['")
  if (open > 0 && fieldPath.endsWith("']") && open + 4 <= fieldPath.length) {
    const base = fieldPath.slice(0, open)
    const subscript = fieldPath.slice(open + 2, -2)
    if (!SUBSCRIPTABLE.includes(base)) return unreadable(`field label does not support subscript: ${fieldPath}`)
    return invalidBy(qualifiedName, base === 'metadata.labels' ? subscript : subscript.toLowerCase(), path)
  }
  const meant = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
  if (!KNOWN.has(meant)) return unreadable(`field label not supported: ${fieldPath}`)
  return paths.includes(meant) ? [] : [fieldError.notSupported(`${path}.fieldPath`, meant, paths)]
}

const RESOURCES = [
  ...['limits.cpu', 'limits.ephemeral-storage', 'limits.memory'],
  ...['requests.cpu', 'requests.ephemeral-storage', 'requests.memory'],
]
const BYTES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']
const DIVISORS: readonly (readonly [prefix: RegExp, divisors: readonly string[], detail: string])[] = [
  [/\.cpu$/, ['1m', '1'], "only divisor's values 1m and 1 are supported with the cpu resource"],
  ...(
    [
      [/\.memory$/, 'memory'],
      [/\.ephemeral-storage$/, 'local ephemeral storage'],
      [/^(requests|limits)\.hugepages-/, 'hugepages'],
    ] as const
  ).map(([of, name]) => {
    const detail = `only divisor's values ${BYTES.join(', ')} are supported with the ${name} resource`
    return [of, BYTES, detail] as const
  }),
]

/** @param inVolume whether the container must be named, since no container is near */
export function resourceReference(reference: Fields, path: string, inVolume: boolean): FieldError[] {
  const resource = str(reference, 'resource')
  const errors: FieldError[] = []
  if (inVolume && str(reference, 'containerName') === '') errors.push(fieldError.required(`${path}.containerName`))
  else if (resource === '') errors.push(fieldError.required(`${path}.resource`))
  else if (!RESOURCES.includes(resource) && !/^(requests|limits)\.hugepages-/.test(resource)) {
    errors.push(fieldError.notSupported(`${path}.resource`, resource, RESOURCES))
  }
  const divisor = has(reference, 'divisor') ? (canonicalQuantity(String(reference.divisor)) ?? '') : '0'
  if (divisor === '0') return errors
  const rule = DIVISORS.find(([of]) => of.test(resource))
  if (rule === undefined || rule[1].includes(divisor)) return errors
  return [...errors, fieldError.invalid(`${path}.divisor`, resource, rule[2])]
}

/** `items` of a volume: reported at the volume, without their index, as upstream does. */
export function downwardItems(source: Fields, path: string): FieldError[] {
  return records(source, 'items').flatMap(item => downwardItem(item, path))
}

export function downwardItem(item: Fields, path: string): FieldError[] {
  const errors = [...required(item, path, 'path'), ...ownPath(str(item, 'path'), `${path}.path`)]
  if (has(item, 'fieldRef')) {
    errors.push(...fieldReference(record(item, 'fieldRef'), `${path}.fieldRef`, IN_VOLUMES))
    if (has(item, 'resourceFieldRef')) {
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously'
      errors.push(fieldError.invalid(path, 'resource', detail))
    }
  } else if (has(item, 'resourceFieldRef')) {
    errors.push(...resourceReference(record(item, 'resourceFieldRef'), `${path}.resourceFieldRef`, true))
  } else errors.push(fieldError.required(path, 'one of fieldRef and resourceFieldRef is required'))
  return [...errors, ...fileMode(item, path, 'mode')]
}
