/**
 * Server-side apply: the fields that a manager says, and owns from then on.
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/ (KEP-555)
 */
import { applyServerSide } from '../../apimachinery/apply/managedFields.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { otherVersions } from '../registry/otherVersions.ts'
import type { Registry, Written } from '../registry/registry.ts'
import { unwritable } from '../registry/systemMetadata.ts'
import { requireSameUid } from './patch.ts'
import { requireSamePlace } from './place.ts'
import type { MakingOptions, Target } from './target.ts'

export interface ApplyOptions extends MakingOptions {
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
  const run = (live: KubeObject | undefined): KubeObject => {
    if (live) requireSameUid(type, applied, live)
    return applyServerSide({
      live,
      applied: cloneJson(applied),
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
  return await registry.update(context, type, namespace, name, run, {
    subresource,
    managesFields: true,
    create: subresource === '' ? () => run(undefined) : undefined,
    ...(mayCreate && { mayCreate }),
  })
}
