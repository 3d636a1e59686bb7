/**
 * Structural comparison: which paths appear, change or disappear between two values.
 * Paths that appear or disappear include the structs and maps around the leaves; paths that change are leaves.
 */
import { isRecord } from '../object.ts'
import { hasMoreValues } from '../objectSize.ts'
import type { Schema } from '../schema.ts'
import type { Steps } from '../steps.ts'
import { equalJson } from '../values.ts'
import { EMPTY_SET, type FieldSet, fieldSet, HERE } from './fieldSet.ts'
import { allBelow, allBelowInSteps, STEP_MEMBERS, STEP_VALUES } from './fieldSetOf.ts'
import { fieldElement } from './pathElement.ts'
import { elementsOf, memberShape, type Shape, shapeOf } from './shape.ts'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

const SAME: Comparison = Object.freeze({ added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET })
const CHANGED: Comparison = Object.freeze({ ...SAME, modified: HERE })

/** Compares two values of one schema; absent (`undefined`) is not the same as null. */
export function compareValues(before: unknown, after: unknown, schema: Schema | undefined): Comparison {
  if (before === after) return SAME
  if (before === undefined) return { ...SAME, added: fieldSet(true, allBelow(after, schema).children) }
  if (after === undefined) return { ...SAME, removed: fieldSet(true, allBelow(before, schema).children) }
  const left = shapeBeside(before, after, schema)
  const right = shapeBeside(after, before, schema)
  if (left === right) {
    if (left === 'leaf' || (isEmpty(before) && isEmpty(after))) return equalJson(before, after) ? SAME : CHANGED
    if (left === 'map') return compareMaps((before ?? {}) as Members, (after ?? {}) as Members, schema)
    return compareLists((before ?? []) as unknown[], (after ?? []) as unknown[], schema!, left)
  }
  // A scalar became a map, or the like: the path changes, and with it all that was or is below.
  return { added: allBelow(after, schema), modified: HERE, removed: allBelow(before, schema) }
}

/** The same in steps. */
export function* compareInSteps(before: unknown, after: unknown, schema: Schema | undefined): Steps<Comparison> {
  if (before === after) return SAME
  if (before === undefined) return { ...SAME, added: fieldSet(true, (yield* allBelowInSteps(after, schema)).children) }
  if (after === undefined)
    return { ...SAME, removed: fieldSet(true, (yield* allBelowInSteps(before, schema)).children) }
  const shape = shapeBeside(before, after, schema)
  if (shape !== shapeBeside(after, before, schema)) {
    const added = yield* allBelowInSteps(after, schema)
    return { added, modified: HERE, removed: yield* allBelowInSteps(before, schema) }
  }
  if (shape === 'leaf' || isSmall(before, after)) return compareValues(before, after, schema)
  if (shape === 'map') return yield* mapsInSteps((before ?? {}) as Members, (after ?? {}) as Members, schema)
  return yield* listsInSteps((before ?? []) as unknown[], (after ?? []) as unknown[], schema!, shape)
}

function isSmall(before: unknown, after: unknown): boolean {
  return !hasMoreValues(before, STEP_VALUES) && !hasMoreValues(after, STEP_VALUES)
}

export function isSame(comparison: Comparison): boolean {
  return comparison === SAME
}

type Members = Record<string, unknown>

/** Null has no shape of its own: it is the empty value of whatever stands on the other side. */
function shapeBeside(value: unknown, other: unknown, schema: Schema | undefined): Shape {
  return value === null && typeof other === 'object' ? shapeOf(other, schema) : shapeOf(value, schema)
}

function isEmpty(value: unknown): boolean {
  if (value === null) return true
  if (Array.isArray(value)) return value.length === 0
  if (!isRecord(value)) return false
  for (const name in value) if (value[name] !== undefined) return false
  return true
}

/** Compares two maps; `passed`: members to skip. */
export function compareMaps(
  before: Members,
  after: Members,
  schema: Schema | undefined,
  passed: ReadonlySet<string> = NONE,
): Comparison {
  const result = new Collector()
  for (const name of Object.keys(before)) {
    if (before[name] === undefined || passed.has(name)) continue
    const other = Object.hasOwn(after, name) ? after[name] : undefined
    if (before[name] === other) continue
    result.add(fieldElement(name), compareValues(before[name], other, memberShape(schema, name)))
  }
  for (const name of Object.keys(after)) {
    if (after[name] === undefined || passed.has(name)) continue
    if (Object.hasOwn(before, name) && before[name] !== undefined) continue
    result.add(fieldElement(name), compareValues(undefined, after[name], memberShape(schema, name)))
  }
  return result.comparison()
}

const NONE: ReadonlySet<string> = new Set()

function* mapsInSteps(before: Members, after: Members, schema: Schema | undefined): Steps<Comparison> {
  const result = new Collector()
  let values = 0
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [left, right] = [before, after].map(side => (Object.hasOwn(side, name) ? side[name] : undefined))
    if (left === right) continue
    result.add(fieldElement(name), yield* compareInSteps(left, right, memberShape(schema, name)))
    if (++values % STEP_VALUES === 0) yield
  }
  return result.comparison()
}

function* listsInSteps(before: unknown[], after: unknown[], schema: Schema, shape: Shape): Steps<Comparison> {
  if (equalJson(before, after)) return SAME
  yield
  if (shape !== 'keyed' && shape !== 'set') return CHANGED
  const left = yield* byElementInSteps(before, schema, shape)
  const right = left && (yield* byElementInSteps(after, schema, shape))
  if (left === undefined || right === undefined) return CHANGED
  const result = new Collector()
  let elements = 0
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const [items, others] = [left.get(element) ?? [], right.get(element) ?? []]
    if (items.length <= 1 && others.length <= 1)
      result.add(element, yield* compareInSteps(items[0], others[0], schema.items))
    else result.add(element, compareCrowds(items, others))
    if (++elements % STEP_MEMBERS === 0) yield
  }
  return result.comparison()
}

function* byElementInSteps(list: unknown[], schema: Schema, shape: 'keyed' | 'set'): Steps<Crowds | undefined> {
  const groups: Crowds = new Map()
  for (let from = 0; from < list.length; from += STEP_MEMBERS) {
    if (!addByElement(groups, list.slice(from, from + STEP_MEMBERS), schema, shape)) return undefined
    yield
  }
  return groups
}

function compareLists(before: unknown[], after: unknown[], schema: Schema, shape: Shape): Comparison {
  // Deciding this first spares equal lists, the usual case, the making of their keys.
  if (equalJson(before, after)) return SAME
  if (shape !== 'keyed' && shape !== 'set') return CHANGED
  const left = byElement(before, schema, shape)
  const right = byElement(after, schema, shape)
  if (left === undefined || right === undefined) return CHANGED
  const result = new Collector()
  for (const [element, items] of left) {
    const others = right.get(element) ?? []
    if (items.length === 1 && others.length <= 1) result.add(element, compareValues(items[0], others[0], schema.items))
    else result.add(element, compareCrowds(items, others))
  }
  for (const [element, items] of right) {
    if (left.has(element)) continue
    if (items.length === 1) result.add(element, compareValues(undefined, items[0], schema.items))
    else result.add(element, compareCrowds([], items))
  }
  return result.comparison()
}

/** Live objects may hold duplicates, written before their schema forbade them; they are compared together. */
type Crowds = Map<string, unknown[]>

function compareCrowds(items: unknown[], others: unknown[]): Comparison {
  if (others.length === 0) return { ...SAME, removed: HERE }
  if (items.length === 0) return { ...SAME, added: HERE }
  return equalJson(items, others) ? SAME : CHANGED
}

function byElement(list: unknown[], schema: Schema, shape: 'keyed' | 'set'): Crowds | undefined {
  const groups: Crowds = new Map()
  return addByElement(groups, list, schema, shape) ? groups : undefined
}

/** Whether each has a path element. */
function addByElement(groups: Crowds, list: unknown[], schema: Schema, shape: 'keyed' | 'set'): boolean {
  const elements = elementsOf(list, schema, shape)
  elements?.forEach((element, i) => {
    const group = groups.get(element)
    if (group === undefined) groups.set(element, [list[i]])
    else group.push(list[i])
  })
  return elements !== undefined
}

/** Gathers the comparisons of children. */
class Collector {
  // most of what is compared is equal: what nobody fills is not made
  #added: Map<string, FieldSet> | undefined
  #modified: Map<string, FieldSet> | undefined
  #removed: Map<string, FieldSet> | undefined

  add(element: string, { added, modified, removed }: Comparison): void {
    if (added !== EMPTY_SET) this.#added = (this.#added ?? new Map()).set(element, added)
    if (modified !== EMPTY_SET) this.#modified = (this.#modified ?? new Map()).set(element, modified)
    if (removed !== EMPTY_SET) this.#removed = (this.#removed ?? new Map()).set(element, removed)
  }

  comparison(): Comparison {
    if (this.#added === undefined && this.#modified === undefined && this.#removed === undefined) return SAME
    return {
      added: fieldSet(false, this.#added),
      modified: fieldSet(false, this.#modified),
      removed: fieldSet(false, this.#removed),
    }
  }
}
