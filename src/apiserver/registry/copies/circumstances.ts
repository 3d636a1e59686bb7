/** The reasons by which one object becomes the same in many spaces: who writes it, of which kind, and by which rules. */
import { apiVersionOf } from '../../../apimachinery/object.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import type { WriteContext } from '../context.ts'
import type { Parameterized } from '../parameters.ts'
import type { Part } from '../provenance.ts'

/** All that the body of a copy follows from, beside the sent object and, for an update, the body before. */
export interface Circumstances {
  readonly context: WriteContext
  readonly type: ResourceType
  /** The version in which objects of `type` are handled. */
  readonly target: ResourceType
  readonly part: Part | undefined
  readonly parameterized: Parameterized
}

/** Whether the sent, the stored and the answered object have one version, and the writer gets no warnings. */
export function isPlain({ context, type, target }: Circumstances): boolean {
  return (
    !context.dryRun &&
    context.findings === undefined &&
    type.custom?.convert === undefined &&
    apiVersionOf(type) === apiVersionOf(target) &&
    type.version === type.storageVersion
  )
}

/** Whether the same object becomes the same under both. */
export function isSameWrite(a: Circumstances, b: Circumstances): boolean {
  return (
    a.part === b.part &&
    a.parameterized === b.parameterized &&
    a.context.user.name === b.context.user.name &&
    a.context.fieldManager === b.context.fieldManager &&
    a.context.fieldValidation === b.context.fieldValidation &&
    hasSameRules(a.type, b.type) &&
    hasSameRules(a.target, b.target)
  )
}

/** Built-in kinds are the same everywhere; equal schemas of custom ones are the same object. */
function hasSameRules(a: ResourceType, b: ResourceType): boolean {
  if (a === b) return true
  if (a.custom === undefined || b.custom === undefined) return false
  return (
    a.group === b.group &&
    a.version === b.version &&
    a.resource === b.resource &&
    a.kind === b.kind &&
    a.namespaced === b.namespaced &&
    a.storageVersion === b.storageVersion &&
    a.schema === b.schema &&
    a.custom.schemas.get(a.storageVersion) === b.custom.schemas.get(b.storageVersion) &&
    a.custom.convert === undefined &&
    b.custom.convert === undefined &&
    a.subresources.join() === b.subresources.join()
  )
}
