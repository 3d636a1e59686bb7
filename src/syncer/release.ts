/** What stays in a cluster and is placed by nobody any more: the marks come off, so that no syncer takes it for its own again. */
import type { KubeObject } from '../apimachinery/object.ts'
import {
  DOWNSYNCED,
  EXECUTING_COUNT_ANNOTATION,
  IMPLIED_ANNOTATION,
  OWNER_ANNOTATION,
  PRESERVE_ANNOTATION,
  PROJECTED_LABEL,
} from '../apimachinery/placement.ts'

/** What says that the center placed it, how many others of it there are, and what becomes of it. */
const MARKS = [DOWNSYNCED, IMPLIED_ANNOTATION, OWNER_ANNOTATION, EXECUTING_COUNT_ANNOTATION, PRESERVE_ANNOTATION]

/** As a merge patch. */
export const UNMARKED = {
  metadata: {
    labels: { [PROJECTED_LABEL]: null },
    annotations: Object.fromEntries(MARKS.map(key => [key, null])),
  },
}

/** The same, for just this object. */
export function unmarked(uid: string | undefined): object {
  return { metadata: { ...UNMARKED.metadata, ...(uid !== undefined && { uid }) } }
}

/** Of an object in the mailbox or the cluster: whether it stays in the cluster when it is not placed any more. */
export function isPreserved(object: Readonly<KubeObject> | undefined): boolean {
  return object?.metadata.annotations?.[PRESERVE_ANNOTATION] === 'true'
}
