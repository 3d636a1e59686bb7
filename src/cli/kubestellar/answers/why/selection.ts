/**
 * Reason why an EdgePlacement selects an object, or does not, by the translator's own tests. It names the nearest test and its failed
 * criteria, wanted beside had. Pure.
 */
import { at, objects, strings } from '../../../../apimachinery/fields.ts'
import { groupResourceName, type KubeObject } from '../../../../apimachinery/object.ts'
import { someOf } from '../../../../apimachinery/someOf.ts'
import {
  type Criterion,
  compilePlacement,
  type Matchable,
  unmetCriteria,
  upsyncs,
} from '../../../../placement/select/placementSpec.ts'
import { remedyFor } from '../../../../placement/select/selectedKinds.ts'
import { compileSelectors } from '../../../../placement/select/selectors.ts'
import { selectorMisses } from '../destinations.ts'

type Labels = Readonly<Record<string, string>>

interface Miss {
  /** Field of the EdgePlacement. */
  readonly field: string
  /** Wanted value and the object's own. */
  readonly message: string
}

export interface Selection {
  readonly selects: boolean
  /** The test that the object passes. */
  readonly by?: string
  /** The test that it comes nearest to, and all that keeps it from passing. */
  readonly nearest?: { readonly test: string; readonly misses: readonly Miss[] }
  /** An upsync set that names it: where it may be carried up it is born in the clusters, and not placed. */
  readonly heldBackBy?: string
  /** Where there is no test at all. */
  readonly message?: string
}

/** How much it takes to mend a miss: another kind is another object, a label is soon put on. */
const WEIGHTS: Readonly<Record<Criterion, number>> = {
  resources: 16,
  apiGroup: 16,
  objectNames: 4,
  namespaces: 4,
  readable: 3,
  namespaceSelectors: 2,
  labelSelectors: 1,
}

/** @param namespaceLabels `undefined` where they may not be read */
export function explainSelection(
  placement: KubeObject,
  object: Matchable,
  namespaceLabels: Labels | undefined,
): Selection {
  const spec = compilePlacement(placement)
  if (spec.downsync.length === 0)
    return { selects: false, message: 'it has no test in spec.downsync, so it selects nothing' }
  let best: { test: number; weight: number; unmet: Criterion[] } | undefined
  for (const [test, compiled] of spec.downsync.entries()) {
    const unmet = unmetCriteria(compiled, object, namespaceLabels)
    const weight = unmet.reduce((sum, criterion) => sum + WEIGHTS[criterion], 0)
    if (!best || weight < best.weight) best = { test, weight, unmet }
    if (weight === 0) break
  }
  const { test, unmet } = best!
  const path = `spec.downsync[${test}]`
  if (unmet.length > 0) {
    const written = at(placement, 'spec', 'downsync', test)
    const { name = '' } = placement.metadata
    const misses = unmet.map(criterion =>
      missOf(criterion, { placement: name, path, written, object, namespaceLabels }),
    )
    return { selects: false, nearest: { test: path, misses } }
  }
  const set = spec.upsync.findIndex((_, i) => isIn(placement, i, object))
  return { selects: true, by: path, ...(set >= 0 && { heldBackBy: `spec.upsync[${set}]` }) }
}

/** Whether the i-th upsync set alone names the object. */
function isIn(placement: KubeObject, index: number, object: Matchable): boolean {
  const set = objects(placement, 'spec', 'upsync')[index]
  return upsyncs(compilePlacement({ ...placement, spec: { upsync: [set] } }).upsyncTests, object)
}

interface Missed {
  placement: string
  path: string
  written: unknown
  object: Matchable
  namespaceLabels: Labels | undefined
}

function missOf(criterion: Criterion, { placement, path, written, object, namespaceLabels }: Missed): Miss {
  const { resource, namespace, name, labels } = object
  const field = `${path}.${criterion}`
  const named = strings(written, criterion).map(text => JSON.stringify(text))
  const wants = some(named)
  switch (criterion) {
    case 'apiGroup':
      return { field, message: `wants ${groupText(at(written, 'apiGroup'))}, this is of ${groupText(resource.group)}` }
    case 'resources':
      return { field, message: `names ${wants}, this is ${JSON.stringify(resource.resource)}` }
    case 'readable':
      return {
        field: path,
        message: `selects only kinds that its author may get and list, without ${groupResourceName(resource)}. ${remedyFor(placement)}`,
      }
    case 'objectNames':
      return { field, message: `names ${wants}, this is ${JSON.stringify(name)}` }
    case 'namespaces':
      return {
        field,
        message: `names ${wants}, this is ${namespace === '' ? 'cluster-scoped' : `in ${JSON.stringify(namespace)}`}`,
      }
    case 'labelSelectors':
      return { field, message: selectorMiss(written, criterion, field, labels) }
    case 'namespaceSelectors':
      if (namespace === '') return { field, message: 'wants labels of a namespace, this is cluster-scoped' }
      if (!namespaceLabels)
        return { field, message: `the labels of namespace ${JSON.stringify(namespace)} cannot be read` }
      return { field, message: `its namespace: ${selectorMiss(written, criterion, field, namespaceLabels)}` }
  }
}

function selectorMiss(written: unknown, criterion: Criterion, field: string, labels: Labels): string {
  const { selectors, faults } = compileSelectors(at(written, criterion), field)
  const misses = selectorMisses(selectors, labels)
  return misses.length > 0 ? misses.join(', ') : (faults[0] ?? 'selects nothing')
}

function groupText(group: unknown): string {
  return group === '' ? 'the core group' : `group ${JSON.stringify(group)}`
}

const SHOWN = 5

function some(texts: readonly string[]): string {
  return someOf(texts, SHOWN)
}
