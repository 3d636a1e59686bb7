/**
 * Kubernetes' default plug-ins for Pods: their ServiceAccount, priority and tolerations. Their runtime is in `runtimeClassAdmission.ts`.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import { ensure, list, num, record, records, str } from '../../apimachinery/fields.ts'
import { type GroupResource, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Nature } from '../../placement/spaces/nature.ts'
import type { Store } from '../../storage/store.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import type { ParsedCache } from '../registry/codec.ts'
import { keyOf } from '../registry/keys.ts'
import { nameOf } from './attributes.ts'
import type { ConfigurationLog } from './configurationLog.ts'
import { PRIORITY_CLASSES, SYSTEM_PRIORITIES } from './systemPriorityClasses.ts'
import { mountToken, wantsToken } from './tokenMounts.ts'

const SERVICE_ACCOUNTS = { group: '', resource: 'serviceaccounts' }
const PODS = { group: '', resource: 'pods' }
const MIRROR = 'kubernetes.io/config.mirror'
/** The account `default` is made a moment after its namespace: a Pod that comes in between waits for it. */
const DEFAULT_ACCOUNT_TRIES = 10
const DEFAULT_ACCOUNT_PAUSE_MS = 100

export interface PodAdmissionDeps {
  store: Store
  parsed: ParsedCache
  settings: ConfigurationLog
  nature: Pick<Nature, 'isDescribed'>
  /** From 0 to 1. */
  random: () => number
}

export const isPod = (type: GroupResource, subresource: string): boolean =>
  subresource === '' && isSameResource(type, PODS)

export function refusePod(request: AdmissionRequest, why: string): StatusError {
  return statusError.forbidden(PODS, nameOf(request), why)
}

/** Every Pod runs as a ServiceAccount that exists, and finds its token. Where accounts are descriptions, its cluster sees to that. */
export function serviceAccountAdmission({ store, parsed, random, nature }: PodAdmissionDeps): Admission {
  const find = async (space: string, namespace: string, name: string): Promise<KubeObject | undefined> => {
    const tries = name === 'default' ? DEFAULT_ACCOUNT_TRIES : 1
    for (let attempt = 1; ; attempt++) {
      const stored = await store.get(keyOf(space, SERVICE_ACCOUNTS, namespace, name))
      if (stored) return parsed.get(stored) as KubeObject
      if (attempt === tries) return undefined
      await pause(DEFAULT_ACCOUNT_PAUSE_MS)
    }
  }
  return {
    stage: 'mutate',
    fillsIn: true,
    handles: (type, operation, subresource) => operation === 'CREATE' && isPod(type, subresource),
    reaches: ({ space }) => !nature.isDescribed(space, SERVICE_ACCOUNTS),
    async admit(request) {
      const { object, context } = request
      if (object.metadata.annotations?.[MIRROR] !== undefined) return
      const spec = ensure(object, 'spec')
      const name = str(spec, 'serviceAccountName') || 'default'
      const namespace = object.metadata.namespace ?? ''
      Object.assign(spec, { serviceAccountName: name, serviceAccount: name })
      const account = await find(context.space, namespace, name)
      if (account === undefined) {
        const why = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`
        throw refusePod(request, why)
      }
      const secrets = list(account, 'imagePullSecrets')
      if (list(spec, 'imagePullSecrets').length === 0 && secrets.length > 0) {
        spec.imagePullSecrets = cloneJson(secrets)
      }
      if (wantsToken(object, account)) mountToken(object, random)
    },
  }
}

interface PriorityClass {
  name: string
  value: number
  preemptionPolicy: string
}
const NEVER_LESS = 'PreemptLowerPriority'

/** The number behind `priorityClassName`, or that of the default class. */
export function priorityAdmission({ settings }: PodAdmissionDeps): Admission[] {
  return [
    {
      stage: 'mutate',
      fillsIn: true,
      handles: (type, operation, subresource) => operation !== 'DELETE' && isPod(type, subresource),
      concerns: ({ object, old }) => losesPriority(object, old),
      admit(request) {
        const { object, old, context } = request
        if (request.operation === 'UPDATE') return keepPriority(object, old!)
        const spec = ensure(object, 'spec')
        const wanted = str(spec, 'priorityClassName')
        const found =
          wanted === '' ? defaultClass(settings, context.space) : namedClass(settings, context.space, wanted)
        if (found === undefined) throw refusePod(request, `no PriorityClass with name ${wanted} was found`)
        const tail = 'from the given PriorityClass name'
        if (typeof spec.priority === 'number' && spec.priority !== found.value) {
          const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${found.value} ${tail}`
          throw refusePod(request, why)
        }
        const given = str(spec, 'preemptionPolicy')
        if (given !== '' && given !== found.preemptionPolicy) {
          const why = `the string value of PreemptionPolicy (${given}) must not be provided in pod spec; priority admission controller computed ${found.preemptionPolicy} ${tail}`
          throw refusePod(request, why)
        }
        if (found.name !== '') spec.priorityClassName = found.name
        spec.priority = found.value
        spec.preemptionPolicy = found.preemptionPolicy
      },
    },
    {
      stage: 'validate',
      handles: (type, operation) => operation !== 'DELETE' && isSameResource(type, PRIORITY_CLASSES),
      admit(request) {
        if (request.object.globalDefault !== true) return
        const other = settings
          .list(request.context.space, PRIORITY_CLASSES)
          .find(each => each.globalDefault === true && each.metadata.name !== request.object.metadata.name)
        if (other === undefined) return
        const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`
        throw statusError.forbidden(PRIORITY_CLASSES, nameOf(request), why)
      },
    },
  ]
}

function losesPriority(object: KubeObject, old: KubeObject | undefined): boolean {
  const [now, before] = [record(object, 'spec'), record(old, 'spec')]
  return ['priority', 'preemptionPolicy'].some(field => now[field] === undefined && before[field] !== undefined)
}

/** Clients that replace a Pod need not know what was added to it. */
function keepPriority(object: KubeObject, old: KubeObject): void {
  const spec = ensure(object, 'spec')
  for (const field of ['priority', 'preemptionPolicy']) {
    const before = record(old, 'spec')[field]
    if (spec[field] === undefined && before !== undefined) spec[field] = before
  }
}

function defaultClass(settings: ConfigurationLog, space: string): PriorityClass {
  const defaults = settings.list(space, PRIORITY_CLASSES).filter(each => each.globalDefault === true)
  const lowest = defaults.sort((a, b) => num(a, 'value') - num(b, 'value'))[0]
  return lowest ? classOf(lowest) : { name: '', value: 0, preemptionPolicy: NEVER_LESS }
}

function namedClass(settings: ConfigurationLog, space: string, name: string): PriorityClass | undefined {
  const object = settings.get(space, PRIORITY_CLASSES, '', name)
  if (object) return classOf(object)
  const value = SYSTEM_PRIORITIES[name]
  return value === undefined ? undefined : { name, value, preemptionPolicy: NEVER_LESS }
}

function classOf(object: KubeObject): PriorityClass {
  return {
    name: object.metadata.name ?? '',
    value: num(object, 'value'),
    preemptionPolicy: str(object, 'preemptionPolicy') || NEVER_LESS,
  }
}

const TOLERATED = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const TOLERATION_SECONDS = 300

/** Pods stay five minutes on a node that is in trouble, unless they say otherwise. */
export function defaultTolerations(): Admission {
  return {
    stage: 'mutate',
    fillsIn: true,
    handles: (type, operation, subresource) => operation !== 'DELETE' && isPod(type, subresource),
    concerns: ({ object }) => missingTolerations(object).length > 0,
    admit({ object }) {
      const missing = missingTolerations(object)
      if (missing.length === 0) return
      const spec = ensure(object, 'spec')
      const added = missing.map(key => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: TOLERATION_SECONDS,
      }))
      spec.tolerations = [...list(spec, 'tolerations'), ...added]
    },
  }
}

function missingTolerations(pod: KubeObject): string[] {
  const known = records(pod, 'spec', 'tolerations')
  return TOLERATED.filter(
    key =>
      !known.some(
        toleration =>
          (str(toleration, 'key') === key || str(toleration, 'key') === '') &&
          (str(toleration, 'effect') === 'NoExecute' || str(toleration, 'effect') === ''),
      ),
  )
}
