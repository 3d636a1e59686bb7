/**
 * One status for a workload that runs in several clusters. Each count is the object's desired count less the largest shortfall of any
 * cluster. A client that waits for a rollout (kubectl, Argo CD, Flux, Helm) so waits for the last cluster, also where a Customizer changes
 * replicas. Where all desire the same that is the least count, as in KubeStellar's `wantMultiWECReportedState`. Least counts alone would
 * call a rollout complete while one cluster lacks more than another has in all. Pure.
 */

import { objects, record, str } from '../../apimachinery/fields.ts'
import { type GroupResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { shortened } from '../../apimachinery/shortened.ts'
import { resourceKey } from '../words/names.ts'
import { ourGeneration, type Produced } from './observedGeneration.ts'

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  /** Present where the state is bad; a good state needs no message. */
  readonly message: string
}

/** Retained part of one copy's status. */
export interface Figures {
  /** How many the copy asks for. */
  readonly size: number
  /** In the order of the kind's {@link Rule.counts}. */
  readonly counts: readonly number[]
  /** The highest of what should be none, in the order of {@link Rule.excesses}. */
  readonly excesses: readonly number[]
  readonly observed: number | undefined
  readonly revisions: readonly [current: unknown, update: unknown]
  readonly conditions: readonly Condition[]
}

/** Status of one cluster. */
export interface Share {
  /** As those know it who may place there. */
  readonly cluster: string
  /** `undefined`: nothing yet. */
  readonly figures: Figures | undefined
  /** Which generation of the object the copy says; `undefined` where nobody knows. */
  readonly produced: Produced | undefined
}

interface Rule {
  /** Present where the object has a desired count. */
  size(object: Readonly<KubeObject>, status: Fields): number
  /** Fields that should reach the desired count. */
  readonly counts: readonly string[]
  /** Fields that should be zero. */
  readonly excesses: readonly string[]
  /** A count of all, earlier revisions included, and the count that it should reach. */
  readonly beyond?: readonly [all: string, upTo: string]
  /** Where clusters say themselves how many there should be. */
  readonly sized?: string
  /** Counts that appear even when they are zero. */
  readonly always?: readonly string[]
}

type Fields = Record<string, unknown>

const replicas = ({ spec }: Readonly<KubeObject>): number => countIn(record(spec), 'replicas', 1)

const DEPLOYMENTS = 'apps|deployments'

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    DEPLOYMENTS,
    {
      // what an autoscaler of the cluster asks for is not known here, but how many came of it is
      size: (object, status) => Math.max(replicas(object), countIn(status, 'updatedReplicas')),
      counts: ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'],
      excesses: ['unavailableReplicas', 'terminatingReplicas'],
      beyond: ['replicas', 'updatedReplicas'],
    },
  ],
  [
    'apps|replicasets',
    {
      size: replicas,
      counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
      excesses: ['terminatingReplicas'],
      always: ['replicas'],
    },
  ],
  [
    'apps|statefulsets',
    {
      size: replicas,
      counts: ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      excesses: [],
      always: ['replicas'],
    },
  ],
  [
    'apps|daemonsets',
    {
      // each cluster has as many as it has Nodes: the most, so that what another lacks can be taken off
      size: (_object, status) => countIn(status, 'desiredNumberScheduled'),
      counts: ['currentNumberScheduled', 'updatedNumberScheduled', 'numberReady', 'numberAvailable'],
      excesses: ['numberMisscheduled', 'numberUnavailable'],
      sized: 'desiredNumberScheduled',
      always: ['currentNumberScheduled', 'numberReady', 'numberMisscheduled'],
    },
  ],
])

/** Whether the states of several clusters have a combined form. */
export function isCombined(resource: GroupResource): boolean {
  return RULES.has(resourceKey(resource))
}

/** @returns `undefined` where the copy says nothing yet */
export function figuresOf(resource: GroupResource, copy: Readonly<KubeObject>): Figures | undefined {
  const rule = RULES.get(resourceKey(resource))
  const { status } = copy
  if (!rule || !isRecord(status)) return undefined
  return {
    size: rule.size(copy, status),
    counts: rule.counts.map(name => countIn(status, name)),
    excesses: rule.excesses.map(name => countIn(status, name)),
    observed: typeof status.observedGeneration === 'number' ? status.observedGeneration : undefined,
    revisions: [status.currentRevision, status.updateRevision],
    conditions: conditionsIn(status),
  }
}

/**
 * The status of `object`, which runs in several clusters. An unchanged condition keeps its times.
 *
 * @param nowText RFC 3339
 */
export function combinedStatus(
  resource: GroupResource,
  object: Readonly<KubeObject>,
  shares: readonly Share[],
  nowText: string,
): Record<string, unknown> {
  const rule = RULES.get(resourceKey(resource))!
  const returned = record(object, 'status')
  const known = shares.flatMap(({ figures }) => figures ?? [])
  const size = rule.sized ? Math.max(0, ...known.map(each => each.size)) : replicas(object)
  const lacking = rule.counts.map((_, i) => lackOf(shares, i))
  const status: Fields = {}
  const observed = observedByAll(shares, returned)
  if (observed !== undefined) status.observedGeneration = observed
  if (rule.sized) status[rule.sized] = size
  for (const [i, name] of rule.counts.entries()) put(status, name, Math.max(0, size - lacking[i]!))
  for (const [i, name] of rule.excesses.entries())
    put(status, name, Math.max(0, ...known.map(each => each.excesses[i]!)))
  if (rule.beyond) {
    const [all, upTo] = rule.beyond.map(name => rule.counts.indexOf(name)) as [number, number]
    const more = Math.max(0, ...known.map(({ counts }) => counts[all]! - counts[upTo]!))
    put(status, rule.beyond[0], countIn(status, rule.beyond[1]) + more)
  }
  // a rollout of a StatefulSet is over when the two are the same
  const [current, update] = (known.find(({ revisions: [a, b] }) => a !== b) ?? known[0])?.revisions ?? []
  if (current !== undefined) status.currentRevision = current
  if (update !== undefined) status.updateRevision = update
  const conditions = combinedConditions(shares, returned, nowText, resourceKey(resource) === DEPLOYMENTS)
  if (conditions.length > 0) status.conditions = conditions
  for (const name of rule.always ?? []) status[name] ??= 0
  return status
}

/** The most that any cluster lacks of one count; whoever has more of a new revision than it asks for lacks the rest of those. */
function lackOf(shares: readonly Share[], index: number): number {
  let most = 0
  for (const { figures } of shares) {
    if (!figures) return Number.POSITIVE_INFINITY
    most = Math.max(most, figures.size - figures.counts[index]!)
  }
  return most
}

/** The generation that every cluster has observed; absent while one is unknown. */
function observedByAll(shares: readonly Share[], returned: Fields): number | undefined {
  const before = typeof returned.observedGeneration === 'number' ? returned.observedGeneration : undefined
  let least = Number.POSITIVE_INFINITY
  for (const { figures, produced } of shares) {
    if (figures?.observed === undefined) return undefined
    const ours = ourGeneration(figures.observed, produced, before)
    if (ours === undefined) return undefined
    least = Math.min(least, ours)
  }
  return least
}

/** Types that say by `True` that something is wrong. */
const TROUBLES: ReadonlySet<string> = new Set(['ReplicaFailure'])
/** The reason of a Deployment's `Progressing` when there is nothing left to do. */
const COMPLETE = 'NewReplicaSetAvailable'

function isWell({ type, status }: { type: string; status: string }): boolean {
  return TROUBLES.has(type) ? status === 'False' : status === 'True'
}

/** Absent for an unknown cluster. */
function weight(condition: Condition): number {
  if (!isWell(condition)) return condition.status === 'Unknown' ? 2 : 3
  return condition.type === 'Progressing' && condition.reason !== COMPLETE ? 1 : 0
}

function combinedConditions(
  shares: readonly Share[],
  returned: Fields,
  nowText: string,
  areUpdated: boolean,
): Fields[] {
  const types = new Set(shares.flatMap(({ figures }) => figures?.conditions.map(({ type }) => type) ?? []))
  const before = objects(returned, 'conditions')
  return [...types].sort().map(type => {
    const { status, reason, message } = conditionOfAll(type, shares)
    const old = before.find(condition => condition.type === type)
    const isSame = old?.status === status && (old.reason ?? '') === reason && old.message === message
    return {
      type,
      status,
      ...(areUpdated && { lastUpdateTime: isSame ? old.lastUpdateTime : nowText }),
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : nowText,
      ...(reason !== '' && { reason }),
      message,
    }
  })
}

function conditionOfAll(type: string, shares: readonly Share[]): Condition {
  let worst: Condition | undefined
  const at: string[] = []
  for (const { cluster, figures } of shares) {
    // trouble that a cluster does not speak of is none
    if (figures && TROUBLES.has(type) && !figures.conditions.some(each => each.type === type)) continue
    const condition = figures?.conditions.find(each => each.type === type) ?? unreported(type)
    const [more, most] = [weight(condition), worst ? weight(worst) : -1]
    if (more > most) {
      worst = condition
      at.length = 0
    }
    if (more >= most) at.push(cluster)
  }
  const others = at.length > 1 ? ` and ${at.length - 1} more` : ''
  const where =
    at.length === shares.length ? `all ${at.length} clusters` : `${at[0]}${others} of ${shares.length} clusters`
  return { ...worst!, message: worst!.message === '' ? `In ${where}.` : `In ${where}: ${worst!.message}` }
}

function unreported(type: string): Condition {
  return { type, status: 'Unknown', reason: 'NotReported', message: 'it has not reported yet' }
}

function conditionsIn(reported: Fields): Condition[] {
  return objects(reported, 'conditions').flatMap(({ type, status, reason, message }) => {
    if (typeof type !== 'string' || typeof status !== 'string') return []
    const condition = { type, status, reason: str(reason) }
    return { ...condition, message: isWell(condition) ? '' : shortened(str(message), MESSAGE_LIMIT) }
  })
}

/** A cluster's message about a state that is not well; its own status holds the rest. */
const MESSAGE_LIMIT = 500

/** Servers leave zero counts out, and so does what is made of them. */
function put(status: Fields, name: string, count: number): void {
  if (count > 0) status[name] = count
  else delete status[name]
}

function countIn(fields: Fields, name: string, otherwise = 0): number {
  const value = fields[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}
