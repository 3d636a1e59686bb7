/**
 * Server-side apply: the fields that a manager says, and owns from then on.
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/ (KEP-555)
 */
import { applyInSteps } from '../../apimachinery/apply/managedFields.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { otherVersions } from '../registry/otherVersions.ts'
import { standIn } from '../registry/parameters.ts'
import type { Registry, RegistryDeps, Written } from '../registry/registry.ts'
import { unwritable } from '../registry/systemMetadata.ts'
import { requireSameUid } from './patch.ts'
import { requireSamePlace } from './place.ts'
import type { MakingOptions, Target } from './target.ts'

interface ApplyOptions extends MakingOptions {
  /** Takes fields over from other managers. */
  force: boolean
}

/** The field manager is the context's. Makes the object when it is missing. @throws StatusError Conflict with each manager and field */
export async function apply(
  registry: Pick<Registry, 'update' | 'deps'>,
  target: Target,
  applied: KubeObject,
  { force, mayCreate }: ApplyOptions,
): Promise<Written> {
  const { context, type, namespace, name, subresource } = target
  const { deps } = registry
  requireSamePlace({ ...applied.metadata, name: applied.metadata.name ?? name }, { name, namespace })
  deps.strategyFor(type)?.subresources?.[subresource]?.narrow?.(applied)
  applied.metadata.name = name
  if (type.namespaced) applied.metadata.namespace = namespace
  const steps = (live: KubeObject | undefined): Steps<KubeObject> =>
    appliedInSteps(deps, { target, applied, force }, live)
  return await registry.update(
    context,
    type,
    namespace,
    name,
    { steps },
    {
      subresource,
      managesFields: true,
      create: subresource === '' ? { steps: () => steps(undefined) } : undefined,
      ...(mayCreate && { mayCreate }),
    },
  )
}

interface ApplyRequest {
  readonly target: Target
  readonly applied: KubeObject
  readonly force: boolean
}

function* appliedInSteps(
  deps: RegistryDeps,
  { target, applied, force }: ApplyRequest,
  live: KubeObject | undefined,
): Steps<KubeObject> {
  const { context, type, subresource } = target
  if (live) requireSameUid(type, applied, live)
  const own = cloneJson(applied)
  yield
  // whoever applies part of an object need not say of it that it is described
  const holdsReferences =
    type.schema !== undefined &&
    [applied, live].some(object => object && deps.parameterized?.(context.space, type, object) === 'described')
  return yield* applyInSteps({
    live,
    applied: own,
    ...(holdsReferences && { readable: standIn(applied, type.schema!) }),
    schema: type.schema,
    manager: context.fieldManager,
    force,
    apiVersion: apiVersionOf(type),
    ...(subresource && { subresource }),
    now: timestamp(deps.clock()),
    gr: type,
    ignored: unwritable(type, subresource),
    ...otherVersions(deps.typeAt, context.space, type),
  })
}
