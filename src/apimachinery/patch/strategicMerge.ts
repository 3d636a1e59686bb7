/**
 * Strategic merge patch: a merge patch that knows how a built-in kind's lists are merged, and obeys directives in the patch.
 * Fields that the schema does not describe: maps are merged, lists replaced.
 * @see https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */

import { cloneInSteps } from '../cloneInSteps.ts'
import { statusError } from '../errors.ts'
import { jsonTypeName, noMapError } from '../go/goJson.ts'
import { goPrint } from '../go/goPrint.ts'
import { isRecord } from '../object.ts'
import { Pace } from '../pace.ts'
import { memberSchema, type Schema } from '../schema.ts'
import type { Steps } from '../steps.ts'
import { objectMetaSchema } from '../structural/objectMetaSchema.ts'
import { equalJson, memberOf, setMember } from '../values.ts'
import { type MergedList, mergeList, orderList, withoutItems } from './strategicList.ts'

type Members = Record<string, unknown>

const DIRECTIVE = '$patch'
const RETAIN_KEYS = '$retainKeys'
const SET_ORDER = '$setElementOrder/'
const DELETE_FROM_LIST = '$deleteFromPrimitiveList/'

/**
 * The patched object, independent of both inputs, which stay as they are.
 * @throws StatusError BadRequest when `patch` is malformed or does not fit the object
 */
export function* strategicMergeInSteps(original: Members, patch: unknown, schema: Schema | undefined): Steps<Members> {
  if (!isRecord(patch)) throw statusError.badRequest(noMapError(patch))
  const root: Schema = { ...schema, properties: { ...schema?.properties, metadata: objectMetaSchema } }
  const pace = new Pace()
  return yield* mergeMap(yield* cloneInSteps(original, pace), patch, root, pace)
}

/** Merges into `original`, which it may change and return. */
function* mergeMap(original: Members, patch: Members, schema: Schema | undefined, pace: Pace): Steps<Members> {
  const directive = memberOf(patch, DIRECTIVE)
  if (directive === 'replace') {
    const { [DIRECTIVE]: _directive, ...rest } = patch
    return yield* cloneInSteps(rest, pace)
  }
  if (directive === 'delete') return {}
  if (directive !== undefined) throw badDirective(directive, patch)

  applyRetainKeys(original, patch)
  const ordered = new Set<string>()
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(SET_ORDER)) continue
    const name = key.slice(SET_ORDER.length)
    if (yield* applyElementOrder(original, patch, name, schema, pace)) ordered.add(name)
  }
  for (const key of Object.keys(patch)) {
    if (key === RETAIN_KEYS || key.startsWith(SET_ORDER) || ordered.has(key)) continue
    if (key.startsWith(DELETE_FROM_LIST))
      yield* deleteFromList(original, key.slice(DELETE_FROM_LIST.length), patch[key], pace)
    else yield* mergeMember(original, key, patch[key], memberSchema(schema, key), pace)
    if (pace.due()) yield
  }
  return original
}

function* mergeMember(
  original: Members,
  name: string,
  value: unknown,
  schema: Schema | undefined,
  pace: Pace,
): Steps<void> {
  if (value === null) {
    delete original[name]
    return
  }
  const current = memberOf(original, name)
  const result =
    isRecord(current) && isRecord(value) && !replaces(schema)
      ? yield* mergeMap(current, value, schema, pace)
      : Array.isArray(current) && Array.isArray(value)
        ? (yield* mergeListMember(current, value, schema, pace)).list
        : yield* withoutDirectives(value, pace)
  setMember(original, name, result)
}

function* mergeListMember(
  current: unknown[],
  value: unknown[],
  schema: Schema | undefined,
  pace: Pace,
): Steps<MergedList> {
  if (!merges(schema)) return { list: yield* cloneInSteps(value, pace), order: current }
  const rules = {
    mergeKey: schema?.['x-kubernetes-patch-merge-key'],
    merge: (item: Members, change: Members) => mergeMap(item, change, schema?.items, pace),
    create: (item: Members) => withoutDirectives(item, pace),
  }
  return yield* mergeList(current, value, rules, pace)
}

function strategiesOf(schema: Schema | undefined): readonly string[] {
  return schema?.['x-kubernetes-patch-strategy']?.split(',') ?? []
}
const merges = (schema: Schema | undefined) => strategiesOf(schema).includes('merge')
const replaces = (schema: Schema | undefined) => strategiesOf(schema).includes('replace')

/** `$retainKeys` lists the only members that stay, those of the patch among them. */
function applyRetainKeys(original: Members, patch: Members): void {
  const retained = memberOf(patch, RETAIN_KEYS)
  if (retained === undefined) return
  if (!Array.isArray(retained)) throw statusError.badRequest('invalid patch format of retainKeys')
  const kept = new Set<unknown>(retained)
  for (const key of Object.keys(patch)) {
    const isDirective = key === RETAIN_KEYS || key.startsWith(SET_ORDER) || key.startsWith(DELETE_FROM_LIST)
    if (!isDirective && patch[key] !== null && !kept.has(key))
      throw statusError.badRequest('invalid patch format of retainKeys')
  }
  for (const key of Object.keys(original)) if (!kept.has(key)) delete original[key]
}

/** Merges list `name` and brings it into the order of its directive; false when there is no such list at all. */
function* applyElementOrder(
  original: Members,
  patch: Members,
  name: string,
  schema: Schema | undefined,
  pace: Pace,
): Steps<boolean> {
  const order = memberOf(patch, SET_ORDER + name)
  if (!Array.isArray(order)) throw statusError.badRequest('invalid patch format of setElementOrder list')
  const current = memberOf(original, name)
  const change = memberOf(patch, name)
  const listSchema = memberSchema(schema, name)
  const mergeKey = listSchema?.['x-kubernetes-patch-merge-key']
  const bad = [current, change].find(list => list !== undefined && list !== null && !Array.isArray(list))
  if (bad !== undefined) throw statusError.badRequest(`expected a []interface {}, but received a ${jsonTypeName(bad)}`)
  if (change === null || (!Array.isArray(current) && !Array.isArray(change))) return false
  if (Array.isArray(change)) yield* checkOrder(change, order, mergeKey, pace)
  const server = Array.isArray(current) ? current : []
  const merged: MergedList = !Array.isArray(change)
    ? { list: server, order: server }
    : Array.isArray(current)
      ? yield* mergeListMember(current, change, listSchema, pace)
      : { list: (yield* withoutDirectives(change, pace)) as unknown[], order: server }
  setMember(original, name, yield* orderList(merged.list, order, merged.order, mergeKey, pace))
  return true
}

/** The patch's elements must stand in the order list, in its order. */
function* checkOrder(change: unknown[], order: unknown[], mergeKey: string | undefined, pace: Pace): Steps<void> {
  const nameOf = (item: unknown) => (mergeKey !== undefined && isRecord(item) ? memberOf(item, mergeKey) : item)
  let position = 0
  for (const item of change) {
    if (isRecord(item) && Object.hasOwn(item, DIRECTIVE)) continue
    while (position < order.length && !equalJson(nameOf(order[position]), nameOf(item))) {
      position++
      if (pace.due()) yield
    }
    if (pace.due()) yield
    if (position === order.length)
      throw statusError.badRequest(
        `The order in patch list:\n${JSON.stringify(change)}\n doesn't match $setElementOrder list:\n${JSON.stringify(order)}\n`,
      )
  }
}

function* deleteFromList(original: Members, name: string, values: unknown, pace: Pace): Steps<void> {
  if (!Array.isArray(values)) throw statusError.badRequest('invalid patch format of primitive list')
  const current = memberOf(original, name)
  if (Array.isArray(current)) setMember(original, name, yield* withoutItems(current, values, pace))
}

/** New content from a value of the patch without a counterpart: no nulls, no directives. */
function* withoutDirectives(value: unknown, pace: Pace): Steps<unknown> {
  if (pace.due()) yield
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (const item of value) {
      const isOrder = isRecord(item) && (item[DIRECTIVE] === 'delete' || item[DIRECTIVE] === 'replace')
      if (!isOrder) list.push(yield* withoutDirectives(item, pace))
    }
    return list
  }
  if (!isRecord(value)) return value
  const directive = memberOf(value, DIRECTIVE)
  if (directive === 'delete') return {}
  if (directive !== undefined && directive !== 'replace') throw badDirective(directive, value)
  const copy: Members = {}
  for (const key of Object.keys(value)) {
    const isDirective =
      key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(SET_ORDER) || key.startsWith(DELETE_FROM_LIST)
    if (isDirective || value[key] === null) continue
    const member = value[key]
    setMember(copy, key, typeof member === 'object' ? yield* withoutDirectives(member, pace) : member)
  }
  return copy
}

function badDirective(directive: unknown, map: Members) {
  return statusError.badRequest(`unknown patch type: ${goPrint(directive)} in map: ${JSON.stringify(map)}`)
}
