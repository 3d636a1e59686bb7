/** Which fields a placement leaves to the clusters: `spec.ignoreDifferences`. Malformed rules leave nothing. */
import { objects, str, strings } from '../../apimachinery/fields.ts'
import { MAX_POINTERS, pointerProblem } from './leftFields.ts'

export interface LeftRule {
  readonly group: string
  readonly kind: string
  /** `''`: any, as for the name. */
  readonly namespace: string
  readonly name: string
  readonly pointers: readonly string[]
}

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

/** Pointers that the rules give for an object. */
export function leftOf(
  rules: readonly LeftRule[],
  object: Readonly<Record<'group' | 'kind' | 'namespace' | 'name', string>>,
): string[] {
  const is = (wanted: string, value: string): boolean => wanted === '*' || wanted === value
  const isOrAny = (wanted: string, value: string): boolean => wanted === '' || is(wanted, value)
  return rules
    .filter(({ group, kind }) => is(group, object.group) && is(kind, object.kind))
    .filter(({ namespace, name }) => isOrAny(namespace, object.namespace) && isOrAny(name, object.name))
    .flatMap(({ pointers }) => pointers)
}
