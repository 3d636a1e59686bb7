/**
 * A workload that sets spec.replicas fights the autoscaler that scales it in each cluster. The second of both that comes into a
 * workload space gets a warning, unless an EdgePlacement leaves the field to the clusters.
 */
import { record, str } from '../../apimachinery/fields.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { leftOf, leftRules } from '../../placement/content/leftRules.ts'
import { EDGE_PLACEMENTS } from '../../placement/words/placement.ts'
import { questionOf } from '../auth/questions.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { changes } from '../registry/admissionFrame.ts'
import type { WriteContext } from '../registry/context.ts'
import { appliedFields } from '../registry/provenance.ts'
import type { AuthorityDeps } from './authorityDeps.ts'

/** Their spec.replicas is 1 where nobody says it. */
const SCALED = [
  { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' },
  { group: 'apps', version: 'v1', kind: 'StatefulSet', resource: 'statefulsets' },
  { group: 'apps', version: 'v1', kind: 'ReplicaSet', resource: 'replicasets' },
  { group: '', version: 'v1', kind: 'ReplicationController', resource: 'replicationcontrollers' },
] as const
const DEFAULT_REPLICAS = 1
const AUTOSCALERS = { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' } as const
const KINDS: ReadonlySet<string> = new Set([AUTOSCALERS, ...SCALED].map(groupResourceName))
const POINTERS: ReadonlySet<string> = new Set(['/spec', '/spec/replicas'])
/** Autoscalers of a namespace and EdgePlacements of a space: with more of them there may be a warning too few or too many. */
const LOOKED_AT = 100

type Deps = Pick<AuthorityDeps, 'store' | 'parsed' | 'tree' | 'authorizer' | 'types'>

/** A workload that sets its replicas, and the autoscaler that scales it. */
interface Pair {
  readonly workload: Readonly<KubeObject>
  readonly autoscaler: string
}

export function autoscalerWarnings(deps: Deps): Admission {
  return {
    stage: 'validate',
    handles: (type, operation, subresource) =>
      operation !== 'DELETE' && subresource === '' && KINDS.has(groupResourceName(type)),
    reaches: ({ space, unstored }) => !unstored && deps.tree.typeOf(space).describes,
    concerns: changes(sayingOf),
    async admit(request) {
      const isAutoscaler = groupResourceName(request.type) === groupResourceName(AUTOSCALERS)
      const pair = await (isAutoscaler ? scaledBy(deps, request) : scalerOf(deps, request))
      if (pair && !(await isLeft(deps, request.context, pair))) request.context.warn(warningOf(pair))
    },
  }
}

/** The part of an object that the warning is about. */
function sayingOf({ spec }: Readonly<KubeObject>): unknown {
  return isRecord(spec) ? (spec.scaleTargetRef ?? spec.replicas) : undefined
}

/** The workload that an autoscaler names, where who writes it may read that. */
async function scaledBy(deps: Deps, { context, object }: AdmissionRequest): Promise<Pair | undefined> {
  const target = record(object, 'spec', 'scaleTargetRef')
  const { space } = context
  const { name: autoscaler = '', namespace = '' } = object.metadata
  const group = groupOf(str(target, 'apiVersion'))
  const kind = SCALED.find(one => one.kind === target.kind && one.group === group)
  const name = str(target, 'name')
  if (!kind || !(await mayRead(deps, context, { ...kind, namespace, name }))) return undefined
  const stored = await deps.store.get({ space, group, resource: kind.resource, namespace, name })
  const isIt = ({ apiVersion, kind: of, metadata }: Readonly<KubeObject>): boolean =>
    of === kind.kind && groupOf(apiVersion) === group && metadata.name === name && metadata.namespace === namespace
  const workload = context.beside?.find(isIt) ?? (stored && deps.parsed.get(stored))
  const type = deps.types.in(space).find(group, kind.version, kind.resource)
  return workload && setsReplicas(workload, type) ? { workload, autoscaler } : undefined
}

/** The autoscaler of a workload, where who writes this may read that. */
async function scalerOf(deps: Deps, { context, type, object }: AdmissionRequest): Promise<Pair | undefined> {
  if (!setsReplicas(object, type)) return undefined
  const { store, parsed } = deps
  const { name, namespace = '' } = object.metadata
  const { group, resource } = AUTOSCALERS
  const range = { space: context.space, group, resource, namespace }
  const { items } = await store.list(range, { limit: LOOKED_AT, uncounted: true })
  const scales = (autoscaler: Readonly<KubeObject>): boolean => {
    const target = record(autoscaler, 'spec', 'scaleTargetRef')
    return target.kind === object.kind && target.name === name && target.apiVersion === object.apiVersion
  }
  const beside = context.beside?.find(
    one =>
      one.kind === 'HorizontalPodAutoscaler' &&
      groupOf(one.apiVersion) === group &&
      one.metadata.namespace === namespace &&
      scales(one),
  )
  const autoscaler = beside?.metadata.name ?? items.find(stored => scales(parsed.get(stored)))?.key.name
  if (autoscaler === undefined || !(await mayRead(deps, context, { ...AUTOSCALERS, namespace, name: autoscaler })))
    return undefined
  return { workload: object, autoscaler }
}

async function mayRead(
  { authorizer }: Deps,
  context: WriteContext,
  target: Parameters<typeof questionOf>[2],
): Promise<boolean> {
  return (await authorizer.authorize(questionOf(context, 'get', target))).allowed
}

/** The default stands there of itself, unless who applied it names it. */
function setsReplicas(workload: Readonly<KubeObject>, type: ResourceType | undefined): boolean {
  const { replicas } = record(workload, 'spec')
  if (replicas === undefined || replicas !== DEFAULT_REPLICAS) return replicas !== undefined
  return appliedFields(workload, type?.schema).children?.get('f:spec')?.children?.has('f:replicas') === true
}

async function isLeft(
  { store, parsed }: Deps,
  { space, beside = [] }: WriteContext,
  { workload }: Pair,
): Promise<boolean> {
  const { group, resource } = EDGE_PLACEMENTS
  const { items } = await store.list({ space, group, resource }, { limit: LOOKED_AT, uncounted: true })
  const { kind, apiVersion, metadata } = workload
  const about = { group: groupOf(apiVersion), kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
  const placements = [
    ...beside.filter(({ kind: of }) => of === 'EdgePlacement'),
    ...items.map(stored => parsed.get(stored)),
  ]
  return placements.some(one => leftOf(leftRules(record(one, 'spec')), about).some(at => POINTERS.has(at)))
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.split('/')[0]! : ''
}

function warningOf({ workload, autoscaler }: Pair): string {
  const { apiVersion, kind, metadata } = workload
  const { replicas } = record(workload, 'spec')
  const rule = `{ group: ${JSON.stringify(groupOf(apiVersion))}, kind: ${kind}, jsonPointers: [/spec/replicas] }`
  return (
    `HorizontalPodAutoscaler ${JSON.stringify(autoscaler)} scales ${kind} ${JSON.stringify(metadata.name)}, ` +
    `and its spec.replicas: ${String(replicas).slice(0, 40)} undoes that in every cluster; ` +
    `leave spec.replicas out, or name it in spec.ignoreDifferences of the EdgePlacement: ${rule}`
  )
}
