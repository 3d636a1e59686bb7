/**
 * Live values of fields that are left to the cluster: those that the placement names, where they are others than the author's, and those
 * of `spec` that the author does not set and a manager in the cluster does, such as the replicas of an autoscaled Deployment. Pure.
 */
import { EMPTY_SET, type FieldSet, fieldSet, fromFieldsV1, unionAll } from '../../apimachinery/apply/fieldSet.ts'
import { keysOf } from '../../apimachinery/apply/looseFields.ts'
import { fieldElement } from '../../apimachinery/apply/pathElement.ts'
import { type GroupResource, groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { leftFieldsOf, type Pointer } from '../../placement/content/leftFields.ts'
import { type LiveField, MAX_DIFFERENCES } from '../../placement/outcome/fieldDifference.ts'
import { elementName, isSecret, pathOf, type Steps, textOf, valueWords } from './fieldWords.ts'
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
  for (const pointer of leftFieldsOf(copy)) yield* valuesAt(pointer, live, copy, [])
  yield* valuesIn(setByOthers(live), live, copy, [])
}

/** Values that a pointer leads to, where they are others than the wished ones. */
function* valuesAt([step, ...rest]: Pointer, value: unknown, wished: unknown, steps: Steps): Generator<Value> {
  if (value === undefined) return
  if (step === undefined) {
    if (!equalJson(value, wished)) yield { steps, value }
    return
  }
  if ('member' in step) {
    const { member } = step
    yield* valuesAt(rest, ownOf(value, member), ownOf(wished, member), [...steps, { member }])
    return
  }
  for (const [i, item] of (Array.isArray(value) ? value : []).entries()) {
    const { keys = {} } = step
    if (!hasKeys(item, keys)) continue
    const known = step.keys ?? nameIn(item)
    const counterpart = known ? itemWith(wished, known) : Array.isArray(wished) ? wished[i] : undefined
    yield* valuesAt(rest, item, counterpart, [...steps, { element: known ? named(known) : `[${i}]` }])
  }
}

/** Fields of `spec` that managers beside the syncer set. */
function setByOthers({ metadata: { managedFields = [] } }: Readonly<KubeObject>): FieldSet {
  const others = managedFields.filter(
    ({ manager, subresource }) => manager !== SYNCER_MANAGER && subresource !== 'status',
  )
  if (others.length === 0) return EMPTY_SET
  const set = unionAll(others.map(({ fieldsV1 }) => fromFieldsV1(fieldsV1)))
  const spec = set.children?.get(SPEC)
  return spec ? fieldSet(false, new Map([[SPEC, spec]])) : EMPTY_SET
}

const SPEC = fieldElement('spec')

/** Values at the ends of a set that the author does not set. */
function* valuesIn({ self, children }: FieldSet, live: unknown, wished: unknown, steps: Steps): Generator<Value> {
  if (live === undefined) return
  if (children === undefined) {
    if (self && wished === undefined) yield { steps, value: live }
    return
  }
  for (const [element, child] of children) {
    if (element.startsWith('f:')) {
      const member = element.slice(2)
      yield* valuesIn(child, ownOf(live, member), ownOf(wished, member), [...steps, { member }])
    } else if (element.startsWith('k:')) {
      const keys = keysOf(element)
      const item = itemWith(live, keys)
      yield* valuesIn(child, item, itemWith(wished, keys), [...steps, { element: named(keys) }])
    }
  }
}

function ownOf(object: unknown, member: string): unknown {
  return isRecord(object) && Object.hasOwn(object, member) ? object[member] : undefined
}

function itemWith(list: unknown, keys: Readonly<Record<string, unknown>>): unknown {
  return Array.isArray(list) ? list.find(item => hasKeys(item, keys)) : undefined
}

function hasKeys(item: unknown, keys: Readonly<Record<string, unknown>>): boolean {
  return isRecord(item) && Object.entries(keys).every(([key, value]) => textOf(ownOf(item, key)) === textOf(value))
}

function nameIn(item: unknown): Record<string, string> | undefined {
  const name = ownOf(item, 'name')
  return typeof name === 'string' ? { name } : undefined
}

function named(keys: Readonly<Record<string, unknown>>): string {
  return elementName(Object.entries(keys).map(([key, value]) => [key, textOf(value)]))
}
