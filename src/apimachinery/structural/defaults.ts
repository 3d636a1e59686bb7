/**
 * Defaults of a structural schema: missing members are filled from the outside in, so a default may have defaults inside.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting
 */
import { isRecord, type Json } from '../object.ts'
import type { Schema } from '../schema.ts'
import { READ, WorkBudget } from '../workBudget.ts'

/** Characters that defaults may add to an object: as many as a request can carry. */
export const MAX_DEFAULTED = 3 * 1024 * 1024

/**
 * Fills what is missing in `object`, in place. A null counts as missing where the schema is not nullable. Defaults are
 * copied, never shared. Subtrees whose schema has no default are not visited.
 * @returns false when that would add more than {@link MAX_DEFAULTED}: then only a part was filled in
 */
export function applyDefaults(object: unknown, schema: Schema | undefined): boolean {
  if (schema === undefined || planOf(schema) === null) return true
  const budget = new WorkBudget(MAX_DEFAULTED, () => new Error('the defaults are too large'))
  try {
    fill(object, schema, budget)
  } catch (error) {
    if (error !== budget.refusal) throw error
  }
  return budget.refusal === undefined
}

/** Whether there is anything to fill in, in some object. */
export function hasDefaults(schema: Schema): boolean {
  return planOf(schema) !== null
}

/** Work at one schema node; `undefined` when there is none there or below. */
interface Plan {
  defaults: { name: string; value: Json; nullable: boolean; characters: number }[]
  members: [name: string, schema: Schema][]
  additional: Schema | undefined
  items: Schema | undefined
  /** Number of look-ups in an object. */
  looks: number
}

// A memo of a pure function: plans live as long as their schema.
const plans = new WeakMap<Schema, Plan | null>()
const reaching = new WeakMap<Schema, boolean>()

function fill(value: unknown, schema: Schema, budget: WorkBudget): void {
  if (typeof value !== 'object' || value === null) return
  const plan = planOf(schema)
  if (plan === null) return
  if (Array.isArray(value)) {
    if (plan.items === undefined) return
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null && isMissingNull(plan.items)) value[i] = paidClone(plan.items.default!, budget)
      fill(value[i], plan.items, budget)
    }
  } else if (isRecord(value)) {
    budget.spend(plan.looks * READ)
    for (const { name, value: standard, nullable, characters } of plan.defaults) {
      if (Object.hasOwn(value, name) && (value[name] !== null || nullable)) continue
      budget.spend(characters)
      setOwn(value, name, clone(standard))
    }
    for (const [name, member] of plan.members) if (Object.hasOwn(value, name)) fill(value[name], member, budget)
    if (plan.additional !== undefined) fillAdditional(value, schema, plan.additional, budget)
  }
}

function paidClone(value: Json, budget: WorkBudget): Json {
  budget.spend(JSON.stringify(value).length)
  return clone(value)
}

function fillAdditional(object: Record<string, unknown>, schema: Schema, additional: Schema, budget: WorkBudget): void {
  for (const name of Object.keys(object)) {
    if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) continue
    if (object[name] === null && isMissingNull(additional)) setOwn(object, name, paidClone(additional.default!, budget))
    fill(object[name], additional, budget)
  }
}

function isMissingNull(schema: Schema): boolean {
  return schema.default !== undefined && schema.nullable !== true
}

function planOf(schema: Schema): Plan | null {
  const known = plans.get(schema)
  if (known !== undefined) return known
  const plan: Plan = { defaults: [], members: [], additional: undefined, items: undefined, looks: 0 }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (member.default !== undefined) {
      const characters = name.length + JSON.stringify(member.default).length + 4
      plan.defaults.push({ name, value: member.default, nullable: member.nullable === true, characters })
    }
    if (reachesDefault(member)) plan.members.push([name, member])
  }
  if (typeof schema.additionalProperties === 'object' && concerns(schema.additionalProperties)) {
    plan.additional = schema.additionalProperties
  }
  if (schema.items !== undefined && concerns(schema.items)) plan.items = schema.items
  plan.looks = plan.defaults.length + plan.members.length
  const isEmpty =
    plan.defaults.length === 0 && plan.members.length === 0 && plan.additional === undefined && plan.items === undefined
  plans.set(schema, isEmpty ? null : plan)
  return isEmpty ? null : plan
}

function concerns(schema: Schema): boolean {
  return schema.default !== undefined || reachesDefault(schema)
}

/** Whether a default stands anywhere below `schema` (its own does not count). Schemas may be cyclic. */
function reachesDefault(schema: Schema): boolean {
  const known = reaching.get(schema)
  if (known !== undefined) return known
  const seen = new Set<Schema>([schema])
  let found = false
  for (const node of seen) {
    for (const child of childrenOf(node)) {
      if (child.default !== undefined || reaching.get(child) === true) found = true
      seen.add(child)
    }
    if (found) break
  }
  if (found) reaching.set(schema, true)
  // nothing below the root means nothing below any of its descendants
  else for (const node of seen) reaching.set(node, false)
  return found
}

function childrenOf(schema: Schema): Schema[] {
  const children = Object.values(schema.properties ?? {})
  if (typeof schema.additionalProperties === 'object') children.push(schema.additionalProperties)
  if (schema.items !== undefined) children.push(schema.items)
  return children
}

function setOwn(object: Record<string, unknown>, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  } else {
    object[name] = value
  }
}

function clone(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(clone)
  const copy: { [field: string]: Json } = {}
  for (const name of Object.keys(value)) setOwn(copy, name, clone(value[name]!))
  return copy
}
