/**
 * An object without what nobody said: each cluster fills in its own defaults, and what somebody there sets in their place is
 * theirs. Pure; what it is given stays as it is.
 */
import { withoutUnchanged } from '../../apimachinery/apply/looseFields.ts'
import { defaultedFields } from '../../apimachinery/defaultedFields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'

/**
 * `source` is the object as its space's server gave it, `object` what was made of it for a destination: what a Customizer
 * changed is said. Of a source that nothing is known of, all is.
 */
export function asSaid(object: KubeObject, source: KubeObject): KubeObject {
  const unsaid = defaultedFields(source)
  return unsaid === undefined ? object : (withoutUnchanged(object, unsaid, source) as KubeObject)
}
