/** Answers what the center asks about the cluster as it is now, one question after the other. Only fields that the center sets leave it. */

import { messageOf } from '../../apimachinery/messageOf.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import type { Logger } from '../../client/logger.ts'
import {
  type LiveAnswer,
  type LiveQuestion,
  MAX_LIVE_BYTES,
  readLiveQuestion,
} from '../../placement/desks/liveObjects.ts'
import { OUTCOME_FORM, OUTCOME_SUBRESOURCE } from '../../placement/outcome/outcome.ts'
import { SYNCER_CONFIG_NAME, SYNCER_CONFIGS } from '../../placement/words/placement.ts'
import type { SyncKey } from '../mailbox/mirror.ts'
import { atPlacesOf, told } from '../objects/ownFields.ts'

/** What the cluster holds of an object, beside what would be written. */
export type Compared =
  | { readonly state: 'notCarried' | 'missing' | 'notOurs' | 'finished' }
  | { readonly state: 'same' | 'differs'; readonly wanted: KubeObject; readonly live: Readonly<KubeObject> }

export interface LiveAnswersDeps {
  mailbox: Pick<SpaceClient, 'update'>
  compare: (key: SyncKey) => Promise<Compared>
  logger: Logger
}

/** Questions that wait; the center waits for those that it asks too many of no longer than for any other. */
const MAX_QUESTIONS = 50

export class LiveAnswers {
  readonly #deps: LiveAnswersDeps
  readonly #questions: LiveQuestion[] = []
  #isAnswering = false

  constructor(deps: LiveAnswersDeps) {
    this.#deps = deps
  }

  /** What is not understood, or one too many, is not answered: the center says that nobody did. */
  asked(value: unknown): void {
    const question = readLiveQuestion(value)
    if (!question || this.#questions.length >= MAX_QUESTIONS) return
    this.#questions.push(question)
    if (!this.#isAnswering) void this.#answerAll()
  }

  async #answerAll(): Promise<void> {
    this.#isAnswering = true
    for (let next = this.#questions.shift(); next; next = this.#questions.shift()) {
      const answer = await this.#answer(next)
      const body = { ...OUTCOME_FORM, metadata: { name: SYNCER_CONFIG_NAME }, spec: { answer } }
      try {
        await this.#deps.mailbox.update(SYNCER_CONFIGS, body, { subresource: OUTCOME_SUBRESOURCE })
      } catch (error) {
        this.#deps.logger.debug({ err: error }, 'the center did not hear what the cluster holds')
      }
    }
    this.#isAnswering = false
  }

  async #answer({ id, hashKey, group, resource, namespace, name }: LiveQuestion): Promise<LiveAnswer> {
    try {
      const compared = await this.#deps.compare({ group, resource, namespace, name })
      const { state } = compared
      if (state !== 'same' && state !== 'differs') return { id, state, message: '' }
      return { id, state, message: '', ...(state === 'differs' && sidesOf(compared.wanted, compared.live, hashKey)) }
    } catch (error) {
      return { id, state: 'failed', message: messageOf(error) }
    }
  }
}

/** Nothing of what is too large. */
function sidesOf(wanted: KubeObject, live: Readonly<KubeObject>, hashKey: string): Pick<LiveAnswer, 'wanted' | 'live'> {
  const [then, now] = [told(wanted, hashKey), told(atPlacesOf(wanted, live) as KubeObject, hashKey)]
  return [then, now].some(side => Buffer.byteLength(JSON.stringify(side)) > MAX_LIVE_BYTES)
    ? {}
    : { wanted: then, live: now }
}
