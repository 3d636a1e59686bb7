/**
 * The owners of an object that go where it goes, on its copy in a mailbox. An annotation carries them, not `ownerReferences`. A reference
 * names a uid, and every server gives its own. In a mailbox, where nothing acts, it would make the garbage collector act. The syncer makes
 * references of them, with the uids of its cluster.
 */

import { objects, str } from '../../apimachinery/fields.ts'
import type { GroupResource, KubeObject, OwnerReference } from '../../apimachinery/object.ts'
import { OWNER_REFERENCES_ANNOTATION } from '../words/placement.ts'
import { annotationJson } from './annotationJson.ts'

export interface CarriedOwner extends GroupResource {
  readonly kind: string
  /** That of the dependent, or `''` for an owner without one. */
  readonly namespace: string
  readonly name: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** More of one object do not travel: each is looked up in the cluster. */
export const MAX_CARRIED_OWNERS = 32

/** Text of the annotation; `undefined` without owners. */
export function carriedOwnersText(owners: readonly CarriedOwner[]): string | undefined {
  return owners.length === 0 ? undefined : JSON.stringify(owners.slice(0, MAX_CARRIED_OWNERS))
}

/** Owners in a copy's annotation; none where the annotation is not Orrery's. */
export function carriedOwnersOf(copy: Readonly<KubeObject>): CarriedOwner[] {
  return objects(annotationJson(copy, OWNER_REFERENCES_ANNOTATION))
    .slice(0, MAX_CARRIED_OWNERS)
    .map(owner => ({
      group: str(owner.group),
      resource: str(owner.resource),
      kind: str(owner.kind),
      namespace: str(owner.namespace),
      name: str(owner.name),
      ...flagsOf(owner),
    }))
}

/** Flags of a reference, or of its carried form, beside the identity of the owner. */
export function flagsOf(owner: {
  readonly controller?: unknown
  readonly blockOwnerDeletion?: unknown
}): Pick<OwnerReference, 'controller' | 'blockOwnerDeletion'> {
  const { controller, blockOwnerDeletion } = owner
  return {
    ...(typeof controller === 'boolean' && { controller }),
    ...(typeof blockOwnerDeletion === 'boolean' && { blockOwnerDeletion }),
  }
}
