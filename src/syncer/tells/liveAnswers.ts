/**
 * Answers to the center's questions about the cluster as it is now, one after the other. Only fields that the center sets leave the
 * cluster: values at the places of the wanted object. List items are matched by name where they have one, else by place. Values of
 * Secrets are hashed.
 */

import { createHmac } from 'node:crypto'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { LAST_APPLIED_ANNOTATION } from '../../apimachinery/resources.ts'
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

/** The cluster's object, beside the one that would be written. */
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

  /** A malformed question, or one too many, gets no answer: the center reports the silence. */
  receive(value: unknown): void {
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
        this.#deps.logger.debug({ err: error }, 'the report of live content did not reach the center')
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
  const [then, now] = [shownObject(wanted, hashKey), shownObject(atPlacesOf(wanted, live) as KubeObject, hashKey)]
  return [then, now].some(side => Buffer.byteLength(JSON.stringify(side)) > MAX_LIVE_BYTES)
    ? {}
    : { wanted: then, live: now }
}

/** `live` at the places of `wanted`; `undefined` is not there. */
export function atPlacesOf(wanted: unknown, live: unknown): unknown {
  if (isRecord(wanted) && isRecord(live)) {
    const places = Object.keys(wanted).filter(key => live[key] !== undefined)
    return Object.fromEntries(places.map(key => [key, atPlacesOf(wanted[key], live[key])]))
  }
  if (!Array.isArray(wanted) || !Array.isArray(live)) return live
  if (wanted.length > 0 && [...wanted, ...live].every(isNamed)) {
    const byName = new Map(live.map(item => [(item as Named).name, item]))
    return wanted.flatMap((item: Named) => {
      const found = byName.get(item.name)
      return found === undefined ? [] : [atPlacesOf(item, found)]
    })
  }
  return wanted.length === live.length ? live.map((item, i) => atPlacesOf(wanted[i], item)) : live
}

interface Named {
  readonly name: string
}

function isNamed(item: unknown): item is Named {
  return isRecord(item) && typeof item.name === 'string'
}

/** As it may leave the cluster: without what servers set, values of Secrets as hashes. */
export function shownObject(object: KubeObject, hashKey: string): Record<string, unknown> {
  const { apiVersion, kind, metadata, status: _, ...fields } = object
  const { labels, annotations = {} } = metadata
  const { [LAST_APPLIED_ANNOTATION]: _applied, ...others } = annotations
  const isSecret = kind === 'Secret' && apiVersion === 'v1'
  const hash = (value: unknown): string =>
    `hash:${createHmac('sha256', hashKey).update(JSON.stringify(value)).digest('hex').slice(0, 16)}`
  const hidden = (value: unknown): unknown =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hash(one)])) : hash(value)
  const shown = Object.entries(fields).map(([field, value]): [string, unknown] => [
    field,
    isSecret && (field === 'data' || field === 'stringData') ? hidden(value) : value,
  ])
  return { metadata: { ...(labels && { labels }), annotations: others }, ...Object.fromEntries(shown) }
}
