/**
 * Whose an object is, and what crosses: the marks that downsync and upsync leave, and the copies that they carry. Pure.
 */
import type { KubeObject } from '../apimachinery/object.ts'

export const DOWNSYNCED = 'edge.kubestellar.io/downsynced'
export const UPSYNCED = 'edge.kubestellar.io/upsynced'
export const OVERWRITE = 'edge.kubestellar.io/downsync-overwrite'
export const PROJECTED_LABEL = 'edge.kubestellar.io/projected'
/** Field manager of everything that the syncer applies. */
export const FIELD_MANAGER = 'kubestellar-syncer'

/** `Kind/namespace/name`, `Kind//name` without a namespace: children that inherit the annotation do not inherit its value. */
export function ownMark(object: Readonly<KubeObject>): string {
  return `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`
}

export function isOurs(object: Readonly<KubeObject>, annotation: string): boolean {
  return object.metadata.annotations?.[annotation] === ownMark(object)
}

/** Absent, empty or "true": the center's word goes. Anything else: create when absent, then keep hands off. */
export function mayOverwrite(object: Readonly<KubeObject>): boolean {
  const value = object.metadata.annotations?.[OVERWRITE]
  return value === undefined || value === '' || value === 'true'
}

/**
 * What to apply in the cluster: the mailbox object without what servers and local controllers own.
 * `mark` makes it ours: only an object that we create is ours to delete.
 */
export function downsyncCopy(object: Readonly<KubeObject>, apiVersion: string, mark: boolean): KubeObject {
  const { status: _status, metadata, ...rest } = structuredClone(object) as KubeObject
  const annotations = transportable(metadata.annotations)
  if (mark) annotations[DOWNSYNCED] = ownMark(object)
  return { ...rest, apiVersion, kind: object.kind, metadata: carriedMetadata(object, annotations) }
}

/** What to create in the mailbox for an object of the cluster. */
export function upsyncCopy(object: Readonly<KubeObject>, apiVersion: string): KubeObject {
  const { metadata, ...rest } = structuredClone(object) as KubeObject
  const annotations = transportable(metadata.annotations)
  annotations[UPSYNCED] = ownMark(object)
  return { ...rest, apiVersion, kind: object.kind, metadata: carriedMetadata(object, annotations) }
}

function carriedMetadata(object: Readonly<KubeObject>, annotations: Record<string, string>): KubeObject['metadata'] {
  const { name, namespace, labels } = object.metadata
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels: { ...labels } }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
}

/** Annotations that belong to one server stay there: the space's id, and what kubectl remembers of its last apply. */
function transportable(annotations: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [key, value] of Object.entries(annotations ?? {})) {
    const domain = key.split('/')[0]!
    const serverOwned = domain === 'kcp.io' || domain.endsWith('.kcp.io')
    if (
      !serverOwned &&
      key !== 'kubectl.kubernetes.io/last-applied-configuration' &&
      key !== DOWNSYNCED &&
      key !== UPSYNCED
    )
      kept[key] = value
  }
  return kept
}
