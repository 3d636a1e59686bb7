/**
 * What an apply would let go of. A field that the center said once and leaves to defaults now stays in the cluster as it is:
 * its value is handed over to another manager before it is released. What is gone from the source goes from the cluster. Pure.
 */
import { type FieldSet, fromFieldsV1, union, unionAll } from '../apimachinery/apply/fieldSet.ts'
import { differingIn, missingIn, partOf } from '../apimachinery/apply/looseFields.ts'
import { isRecord, type KubeObject, type ManagedFieldsEntry } from '../apimachinery/object.ts'
import { FIELD_MANAGER } from './ownership.ts'

/** Holds in a cluster what the center said once and says no more. It never writes anything else. */
export const LEFT_MANAGER = 'orrery-left'

/** What the syncer owns of `live` and `copy` does not say; empty for nearly every apply. Metadata is always said. */
export function releasedBy(copy: Readonly<KubeObject>, live: Readonly<KubeObject>): FieldSet {
  return withoutMetadata(missingIn(copy, ownedBy(live, FIELD_MANAGER)))
}

/** Of what is released, what defaults of the cluster would give another value. `released` is the object without our word. */
export function toHandOver(set: FieldSet, live: Readonly<KubeObject>, released: Readonly<KubeObject>): FieldSet {
  return differingIn(live, released, set)
}

/** What to apply as {@link LEFT_MANAGER}: what it holds already, and this, as it is. */
export function leftCopy(live: Readonly<KubeObject>, set: FieldSet): KubeObject {
  const { apiVersion, kind, metadata } = live
  const { name, namespace, uid, resourceVersion } = metadata
  const held = partOf(live, union(set, withoutMetadata(ownedBy(live, LEFT_MANAGER))))
  return {
    ...(isRecord(held) && held),
    apiVersion,
    kind,
    metadata: {
      name: name ?? '',
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  }
}

function ownedBy({ metadata }: Readonly<KubeObject>, manager: string): FieldSet {
  return setOf((metadata.managedFields ?? []).filter(entry => entry.manager === manager && !entry.subresource))
}

/** What others than the syncer say of an object. */
export function ownedByOthers({ metadata }: Readonly<KubeObject>): FieldSet {
  return setOf((metadata.managedFields ?? []).filter(entry => entry.manager !== FIELD_MANAGER))
}

function setOf(entries: readonly ManagedFieldsEntry[]): FieldSet {
  return unionAll(entries.map(({ fieldsV1 }) => fromFieldsV1(fieldsV1 ?? {})))
}

function withoutMetadata(set: FieldSet): FieldSet {
  const children = new Map([...(set.children ?? [])].filter(([element]) => element !== 'f:metadata'))
  return { self: false, children: children.size === 0 ? undefined : children }
}
