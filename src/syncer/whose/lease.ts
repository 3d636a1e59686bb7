/**
 * One live syncer for each cluster: the holder of the Lease serves it. Others stand by and take over when the holder is silent for the
 * Lease's duration or releases it. A standby measures the silence by its own clock: clocks of two machines need not agree.
 *
 * A holder that could not renew in time goes on reading, and writes nothing until its next attempt. The Lease is then still its own, or
 * another holder's.
 *
 * Renewals are for those who stand by, so a holder that nobody waits for ({@link LeaseWatch}) sends few once it has nothing to write.
 * One every five seconds takes 28 MiB a day, and an idle syncer's aim is 2 MB (docs/performance.md). A holder that does not notice a
 * standby is taken for silent, and asks before it writes as any other does. The few renewals show whether the cluster was put back to
 * an earlier moment, which may leave watches open and silent.
 * @see https://kubernetes.io/docs/concepts/architecture/leases/
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { num, str } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { writesAfter } from '../../client/aroundCalls.ts'
import type { SpaceClient } from '../../client/client.ts'
import { pause, steadyMs } from '../../client/clock.ts'
import { TerminalError } from '../../client/reconcileFailures.ts'
import type { Runtime } from '../../client/runtime.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { CLUSTER_RECORD, STANDBY_ANNOTATION } from '../../placement/words/placement.ts'
import { SYNCER_MANAGER } from '../objects/marks.ts'
import { type Held, heldIn, LEASES, LeaseWatch, STANDBY_DURATIONS } from './leaseWatch.ts'

/** Between two renewals that nobody waits for. */
const ALONE_MS = 600_000

/** Renewals in a row without an answer that are all remembered. */
const MAX_TRIES = 100

interface LeaseOptions extends Runtime {
  cluster: SpaceClient
  /** Identity of this process and no other. */
  holder: string
  durationMs: number
  signal: AbortSignal
  /** Somebody else took over. */
  onLost(): void
  /** The Lease is another one than we left: the cluster is as it was at an earlier moment. */
  onRolledBack?(): void
}

/** By two clocks. */
interface Moment {
  dayMs: number
  steadyMs: number
}

export class ClusterLease {
  readonly #options: LeaseOptions
  readonly #watch: LeaseWatch
  /** Time of the last successful request: for a duration from then on no other syncer takes it, and this one may write. */
  #gotIt: Moment | undefined
  /** The cluster knows no Leases, or we may not have one: nothing holds us back. */
  #without = false
  #renewal: Promise<boolean> | undefined
  #isStandingBy = false
  /** As our last write left it; unknown after one that failed. */
  #left: Held | undefined
  /** When we renewed, as the Lease may say it: the last time that we know of, and those tries since that may have come through. */
  #written: string[] = []
  /** Whether something may have been written that no renewal came after: a cluster of before it would look the same. */
  #hasWritten = false
  #wake = new AbortController()

  constructor(options: LeaseOptions) {
    this.#options = options
    this.#watch = new LeaseWatch({ ...options, onNews: () => this.#wake.abort() })
  }

  /** Whether another syncer has it, and we wait for its end. */
  get isStandingBy(): boolean {
    return this.#isStandingBy
  }

  /** Waits until the Lease is ours; false when the signal came first. @throws StatusError when the cluster does not answer */
  async acquire(): Promise<boolean> {
    const { clock, signal, logger, durationMs } = this.#options
    let seen: { renewed: string; holder: string; sinceMs: number } | undefined // by the steady clock
    let notedAtMs = Number.NEGATIVE_INFINITY
    while (!signal.aborted) {
      if (await this.#tryRenew(held => held.holder === '' || isOver(held))) {
        this.#isStandingBy = false
        return true
      }
      const held = await this.#read()
      this.#isStandingBy = held !== undefined
      if (held !== undefined && (seen?.renewed !== held.renewed || seen.holder !== held.holder)) {
        if (seen?.holder !== held.holder)
          logger.info({ holder: held.holder }, 'another syncer serves the cluster; standing by until it ends')
        seen = { renewed: held.renewed, holder: held.holder, sinceMs: steadyMs(clock) }
      }
      if (held !== undefined && steadyMs(clock) - notedAtMs >= durationMs * STANDBY_DURATIONS) {
        await this.#standBy()
        notedAtMs = steadyMs(clock)
      }
      await pause(clock, durationMs / 5, signal)
    }
    return false

    function isOver(held: Held): boolean {
      return (
        seen !== undefined &&
        seen.holder === held.holder &&
        seen.renewed === held.renewed &&
        steadyMs(clock) - seen.sinceMs >= durationMs
      )
    }
  }

  /** Renews, as far as anybody needs it, until the signal aborts or somebody else took over. */
  async keep(): Promise<void> {
    if (this.#without) return
    const ended = new AbortController()
    const signal = AbortSignal.any([this.#options.signal, ended.signal])
    await Promise.all([this.#renewWhileNeeded(signal).finally(() => ended.abort()), this.#watch.run(signal)])
  }

  async #renewWhileNeeded(signal: AbortSignal): Promise<void> {
    const { clock, durationMs, logger } = this.#options
    while (!signal.aborted) {
      await pause(clock, durationMs / 3, AbortSignal.any([signal, this.#wake.signal]))
      const isUrgent = this.#wake.signal.aborted
      if (isUrgent) this.#wake = new AbortController()
      if (signal.aborted || this.#without || !(isUrgent || this.#mustRenew())) continue
      try {
        if (!(await this.#renewed())) return
      } catch (error) {
        logger.debug({ err: error }, 'the Lease was not renewed')
      }
    }
  }

  #mustRenew(): boolean {
    return this.#ageMs() >= ALONE_MS || this.#hasWritten || !this.#watch.isQuiet(this.#left?.renewed)
  }

  /** Lets go, so that whoever stands by need not wait. To be called when nothing is written any more. */
  async release(): Promise<void> {
    if (this.#without || this.#gotIt === undefined) return
    const { cluster, holder, logger } = this.#options
    try {
      const held = await this.#read()
      if (held?.holder !== holder) return
      const { uid, resourceVersion } = held.object.metadata
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
      await cluster.delete(LEASES, CLUSTER_RECORD, { preconditions })
    } catch (error) {
      logger.debug({ err: error }, 'the Lease was not let go; it ends by itself')
    }
  }

  /** Writes wait until it is certain that nobody else serves the cluster. @throws StatusError when that is not to be known */
  fenced(client: SpaceClient): SpaceClient {
    return writesAfter(client, async () => {
      if (!this.#without && this.#ageMs() >= this.#options.durationMs && !(await this.#renewed()))
        throw new TerminalError('another syncer serves the cluster by now')
      this.#hasWritten = true
    })
  }

  #now(): Moment {
    const { clock } = this.#options
    return { dayMs: clock.now(), steadyMs: steadyMs(clock) }
  }

  /** Age of the holding, by the clock that shows more: people set the one, and the other may stop while the machine sleeps. */
  #ageMs(): number {
    const [then, now] = [this.#gotIt, this.#now()]
    return then === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(now.dayMs - then.dayMs, now.steadyMs - then.steadyMs)
  }

  /** Whether it is ours still; one question at a time. */
  #renewed(): Promise<boolean> {
    this.#renewal ??= this.#renew()
      .then(isOurs => {
        if (!isOurs) this.#options.onLost()
        return isOurs
      })
      .finally(() => {
        this.#renewal = undefined
      })
    return this.#renewal
  }

  /** One request while the Lease is as we left it; else a look first. */
  async #renew(): Promise<boolean> {
    const left = this.#left
    this.#hasWritten = false
    if (left === undefined) return await this.#tryRenew(() => false)
    try {
      await this.#write(left)
      return true
    } catch (error) {
      // Not as we left it, gone, or not ours to keep any more: a look tells.
      if (!isStatusError(error, 'Conflict', 'NotFound', 'Forbidden', 'MethodNotAllowed')) throw error
      return await this.#tryRenew(() => false)
    }
  }

  /** Makes the Lease ours where it stands as `before` says. */
  async #write(before: Held | undefined): Promise<void> {
    const { cluster } = this.#options
    const requestedAt = this.#now()
    const lease = this.#lease(before)
    this.#left = undefined
    this.#written = [...this.#written.slice(-MAX_TRIES), str(lease, 'spec', 'renewTime')]
    const object =
      before === undefined
        ? await cluster.create(LEASES, lease, { fieldManager: SYNCER_MANAGER })
        : await cluster.update(LEASES, lease, { fieldManager: SYNCER_MANAGER })
    this.#left = heldIn(object)
    this.#watch.noticed(this.#left)
    this.#written = [this.#left.renewed]
    this.#gotIt = requestedAt
  }

  /** Says on the Lease that somebody waits for it: from now on its holder shows that it lives. */
  async #standBy(): Promise<void> {
    const { cluster, clock, holder, logger } = this.#options
    const standby = `${holder} ${microTime(clock.now())}`
    const body = { metadata: { annotations: { [STANDBY_ANNOTATION]: standby } } }
    try {
      await cluster.patch(LEASES, CLUSTER_RECORD, 'merge', body, { fieldManager: SYNCER_MANAGER })
    } catch (error) {
      // It was let go, and the next look takes it; or we may not write it, and will not take it either.
      if (!isStatusError(error, 'NotFound', 'Forbidden')) throw error
      logger.debug({ err: error }, 'the Lease does not say that this syncer stands by')
    }
  }

  /** Whether the Lease is ours now. `mayTake` judges that of another holder. */
  async #tryRenew(mayTake: (held: Held) => boolean): Promise<boolean> {
    const { holder } = this.#options
    this.#left = undefined
    try {
      const held = await this.#read()
      if (held !== undefined && held.holder !== holder && !mayTake(held)) return false
      const isOther = this.#written.length > 0 && (held?.holder !== holder || !this.#written.includes(held.renewed))
      await this.#write(held)
      if (isOther) this.#options.onRolledBack?.()
      return true
    } catch (error) {
      // Somebody was faster: the next look tells who.
      if (isStatusError(error, 'Conflict', 'AlreadyExists')) return (await this.#read())?.holder === holder
      return this.#isWithout(error)
    }
  }

  #isWithout(error: unknown): boolean {
    if (!isStatusError(error, 'NotFound', 'Forbidden', 'MethodNotAllowed')) throw error
    if (!this.#without)
      this.#options.logger.warn(
        { reason: error.reason },
        `the cluster lets the syncer keep no Lease (${error.message}): see to it that no second one serves it`,
      )
    this.#without = true
    return true
  }

  async #read(): Promise<Held | undefined> {
    const object = await unlessGone(this.#options.cluster.get(LEASES, CLUSTER_RECORD))
    return object && heldIn(object)
  }

  #lease(before?: Held): KubeObject {
    const { holder, durationMs, clock } = this.#options
    const now = microTime(clock.now())
    const spec = isRecord(before?.object.spec) ? before.object.spec : {}
    const stays = before?.holder === holder
    const standby = stays && before.standby !== '' ? { annotations: { [STANDBY_ANNOTATION]: before.standby } } : {}
    const transitions = num(spec.leaseTransitions) ?? 0
    const { resourceVersion } = before?.object.metadata ?? {}
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...CLUSTER_RECORD, ...(resourceVersion && { resourceVersion }), ...standby },
      spec: {
        holderIdentity: holder,
        leaseDurationSeconds: Math.ceil(durationMs / 1000),
        acquireTime: stays ? spec.acquireTime : now,
        renewTime: now,
        leaseTransitions: stays || before === undefined ? transitions : transitions + 1,
      },
    }
  }
}

function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}
