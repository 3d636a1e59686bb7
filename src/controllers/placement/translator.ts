/**
 * The placement translator: keeps every mailbox's content equal to the product of placements, slices and workload, and
 * carries counts, errors and status back. Streams drive all of it; nothing is polled. Here its parts ([assembly.ts](assembly.ts)) are
 * connected ([signalReaders.ts](signalReaders.ts)), started and ended.
 */
import type { ControllerHandle } from '../controllerHandle.ts'
import { standsInMailbox } from '../placedSource.ts'
import { assemble, type Parts, type PlacementTranslatorDeps } from './assembly.ts'
import { spacesWithFeedback } from './feedback/feedbackLeftovers.ts'
import { readSignals } from './signalReaders.ts'
import { TaskRouter } from './taskRouter.ts'
import { beginAnswers } from './translatorDesks.ts'

/** Writes under way at the same time, beside those that some space is slow to answer; bounds memory as well as load. */
const CONCURRENCY = 128

/** Starts at once and runs until `stop`. */
export function startPlacementTranslator(deps: PlacementTranslatorDeps): ControllerHandle {
  const translator = new Translator(deps)
  return { depth: () => translator.depth, idle: () => translator.idle(), stop: () => translator.stop() }
}

class Translator {
  readonly #stop = new AbortController()
  readonly #deps: PlacementTranslatorDeps & { readonly signal: AbortSignal }
  readonly #parts: Parts
  readonly #running: Promise<unknown>
  readonly #endAnswers: () => void

  constructor(deps: PlacementTranslatorDeps) {
    const { signal } = this.#stop
    this.#deps = { ...deps, signal }
    this.#parts = assemble(this.#deps)
    readSignals(this.#parts, deps.topology.facts)
    const { tasks, together } = this.#parts
    const router = new TaskRouter(this.#parts)
    this.#endAnswers = beginAnswers(deps, this.#parts)
    this.#running = Promise.all([
      this.#begin(),
      tasks.queue.run(task => router.reconcile(task), { concurrency: CONCURRENCY, signal, together }),
    ])
  }

  /** First work once the topology is known whole. */
  async #begin(): Promise<void> {
    const { places, logger, turns, clock, random, signal, topology } = this.#deps
    const { explained, closing } = this.#parts
    const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([topology.synced, stopped])
    if (!signal.aborted) logger.info({ controller: 'placement-translator' }, 'controller is in step')
    // in mailboxes it is without effect, and they hold most of what there is
    const isLeftOut = (space: string) => standsInMailbox(places, space) === true
    const spaces = await spacesWithFeedback({ client: explained, logger, turns, clock, random, isLeftOut }, signal)
    closing.takeBack(spaces)
  }

  get depth(): number {
    return this.#parts.tasks.queue.size
  }

  async idle(): Promise<void> {
    const { checks, tasks, pendingCopies } = this.#parts
    do {
      await checks.idle()
      await tasks.queue.idle()
    } while (!checks.isIdle || !pendingCopies.isIdle)
  }

  async stop(): Promise<void> {
    const { checks, workloads, mailboxes, outcomes, reports, log } = this.#parts
    this.#stop.abort()
    checks.stop()
    await Promise.all([this.#running, workloads.stop(), mailboxes.stop()])
    this.#endAnswers()
    outcomes.stop()
    reports.stop()
    log.close()
  }
}
