/**
 * Outcome of the mailbox's content: the progress over its changes, and the failed ones. An object that is neither ahead of that nor an
 * exception is in the cluster as in the mailbox.
 */

import { isStatusError, namespaceTrouble, StatusError, type StatusReason } from '../../apimachinery/errors.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { shortened } from '../../apimachinery/shortened.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Clock } from '../../client/clock.ts'
import type { OutcomeState } from '../../placement/outcome/copyStates.ts'
import type { FieldDifference, LiveField } from '../../placement/outcome/fieldDifference.ts'
import type { HealthVerdict } from '../../placement/outcome/health.ts'
import { type Exception, MAX_MESSAGE } from '../../placement/outcome/outcome.ts'
import { keyText, type SyncKey } from '../mailbox/mirror.ts'

export interface Trouble {
  readonly state: OutcomeState
  readonly reason: string
  readonly message: string
  readonly differences?: readonly FieldDifference[]
  readonly liveFields?: readonly LiveField[]
  readonly health?: HealthVerdict
}

/** Unprocessed changes of an object: revisions. */
interface Open {
  first: number
  /** The first that came while it was looked at last. */
  meanwhile: number | undefined
}

export class Outcomes {
  readonly #clock: Clock
  readonly #onChange: () => void
  /** In the order of what came first of each, but where it is not in order. */
  readonly #open = new Map<string, Open>()
  /** The newest that came; a snapshot tells in the order of names. */
  #newest = 0
  #inOrder = true
  readonly #exceptions = new Map<string, Exception>()
  /** Keys to compare with the cluster before anything counts; absent until they are known. */
  #uncompared: Set<string> | undefined
  /** The cluster cannot be reached. */
  #isOutOfSight = false

  constructor(clock: Clock, onChange: () => void = () => {}) {
    this.#clock = clock
    this.#onChange = onChange
  }

  /** The mailbox says something new of an object, or takes it away. */
  changed(key: SyncKey, revision: number): void {
    const text = keyText(key)
    if (this.#open.size === 0) this.#inOrder = true
    if (revision < this.#newest) this.#inOrder = false
    else this.#newest = revision
    const open = this.#open.get(text)
    // what came before it was not looked at either: a status that follows a change of content does not hide that
    if (open === undefined) this.#open.set(text, { first: revision, meanwhile: undefined })
    else {
      open.first = Math.min(open.first, revision)
      open.meanwhile ??= revision
    }
  }

  /** The mirror is whole; all of it is to be compared, and was queued for that. */
  whole(keys: Iterable<SyncKey>): void {
    if (this.#isOutOfSight) return
    this.#uncompared ??= new Set([...keys].map(keyText))
    this.#onChange()
  }

  /** The cluster is out of reach: what was compared may be otherwise by now. */
  lostSight(): void {
    this.#isOutOfSight = true
    this.#uncompared = undefined
    this.#onChange()
  }

  /** It can be reached; all of `keys` is to be compared anew, and was queued for that. Absent: not all are known yet. */
  sightIsBack(keys: Iterable<SyncKey> | undefined): void {
    this.#isOutOfSight = false
    if (keys) this.whole(keys)
    else this.#onChange()
  }

  get isOutOfSight(): boolean {
    return this.#isOutOfSight
  }

  /** Runs a look at an object; what changes of it meanwhile is to be looked at again. One that is postponed was none. */
  async looking<T>(key: SyncKey, look: () => Promise<T>): Promise<T> {
    const text = keyText(key)
    const open = this.#open.get(text)
    if (open !== undefined) open.meanwhile = undefined
    // what begins before a comparison is no part of it
    const uncompared = this.#uncompared
    let isOver = true
    try {
      const result = await look()
      isOver = !isRecord(result) || result.postponed !== true
      return result
    } finally {
      if (isOver) {
        if (open !== undefined && this.#open.get(text) === open) this.#lookedAt(text, open)
        uncompared?.delete(text)
        this.#onChange()
      }
    }
  }

  /** Whether the mailbox says something of an object that no look has seen. */
  isOpen(key: SyncKey): boolean {
    return this.#open.has(keyText(key))
  }

  #lookedAt(text: string, open: Open): void {
    if (open.meanwhile === undefined) {
      this.#open.delete(text)
      return
    }
    // others came before that, and stand behind it
    if (this.#open.size > 1) this.#inOrder = false
    open.first = open.meanwhile
  }

  get compared(): boolean {
    return this.#uncompared?.size === 0
  }

  /** Position up to which everything was processed, out of what arrived up to `received`. */
  processed(received: number): number {
    const oldest = this.#open.values().next().value
    if (oldest === undefined) return received
    let { first } = oldest
    if (!this.#inOrder) for (const open of this.#open.values()) first = Math.min(first, open.first)
    return Math.min(first - 1, received)
  }

  /** @param seq revision of the mailbox's object */
  except(key: SyncKey, seq: number, { message, ...trouble }: Trouble): void {
    const text = keyText(key)
    const known = this.#exceptions.get(text)
    const { group, resource, namespace, name } = key
    const since = known?.state === trouble.state ? known.since : timestamp(new Date(this.#clock.now()))
    const exception = {
      group,
      resource,
      namespace,
      name,
      seq,
      ...trouble,
      message: shortened(message, MAX_MESSAGE),
      since,
    }
    if (known && equalJson(known, exception)) return
    this.#exceptions.set(text, exception)
    this.#onChange()
  }

  settle(key: SyncKey): void {
    if (this.#exceptions.delete(keyText(key))) this.#onChange()
  }

  get exceptions(): ReadonlyMap<string, Exception> {
    return this.#exceptions
  }
}

/** Answers that stay the same until somebody changes something. */
const REFUSALS: readonly StatusReason[] = [
  'Invalid',
  'Forbidden',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'UnsupportedMediaType',
  'RequestEntityTooLarge',
]

/** Meaning of a cluster's error for the object under its look. */
export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof StatusError))
    return { state: 'retrying', reason: 'Error', message: error instanceof Error ? error.message : String(error) }
  const namespace = namespaceTrouble(error)
  if (namespace) return { state: 'waiting', reason: namespace, message: error.message }
  const state = isStatusError(error, ...REFUSALS) ? 'refused' : 'retrying'
  const message = TOO_LONG.test(error.message) ? `${error.message}; ${MARKS_COUNT}` : error.message
  return { state, reason: error.reason, message }
}

const TOO_LONG = /metadata\.annotations: Too long/
/** No other server takes the marks beside its limit, and without them nobody would know whose the object is. */
const MARKS_COUNT =
  "the marks by which Orrery knows its objects (edge.kubestellar.io/…) need some of that: shorten the object's own"
