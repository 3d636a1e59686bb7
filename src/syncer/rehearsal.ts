/**
 * A syncer's work in its cluster now, without doing it. The mailbox is read once, and the very code of the syncer carries or removes each
 * object, over a {@link RehearsedCluster}. No write reaches the cluster or the center, and nothing is reported. Order and patience are left
 * out: it gives the results, not their times.
 */
import { isStatusError } from '../apimachinery/errors.ts'
import { groupResourceName } from '../apimachinery/object.ts'
import { NAMESPACES } from '../apimachinery/resources.ts'
import { atMost } from '../client/atMost.ts'
import type { SpaceClient } from '../client/client.ts'
import { silentLogger } from '../client/logger.ts'
import { WorkQueue } from '../client/workqueue.ts'
import { LEAVE_ANNOTATION, PAUSED_ANNOTATION } from '../placement/words/placement.ts'
import { clusterParts } from './down/clusterParts.ts'
import { EmptiedNamespaces } from './down/emptiedNamespaces.ts'
import { phaseOf } from './down/phases.ts'
import { RemovalBrake } from './down/removalBrake.ts'
import { ClusterAllowance } from './mailbox/clusterAllowance.ts'
import { MailboxFeed } from './mailbox/mailboxFeed.ts'
import { keyOf, keyText, type Mirrored, nameOf, type SyncKey } from './mailbox/mirror.ts'
import { OWN_CONFIG } from './mailbox/orders.ts'
import { SyncerState } from './mailbox/syncerState.ts'
import { isSyncConfig } from './mailbox/syncPlan.ts'
import { isClustersOwn, staysInMailbox } from './objects/marks.ts'
import { type Act, RehearsedCluster } from './rehearsedCluster.ts'
import { ClusterSide } from './sees/clusterSide.ts'
import { servedBy } from './sees/served.ts'
import type { SyncerOptions } from './syncer.ts'
import { type Outcome, waveRefusal } from './tells/verdicts.ts'
import { checkClaim, checkSpace, recordOf } from './whose/identity.ts'
import { checkSyncTarget, mailboxOf, requireOtherServer } from './whose/places.ts'
import { rateLimited, TokenBucket } from './whose/rateLimit.ts'

export interface Rehearsed {
  /** `wait`: for what is not there yet. `fail`: the cluster says no. `hold`: it stays until its owner confirms that it shall go. */
  readonly act: Act | 'refuse' | 'wait' | 'fail' | 'hold'
  /** `configmaps app/a`. */
  readonly what: string
  readonly message?: string
}

export interface Rehearsal {
  /** By object; what would stay as it is is left out. */
  readonly acts: readonly Rehearsed[]
  /** Remarks beside the acts. */
  readonly notes: readonly string[]
}

const CONCURRENCY = 16

/** @throws Error when mailbox and cluster do not belong together, or one of them does not answer */
export async function rehearse(options: SyncerOptions): Promise<Rehearsal> {
  const { center, space, logger, clock, random, turns, allowance = new ClusterAllowance() } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const tools = { logger, clock, random }
  const mailbox = center.in(space)
  const bucket = options.limit && new TokenBucket({ ...options.limit, clock, signal })
  const rehearsed = new RehearsedCluster()
  const over = (client: SpaceClient): SpaceClient => rehearsed.client(bucket ? rateLimited(client, bucket) : client)
  const cluster = over(options.cluster)
  const { impersonate } = options
  const as = impersonate && ((user: string) => over(impersonate(user)))

  const given = await mailboxOf(mailbox)
  if (options.syncTargetUid !== undefined) checkSyncTarget(given.name, options.syncTargetUid)
  await requireOtherServer(mailbox, cluster)
  const record = await recordOf(cluster)
  if (record) checkSpace(record, space)
  await checkClaim(cluster, given, mailbox)

  const mailboxServed = await servedBy(mailbox)
  const queue = (): WorkQueue<SyncKey> => new WorkQueue<SyncKey>({ id: keyText, turns, ...tools })
  const complete = Promise.withResolvers<void>()
  const state = new SyncerState(undefined, logger)
  const feed: MailboxFeed = new MailboxFeed({
    client: center,
    space,
    ...tools,
    turns,
    state,
    onChange: ({ key, object, previous }) => side.mailboxChanged(key, object, previous),
    onComplete: () => {
      side.mailboxComplete()
      complete.resolve()
    },
  })
  const { mirror } = feed
  // never started: it watches nothing, and answers with the plan and the remains of an earlier run
  const side: ClusterSide = new ClusterSide({
    cluster,
    mailboxServed,
    mirror,
    allowance,
    queues: { down: queue(), status: queue(), up: queue() },
    ...tools,
    signal,
    onProjected() {},
    onConfig() {},
    onAssociates() {},
  })
  const { served, projected: watches } = side
  const reading = feed.run(given.name, signal)
  try {
    await Promise.all([complete.promise, served.refresh()])
    const plan = () => side.plan
    const again = (): void => {}
    const facts = { mirror, plan, mirrorComplete: () => true, allowance }
    // who does it says that it is done
    const common = { ...facts, cluster, as, served, watches, again, logger: silentLogger, clock }
    const { carrier, removals } = clusterParts({
      ...common,
      adoptExisting: options.adoptExisting === true,
      echoes: state.echoes,
      isBusy: () => false,
      forgotten: () => {},
    })
    const emptied = new EmptiedNamespaces(common)
    const brake = new RemovalBrake({
      mirror,
      isRestored: () => feed.isRestored,
      free: again,
      again,
      obeyed: () => undefined,
      logger: silentLogger,
      clock,
    })
    brake.confirmed(record?.confirmed)

    const wants = (key: SyncKey): boolean => plan().wantsDown(key, key.namespace, key.name)
    const keys = new Map<string, SyncKey>()
    const carry = (key: SyncKey, mirrored: Mirrored): Promise<Outcome> => {
      const refusal = allowance.refusalOf(key) ?? waveRefusal(mirrored.object)
      return refusal ? Promise.resolve({ refusal }) : carrier.carry(key, mirrored)
    }
    const remove = async (key: SyncKey): Promise<Outcome> => {
      const held = mirror.get(key) !== undefined
      // a Namespace holds more than what was put there
      if (held && groupResourceName(key) === groupResourceName(NAMESPACES)) return {}
      const hold = held ? undefined : brake.holdOf(key)
      if (typeof hold === 'object') return { trouble: hold }
      rehearsed.unwanted(key)
      const waitMs = held ? undefined : await emptied.remove(key)
      if (waitMs !== undefined) return { trouble: { state: 'waiting', reason: 'NotEmpty', message: NOT_EMPTY } }
      removals.mayBeThere(key)
      return await removals.remove(key, held)
    }
    await side.findLeftovers((key, object) => {
      keys.set(keyText(key), key)
      if (!mirror.get(key)) brake.left(key, object)
    })
    brake.searched()
    brake.end()
    for (const { resource, object } of mirror.values()) {
      const key = keyOf(resource, object)
      const isNobodys = isSyncConfig(resource) || staysInMailbox(object)
      if (!isNobodys && wants(key)) keys.set(keyText(key), key)
    }
    const acts: Rehearsed[] = []
    const holds = new Set<string>()
    const look = async (key: SyncKey): Promise<void> => {
      const mirrored = mirror.get(key)
      const found = await outcomeOf(() => (mirrored && wants(key) ? carry(key, mirrored) : remove(key)))
      const act = rehearsed.actOn(key)
      const what = nameOf(key)
      if (found?.act === 'hold') {
        holds.add(found.message ?? '')
        acts.push({ act: 'hold', what })
      } else if (found) acts.push({ ...found, what })
      else if (act) acts.push({ act, what })
    }
    const looked = [...keys.values()].filter(key => !isClustersOwn(key))
    // what others need first, as when it is done
    for (const phase of [...new Set(looked.map(phaseOf))].sort((a, b) => a - b))
      await atMost(
        CONCURRENCY,
        looked.filter(key => phaseOf(key) === phase),
        look,
      )
    const config = mirror.get(OWN_CONFIG)?.object
    return {
      acts: acts.sort((a, b) => (a.what < b.what ? -1 : 1)),
      notes: [...notesOf(config?.metadata.annotations ?? {}), ...[...holds].map(hold => `${hold}; ${NO_STATE}`)],
    }
  } finally {
    stopping.abort()
    await reading
    await side.stop()
    await feed.close()
  }
}

/** A remark on held removals: a rehearsal reads no saved state. */
const NO_STATE = 'a syncer that kept its state removes at once what the center deleted by name since'
const NOT_EMPTY = 'it came along with objects, and goes once nothing is in it any more'

/** Reasons of errors that say nothing of the object. */
const NO_ANSWER: ReadonlySet<string> = new Set(['ServiceUnavailable', 'Timeout', 'TooManyRequests', 'Unauthorized'])

/** `undefined`: nothing keeps it. */
async function outcomeOf(work: () => Promise<Outcome>): Promise<Omit<Rehearsed, 'what'> | undefined> {
  try {
    const { refusal, trouble } = await work()
    if (refusal) return { act: 'refuse', message: refusal.message }
    return trouble && { act: trouble.state === 'held' ? 'hold' : 'wait', message: trouble.message }
  } catch (error) {
    // whoever does not answer says nothing of this object
    if (!isStatusError(error) || NO_ANSWER.has(error.reason)) throw error
    return { act: 'fail', message: error.message }
  }
}

function notesOf(annotations: Readonly<Record<string, string>>): string[] {
  const leave = annotations[LEAVE_ANNOTATION]
  return [
    ...(leave === undefined
      ? []
      : [`the SyncTarget is being deleted (${leave}): a syncer would leave the cluster instead of doing this`]),
    ...(annotations[PAUSED_ANNOTATION] === 'true'
      ? ['the cluster is paused: a syncer would do nothing of this until that is over']
      : []),
  ]
}
