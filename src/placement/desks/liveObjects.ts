/**
 * The present content of a cluster's object, from its syncer. A question goes down the stream of the mailbox to syncers that declare
 * support; the answer comes in where outcomes do. It holds the fields that the center sets and no others. Values of Secrets are hashes with
 * a key of the question. Pure.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { shortLine } from '../../apimachinery/shortened.ts'
import type { OutcomeKey } from '../outcome/outcome.ts'

/** Bound on the answer for one object, as JSON, for each side. */
export const MAX_LIVE_BYTES = 64 * 1024
/** Bound on the wait for a syncer, and for a turn before it: the timeout reaches clients before they give up. */
export const LIVE_WAIT_MS = 10_000
/** Between two questions of a space about one cluster. */
export const LIVE_PACE_MS = 1000
/** Questions that wait for answers, of all spaces. */
export const MAX_LIVE_WAITING = 200
/** And of one tenant, which is a space below the root with all below it. */
export const MAX_TENANT_WAITING = 80
/** Clusters that one PlacementPreview asks. */
export const MAX_LIVE_CLUSTERS = 20

const MAX_ID = 64
const MAX_MESSAGE = 300

export interface LiveQuestion extends OutcomeKey {
  readonly id: string
  /** Values of Secrets are hashed with it. */
  readonly hashKey: string
}

export const LIVE_STATES = [
  /** The cluster has it as the syncer would write it. */
  'same',
  'differs',
  /** The cluster has none. */
  'missing',
  /** It has run to its end there, and the cluster holds it no more. */
  'finished',
  /** It was there before, and the syncer leaves it alone. */
  'notOurs',
  /** The mailbox holds none, or the syncer does not carry it. */
  'notCarried',
  /** The cluster did not answer. */
  'failed',
] as const
export type LiveState = (typeof LIVE_STATES)[number]

export interface LiveAnswer {
  readonly id: string
  readonly state: LiveState
  /** In the cluster's words, where it failed. */
  readonly message: string
  /**
   * Fields of the center: as the syncer would write them, and as the cluster has them. Absent where they are too large.
   */
  readonly wanted?: Readonly<Record<string, unknown>> | undefined
  readonly live?: Readonly<Record<string, unknown>> | undefined
}

/** Why nobody answered. */
export type Unanswered = 'NoSyncer' | 'SilentSyncer' | 'TooMany'

/** A source of live objects. */
export interface LiveAsker {
  /** `mailbox` is the id of its space, `space` that of whoever asks. `gone`: nobody waits for the answer any more. */
  ask(
    mailbox: string,
    space: string,
    question: Omit<LiveQuestion, 'id'>,
    gone?: AbortSignal,
  ): Promise<LiveAnswer | Unanswered>
}

/** From a line of a stream; `undefined` where it is none that we understand. */
export function readLiveQuestion(value: unknown): LiveQuestion | undefined {
  if (!isRecord(value)) return undefined
  const { id, hashKey, group, resource, namespace, name } = value
  const texts = [id, hashKey, group, resource, namespace, name]
  if (!texts.every(text => typeof text === 'string')) return undefined
  return { id, hashKey, group, resource, namespace, name } as LiveQuestion
}

/** From `spec.answer` of what a syncer sends. @throws StatusError BadRequest, naming the field */
export function readLiveAnswer(value: unknown): LiveAnswer {
  if (!isRecord(value)) throw bad('answer', 'must be an object')
  const { id, state, message = '', wanted, live } = value
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID) throw bad('answer.id', 'must be the id of a question')
  if (!LIVE_STATES.includes(state as LiveState)) throw bad('answer.state', `must be one of ${LIVE_STATES.join(', ')}`)
  if (typeof message !== 'string') throw bad('answer.message', 'must be a text')
  return {
    id,
    state: state as LiveState,
    message: shortLine(message, MAX_MESSAGE),
    wanted: readSide(wanted, 'answer.wanted'),
    live: readSide(live, 'answer.live'),
  }
}

function readSide(value: unknown, field: string): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined) return undefined
  if (!isRecord(value)) throw bad(field, 'must be an object')
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_LIVE_BYTES)
    throw bad(field, `has more than ${MAX_LIVE_BYTES} bytes; leave it out`)
  return value
}

function bad(field: string, why: string): StatusError {
  return new StatusError('BadRequest', `the answer of a syncer is malformed: ${field}: ${why}`)
}
