/** The object that answers StatusCollectors: named and labelled as KubeStellar's. Pure. */
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { apiVersionOf } from '../../apimachinery/object.ts'
import { parseObjectKey } from '../words/names.ts'
import { COMBINED_STATUSES } from '../words/placement.ts'
import type { Combination } from './combination.ts'

/** One object in the clusters of a placement. */
export interface ObjectSubject {
  readonly placement: string
  readonly placementUid: string
  readonly key: string
  readonly uid: string
}

/** All objects that clusters carry up for a placement, upsynced and associated ones, as far as they are for one collector. */
export interface CarriedSubject {
  readonly placement: string
  readonly collector: string
}

export type Subject = ObjectSubject | CarriedSubject

/** Namespace of the answers about what is in none, and about what is carried up. */
export const REPORT_NAMESPACE = 'kubestellar-report'
const LABEL = 'status.kubestellar.io/'
const LABEL_VALUE = /^[a-z0-9A-Z]([-\w.]{0,61}[a-z0-9A-Z])?$/
/** Silent clusters that are named. */
const MAX_STALE_NAMES = 20

export function subjectName(subject: Subject): { namespace: string; name: string } {
  if ('collector' in subject) return { namespace: REPORT_NAMESPACE, name: `${subject.placement}:${subject.collector}` }
  const { namespace } = parseObjectKey(subject.key)
  return { namespace: namespace || REPORT_NAMESPACE, name: `${subject.uid}.${subject.placementUid}` }
}

export interface SubjectKind {
  readonly resource: GroupVersionResource
  readonly kind: string
}

/** Name, labels and spec: as much as selectors may look at. */
export function combinedStatusHead(subject: Subject, object: SubjectKind | undefined): KubeObject {
  const { placement } = subject
  const about = 'key' in subject && object ? parseObjectKey(subject.key) : undefined
  const labels = { ...(about && labelsOf(about)), 'binding-policy': placement }
  return {
    apiVersion: apiVersionOf(COMBINED_STATUSES),
    kind: 'CombinedStatus',
    metadata: {
      ...subjectName(subject),
      labels: Object.fromEntries(
        Object.entries(labels).flatMap(([name, value]) => (isLabel(value) ? [[LABEL + name, value]] : [])),
      ),
    },
    spec: {
      ...(about && {
        sourceRef: {
          group: about.group,
          version: object!.resource.version,
          kind: object!.kind,
          resource: about.resource,
          ...(about.namespace && { namespace: about.namespace }),
          name: about.name,
          uid: (subject as ObjectSubject).uid,
        },
      }),
      placement,
    },
  }
}

export interface Clusters {
  readonly total: number
  /** Names of those that are silent. */
  readonly stale: readonly string[]
}

/** All but name, labels and spec. */
export function combinedResults(
  results: readonly Combination[],
  { total, stale }: Clusters,
): { clusters: object; staleClusters?: readonly string[]; results: readonly Combination[] } {
  return {
    clusters: { total, stale: stale.length },
    ...(stale.length > 0 && { staleClusters: stale.toSorted().slice(0, MAX_STALE_NAMES) }),
    results,
  }
}

function labelsOf({ group, resource, namespace, name }: ReturnType<typeof parseObjectKey>): Record<string, string> {
  return { 'api-group': group, resource, namespace, name }
}

/** A name that is no label's value has none. */
function isLabel(value: string): boolean {
  return value === '' || LABEL_VALUE.test(value)
}
