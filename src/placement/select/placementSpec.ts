/**
 * An EdgePlacement's `spec`, compiled: which objects it downsyncs and what it upsyncs.
 *
 * Downsync tests are ORed, their criteria ANDed, an empty list matches everything. Upsync sets are ORed, their lists ANDed,
 * an empty list matches nothing. Within a space upsync beats downsync where it is granted: the object is born there.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { objects, record, str, strings } from '../../apimachinery/fields.ts'
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import { type LabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../../apimachinery/selectors.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { type AssociatedWish, associatedWish } from '../associated/associated.ts'
import { type LeftRule, leftRules } from '../content/leftRules.ts'
import { groupOfTest } from '../words/placement.ts'
import { isAmong, type KindLimits, kindLimitsOf, limitOf } from './selectedKinds.ts'
import { SelectorParts } from './selectorParts.ts'

type Labels = Readonly<Record<string, string>>

/** Matched parts of an object. */
export interface Matchable {
  readonly resource: GroupResource
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
}

/** As it stands in configurations. */
export interface UpsyncSet {
  apiGroup: string
  resources: string[]
  namespaces: string[]
  names: string[]
}

type Listed = Pick<ReadonlySet<string>, 'has'>

interface UpsyncTest {
  /** `undefined`: any. */
  resources: Listed | undefined
  namespaces: Listed | undefined
  names: Listed | undefined
}

/** By API group: only the sets of its group are tested against an object. */
export type UpsyncTests = ReadonlyMap<string, readonly UpsyncTest[]>

interface DownsyncTest {
  apiGroup: string | undefined
  resources: Listed | undefined
  /** Kinds that the author of a wide test might read. */
  readable: Listed | undefined
  namespaces: Listed | undefined
  names: Listed | undefined
  /** `undefined`: no criterion. A list whose items are all malformed matches nothing. */
  namespaceSelectors: readonly LabelSelector[] | undefined
  labelSelectors: readonly LabelSelector[] | undefined
  /** Names of StatusCollectors of what passes. */
  collectors: readonly string[]
}

/** Objects that clusters carry up, as far as a StatusCollector is about them. */
export interface CarriedTests {
  /** Sets of `upsync` that name it. */
  readonly upsync: UpsyncTests
  /** Whether `associated` names it. */
  readonly associated: boolean
}

export interface PlacementSpec {
  /** The uid of the EdgePlacement. */
  readonly uid: string
  readonly downsync: readonly DownsyncTest[]
  /** In the order of the object, so that the i-th is `spec.upsync[i]`. */
  readonly upsync: readonly UpsyncSet[]
  readonly upsyncTests: UpsyncTests
  /** Objects of clusters that a StatusCollector is about, by its name. */
  readonly carriedCollectors: ReadonlyMap<string, CarriedTests>
  /** Names of all StatusCollectors, sorted; of too many, the first ones. */
  readonly collectors: readonly string[]
  readonly wantSingletonReportedState: boolean
  readonly wantMultiWECReportedState: boolean
  /** Whether clusters keep what is not placed any more. */
  readonly preserves: boolean
  /** Whether nothing of it is changed or deleted in the mailboxes. */
  readonly isPaused: boolean
  /** Fields of the objects that are left to the clusters. */
  readonly left: readonly LeftRule[]
  /** Kinds of associated objects that are to be carried up. */
  readonly associated: AssociatedWish | undefined
  /** Whether labels of Namespaces can change the outcome. */
  readonly readsNamespaceLabels: boolean
  /** `rolloutStrategy` as it is written; absent: there is none. */
  readonly rollout: unknown
  /** Revisions that are kept. */
  readonly historyLimit: number
}

/** Revisions of a placement that are kept where it does not say how many. */
export const DEFAULT_HISTORY = 10

export function compilePlacement(object: KubeObject): PlacementSpec {
  const spec = record(object, 'spec')
  const parts = new SelectorParts()
  const limits = kindLimitsOf(object)
  const downsync: DownsyncTest[] = []
  for (const test of objects(spec.downsync)) {
    // the where-resolver says so
    if (!parts.takeTest()) break
    downsync.push(compileTest(test, parts, limits))
  }
  const upsync = upsyncSets(spec.upsync)
  const setsOf = Map.groupBy(
    objects(spec.upsync).flatMap((set, i) => collectorNames(set).map(name => ({ name, set: upsync[i] }))),
    ({ name }) => name,
  )
  const associated = associatedWish(spec)
  const ofAssociated = new Set(associated && collectorNames(record(spec.associated)))
  const named = new Set([...downsync.flatMap(test => test.collectors), ...setsOf.keys(), ...ofAssociated])
  const collectors = [...named].sort().slice(0, MAX_COLLECTORS)
  const carriedCollectors = new Map<string, CarriedTests>()
  for (const name of collectors) {
    const sets = setsOf.get(name)?.flatMap(({ set }) => set ?? [])
    if (sets || ofAssociated.has(name))
      carriedCollectors.set(name, { upsync: compileUpsync(sets ?? []), associated: ofAssociated.has(name) })
  }
  return {
    uid: object.metadata?.uid ?? '',
    downsync,
    upsync,
    upsyncTests: compileUpsync(upsync),
    carriedCollectors,
    collectors,
    wantSingletonReportedState: spec.wantSingletonReportedState === true,
    wantMultiWECReportedState: spec.wantMultiWECReportedState === true,
    preserves: spec.preserveResourcesOnDeletion === true,
    isPaused: spec.paused === true,
    left: leftRules(spec),
    associated,
    readsNamespaceLabels: downsync.some(test => test.namespaceSelectors !== undefined),
    rollout: spec.rolloutStrategy ?? undefined,
    historyLimit: typeof spec.revisionHistoryLimit === 'number' ? spec.revisionHistoryLimit : DEFAULT_HISTORY,
  }
}

/** Whether copies of the placement differ by it, wherever they are. */
export function changesCopies(before: PlacementSpec, after: PlacementSpec): boolean {
  return before.preserves !== after.preserves || !equalJson(before.left, after.left)
}

/**
 * Evaluated before upsync sets. `namespaceLabels` are those of the object's Namespace; ignored for cluster-scoped objects.
 */
export function downsyncs(spec: PlacementSpec, object: Matchable, namespaceLabels: Labels | undefined): boolean {
  return spec.downsync.some(test => passes(test, object, namespaceLabels))
}

/** StatusCollectors of a placement that all tests and sets together may name. */
export const MAX_COLLECTORS = 16

function collectorNames(test: Record<string, unknown>): string[] {
  return strings(test.statusCollectors).slice(0, MAX_COLLECTORS)
}

/** Names of the StatusCollectors of all tests that an object passes, sorted. */
export function collectorsOf(spec: PlacementSpec, object: Matchable, namespaceLabels: Labels | undefined): string[] {
  if (spec.collectors.length === 0) return []
  const names = spec.downsync.flatMap(test =>
    test.collectors.length > 0 && passes(test, object, namespaceLabels) ? test.collectors : [],
  )
  return spec.collectors.filter(name => names.includes(name))
}

/** Sets of one placement or of several, compiled to be held against many objects. */
export function compileUpsync(sets: readonly UpsyncSet[]): UpsyncTests {
  const tests = new Map<string, UpsyncTest[]>()
  for (const { apiGroup, resources, namespaces, names } of sets) {
    const test = { resources: anyOf(resources), namespaces: anyOf(namespaces), names: anyOf(names) }
    const ofGroup = tests.get(apiGroup)
    if (ofGroup) ofGroup.push(test)
    else tests.set(apiGroup, [test])
  }
  return tests
}

export function upsyncs(tests: UpsyncTests, { resource, namespace, name }: Omit<Matchable, 'labels'>): boolean {
  const ofGroup = tests.get(resource.group)
  return (
    ofGroup?.some(
      test =>
        (test.resources?.has(resource.resource) ?? true) &&
        (namespace === '' || (test.namespaces?.has(namespace) ?? true)) &&
        (test.names?.has(name) ?? true),
    ) ?? false
  )
}

/** Whether any objects of the kind may match. */
export function upsyncsKind(tests: UpsyncTests, { group, resource }: GroupResource): boolean {
  return tests.get(group)?.some(test => test.resources?.has(resource) ?? true) ?? false
}

/** Those that count: of too many, the first ones. */
function upsyncSets(value: unknown): UpsyncSet[] {
  const parts = new SelectorParts()
  const sets: UpsyncSet[] = []
  for (const set of objects(value)) {
    // the where-resolver says so
    if (!parts.takeTest()) break
    sets.push({
      apiGroup: str(set.apiGroup),
      resources: strings(set.resources),
      namespaces: strings(set.namespaces),
      names: strings(set.names),
    })
  }
  return sets
}

/** Criteria of a test by the name of their field; each stands alone. */
const CRITERIA = {
  apiGroup: (test, { resource }) => test.apiGroup === undefined || test.apiGroup === resource.group,
  resources: (test, { resource }) => test.resources?.has(resource.resource) ?? true,
  readable: (test, { resource }) => test.readable === undefined || isAmong(test.readable, resource),
  namespaces: (test, { namespace }) => test.namespaces?.has(namespace) ?? true,
  objectNames: (test, { name }) => test.names?.has(name) ?? true,
  labelSelectors: (test, { labels }) => test.labelSelectors?.some(s => s.matches(labels)) ?? true,
  namespaceSelectors: (test, { namespace }, namespaceLabels = {}) =>
    test.namespaceSelectors?.some(s => s.matches(namespace === '' ? {} : namespaceLabels)) ?? true,
} satisfies Record<string, (test: DownsyncTest, object: Matchable, namespaceLabels: Labels | undefined) => boolean>

export type Criterion = keyof typeof CRITERIA
const CRITERION_NAMES = Object.keys(CRITERIA) as Criterion[]
const ALL_CRITERIA = Object.values(CRITERIA)

function passes(test: DownsyncTest, object: Matchable, namespaceLabels: Labels | undefined): boolean {
  for (const holds of ALL_CRITERIA) if (!holds(test, object, namespaceLabels)) return false
  return true
}

/** Criteria of a test that an object does not meet; empty where it passes. For people: all are evaluated. */
export function unmetCriteria(test: DownsyncTest, object: Matchable, namespaceLabels: Labels | undefined): Criterion[] {
  return CRITERION_NAMES.filter(name => !CRITERIA[name](test, object, namespaceLabels))
}

function compileTest(test: Record<string, unknown>, parts: SelectorParts, limits: KindLimits): DownsyncTest {
  const limit = limitOf(limits, test)
  return {
    apiGroup: groupOfTest(test),
    resources: criterion(test.resources),
    readable: limit && listed(limit.kinds),
    namespaces: criterion(test.namespaces),
    names: criterion(test.objectNames),
    namespaceSelectors: selectors(test.namespaceSelectors, parts),
    labelSelectors: selectors(test.labelSelectors, parts),
    collectors: collectorNames(test),
  }
}

/** A list as a set; empty or with `*` it is no criterion at all. */
function criterion(value: unknown): Listed | undefined {
  const list = strings(value)
  return list.length === 0 || list.includes('*') ? undefined : listed(list)
}

/** A malformed selector, or one too many, is left out (the where-resolver reports it to the user); the others still count. */
function selectors(value: unknown, parts: SelectorParts): readonly LabelSelector[] | undefined {
  const list = objects(value)
  if (list.length === 0) return undefined
  return list.flatMap(item => {
    if (!parts.take(item)) return []
    try {
      return [labelSelectorFromObject(item as LabelSelectorObject)]
    } catch (error) {
      if (isStatusError(error)) return []
      throw error
    }
  })
}

/** A list as a set; with `*` anything is in it, empty nothing is. */
function anyOf(list: readonly string[]): Listed | undefined {
  return list.includes('*') ? undefined : listed(list)
}

/** A Set takes ten times the memory of a short list, and a placement may have thousands of them. */
function listed(list: readonly string[]): Listed {
  return list.length > FEW ? new Set(list) : new Few(list)
}

const FEW = 8

class Few implements Listed {
  readonly #list: readonly string[]

  constructor(list: readonly string[]) {
    this.#list = list
  }

  has(text: string): boolean {
    return this.#list.includes(text)
  }
}
