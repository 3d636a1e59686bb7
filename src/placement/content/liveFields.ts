/** Live values of fields that are left to the cluster, in the place of the wished ones. Pure. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { setMember } from '../../apimachinery/values.ts'
import type { LiveField } from '../outcome/fieldDifference.ts'

const LARGEST = 2 ** 31 - 1
/** Paths through members alone, outside of what servers set. */
const MEMBERS = /^(?!metadata\b|status\b|apiVersion\b|kind\b)[\w-]+(\.[\w-]+)+$/

/**
 * The object with the values that fit: of the type of the wished one, or the number of replicas. A syncer's word is no reason to serve an
 * object that its kind cannot have.
 * @param replicas path of what scaling in the cluster sets where an author leaves it out; absent: its kind has no such field
 */
export function withLiveFields(
  object: Readonly<KubeObject>,
  fields: readonly LiveField[],
  replicas?: string,
): Readonly<KubeObject> {
  return fields.reduce((shown, { path, live }) => {
    if (!MEMBERS.test(path)) return shown
    const value = scalarIn(live)
    return value === undefined ? shown : (withValue(shown, path.split('.'), value, path === replicas) as KubeObject)
  }, object)
}

type Scalar = string | number | boolean

function withValue(
  object: unknown,
  [member = '', ...rest]: readonly string[],
  value: Scalar,
  isReplicas: boolean,
): unknown {
  if (!isRecord(object)) return object
  const wished = Object.hasOwn(object, member) ? object[member] : undefined
  const isFit = wished === undefined ? isReplicas && typeof value === 'number' : typeof wished === typeof value
  if (rest.length === 0 ? !isFit : wished === undefined) return object
  const copy = { ...object }
  setMember(copy, member, rest.length === 0 ? value : withValue(wished, rest, value, isReplicas))
  return copy
}

/** Shortened values are no JSON. */
function scalarIn(text: string): Scalar | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) <= LARGEST ? value : undefined
    return typeof value === 'string' || typeof value === 'boolean' ? value : undefined
  } catch {
    return undefined
  }
}
