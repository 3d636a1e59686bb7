/**
 * Additions of an EdgePlacement's change to its downsync: tests that no earlier test covers. Also tests whose objects a removed upsync set
 * may have held back. Narrowing adds nothing. Pure.
 */
import { objects, record, strings } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { MAX_COLLECTORS } from '../../placement/select/placementSpec.ts'
import { type KindLimits, limitOf } from '../../placement/select/selectedKinds.ts'
import { groupOfTest } from '../../placement/words/placement.ts'

/** `undefined`: any. */
export interface KindPattern {
  readonly group: string | undefined
  readonly resource: string | undefined
}

export interface AddedTest {
  /** `spec.downsync[i]` */
  readonly field: string
  /** `undefined`: any. */
  readonly apiGroup: string | undefined
  /** `undefined`: all, and so on. Named namespaces leave out cluster-scoped objects. */
  readonly resources: ReadonlySet<string> | undefined
  readonly namespaces: ReadonlySet<string> | undefined
  readonly names: ReadonlySet<string> | undefined
  /** As it stands in the spec. */
  readonly written: Readonly<Record<string, unknown>>
  /** Kinds that earlier tests selected wherever this one does. */
  readonly before: readonly KindPattern[]
  /** Whether it is new in all its places. Otherwise earlier tests select all kinds in some of them. */
  readonly isNew: boolean
}

interface Test extends AddedTest {
  /** `undefined`: no criterion. */
  readonly labels: ReadonlySet<string> | undefined
  readonly namespaceLabels: ReadonlySet<string> | undefined
}

/** Bound on a placement, as everywhere: tests behind it carry nothing. */
const MAX_TESTS = 10_000
/** Items of lists that are compared; of more, what is not the same as before counts as added. */
const MAX_WORK = 1_000_000

/** `old` is `undefined` for a new placement. `limits`: of the wide tests that were there. */
export function addedTests(spec: unknown, old: unknown, limits: KindLimits = new Map()): AddedTest[] {
  const [now, before] = [records(spec, 'downsync'), records(old, 'downsync')]
  const same = new Set(before.map(selectionText))
  const changed = now.map(testOf).filter((_, i) => !same.has(selectionText(now[i]!)))
  const former = before.flatMap((test, i) => limited(testOf(test, i), limits, test))
  const covers = workOf(changed) * former.length <= MAX_WORK ? former : []
  const added = changed.flatMap(test => surplus(test, covers) ?? [])
  const released = releasedSets(spec, old)
  const kept = released.length === 0 ? [] : now.flatMap((test, i) => limited(testOf(test, i), limits, test))
  const compared = released.reduce((sum, set) => sum + 1 + set.resources.length, 0) * kept.length <= MAX_WORK
  const meant = kept.filter(
    ({ apiGroup, resources }) => !compared || released.some(set => meets(set, apiGroup, resources)),
  )
  return [...added, ...meant.map(test => ({ ...test, isNew: false }))]
}

/** StatusCollectors select nothing, and hold nothing back. */
function selectionText({ statusCollectors: _, ...selection }: Record<string, unknown>): string {
  return JSON.stringify(selection)
}

/** A spec with the limits of its wide tests. */
interface Limited {
  readonly spec: unknown
  readonly limits: KindLimits
}

/**
 * Tests, upsync sets and associated kinds whose objects a change shows by a StatusCollector that did not show them before. Summaries have
 * readers who may not read these objects.
 */
export function shownTests(now: Limited, old: Limited): AddedTest[] {
  return [downsyncNaming, upsyncNaming, associatedNaming].flatMap(of => newlyShown(of(now), of(old)))
}

/** Tests by the StatusCollectors that they name. */
type Naming = ReadonlyMap<string, readonly Test[]>

function newlyShown(now: Naming, before: Naming): AddedTest[] {
  return [...now].slice(0, MAX_COLLECTORS).flatMap(([name, shown]) => {
    const former = before.get(name) ?? []
    const covers = workOf(shown) * former.length <= MAX_WORK ? former : []
    return shown.flatMap(test => surplus(test, covers) ?? [])
  })
}

function downsyncNaming({ spec, limits }: Limited): Naming {
  return naming(records(spec, 'downsync'), (test, i) => limited(testOf(test, i), limits, test))
}

function upsyncNaming({ spec }: Limited): Naming {
  return naming(records(spec, 'upsync'), setOf)
}

function associatedNaming({ spec }: Limited): Naming {
  const associated = record(spec, 'associated')
  return naming([associated], ({ kinds }) => strings(kinds).map(associatedKind))
}

/** A pattern with a `*` counts as all kinds: `*.x.io` is `things.x.io`, and `things.sub.x.io`, too. */
function associatedKind(pattern: string): Test {
  const [resource = '', ...group] = pattern.split('.')
  const test = pattern.includes('*') ? {} : { apiGroup: group.join('.'), resources: [resource] }
  return { ...testOf(test, 0), field: 'spec.associated' }
}

function naming(
  list: readonly Record<string, unknown>[],
  testsOf: (one: Record<string, unknown>, i: number) => Test[],
): Naming {
  const found = new Map<string, Test[]>()
  for (const [i, one] of list.entries()) {
    const names = new Set(strings(one.statusCollectors))
    if (names.size === 0) continue
    const tests = testsOf(one, i)
    for (const name of names) {
      const known = found.get(name)
      if (known) known.push(...tests)
      else found.set(name, [...tests])
    }
  }
  return found
}

/** An upsync set as a test. An empty list matches nothing, and the group `*` none, but cluster-scoped objects are in no namespace. */
function setOf(set: Record<string, unknown>, i: number): Test[] {
  const { apiGroup = '', resources, namespaces, names } = set
  if (apiGroup === '*' || strings(resources).length === 0 || strings(names).length === 0) return []
  return [{ ...testOf({ apiGroup, resources, namespaces, objectNames: names }, i), field: `spec.upsync[${i}]` }]
}

function workOf(tests: readonly Test[]): number {
  return tests.reduce((sum, test) => CRITERIA.reduce((items, list) => items + (test[list]?.size ?? 0), sum + 1), 0)
}

interface UpsyncSet {
  readonly apiGroup: string
  readonly resources: readonly string[]
}

/** Upsync sets that were there and are not any more as they were. */
function releasedSets(spec: unknown, old: unknown): UpsyncSet[] {
  const now = new Set(records(spec, 'upsync').map(selectionText))
  return records(old, 'upsync')
    .filter(set => !now.has(selectionText(set)))
    .map(({ apiGroup, resources }) => ({
      apiGroup: typeof apiGroup === 'string' ? apiGroup : '',
      resources: strings(resources),
    }))
}

function meets(set: UpsyncSet, apiGroup: string | undefined, resources: ReadonlySet<string> | undefined): boolean {
  if (apiGroup !== undefined && apiGroup !== set.apiGroup) return false
  return resources === undefined || set.resources.some(resource => resource === '*' || resources.has(resource))
}

/** A wide test as the tests that name what it selects, one for each group; another as it is. */
function limited(test: Test, limits: KindLimits, written: Record<string, unknown>): Test[] {
  const limit = limitOf(limits, written)
  if (limit === undefined) return [test]
  const byGroup = new Map<string, Set<string>>()
  for (const kind of limit.kinds) {
    const [resource = '', ...group] = kind.split('.')
    const name = group.join('.')
    byGroup.set(name, (byGroup.get(name) ?? new Set()).add(resource))
  }
  return [...byGroup].map(([apiGroup, resources]) => ({
    ...test,
    apiGroup,
    resources: resources.has('*') ? test.resources : (test.resources?.intersection(resources) ?? resources),
  }))
}

/** Part of a test that passes none of the others; where one differs in one list alone, only the items that it lacks are left. */
function surplus(test: Test, others: readonly Test[]): Test | undefined {
  let left = test
  const before: KindPattern[] = []
  for (const other of others) {
    const isOfGroup = other.apiGroup === undefined || left.apiGroup === other.apiGroup
    if (!isOfGroup && left.apiGroup !== undefined) continue
    const wider = CRITERIA.filter(list => !isSubset(left[list], other[list]))
    const [first, ...more] = wider
    if (isOfGroup && first === undefined) return undefined
    if (more.length > 0) continue
    const isOfKinds = first === undefined || first === 'resources'
    if (isOfKinds) before.push(...sharedKinds(left, other))
    const [some, all] = first === undefined ? [] : [left[first], other[first]]
    if (isOfGroup && first !== undefined && some && all && !some.isDisjointFrom(all))
      left = { ...left, isNew: left.isNew && isOfKinds, [first]: some.difference(all) }
  }
  return { ...left, before }
}

/** Kinds that two tests have in common, the other narrower in nothing else. */
function sharedKinds(test: Test, other: Test): KindPattern[] {
  const group = other.apiGroup ?? test.apiGroup
  const resources = test.resources && other.resources?.intersection(test.resources)
  return [...(resources ?? other.resources ?? test.resources ?? [undefined])].map(resource => ({ group, resource }))
}

const CRITERIA = ['resources', 'namespaces', 'names', 'labels', 'namespaceLabels'] as const

function isSubset(some: ReadonlySet<string> | undefined, all: ReadonlySet<string> | undefined): boolean {
  return all === undefined || (some?.isSubsetOf(all) ?? false)
}

function testOf(test: Record<string, unknown>, i: number): Test {
  return {
    field: `spec.downsync[${i}]`,
    apiGroup: groupOfTest(test),
    resources: criterion(test.resources),
    namespaces: criterion(test.namespaces),
    names: criterion(test.objectNames),
    labels: selectors(test.labelSelectors),
    namespaceLabels: selectors(test.namespaceSelectors),
    written: test,
    before: [],
    isNew: true,
  }
}

function criterion(value: unknown): ReadonlySet<string> | undefined {
  const list = strings(value)
  return list.length === 0 || list.includes('*') ? undefined : new Set(list)
}

/** By their text: what one selects is not compared with what another does. */
function selectors(value: unknown): ReadonlySet<string> | undefined {
  const list = objects(value)
  return list.length === 0 ? undefined : new Set(list.map(selector => JSON.stringify(selector)))
}

function records(spec: unknown, list: 'downsync' | 'upsync'): Record<string, unknown>[] {
  return isRecord(spec) ? objects(spec[list]).slice(0, MAX_TESTS) : []
}
