/**
 * Live values of fields that are left to the cluster. These are fields that the placement names, where they differ from the author's. Also
 * fields of `spec` that a manager in the cluster sets and the author does not, such as the replicas of an autoscaled Deployment. Pure.
 */
import { EMPTY_SET, type FieldSet, fieldSet } from '../../apimachinery/apply/fieldSet.ts'
import { keysOf } from '../../apimachinery/apply/looseFields.ts'
import { fieldElement } from '../../apimachinery/apply/pathElement.ts'
import { type GroupResource, groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { leftFieldsOf, type Pointer } from '../../placement/content/leftFields.ts'
import { type LiveField, MAX_DIFFERENCES } from '../../placement/outcome/fieldDifference.ts'
import { elementName, isSecret, pathOf, type Steps, textOf, valueWords } from './fieldWords.ts'
import { setOf } from './handOver.ts'
import { SYNCER_MANAGER } from './marks.ts'

/** @param copy as the mailbox has it. @returns `undefined`: there are none */
export function liveFields(
  resource: GroupResource,
  copy: Readonly<KubeObject>,
  live: Readonly<KubeObject>,
): readonly LiveField[] | undefined {
  const found = new Map<string, LiveField>()
  for (const { steps, value } of valuesLeft(copy, live)) {
    const members = steps.flatMap(({ member }) => member ?? [])
    if (isSecret([groupResourceName(resource), live.kind ?? '', ...members], value)) continue
    const path = pathOf(steps)
    found.set(path, { path, live: valueWords(value) })
    if (found.size === MAX_DIFFERENCES) break
  }
  return found.size === 0 ? undefined : [...found.values()]
}

interface Value {
  readonly steps: Steps
  readonly value: unknown
}

function* valuesLeft(copy: Readonly<KubeObject>, live: Readonly<KubeObject>): Generator<Value> {
  const items = new Items()
  for (const pointer of leftFieldsOf(copy)) yield* valuesAt(pointer, { value: live, wished: copy, steps: [] }, items)
  yield* valuesIn(setByOthers(live), { value: live, wished: copy, steps: [] }, items)
}

/** A value of the cluster beside the author's. */
interface Place extends Value {
  readonly wished: unknown
}

/** Values that a pointer leads to, where they are others than the wished ones. */
function* valuesAt([step, ...rest]: Pointer, { value, wished, steps }: Place, items: Items): Generator<Value> {
  if (value === undefined) return
  if (step === undefined) {
    if (!equalJson(value, wished)) yield { steps, value }
    return
  }
  if ('member' in step) {
    yield* valuesAt(rest, memberOf({ value, wished, steps }, step.member), items)
    return
  }
  const { keys } = step
  const [next] = rest
  for (const [i, item] of (Array.isArray(value) ? value : []).entries()) {
    // most items of a long list have no such field
    if (next !== undefined && 'member' in next && ownOf(item, next.member) === undefined) continue
    if (keys !== undefined && !hasKeys(item, keys)) continue
    const known = keys ?? nameIn(item)
    const counterpart = known ? items.find(wished, known) : Array.isArray(wished) ? wished[i] : undefined
    const element = known ? named(known) : `[${i}]`
    yield* valuesAt(rest, { value: item, wished: counterpart, steps: [...steps, { element }] }, items)
  }
}

/** Fields of `spec` that managers beside the syncer set. */
function setByOthers({ metadata: { managedFields = [] } }: Readonly<KubeObject>): FieldSet {
  const others = managedFields.filter(
    ({ manager, subresource }) => manager !== SYNCER_MANAGER && subresource !== 'status',
  )
  const spec = setOf(others).children?.get(SPEC)
  return spec ? fieldSet(false, new Map([[SPEC, spec]])) : EMPTY_SET
}

const SPEC = fieldElement('spec')

/** Values at the ends of a set that the author does not set. */
function* valuesIn({ self, children }: FieldSet, place: Place, items: Items): Generator<Value> {
  const { value, wished, steps } = place
  if (value === undefined) return
  if (children === undefined) {
    if (self && wished === undefined) yield { steps, value }
    return
  }
  for (const [element, child] of children) {
    if (element.startsWith('f:')) yield* valuesIn(child, memberOf(place, element.slice(2)), items)
    else if (element.startsWith('k:')) {
      const keys = keysOf(element)
      const [item, counterpart] = [items.find(value, keys), items.find(wished, keys)]
      const below = { value: item, wished: counterpart, steps: [...steps, { element: named(keys) }] }
      yield* valuesIn(child, below, items)
    }
  }
}

function memberOf({ value, wished, steps }: Place, member: string): Place {
  return { value: ownOf(value, member), wished: ownOf(wished, member), steps: [...steps, { member }] }
}

function ownOf(object: unknown, member: string): unknown {
  return isRecord(object) && Object.hasOwn(object, member) ? object[member] : undefined
}

type Keys = Readonly<Record<string, unknown>>

/** Items of lists by their keys. A list may be long, and is read once for all pointers and managers. */
class Items {
  readonly #indexes = new Map<unknown, Map<string, ReadonlyMap<string, unknown>>>()

  /** The first with these keys. */
  find(list: unknown, keys: Keys): unknown {
    if (!Array.isArray(list)) return undefined
    const names = Object.keys(keys)
    const id = JSON.stringify(names)
    const indexes = this.#indexes.get(list) ?? new Map<string, ReadonlyMap<string, unknown>>()
    this.#indexes.set(list, indexes)
    const index = indexes.get(id) ?? indexOf(list, names)
    indexes.set(id, index)
    return index.get(keyTextOf(keys, names))
  }
}

function indexOf(list: readonly unknown[], names: readonly string[]): ReadonlyMap<string, unknown> {
  const backwards = list.filter(isRecord).reverse()
  return new Map(backwards.map(item => [keyTextOf(item, names), item]))
}

function keyTextOf(item: Keys, names: readonly string[]): string {
  return JSON.stringify(names.map(name => textOf(ownOf(item, name))))
}

function hasKeys(item: unknown, keys: Keys): boolean {
  if (!isRecord(item)) return false
  for (const name in keys) if (textOf(ownOf(item, name)) !== textOf(keys[name])) return false
  return true
}

function nameIn(item: unknown): Record<string, string> | undefined {
  const name = ownOf(item, 'name')
  return typeof name === 'string' ? { name } : undefined
}

function named(keys: Keys): string {
  return elementName(Object.entries(keys).map(([key, value]) => [key, textOf(value)]))
}
