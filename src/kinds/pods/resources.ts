/**
 * Amounts of resources: which names they may have where, which numbers, and how requests and limits go together.
 * @see https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, record, records, str } from '../../apimachinery/fields.ts'
import { dns1123Label, qualifiedName } from '../../apimachinery/names.ts'
import { compareQuantities, parseQuantity, type Quantity, quantityValue } from '../../apimachinery/quantity.ts'
import { invalidBy, MIN_ZERO } from '../checks.ts'

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const COUNTED: readonly string[] = [
  ...['pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
]
const QUOTA: readonly string[] = [
  ...COMPUTE,
  ...COUNTED,
  ...['requests.cpu', 'requests.memory', 'requests.storage', 'requests.ephemeral-storage'],
  ...['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'],
]
const NANO = 1_000_000_000n

const isHugePage = (name: string): boolean => name.startsWith('hugepages-')
const isQuotaHugePage = (name: string): boolean => isHugePage(name) || name.startsWith('requests.hugepages-')
const isStandard = (name: string): boolean => QUOTA.includes(name) || name === 'storage' || isQuotaHugePage(name)
export const isQuotaResource = (name: string): boolean => QUOTA.includes(name) || isQuotaHugePage(name)

/** Known to Kubernetes itself: without a domain, or with its own. */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0

/** Resources whose request may be lower than the limit. */
export const overcommits = (name: string): boolean => isNative(name) && !isHugePage(name)

/** A standard name, or one with a domain. */
export function resourceName(name: string, field: string): FieldError[] {
  const errors = invalidBy(qualifiedName, name, field)
  if (errors.length > 0 || name.includes('/') || isStandard(name)) return errors
  return [fieldError.invalid(field, name, 'must be a standard resource type or fully qualified')]
}

export function containerResourceName(name: string, field: string): FieldError[] {
  const errors = resourceName(name, field)
  if (!name.includes('/')) {
    if (COMPUTE.includes(name) || isHugePage(name)) return errors
    return [...errors, fieldError.invalid(field, name, 'must be a standard resource for containers')]
  }
  if (isNative(name) || isExtended(name)) return errors
  return [...errors, fieldError.invalid(field, name, "doesn't follow extended resource name standard")]
}

export function quotaResourceName(name: string, field: string): FieldError[] {
  const errors = resourceName(name, field)
  if (name.includes('/') || isQuotaResource(name)) return errors
  return [...errors, fieldError.invalid(field, name, 'must be a standard resource for quota')]
}

function podResourceName(name: string, field: string): FieldError[] {
  const errors = resourceName(name, field)
  if (errors.length > 0 || name === 'cpu' || name === 'memory' || isHugePage(name)) return errors
  return [fieldError.notSupported(field, name, ['cpu', 'hugepages-', 'memory'])]
}

export const parsed = (value: unknown): Quantity | undefined => parseQuantity(String(value))
export const isNegative = (value: unknown): boolean => (parsed(value)?.nanos ?? 0n) < 0n
export const isFractional = (value: unknown): boolean => (parsed(value)?.nanos ?? 0n) % NANO !== 0n

/** A number that this resource can have: never negative, and whole where things are counted. */
export function resourceQuantity(name: string, value: unknown, field: string): FieldError[] {
  const quantity = parsed(value)
  if (quantity === undefined) return [fieldError.invalid(field, value, QUANTITY_SHAPE)]
  const errors = quantity.nanos < 0n ? [fieldError.invalid(field, String(value), MIN_ZERO)] : []
  if ((COUNTED.includes(name) || isExtended(name)) && (quantity.nanos / 1_000_000n) % 1000n !== 0n) {
    errors.push(fieldError.invalid(field, String(value), 'must be an integer'))
  }
  return errors
}
const QUANTITY_SHAPE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

export function positiveQuantity(value: unknown, field: string): FieldError[] {
  const quantity = parsed(value)
  if (quantity === undefined) return [fieldError.invalid(field, value, QUANTITY_SHAPE)]
  return quantity.nanos > 0n ? [] : [fieldError.invalid(field, String(value), 'must be greater than zero')]
}

/** Every amount of a resource list, at `field[name]`. */
export function resourceList(
  amounts: unknown,
  field: string,
  nameRule: (name: string, field: string) => FieldError[],
): FieldError[] {
  return Object.entries(record(amounts)).flatMap(([name, value]) => [
    ...nameRule(name, `${field}[${name}]`),
    ...resourceQuantity(name, value, `${field}[${name}]`),
  ])
}

interface RequirementsOptions {
  /** Names that the pod's `resourceClaims` define. */
  claims?: ReadonlySet<string>
  /** True for the pod as a whole. */
  wholePod?: boolean
}

/** `resources` of containers and pods; also `overhead`, as limits. */
export function requirements(resources: unknown, path: string, options: RequirementsOptions = {}): FieldError[] {
  const nameRule = options.wholePod ? podResourceName : containerResourceName
  const [limits, requests] = [record(resources, 'limits'), record(resources, 'requests')]
  const one = (name: string, value: unknown, list: string): FieldError[] => {
    const field = `${path}.${list}[${name}]`
    return [...nameRule(name, field), ...resourceQuantity(name, value, field)]
  }
  const errors = Object.entries(limits).flatMap(([name, value]) => [
    ...one(name, value, 'limits'),
    ...pageErrors(name, value, `${path}.limits[${name}]`),
  ])
  for (const [name, value] of Object.entries(requests)) {
    errors.push(...one(name, value, 'requests'))
    if (has(limits, name)) errors.push(...requestErrors(name, value, limits[name], `${path}.requests`))
    else if (!overcommits(name)) {
      errors.push(fieldError.required(`${path}.limits`, 'Limit must be set for non overcommitable resources'))
    }
    errors.push(...pageErrors(name, value, `${path}.requests[${name}]`))
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePage) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push(fieldError.forbidden(path, 'HugePages require cpu or memory'))
  }
  return [...errors, ...claimErrors(records(resources, 'claims'), options.claims ?? new Set(), `${path}.claims`)]
}

function requestErrors(name: string, request: unknown, limit: unknown, field: string): FieldError[] {
  const [a, b] = [parsed(request), parsed(limit)]
  const order = a && b ? compareQuantities(a, b) : 0
  if (order === 0 || (order < 0 && overcommits(name))) return []
  const rule = overcommits(name) ? 'less than or equal' : 'equal'
  return [fieldError.invalid(field, String(request), `must be ${rule} to ${name} limit of ${limit}`)]
}

function pageErrors(name: string, value: unknown, field: string): FieldError[] {
  if (!isHugePage(name)) return []
  const [size, amount] = [parsed(name.slice('hugepages-'.length)), parsed(value)]
  const whole = size !== undefined && size.nanos > 0n && size.nanos % NANO === 0n
  if (whole && amount && quantityValue(amount) % quantityValue(size) === 0n) return []
  return [fieldError.invalid(field, String(value), `${value} is not positive integer multiple of ${name}`)]
}

/** Which claims of the pod a container uses: each claim, or each request of it, once. */
function claimErrors(uses: readonly Fields[], known: ReadonlySet<string>, path: string): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  const requested = new Map<string, number>()
  for (const [i, use] of uses.entries()) {
    const [name, request, field] = [str(use, 'name'), str(use, 'request'), `${path}[${i}]`]
    if (name === '') {
      errors.push(fieldError.required(field))
      continue
    }
    if (seen.has(name)) errors.push(fieldError.duplicate(field, name))
    else {
      const key = request === '' ? name : `${name}/${request}`
      if (request !== '') errors.push(...invalidBy(dns1123Label, request, `${field}.request`))
      if (seen.has(key)) errors.push(fieldError.duplicate(field, key))
      else if (request === '') {
        for (let part = requested.get(name) ?? 0; part > 0; part--) errors.push(fieldError.duplicate(field, name))
      } else requested.set(name, (requested.get(name) ?? 0) + 1)
      seen.add(key)
    }
    if (known.has(name)) continue
    const names = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`
    const detail = `must be one of the names in pod.spec.resourceClaims${names}`
    errors.push({ ...fieldError.notFound(field, name), detail })
  }
  return errors
}
