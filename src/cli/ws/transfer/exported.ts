/**
 * The part of a space that goes to another one, and each object as it goes: without what its server gave it. Owners are named, without the uids
 * that they have here. Pure.
 */
import { type GroupResource, groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { isServersKey, LOGICAL_CLUSTERS, WORKSPACES } from '../../../apimachinery/resources.ts'
import { isTokenSecret } from '../../../apimachinery/tokenSecret.ts'
import { asDescribed } from '../../../placement/content/asDescribed.ts'
import { withoutServerFields } from '../../../placement/content/projection.ts'
import { waveOf } from '../../../placement/content/wave.ts'
import { isServersObject } from '../../../placement/select/eligibility.ts'
import { FIRST_NAMESPACES } from '../../../placement/spaces/firstContent.ts'
import { MARKS } from '../../../placement/words/marks.ts'
import {
  CLUSTER_FINALIZER,
  COMBINED_STATUSES,
  EDGE_PLACEMENTS,
  EDGE_SYNC_CONFIGS,
  GRANTED_LOCATIONS,
  PLACEMENT_CONTENTS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SELECTED_KINDS_ANNOTATION,
  SLICES,
  SYNCER_CONFIGS,
} from '../../../placement/words/placement.ts'
import { phaseOf } from '../../../syncer/down/phases.ts'

/** Kinds that a server makes for itself, or that tell of one moment. */
const LEFT: ReadonlySet<string> = new Set([
  ...[
    LOGICAL_CLUSTERS,
    WORKSPACES,
    SLICES,
    GRANTED_LOCATIONS,
    EDGE_SYNC_CONFIGS,
    SYNCER_CONFIGS,
    COMBINED_STATUSES,
    PLACEMENT_CONTENTS,
    PLACEMENT_REVISIONS,
    PLACEMENT_ROLLOUTS,
  ].map(groupResourceName),
  'events',
  'events.events.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
])
/** Each space has them from birth. */
const NAMESPACES: ReadonlySet<string> = new Set([...FIRST_NAMESPACES, 'kube-node-lease'])
const AUTOMATIC = 'apf.kubernetes.io/autoupdate-spec'

/** Whether a kind goes to another space, as far as its user may read and make it. */
export function goesAlong({ verbs, ...kind }: GroupResource & { readonly verbs: readonly string[] }): boolean {
  return !LEFT.has(groupResourceName(kind)) && ['get', 'list', 'create'].every(verb => verbs.includes(verb))
}

/** Whether an object of such a kind stays: each space has its own, or it is going. */
export function stays(kind: GroupResource, object: KubeObject): boolean {
  const { name = '', annotations, deletionTimestamp } = object.metadata
  if (deletionTimestamp !== undefined || isServersObject(kind, object) || isTokenSecret(object)) return true
  if (annotations?.[AUTOMATIC] !== undefined) return true
  const text = groupResourceName(kind)
  return (
    (text === 'namespaces' && NAMESPACES.has(name)) ||
    (text.startsWith('priorityclasses.') && name.startsWith('system-'))
  )
}

export function exported(object: KubeObject): KubeObject {
  const { status: _reported, ...described } = withoutServerFields(asDescribed(object))
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = object.metadata
  const others = finalizers?.filter(finalizer => finalizer !== CLUSTER_FINALIZER)
  const owners = ownerReferences?.map(({ uid: _here, ...owner }) => owner)
  return {
    ...described,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...kept('labels', labels, key => !isServersKey(key)),
      ...kept('annotations', annotations, goesToAnother),
      ...(others && others.length > 0 && { finalizers: others }),
      ...(owners && owners.length > 0 && { ownerReferences: owners as never }),
    },
  }
}

/** Annotations of authors alone. */
function goesToAnother(key: string): boolean {
  return !isServersKey(key) && key !== SELECTED_KINDS_ANNOTATION && (MARKS[key]?.by ?? 'author') === 'author'
}

function kept(
  field: 'labels' | 'annotations',
  values: Readonly<Record<string, string>> | undefined,
  goes: (key: string) => boolean,
): Record<string, Record<string, string>> {
  const left = Object.entries(values ?? {}).filter(([key]) => goes(key))
  return left.length === 0 ? {} : { [field]: Object.fromEntries(left) }
}

/** Namespaces and definitions come first, whatever their wave: all others need them. */
const GROUND = 2

/** Where an object comes in an import: waves, then what kinds need each other, and placements when all is there. */
export function placeOf(kind: GroupResource, object: KubeObject): readonly [number, number, number] {
  const phase = phaseOf(kind)
  const isPlacement = groupResourceName(kind) === groupResourceName(EDGE_PLACEMENTS)
  if (isPlacement) return [2, 0, phase]
  return phase < GROUND ? [0, 0, phase] : [1, waveOf(object) ?? 0, phase]
}

export function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, i) => number !== b[i])
  return at < 0 ? 0 : a[at]! - b[at]!
}
