/**
 * Kinds whose versions have other names for fields: claims on fields are in the version of the request that made them, and compared in it.
 * All other kinds cost nothing here.
 */
import type { VersionForm } from '../../apimachinery/apply/managedFields.ts'
import { apiVersionOf, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { convertTo, differsByVersion } from './convert.ts'

export type TypeLookup = (space: string, group: string, version: string, resource: string) => ResourceType | undefined

/** For the options of field tracking. Custom resources are left out: only a webhook knows how their versions differ. */
export function otherVersions(
  typeAt: TypeLookup,
  space: string,
  type: ResourceType,
): { inVersion?: (apiVersion: string) => VersionForm | undefined } {
  if (type.custom !== undefined || !differsByVersion(type)) return {}
  return {
    inVersion(apiVersion) {
      const gv = parseApiVersion(apiVersion)
      // Upstream knows no way from one group to another: the two forms of events end each other's claims.
      const found = gv?.group === type.group ? typeAt(space, gv.group, gv.version, type.resource) : undefined
      return found && { schema: found.schema, object: object => inVersionOf(found, object) }
    },
  }
}

/** A copy of `object` as `type` serves it. */
export function inVersionOf(type: ResourceType, object: KubeObject): KubeObject {
  return convertTo(cloneJson(object), apiVersionOf(type), type)
}
