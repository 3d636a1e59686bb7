/**
 * PodSecurity: pods keep to the level that the labels of their namespace ask for. Enforced on pods; what workloads would make
 * is only warned of. The standards themselves are loaded when the first namespace asks for one.
 * @see https://kubernetes.io/docs/concepts/security/pod-security-admission/
 */
import { setImmediate as letOthers } from 'node:timers/promises'
import { statusError } from '../../../apimachinery/errors.ts'
import { type FieldError, formatFieldError } from '../../../apimachinery/fieldErrors.ts'
import { record, records, str } from '../../../apimachinery/fields.ts'
import { getOrInsert } from '../../../apimachinery/getOrInsert.ts'
import { isRecord, isSameResource, type KubeObject } from '../../../apimachinery/object.ts'
import { NAMESPACES } from '../../../apimachinery/resources.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { Store } from '../../../storage/store.ts'
import type { Admission, AdmissionRequest } from '../../registry/admission.ts'
import { writesOf } from '../../registry/admissionFrame.ts'
import type { ParsedCache } from '../../registry/codec.ts'
import { nameOf } from '../attributes.ts'
import type { Violation } from './baselineChecks.ts'
import type { LabelledNamespaces } from './labelledNamespaces.ts'
import {
  LEVELS,
  type LevelVersion,
  levelText,
  type Policy,
  policyOf,
  sameLevel,
  speaksOfPodSecurity,
} from './policy.ts'

export interface PodSecurityDeps {
  store: Pick<Store, 'list'>
  parsed: ParsedCache
  namespaces: LabelledNamespaces
}

const PODS = { group: '', resource: 'pods' }
const TEMPLATE = ['spec', 'template']
/** Where the kinds that make pods keep their template; `[]` is the object itself. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  '/pods': [],
  '/replicationcontrollers': TEMPLATE,
  '/podtemplates': ['template'],
  'apps/replicasets': TEMPLATE,
  'apps/deployments': TEMPLATE,
  'apps/statefulsets': TEMPLATE,
  'apps/daemonsets': TEMPLATE,
  'batch/jobs': TEMPLATE,
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
}
/** Sub-resources of pods that change what is checked. */
const CHANGING: ReadonlySet<string> = new Set(['', 'ephemeralcontainers', 'resize'])
const AUDIT = 'pod-security.kubernetes.io/'
export const MAX_PODS = 3000
/** Between so many the other requests of the server have their turn. */
const PODS_AT_ONCE = 50
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'

export function podSecurity(deps: PodSecurityDeps): Admission[] {
  const { namespaces } = deps
  return [
    {
      stage: 'validate',
      handles: (type, operation, subresource) =>
        operation !== 'DELETE' &&
        keyOf(type) in TEMPLATES &&
        (isPods(type) ? CHANGING.has(subresource) : subresource === ''),
      reaches: ({ space, namespace }) => namespaces.labels(space, namespace) !== undefined,
      admit(request) {
        const policy = policyOf(namespaces.labels(request.context.space, request.object.metadata.namespace ?? ''))
        return isPods(request.type) ? admitPod(request, policy) : admitWorkload(request, policy)
      },
    },
    {
      stage: 'validate',
      handles: writesOf(NAMESPACES),
      concerns: ({ object, old }) =>
        speaksOfPodSecurity(object.metadata.labels) && !sameLabels(object.metadata.labels, old?.metadata.labels),
      admit: request => admitNamespace(deps, request),
    },
  ]
}

const keyOf = ({ group, resource }: Pick<ResourceType, 'group' | 'resource'>): string => `${group}/${resource}`
const isPods = (type: ResourceType): boolean => isSameResource(type, PODS)
const sameLabels = (a: object | undefined, b: object | undefined): boolean => equalJson(a, b)
const errorsText = (errors: readonly FieldError[]): string => {
  const texts = errors.map(formatFieldError)
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
}

async function admitPod(request: AdmissionRequest, policy: Policy): Promise<void> {
  const { object, old } = request
  if (asksNothing(policy, ['enforce', 'audit', 'warn'])) return
  if (old !== undefined && !changesWhatIsChecked(object, old)) return
  await judge(request, policy, object, true)
}

async function admitWorkload(request: AdmissionRequest, policy: Policy): Promise<void> {
  if (asksNothing(policy, ['audit', 'warn'])) return
  const template = TEMPLATES[keyOf(request.type)]!.reduce<unknown>(
    (holder, step) => (isRecord(holder) ? holder[step] : undefined),
    request.object,
  )
  if (isRecord(template)) await judge(request, policy, template, false)
}

function asksNothing(policy: Policy, modes: readonly ('enforce' | 'audit' | 'warn')[]): boolean {
  return policy.errors.length === 0 && modes.every(mode => policy[mode].level === 'privileged')
}

/** @throws StatusError Forbidden */
async function judge(request: AdmissionRequest, policy: Policy, pod: object, enforced: boolean): Promise<void> {
  const { evaluate, violationText } = await import('./evaluate.ts')
  const { context } = request
  const annotate = (key: string, value: string): void => context.annotate?.(AUDIT + key, value)
  const known = new Map<string, Violation[]>()
  const violations = (required: LevelVersion): Violation[] =>
    getOrInsert(known, levelText(required), () => evaluate(required, pod))
  if (policy.errors.length > 0) annotate('error', `Failed to parse policy: ${errorsText(policy.errors)}`)
  if (enforced) annotate('enforce-policy', levelText(policy.enforce))
  const audited = violations(policy.audit)
  if (audited.length > 0) annotate('audit-violations', violationText('would violate', policy.audit, audited))
  const refused = enforced ? violations(policy.enforce) : []
  if (refused.length > 0) {
    throw statusError.forbidden(PODS, nameOf(request), violationText('violates', policy.enforce, refused))
  }
  const warned = violations(policy.warn)
  if (warned.length > 0) context.warn(violationText('would violate', policy.warn, warned))
}

/** Images, seccomp annotations and containers: nothing else that is checked can change in a pod. */
function changesWhatIsChecked(pod: KubeObject, old: KubeObject): boolean {
  const annotation = (of: KubeObject, key: string) => of.metadata.annotations?.[key] ?? ''
  const differs = (key: string) => annotation(pod, key) !== annotation(old, key)
  if (differs(SECCOMP_POD)) return true
  const changed = (container: unknown, before: unknown) =>
    str(container, 'image') !== str(before, 'image') || differs(SECCOMP_CONTAINER + str(container, 'name'))
  for (const field of ['containers', 'initContainers']) {
    const [now, before] = [records(pod, 'spec', field), records(old, 'spec', field)]
    if (now.length !== before.length || now.some((container, i) => changed(container, before[i]))) return true
  }
  const before = records(old, 'spec', 'ephemeralContainers')
  return records(pod, 'spec', 'ephemeralContainers').some(container => {
    const same = before.find(({ name }) => name === container.name)
    return same === undefined || changed(container, same)
  })
}

/** Labels must be valid, unless they were invalid before; existing pods give warnings only. */
async function admitNamespace(deps: PodSecurityDeps, request: AdmissionRequest): Promise<void> {
  const { object, old, context } = request
  if (!speaksOfPodSecurity(object.metadata.labels)) return
  const policy = policyOf(object.metadata.labels)
  const before = old && policyOf(old.metadata.labels)
  if (policy.errors.length > 0 && !(before && sameLabels(policy.errors, before.errors))) {
    throw statusError.invalid({ group: '', kind: 'Namespace' }, nameOf(request), policy.errors)
  }
  if (before === undefined || !tightens(policy.enforce, before.enforce)) return
  const { items } = await deps.store.list({ space: context.space, ...PODS, namespace: nameOf(request) })
  const pods: KubeObject[] = []
  for (const [i, stored] of items.entries()) {
    if (i % PODS_AT_ONCE === 0) await letOthers()
    pods.push(deps.parsed.scan(stored) as KubeObject)
  }
  for (const text of await warningsFor(nameOf(request), pods, policy.enforce)) context.warn(text)
}

function tightens(now: LevelVersion, before: LevelVersion): boolean {
  if (sameLevel(now, before) || now.level === 'privileged') return false
  return now.minor !== before.minor || LEVELS.indexOf(now.level) > LEVELS.indexOf(before.level)
}

async function warningsFor(namespace: string, all: readonly KubeObject[], required: LevelVersion): Promise<string[]> {
  const { evaluate, reasonsText } = await import('./evaluate.ts')
  const pods = differentFirst(all).slice(0, MAX_PODS)
  const names = new Map<string, string[]>()
  for (const [i, pod] of pods.entries()) {
    if (i % PODS_AT_ONCE === 0) await letOthers()
    const reasons = reasonsText(evaluate(required, pod))
    if (reasons === '') continue
    getOrInsert(names, reasons, () => []).push(pod.metadata.name ?? '')
  }
  const level = 'new PodSecurity enforce level'
  return [
    ...(pods.length < all.length
      ? [`${level} only checked against the first ${pods.length} of ${all.length} existing pods`]
      : []),
    ...(names.size > 0
      ? [`existing pods in namespace "${namespace}" violate the ${level} "${levelText(required)}"`]
      : []),
    ...[...names].map(([reasons, found]) => `${podsText(found)}: ${reasons}`).sort(),
  ]
}

/** Pods of one controller are alike: one of each comes before the rest. */
function differentFirst(pods: readonly KubeObject[]): KubeObject[] {
  const seen = new Set<unknown>()
  const [first, rest]: [KubeObject[], KubeObject[]] = [[], []]
  for (const pod of pods) {
    const owner = records(record(pod, 'metadata'), 'ownerReferences').find(each => each.controller === true)?.uid
    const isNew = owner === undefined || !seen.has(owner)
    if (owner !== undefined) seen.add(owner)
    ;(isNew ? first : rest).push(pod)
  }
  return [...first, ...rest]
}

function podsText(names: readonly string[]): string {
  const first = [...names].sort()[0]!
  if (names.length === 1) return first
  return `${first} (and ${names.length === 2 ? '1 other pod' : `${names.length - 1} other pods`})`
}
