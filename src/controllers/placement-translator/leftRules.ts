/** Which fields a placement leaves to the clusters: `spec.ignoreDifferences`. What of it cannot be read leaves nothing. */
import { objects, str, strings } from '../../apimachinery/fields.ts'
import { MAX_POINTERS, pointerProblem } from '../../apimachinery/leftFields.ts'
import { type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'

export interface LeftRule {
  readonly group: string
  readonly kind: string
  /** `''`: any, as for the name. */
  readonly namespace: string
  readonly name: string
  readonly pointers: readonly string[]
}

const ANY = '*'

export function leftRules(spec: Readonly<Record<string, unknown>>): LeftRule[] {
  let room = MAX_POINTERS
  return objects(spec.ignoreDifferences).flatMap(rule => {
    const pointers = strings(rule.jsonPointers)
      .slice(0, room)
      .filter(pointer => pointerProblem(pointer) === undefined)
    room -= pointers.length
    const { group, kind, namespace, name } = rule
    return pointers.length === 0
      ? []
      : [{ group: str(group), kind: str(kind), namespace: str(namespace), name: str(name), pointers }]
  })
}

/** What the rules say of an object. */
export function leftOf(rules: readonly LeftRule[], { apiVersion, kind, metadata }: KubeObject): string[] {
  const { name = '', namespace = '' } = metadata
  const group = parseApiVersion(apiVersion)?.group ?? ''
  const is = (wanted: string, value: string): boolean => wanted === ANY || wanted === value
  const isOrAny = (wanted: string, value: string): boolean => wanted === '' || is(wanted, value)
  return rules
    .filter(rule => is(rule.group, group) && is(rule.kind, kind))
    .filter(rule => isOrAny(rule.namespace, namespace) && isOrAny(rule.name, name))
    .flatMap(({ pointers }) => pointers)
}
