/**
 * Admission of objects that are created but never stored as sent. These are reviews, and the bodies of sub-resources with a kind of their
 * own (`serviceaccounts/token`, `pods/binding`, `pods/eviction`).
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import {
  type Admission,
  type AdmissionRequest,
  optionsOf,
  runMutations,
  runStage,
  type SubresourceView,
  stepsFor,
} from '../registry/admission.ts'
import type { WriteContext } from '../registry/context.ts'

interface Unstored {
  context: WriteContext
  type: ResourceType
  /** `''` for the resource itself. */
  subresource: string
  /** Namespace of the request; `''` where it has none. */
  namespace: string
  name: string
  /** The kind of the body where it is not the one of `type`. */
  kind?: { group: string; version: string; kind: string }
  /** Brings a changed body into shape. @throws Error when a field has the wrong type */
  settle(object: KubeObject): void
}

/** Changes `object` as mutating steps want it. @throws StatusError when a step refuses */
export async function admitUnstored(
  admission: readonly Admission[],
  object: KubeObject,
  { context, type, subresource, namespace, name, kind, settle }: Unstored,
): Promise<void> {
  const { space, user } = context
  const steps = stepsFor(admission, type, 'CREATE', { space, namespace, subresource, user, unstored: true })
  if (steps.length === 0) return
  const sentName = object.metadata.name
  const place = (): void => {
    if (namespace !== '') object.metadata.namespace = namespace
    if (name !== '') object.metadata.name = name
  }
  place()
  const view: SubresourceView | undefined = kind && {
    ...kind,
    of(shown) {
      if (!sentName) delete shown.metadata.name
      return shown
    },
    into(before, changed) {
      settle(changed)
      for (const field of Object.keys(before)) delete before[field]
      Object.assign(before, changed)
      place()
    },
  }
  const request: AdmissionRequest = {
    operation: 'CREATE',
    context,
    type,
    requestType: type,
    subresource,
    object,
    old: undefined,
    options: optionsOf('CreateOptions', context),
    ...(view && { view }),
  }
  await runStage(steps, 'gate', request)
  await runMutations(steps, request, settle)
  await runStage(steps, 'validate', request)
}
