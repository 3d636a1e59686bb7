/** An adaptation: the ways in which a copy differs from its source, by the claim that it has. Pure. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { AssociatedAsk } from '../associated/associated.ts'
import { CUSTOMIZER_ANNOTATION, EXPAND_ANNOTATION } from '../words/placement.ts'

export interface Adaptation {
  readonly implied: boolean
  readonly preserve: boolean
  /** The copy takes over an object that its cluster held before. */
  readonly adopt: boolean
  /** JSON pointers to fields that are left to the clusters. */
  readonly left: readonly string[]
  /** Wishes for associated objects, by name of the placement. */
  readonly associated: readonly AssociatedAsk[]
}

export function sameAdaptation(a: Adaptation, b: Adaptation): boolean {
  if (a.implied !== b.implied || a.preserve !== b.preserve || a.adopt !== b.adopt) return false
  return equalJson(a.left, b.left) && equalJson(a.associated, b.associated)
}

export function wantsExpansion(object: KubeObject): boolean {
  return object.metadata.annotations?.[EXPAND_ANNOTATION] === 'true'
}

/**
 * `namespace/name` of the object's Customizer, `''` when it names none. A bare name is in the object's own Namespace;
 * for a cluster-scoped object it leads nowhere (`/name`).
 */
export function customizerOf(object: KubeObject): string {
  const reference = object.metadata.annotations?.[CUSTOMIZER_ANNOTATION] ?? ''
  if (reference === '' || reference.includes('/')) return reference
  return `${object.metadata.namespace ?? ''}/${reference}`
}
