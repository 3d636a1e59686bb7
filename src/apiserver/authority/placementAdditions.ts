/**
 * What a change of an EdgePlacement adds to what it carries down: tests that no earlier test covers, and tests from which an
 * upsync set that is gone may have held something back. Narrowing adds nothing. Pure.
 */
import { objects, strings } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { groupOfTest } from '../../placement/words/placement.ts'

export interface AddedTest {
  /** `spec.downsync[i]` */
  readonly field: string
  /** `undefined`: any. */
  readonly apiGroup: string | undefined
  /** `undefined`: all, and so on. Named namespaces leave out cluster-scoped objects. */
  readonly resources: ReadonlySet<string> | undefined
  readonly namespaces: ReadonlySet<string> | undefined
  readonly names: ReadonlySet<string> | undefined
}

interface Test extends AddedTest {
  /** `undefined`: no criterion. */
  readonly labels: ReadonlySet<string> | undefined
  readonly namespaceLabels: ReadonlySet<string> | undefined
}

/** Of a placement, as everywhere: those behind carry nothing. */
const MAX_TESTS = 10_000
/** Items of lists that are compared; of more, what is not the same as before counts as added. */
const MAX_WORK = 1_000_000

/** `old` is `undefined` for a new placement. */
export function addedTests(spec: unknown, old: unknown): AddedTest[] {
  const [now, before] = [records(spec, 'downsync'), records(old, 'downsync')]
  const same = new Set(before.map(test => JSON.stringify(test)))
  const changed = now.map(testOf).filter((_, i) => !same.has(JSON.stringify(now[i])))
  const covers = workOf(changed) * before.length <= MAX_WORK ? before.map(testOf) : []
  const added = changed.flatMap(test => surplus(test, covers) ?? [])
  const released = releasedSets(spec, old)
  const kept = released.length === 0 ? [] : now.map(testOf)
  const compared = released.reduce((sum, set) => sum + 1 + set.resources.length, 0) * kept.length <= MAX_WORK
  return [
    ...added,
    ...kept.filter(({ apiGroup, resources }) => !compared || released.some(set => meets(set, apiGroup, resources))),
  ]
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
  const now = new Set(records(spec, 'upsync').map(set => JSON.stringify(set)))
  return records(old, 'upsync')
    .filter(set => !now.has(JSON.stringify(set)))
    .map(({ apiGroup, resources }) => ({
      apiGroup: typeof apiGroup === 'string' ? apiGroup : '',
      resources: strings(resources),
    }))
}

function meets(set: UpsyncSet, apiGroup: string | undefined, resources: ReadonlySet<string> | undefined): boolean {
  if (apiGroup !== undefined && apiGroup !== set.apiGroup) return false
  return resources === undefined || set.resources.some(resource => resource === '*' || resources.has(resource))
}

/** What of a test passes none of the others; where one differs in one list alone, only the items that it lacks are left. */
function surplus(test: Test, others: readonly Test[]): Test | undefined {
  let left = test
  for (const other of others) {
    if (other.apiGroup !== undefined && left.apiGroup !== other.apiGroup) continue
    const [wider, ...more] = CRITERIA.filter(list => !isSubset(left[list], other[list]))
    if (wider === undefined) return undefined
    const [some, all] = [left[wider], other[wider]]
    if (more.length === 0 && some && all) left = { ...left, [wider]: some.difference(all) }
  }
  return left
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
