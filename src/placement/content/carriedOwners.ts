/**
 * The owners of an object that go where it goes, on its copy in a mailbox. They are told in an annotation and not in
 * `ownerReferences`: a reference names a uid, every server gives its own, and in a mailbox, where nothing acts, it would make
 * the garbage collector act. The syncer makes references of them, with the uids of its cluster.
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

/** What the annotation says; `undefined` where there is nothing to say. */
export function carriedOwnersText(owners: readonly CarriedOwner[]): string | undefined {
  return owners.length === 0 ? undefined : JSON.stringify(owners.slice(0, MAX_CARRIED_OWNERS))
}

/** What a copy's annotation says; what nobody of us wrote says nothing. */
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

/** Of a reference, or what is carried of it: what it says beside whom it is to. */
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
