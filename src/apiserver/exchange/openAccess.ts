/**
 * Ends watches, streams and WebSockets whose credential or right has gone. A change only marks its space. All that is open there is
 * then judged again as a new request would be, in turns with other long work. All changes that come meanwhile cost one more round.
 * No event is authorized by itself.
 */
import { statusError } from '../../apimachinery/errors.ts'
import { MapOfSets } from '../../apimachinery/nestedMaps.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { type Clock, steadyMs } from '../../client/clock.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Permission } from '../auth/types.ts'

/** From the end of a round to the next one of the same space, at least; and so many times what the round took. */
const ROUND_PAUSE_MS = 250
const ROUND_SHARE = 4
/** A round waits for others, too: then it is no measure of its work. */
const MAX_ROUND_PAUSE_MS = 5000
/** Longer than anything stays open: who is good for longer needs no timer. */
const WITHIN_MS = 2 * 3_600_000

interface OpenAccessDeps {
  turns: Pick<WorkTurns, 'begin' | 'soon'>
  clock: Clock
}

/** Changes since the last round: of credentials, which are shown anew then, and of rights. */
interface Doubt {
  credentials: boolean
  rights: boolean
}

export interface Held {
  /** Undefined while it may go on. */
  readonly refusal: unknown
  /** To be called when it has ended, for whatever reason. */
  release(): void
}

interface Entry {
  readonly permission: Permission
  refusal: unknown
  isOver: boolean
  end(): void
  cancelTimer(): void
}

export class OpenAccess {
  readonly #deps: OpenAccessDeps
  /** By the spaces whose changes may end them: the one that is read, and that of the credential. */
  readonly #entries = new MapOfSets<Entry>()
  /** Spaces with a round that runs or rests; empty doubts: nothing changed since it began. */
  readonly #doubts = new Map<string, Doubt>()

  constructor(deps: OpenAccessDeps) {
    this.#deps = deps
  }

  /** Calls `end` once at most. It is judged at once, too: its right may have gone since its request was let in. */
  hold(permission: Permission, end: () => void): Held {
    const entry: Entry = { permission, refusal: undefined, isOver: false, end, cancelTimer: () => {} }
    const spaces = spacesOf(permission)
    for (const space of spaces) this.#entries.add(space, entry)
    void this.#judge(entry, true)
    return {
      get refusal() {
        return entry.refusal
      },
      release: () => {
        entry.isOver = true
        entry.cancelTimer()
        for (const space of spaces) this.#entries.delete(space, entry)
      },
    }
  }

  /** Credentials of a space may have ended; `undefined`: of all spaces. */
  credentialsChanged(space: string | undefined): void {
    this.#mark(space, doubt => {
      doubt.credentials = true
    })
  }

  /** Rights in a space may have gone; `undefined`: in all spaces. */
  rightsChanged(space: string | undefined): void {
    this.#mark(space, doubt => {
      doubt.rights = true
    })
  }

  #mark(space: string | undefined, change: (doubt: Doubt) => void): void {
    for (const each of space === undefined ? this.#entries.keys() : [space]) {
      if (!this.#entries.has(each)) continue
      const known = this.#doubts.get(each)
      const doubt = known ?? { credentials: false, rights: false }
      change(doubt)
      if (known !== undefined) continue
      this.#doubts.set(each, doubt)
      // behind the commit that tells of it
      this.#deps.turns.soon(() => void this.#round(each))
    }
  }

  async #round(space: string): Promise<void> {
    const { turns, clock } = this.#deps
    const doubt = { ...this.#doubts.get(space)! }
    this.#doubts.set(space, { credentials: false, rights: false })
    const begunMs = steadyMs(clock)
    const work = turns.begin({ owner: space })
    for (const entry of [...this.#entries.of(space)]) {
      const { identity, space: read } = entry.permission
      const anew = doubt.credentials && identity.space === space
      if (!anew && !(doubt.rights && read === space)) continue
      const judged = this.#judge(entry, anew)
      if (judged instanceof Promise) await judged
      if (work.due) await work.rest()
    }
    const share = Math.max(ROUND_PAUSE_MS, ROUND_SHARE * (steadyMs(clock) - begunMs))
    const pauseMs = Math.min(share, MAX_ROUND_PAUSE_MS)
    clock.after(pauseMs, () => {
      const { credentials, rights } = this.#doubts.get(space)!
      if (credentials || rights) void this.#round(space)
      else this.#doubts.delete(space)
    })
  }

  /** Never throws: whatever stands in the way of an answer ends what is open, and says so there. */
  #judge(entry: Entry, anew: boolean): Soon<void> {
    try {
      const judged = whenKnown(entry.permission.judge(anew), () => this.#passed(entry))
      return judged instanceof Promise ? judged.catch(error => this.#end(entry, error)) : judged
    } catch (error) {
      this.#end(entry, error)
    }
  }

  #passed(entry: Entry): void {
    if (entry.isOver) return
    const { untilMs = Infinity } = entry.permission.identity
    const leftMs = untilMs - this.#deps.clock.now()
    entry.cancelTimer()
    if (leftMs <= 0) this.#end(entry, statusError.unauthorized())
    else if (leftMs < WITHIN_MS) entry.cancelTimer = this.#deps.clock.after(leftMs, () => void this.#judge(entry, true))
  }

  #end(entry: Entry, refusal: unknown): void {
    if (entry.isOver) return
    entry.isOver = true
    entry.refusal = refusal
    entry.end()
  }
}

function spacesOf({ space, identity }: Permission): string[] {
  return identity.space === undefined || identity.space === space ? [space] : [space, identity.space]
}
