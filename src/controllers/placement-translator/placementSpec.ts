/**
 * An EdgePlacement's `spec`, compiled: which objects it downsyncs and what it upsyncs.
 *
 * Downsync tests are ORed, their criteria ANDed, an empty list matches everything. Upsync sets are ORed, their lists ANDed,
 * an empty list matches nothing. An object that both match is not downsynced: it is born in the cluster.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { objects, strings } from '../../apimachinery/fields.ts'
import { type GroupResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { type LabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../../apimachinery/selectors.ts'
import { SelectorParts } from '../selectorParts.ts'

type Labels = Readonly<Record<string, string>>

/** What is known of an object when it is matched. */
export interface Matchable {
  readonly resource: GroupResource
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
}

export interface UpsyncSet {
  apiGroup: string
  resources: string[]
  namespaces: string[]
  names: string[]
}

interface DownsyncTest {
  apiGroup: string | undefined
  resources: ReadonlySet<string> | undefined
  namespaces: ReadonlySet<string> | undefined
  names: ReadonlySet<string> | undefined
  /** `undefined`: no criterion. A list whose items are all malformed matches nothing. */
  namespaceSelectors: readonly LabelSelector[] | undefined
  labelSelectors: readonly LabelSelector[] | undefined
}

export interface PlacementSpec {
  readonly downsync: readonly DownsyncTest[]
  readonly upsync: readonly UpsyncSet[]
  readonly wantSingletonReportedState: boolean
  /** Whether labels of Namespaces can change the outcome. */
  readonly readsNamespaceLabels: boolean
}

export function compilePlacement(object: KubeObject): PlacementSpec {
  const spec = isRecord(object.spec) ? object.spec : {}
  const parts = new SelectorParts()
  const downsync: DownsyncTest[] = []
  for (const test of objects(spec.downsync)) {
    // the where-resolver says so
    if (!parts.takeTest()) break
    downsync.push(compileTest(test, parts))
  }
  return {
    downsync,
    upsync: objects(spec.upsync).map(set => ({
      apiGroup: typeof set.apiGroup === 'string' ? set.apiGroup : '',
      resources: strings(set.resources),
      namespaces: strings(set.namespaces),
      names: strings(set.names),
    })),
    wantSingletonReportedState: spec.wantSingletonReportedState === true,
    readsNamespaceLabels: downsync.some(test => test.namespaceSelectors !== undefined),
  }
}

/** `namespaceLabels` are those of the object's Namespace; ignored for cluster-scoped objects. */
export function downsyncs(spec: PlacementSpec, object: Matchable, namespaceLabels: Labels | undefined): boolean {
  return (
    spec.downsync.some(test => passes(test, object, namespaceLabels)) && !spec.upsync.some(set => upsyncs(set, object))
  )
}

export function upsyncs(set: UpsyncSet, object: Matchable): boolean {
  return (
    set.apiGroup === object.resource.group &&
    holds(set.resources, object.resource.resource) &&
    (object.namespace === '' || holds(set.namespaces, object.namespace)) &&
    holds(set.names, object.name)
  )
}

function passes(test: DownsyncTest, object: Matchable, namespaceLabels: Labels | undefined): boolean {
  if (test.apiGroup !== undefined && test.apiGroup !== object.resource.group) return false
  if (test.resources && !test.resources.has(object.resource.resource)) return false
  if (test.namespaces && !test.namespaces.has(object.namespace)) return false
  if (test.names && !test.names.has(object.name)) return false
  if (test.labelSelectors && !test.labelSelectors.some(s => s.matches(object.labels))) return false
  if (test.namespaceSelectors) {
    const labels = object.namespace === '' ? {} : (namespaceLabels ?? {})
    if (!test.namespaceSelectors.some(s => s.matches(labels))) return false
  }
  return true
}

function compileTest(test: Record<string, unknown>, parts: SelectorParts): DownsyncTest {
  return {
    apiGroup: typeof test.apiGroup === 'string' ? test.apiGroup : undefined,
    resources: criterion(test.resources),
    namespaces: criterion(test.namespaces),
    names: criterion(test.objectNames),
    namespaceSelectors: selectors(test.namespaceSelectors, parts),
    labelSelectors: selectors(test.labelSelectors, parts),
  }
}

/** A list as a set; empty or with `*` it is no criterion at all. */
function criterion(value: unknown): ReadonlySet<string> | undefined {
  const list = strings(value)
  return list.length === 0 || list.includes('*') ? undefined : new Set(list)
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

function holds(list: readonly string[], value: string): boolean {
  return list.includes(value) || list.includes('*')
}
