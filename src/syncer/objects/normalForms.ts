/**
 * Forms in which API servers, and programs beside them, write the same value: what they make of one another is no difference. Types
 * of fields are not known here; a form counts where both texts have it. Pure.
 */
import { objects } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { compareQuantities, parseQuantity } from '../../apimachinery/quantity.ts'

/** Whether somebody who leaves it out says the same. */
export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.values(value).every(isEmptyValue)
}

/** Compares two values that are neither lists nor objects. */
export function isSameScalar(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isTextual(a) || !isTextual(b)) return false
  const [x, y] = [String(a), String(b)]
  if (x === y) return true // a port or a share, as a number or a text
  return isSameQuantity(x, y) || isSameTime(x, y) || isSameDuration(x, y)
}

function isTextual(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

function isSameQuantity(x: string, y: string): boolean {
  const a = parseQuantity(x)
  const b = a && parseQuantity(y)
  return a !== undefined && b !== undefined && compareQuantities(a, b) === 0
}

const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

function isSameTime(x: string, y: string): boolean {
  return TIME.test(x) && TIME.test(y) && Date.parse(x) === Date.parse(y)
}

const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h)){1,8}$/
const UNITS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 }

/** As Go writes them: `60s` is `1m0s`. */
function isSameDuration(x: string, y: string): boolean {
  return DURATION.test(x) && DURATION.test(y) && nanosOf(x) === nanosOf(y)
}

function nanosOf(text: string): number {
  let sum = 0
  for (const [, number, unit] of text.matchAll(/([\d.]+)([^\d.]+)/g)) sum += Math.round(Number(number) * UNITS[unit!]!)
  return sum
}

/** Texts of bytes: line breaks and padding mean nothing. */
export function isSameBase64(a: unknown, b: unknown): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return false
  return a === b || Buffer.from(a, 'base64').equals(Buffer.from(b, 'base64'))
}

/** An object without what its kind says in two ways: as it is compared. */
export function comparedForm(object: Readonly<KubeObject>): Readonly<Record<string, unknown>> {
  const { apiVersion, kind, metadata, status: _, ...fields } = object
  const { labels, annotations } = metadata
  return {
    ...(FORMS[`${apiVersion}/${kind}`] ?? asItIs)(fields),
    metadata: { ...(labels && { labels }), ...(annotations && { annotations }) },
  }
}

type Fields = Readonly<Record<string, unknown>>

const asItIs = (fields: Fields): Fields => fields
const FORMS: Readonly<Record<string, (fields: Fields) => Fields>> = {
  'v1/Secret': ({ stringData, ...fields }) =>
    isRecord(stringData)
      ? { ...fields, data: { ...(isRecord(fields.data) ? fields.data : {}), ...encoded(stringData) } }
      : fields,
  // a server joins subsets with the same ports, and sorts them
  'v1/Endpoints': ({ subsets, ...fields }) => ({ ...fields, subsets: endpointsIn(subsets) }),
  // 0 asks for one that is given
  'v1/Service': fields => ({ ...fields, ...(isRecord(fields.spec) && { spec: withoutNoPort(fields.spec) }) }),
}

function encoded(texts: Fields): Fields {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]),
  )
}

function withoutNoPort(spec: Fields): Fields {
  const { healthCheckNodePort, ports, ...rest } = spec
  return {
    ...rest,
    ...(healthCheckNodePort !== undefined && healthCheckNodePort !== 0 && { healthCheckNodePort }),
    ...(ports !== undefined && {
      ports: Array.isArray(ports)
        ? ports.map((port: unknown) => {
            if (!isRecord(port) || port.nodePort !== 0) return port
            const { nodePort: _, ...others } = port
            return others
          })
        : ports,
    }),
  }
}

function endpointsIn(subsets: unknown): unknown {
  if (!Array.isArray(subsets)) return subsets
  const found: string[] = []
  for (const subset of subsets) {
    if (!isRecord(subset)) continue
    for (const side of ['addresses', 'notReadyAddresses'] as const)
      for (const address of objects(subset, side))
        for (const { port, protocol = 'TCP', name = '' } of objects(subset, 'ports'))
          found.push(`${side} ${String(address.ip)} ${String(protocol)}/${String(port)} ${String(name)}`)
  }
  return [...new Set(found)].sort()
}
