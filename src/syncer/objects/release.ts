/** Objects that stay in a cluster without a placement: the marks come off, so that no syncer takes them for its own again. */
import { fromFieldsV1 } from '../../apimachinery/apply/fieldSet.ts'
import { keyElement } from '../../apimachinery/apply/pathElement.ts'
import type { KubeObject, OwnerReference } from '../../apimachinery/object.ts'
import {
  DOWNSYNCED,
  EXECUTING_COUNT_ANNOTATION,
  IMPLIED_ANNOTATION,
  KEEP_ON_DELETE,
  OWNER_ANNOTATION,
  PRESERVE_ANNOTATION,
  PROJECTED_LABEL,
} from '../../placement/words/placement.ts'
import { LEFT_MANAGER } from './handOver.ts'
import { claimsOfOurs } from './marks.ts'

/** Marks of the center's placement, of its count, and of the object's fate. */
const MARKS = [
  DOWNSYNCED,
  IMPLIED_ANNOTATION,
  OWNER_ANNOTATION,
  EXECUTING_COUNT_ANNOTATION,
  PRESERVE_ANNOTATION,
  KEEP_ON_DELETE,
]

/** As a merge patch. */
export const UNMARKED = {
  metadata: {
    labels: { [PROJECTED_LABEL]: null },
    annotations: Object.fromEntries(MARKS.map(key => [key, null])),
  },
}

/**
 * The same, for just this version of this object, and that the syncer ever wrote it: it is to be nobody's. With these owners, when
 * they are not to stay as they are.
 */
export function disclaimed({ metadata }: Readonly<KubeObject>, ownerReferences?: readonly OwnerReference[]): object {
  const { uid, resourceVersion, managedFields = [] } = metadata
  const ours = new Set(claimsOfOurs({ metadata }))
  const others = managedFields.filter(entry => !ours.has(entry) && entry.manager !== LEFT_MANAGER)
  return {
    metadata: {
      ...UNMARKED.metadata,
      uid,
      resourceVersion,
      // an empty list would say nothing of them
      managedFields: others.length > 0 ? others : [{}],
      ...(ownerReferences && { ownerReferences }),
    },
  }
}

/** The object to apply for a release of all of the center's fields, in the name of the same space. */
export function declaringNothing({ apiVersion, kind, metadata }: Readonly<KubeObject>): KubeObject {
  const { name = '', namespace, uid } = metadata
  const owner = metadata.annotations?.[OWNER_ANNOTATION]
  const annotations = owner === undefined ? undefined : { [OWNER_ANNOTATION]: owner }
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }), ...(annotations && { annotations }) },
  }
}

/** References to owners that the syncer made, on an object in the cluster. */
export function referencesOfOurs({ metadata }: Pick<KubeObject, 'metadata'>): OwnerReference[] {
  const { ownerReferences = [] } = metadata
  const claims = claimsOfOurs({ metadata }).map(({ fieldsV1 }) =>
    fromFieldsV1(fieldsV1 ?? {})
      .children?.get('f:metadata')
      ?.children?.get('f:ownerReferences'),
  )
  return ownerReferences.filter(({ uid }) => claims.some(claim => claim?.children?.has(keyElement({ uid }))))
}

/** Whether an object in the mailbox or the cluster stays in the cluster without a placement. */
export function isPreserved(object: Readonly<KubeObject> | undefined): boolean {
  const { [PRESERVE_ANNOTATION]: preserve, [KEEP_ON_DELETE]: keep } = object?.metadata.annotations ?? {}
  return preserve === 'true' || keep === 'true'
}
