/** The copies that cross: of an object of the mailbox for its cluster, and of one that was born there for the mailbox. Pure. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { goesToCluster, JOB_LABELS } from '../../placement/words/marks.ts'
import {
  DOWNSYNCED,
  IMPLIED_ANNOTATION,
  OWNER_ANNOTATION,
  PROJECTED_LABEL,
  PROJECTED_VALUE,
  UPSYNCED,
} from '../../placement/words/placement.ts'
import { isImplied, ownMark } from './marks.ts'

/**
 * The object to apply in the cluster: the mailbox object without the fields of servers and local controllers. `mark` makes it the syncer's:
 * only an object that it creates is its to delete, and an implied Namespace only when it is empty. `owner` is the space of a later
 * deletion.
 */
export function downsyncCopy(
  object: Readonly<KubeObject>,
  { apiVersion, mark, owner }: { apiVersion: string; mark: boolean; owner: string | undefined },
): KubeObject {
  const { status: _status, metadata: _metadata, ...rest } = cloneJson(object) as KubeObject
  const annotations = transportable(object.metadata.annotations)
  if (mark) annotations[isImplied(object) ? IMPLIED_ANNOTATION : DOWNSYNCED] = ownMark(object)
  if (owner !== undefined) annotations[OWNER_ANNOTATION] = owner
  // The label is what the cluster is watched by.
  const labels = { ...object.metadata.labels, [PROJECTED_LABEL]: PROJECTED_VALUE }
  return withoutServerFields({ ...rest, apiVersion, kind: object.kind, metadata: carried(object, labels, annotations) })
}

/** The object to apply in the mailbox for one of the cluster. The status has a road of its own. */
export function upsyncCopy(object: Readonly<KubeObject>, apiVersion: string): KubeObject {
  const { status: _status, metadata: _metadata, ...rest } = cloneJson(object) as KubeObject
  const annotations = transportable(object.metadata.annotations)
  annotations[UPSYNCED] = ownMark(object)
  // A label inherited from a downsynced object would make the center take it for one of its own.
  const { [PROJECTED_LABEL]: _label, ...labels } = object.metadata.labels ?? {}
  return withoutServerFields({ ...rest, apiVersion, kind: object.kind, metadata: carried(object, labels, annotations) })
}

function carried(
  object: Readonly<KubeObject>,
  labels: Record<string, string>,
  annotations: Record<string, string>,
): KubeObject['metadata'] {
  const { name, namespace } = object.metadata
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
}

/** Annotations that belong to one server stay there. */
function transportable(annotations: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => goesToCluster(key)))
}

/** Fields that a server fills in for its own copy and refuses when they come from another one. */
function withoutServerFields(copy: KubeObject): KubeObject {
  const { spec } = copy
  if (!isRecord(spec)) return copy
  if (copy.kind === 'Namespace' && copy.apiVersion === 'v1') delete spec.finalizers
  if (copy.kind === 'Job' && copy.apiVersion.startsWith('batch/') && spec.manualSelector !== true) {
    delete spec.selector
    const template = isRecord(spec.template) && isRecord(spec.template.metadata) ? spec.template.metadata : {}
    for (const labels of [copy.metadata.labels, template.labels])
      if (isRecord(labels)) for (const label of JOB_LABELS) delete labels[label]
  }
  return copy
}
