/** The facts about one object of a workload space, and the answer that is made of them. */
import type { KubeObject } from '../../../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../../../client/client.ts'
import type { Matchable } from '../../../../placement/select/placementSpec.ts'
import type { LocationMiss, Place } from '../destinations.ts'
import type { Known } from '../known.ts'
import type { ClusterState } from '../workStatus.ts'
import type { Selection } from './selection.ts'
import type { Note } from './whyNotes.ts'
import type { StagesAnswer } from './whyStages.ts'

export interface WhyFacts {
  readonly resource: DiscoveredResource
  readonly object: KubeObject
  readonly placements: Known
  readonly slices: Known
  readonly granted: Known
  readonly bindings: Known
  readonly workStatuses: Known
  /** `undefined` where they cannot be read. */
  readonly namespaceLabels: Readonly<Record<string, string>> | undefined
  /** Some objects of the kind that the object defines. */
  readonly defined: readonly Matchable[]
  /** `--cluster` */
  readonly cluster: string | undefined
  /** PlacementRollouts and PlacementRevisions. Absent: no placement has a strategy, or nobody asks. */
  readonly staged?: { readonly rollouts: Known; readonly revisions: Known }
}

export interface PlacementAnswer extends Selection {
  readonly name: string
  /** It defines the kind of something that the placement selects, and comes along. */
  readonly implied?: string
  /** Notes on the placement's state: failed conditions, malformed selectors, a pause. */
  readonly notes: readonly Note[]
  /** Only where it selects the object. */
  readonly leadsTo?: readonly Place[]
  readonly misses?: readonly LocationMiss[]
  /** Only where it has a rollout. */
  readonly stages?: StagesAnswer
  /** Number of its locations, requested or not. */
  readonly leads?: number
  /** Locations that the space may place on. */
  readonly granted?: number
}

export interface WhyAnswer {
  readonly apiVersion: string
  readonly kind: 'Why'
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly group: string
    readonly resource: string
    readonly namespace?: string
    readonly name: string
    readonly uid: string
    readonly generation?: number
    readonly creationTimestamp?: string
  }
  /** One word. */
  readonly verdict: string
  /** One sentence. */
  readonly message: string
  /** Notes on the object itself. */
  readonly notes: readonly Note[]
  readonly placements: readonly PlacementAnswer[]
  readonly clusters: readonly ClusterState[]
  /** Unknown parts, with their reasons. */
  readonly unknown: readonly string[]
}
