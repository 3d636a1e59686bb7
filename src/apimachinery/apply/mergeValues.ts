/**
 * The structured merge of server-side apply: what is applied wins leaf by leaf, everything else of the live value stays.
 * Results share nothing with the inputs.
 */
import { isRecord } from '../object.ts'
import type { Schema } from '../schema.ts'
import { cloneJson, memberOf, setMember } from '../values.ts'
import { elementsOf, isDeclared, memberShape, shapeOf } from './shape.ts'

/** `undefined` stands for absent, on either side and as the result. */
export function mergeValues(live: unknown, applied: unknown, schema: Schema | undefined): unknown {
  if (applied === undefined) return cloneJson(live)
  const shape = shapeOf(live, schema)
  if (applied === null) return shape === 'leaf' || isEmpty(live) ? null : cloneJson(live)
  const appliedShape = shapeOf(applied, schema)
  if (appliedShape === 'leaf') return cloneJson(applied)
  if (appliedShape === 'map') return mergeMaps(isRecord(live) ? live : {}, applied as Members, schema)
  return mergeLists(Array.isArray(live) ? live : [], applied as unknown[], schema!, appliedShape)
}

type Members = Record<string, unknown>

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}

function mergeMaps(live: Members, applied: Members, schema: Schema | undefined): Members {
  const result: Members = {}
  for (const name of Object.keys(live)) put(name, live[name], memberOf(applied, name))
  for (const name of Object.keys(applied)) if (!Object.hasOwn(live, name)) put(name, undefined, applied[name])
  return result

  function put(name: string, left: unknown, right: unknown): void {
    const below = memberShape(schema, name)
    const value = mergeValues(left, right, below)
    // Applying null to a field that cannot be null takes its value away, as decoding into a struct would; keys of maps stay.
    const cannotBeNull = below !== undefined && !below.nullable && isDeclared(schema, name)
    const dropped = value === undefined || (value === null && cannotBeNull)
    if (!dropped) setMember(result, name, value)
  }
}

/**
 * Applied elements come in the applied order, live ones in the live order. Where the two can be interleaved, live elements stay before the
 * shared element that they stood before.
 */
function mergeLists(live: unknown[], applied: unknown[], schema: Schema, shape: 'keyed' | 'set'): unknown[] {
  const left = elementsOf(live, schema, shape)
  const right = elementsOf(applied, schema, shape)
  if (left === undefined || right === undefined) return cloneJson(applied)
  const liveItems = new Map<string, unknown>()
  left.forEach((element, i) => {
    // An element that occurs twice has no single counterpart to be merged with.
    liveItems.set(element, liveItems.has(element) ? undefined : live[i])
  })
  const appliedItems = new Map(right.map((element, i) => [element, applied[i]]))
  const shared = right.filter(element => liveItems.has(element))
  const merged = new Set<string>()
  const result: unknown[] = []
  let nextShared = 0
  let l = 0
  let r = 0
  const take = (element: string) => {
    result.push(mergeValues(liveItems.get(element), appliedItems.get(element), schema.items))
    merged.add(element)
    if (shared[nextShared] === element) nextShared++
    r++
  }
  while (l < left.length || r < right.length) {
    const fromLive = left[l]
    const fromApplied = right[r]
    if (fromLive !== undefined && !appliedItems.has(fromLive)) {
      result.push(cloneJson(live[l]))
      l++
    } else if (fromLive !== undefined && (fromLive === fromApplied || merged.has(fromLive))) {
      if (fromLive === fromApplied) take(fromLive)
      l++
    } else if (fromLive !== undefined && fromApplied !== undefined && shared[nextShared] !== fromLive) {
      // Shared, but the applied order wants another shared element first.
      l++
    } else {
      take(fromApplied!)
    }
  }
  return result
}
