/**
 * Questions to syncers about the live content of their clusters. They go down the streams of mailboxes whose syncers support them, and wait
 * for their answers. Few run at a time, those of each space and cluster one after the other, and none for ever.
 */
import { randomUUID } from 'node:crypto'
import { Counts } from '../../apimachinery/counts.ts'
import { MapOfSets } from '../../apimachinery/nestedMaps.ts'
import { type Clock, pause } from '../../client/clock.ts'
import {
  LIVE_PACE_MS,
  LIVE_WAIT_MS,
  type LiveAnswer,
  type LiveAsker,
  type LiveQuestion,
  MAX_LIVE_WAITING,
  MAX_TENANT_WAITING,
  type Unanswered,
} from '../../placement/desks/liveObjects.ts'
import type { UserInfo } from '../auth/types.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { isSyncerOf } from './syncerIdentity.ts'

export interface LiveQuestionsDeps {
  tree: Pick<SpaceTree, 'pathOf' | 'tenantOf'>
  clock: Clock
}

/** Sends a question down a stream. */
type Send = (question: LiveQuestion) => void

interface Waiting {
  /** Mailbox of the syncer that answers. */
  readonly mailbox: string
  answer(answer: LiveAnswer | Unanswered): void
}

const STAYS = new AbortController().signal

export class LiveQuestions implements LiveAsker {
  readonly #deps: LiveQuestionsDeps
  /** Streams of syncers, by mailbox. */
  readonly #streams = new MapOfSets<{ readonly send: Send }>()
  readonly #waiting = new Map<string, Waiting>()
  /** When a space may ask a cluster next. Those that may now are forgotten. */
  readonly #next = new Map<string, number>()
  /** With those that wait for their turn. */
  #under = 0
  /** The same by tenant. */
  readonly #underTenant = new Counts()

  constructor(deps: LiveQuestionsDeps) {
    this.#deps = deps
  }

  /** A stream of a mailbox begins; what is answered is to be called at its end. */
  reading(mailbox: string, user: UserInfo, send: Send): () => void {
    if (!isSyncerOf(user, this.#deps.tree)) return () => {}
    const one = { send }
    this.#streams.add(mailbox, one)
    return () => {
      if (!this.#streams.delete(mailbox, one) || this.#streams.has(mailbox)) return
      for (const waiting of this.#waiting.values()) if (waiting.mailbox === mailbox) waiting.answer('NoSyncer')
    }
  }

  async ask(
    mailbox: string,
    space: string,
    question: Omit<LiveQuestion, 'id'>,
    gone: AbortSignal = STAYS,
  ): Promise<LiveAnswer | Unanswered> {
    if (!this.#streams.has(mailbox)) return 'NoSyncer'
    const tenant = this.#deps.tree.tenantOf(space)
    if (this.#under >= MAX_LIVE_WAITING || this.#underTenant.of(tenant) >= MAX_TENANT_WAITING) return 'TooMany'
    this.#under++
    this.#underTenant.add(tenant, 1)
    try {
      if (!(await this.#turn(`${space} ${mailbox}`, gone))) return 'TooMany'
      if (gone.aborted) return 'SilentSyncer'
      return this.#streams.has(mailbox) ? await this.#send(mailbox, question, gone) : 'NoSyncer'
    } finally {
      this.#under--
      this.#underTenant.add(tenant, -1)
    }
  }

  /** Takes a syncer's answer; one without a waiting question is dropped. */
  take(mailbox: string, answer: LiveAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    if (waiting?.mailbox === mailbox) waiting.answer(answer)
  }

  async #send(
    mailbox: string,
    question: Omit<LiveQuestion, 'id'>,
    gone: AbortSignal,
  ): Promise<LiveAnswer | Unanswered> {
    const { promise, resolve } = Promise.withResolvers<LiveAnswer | Unanswered>()
    const id = randomUUID()
    const end = (): void => resolve('SilentSyncer')
    const cancel = this.#deps.clock.after(LIVE_WAIT_MS, end)
    gone.addEventListener('abort', end)
    this.#waiting.set(id, { mailbox, answer: resolve })
    try {
      // a resumed stream may have its former one beside it for a moment: the syncer gets the question once
      ;[...this.#streams.of(mailbox)].at(-1)!.send({ ...question, id })
      return await promise
    } finally {
      cancel()
      gone.removeEventListener('abort', end)
      this.#waiting.delete(id)
    }
  }

  /** Whether its turn came; nobody waits longer for that than for an answer. */
  async #turn(id: string, gone: AbortSignal): Promise<boolean> {
    const { clock } = this.#deps
    const nowMs = clock.now()
    for (const [other, atMs] of this.#next) if (atMs <= nowMs) this.#next.delete(other)
    const atMs = Math.max(nowMs, this.#next.get(id) ?? 0)
    if (atMs - nowMs > LIVE_WAIT_MS) return false
    this.#next.set(id, atMs + LIVE_PACE_MS)
    if (atMs > nowMs) await pause(clock, atMs - nowMs, gone)
    return true
  }
}
