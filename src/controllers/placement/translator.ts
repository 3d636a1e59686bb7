/**
 * The placement translator: keeps every mailbox's content equal to the product of placements, slices and workload, and
 * carries counts, errors and status back. Everything is driven by streams; nothing is polled. Here its parts are put together
 * ([assembly/](assembly)), started and ended.
 */
import type { Client } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import type { KeyGuard } from '../../client/setAside/keyGuard.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { ControllerHandle } from '../controllerHandle.ts'
import type { EventRecorder } from '../eventRecorder.ts'
import { type SpacePlaces, standsInMailbox } from '../placedSource.ts'
import { type Askers, beginAnswers } from './assembly/answers.ts'
import { copyParts } from './assembly/copyParts.ts'
import { joinParts } from './assembly/joinParts.ts'
import { mailboxParts } from './assembly/mailboxParts.ts'
import type { Parts, Setup } from './assembly/parts.ts'
import { retentionParts } from './assembly/retentionParts.ts'
import { statusParts } from './assembly/statusParts.ts'
import { summaryParts } from './assembly/summaryParts.ts'
import { spacesWithFeedback } from './feedback/feedbackLeftovers.ts'

export interface PlacementTranslatorDeps extends Askers {
  client: Client
  places: SpacePlaces
  logger: Logger
  /** Of its work queue. */
  guard?: KeyGuard | undefined
  /** Slices of the loop's time in which it takes events and works. */
  turns: WorkTurns
  clock: Clock
  random: () => number
  events: EventRecorder
  signal: AbortSignal
}

/** Writes under way at the same time, beside those that some space is slow to answer; bounds memory as well as load. */
const CONCURRENCY = 128

/** Starts at once and runs until `signal` aborts or `stop`. */
export function startPlacementTranslator(deps: PlacementTranslatorDeps): ControllerHandle {
  const translator = new Translator(deps)
  return { depth: () => translator.depth, idle: () => translator.idle(), stop: () => translator.stop() }
}

class Translator {
  readonly #stop = new AbortController()
  readonly #setup: Setup
  readonly #parts: Parts
  readonly #running: Promise<unknown>
  readonly #unfollow: () => void
  readonly #endAnswers: () => void

  constructor(deps: PlacementTranslatorDeps) {
    const { client, places, guard, turns, logger, clock, random, events } = deps
    const signal = AbortSignal.any([deps.signal, this.#stop.signal])
    const writtenAtMs = (revision: number) => deps.figures?.writtenAtMs(revision)
    const common = { client, guard, logger, turns, clock, random }
    const epoch = deps.outcomes?.epoch
    const schema = deps.schema ?? (() => undefined)
    this.#setup = { ...common, places, events, signal, epoch, schema, common, writtenAtMs }
    this.#parts = partsOf(this.#setup)
    const { signals, statuses, summaries, marks, listener } = this.#parts
    const { join, locations, consents, topology, workspaces, queue, router, together } = this.#parts
    for (const reader of [statuses, summaries, marks, listener]) {
      signals.copyChanged.on((...what) => reader.copyChanged(...what))
      signals.mailboxChanged.on(mailbox => reader.mailboxChanged(mailbox))
    }
    for (const reader of [statuses, summaries]) signals.claimsChanged.on((...what) => reader.claimsChanged(...what))
    signals.carriedChanged.on((...what) => summaries.carriedChanged(...what))
    for (const reader of [summaries, listener])
      signals.collectorsChanged.on((...what) => reader.collectorsChanged(...what))
    signals.waysChanged.on(space => locations.changed(space))
    signals.mailboxOpened.on(mailbox => {
      for (const space of new Set(join.placementsOf(mailbox).map(lead => lead.space))) locations.changed(space)
    })
    this.#endAnswers = beginAnswers(deps, this.#setup, this.#parts)
    this.#unfollow = consents.follow()
    this.#running = Promise.all([
      topology.run(signal),
      workspaces.run(signal),
      this.#begin(),
      queue.run(task => router.reconcile(task), { concurrency: CONCURRENCY, signal, together }),
    ])
  }

  /** What is to be done once the topology is known whole for the first time. */
  async #begin(): Promise<void> {
    const { places, logger, turns, clock, random, signal } = this.#setup
    const { client, topology, closing } = this.#parts
    const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([topology.synced, stopped])
    if (!signal.aborted) logger.info({ controller: 'placement-translator' }, 'controller is in step')
    // in mailboxes it is without effect, and they hold most of what there is
    const isLeftOut = (space: string) => standsInMailbox(places, space) === true
    closing.takeBack(await spacesWithFeedback({ client, logger, turns, clock, random, isLeftOut }, signal))
  }

  get depth(): number {
    return this.#parts.queue.size
  }

  async idle(): Promise<void> {
    const { checks, queue, pendingCopies } = this.#parts
    do {
      await checks.idle()
      await queue.idle()
    } while (!checks.isIdle || !pendingCopies.isIdle)
  }

  async stop(): Promise<void> {
    const { checks, workloads, mailboxes, outcomes, reports, crowdLog } = this.#parts
    this.#stop.abort()
    checks.stop()
    await Promise.all([this.#running, workloads.stop(), mailboxes.stop()])
    this.#unfollow()
    this.#endAnswers()
    outcomes.stop()
    reports.stop()
    crowdLog.close()
  }
}

/** Each needs some of those before it at once, and the others when it works. */
function partsOf(setup: Setup): Parts {
  const parts = {} as Parts
  for (const make of [joinParts, statusParts, retentionParts, mailboxParts, copyParts, summaryParts]) {
    Object.assign(parts, make(setup, parts))
  }
  return parts
}
