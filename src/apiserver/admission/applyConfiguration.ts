/** The structural merge of server-side apply without ownership: what a mutating policy's `ApplyConfiguration` does. */
import { merge } from '../../apimachinery/apply/typed.ts'
import { cloneInSteps } from '../../apimachinery/cloneInSteps.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { Pace } from '../../apimachinery/pace.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import type { Steps } from '../../apimachinery/steps.ts'

/** @throws Error when the configuration is no object, or says what a policy may not */
export function* mergeApplied(
  object: KubeObject,
  configuration: unknown,
  schema: Schema | undefined,
): Steps<KubeObject> {
  if (!isRecord(configuration)) throw new Error('must evaluate to Object')
  const { apiVersion, kind, metadata } = configuration
  const named = isRecord(metadata) ? ['name', 'namespace', 'managedFields'].filter(field => field in metadata) : []
  const forbidden = [
    ...(apiVersion === undefined ? [] : ['apiVersion']),
    ...(kind === undefined ? [] : ['kind']),
    ...named,
  ]
  if (forbidden.length > 0) throw new Error(`an apply configuration may not set ${forbidden.join(', ')}`)
  const { managedFields: _, ...rest } = object.metadata
  const live = { ...object, metadata: rest }
  const applied = { apiVersion: object.apiVersion, kind: object.kind, ...configuration } as KubeObject
  const merged = merge(live, applied, schema) as KubeObject
  yield
  return yield* cloneInSteps(merged, new Pace())
}
