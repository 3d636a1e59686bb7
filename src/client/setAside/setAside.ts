/**
 * Keys whose work may have ended the process before. A fatal error of V8, or a kill of a hung process, cannot be caught. The running keys
 * are known afterwards ({@link UnderwayFile}), and the next start leaves them aside.
 *
 * Many ran by chance. After a short while those keys are tried alone, one after the other. The server can be reached before that, and a bad
 * object be deleted. A key that survives goes on as ever. If the process ends again, the one that was tried is blamed, as far as is known:
 * somebody may have killed the process just then. So each key waits for seconds, doubled up to two minutes. Five trials of a key may end
 * the process without a success between, whoever else is blamed meanwhile. That key waits for ten minutes, an hour, a day; less when
 * somebody asks for it, as its object may be mended. An orderly end blames nobody; the end of the whole machine blames only what was tried.
 *
 * Objects that controllers receive at their beginning may end the process, too. The object is recorded only from the second time on: the
 * first end only shows that it was amid one of those intakes.
 */
import { uptime } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { KeyGuard, KeyHold } from './keyGuard.ts'
import { shortId } from './shortId.ts'
import { BLANK, type Suspect, SuspectFile } from './suspectFile.ts'
import { type UnderwayEntry, UnderwayFile } from './underwayFile.ts'
import { requestedMs, waitMs } from './waits.ts'

interface SetAsideOptions {
  /** Where the two files are. */
  dataDir: string
  logger: Pick<Logger, 'info' | 'warn' | 'error'>
  clock: Clock
  /** The start of the machine, in milliseconds since the epoch. Default: as the system says. */
  bootedMs?: number
}

/** Earlier additions belong to the beginning: every object is new then. */
const BEGINNING_MS = 60_000
/** A key that lives for so long, or that nobody asks for, is forgotten, with what was counted. A start may take minutes. */
const PEACE_MS = 600_000
/** A trial without an end by then waits for something; the next one is tried meanwhile. */
const TRIAL_MS = 10_000
/** That time doubles with each end that blames the key, this often: a slow one should not be blamed for the next. */
const MORE_TIME = 3
/** Keys that are remembered. */
const LIMIT = 2_000
/** Lines of the log that name keys, for each start. */
const MAX_LOGGED = 20

/** Stands for all objects of a controller's beginning; no key has this id. */
const INTAKE = ''

export class SetAside {
  readonly #clock: Clock
  readonly #logger: SetAsideOptions['logger']
  readonly #file: SuspectFile
  readonly #underway: UnderwayFile
  /** The machine ended with the process before this one. A trial may end it again: trials are then synced. */
  readonly #isNewMachine: boolean
  readonly #suspects = new Map<string, Suspect>()
  readonly #startedMs: number
  /** Queues whose controllers were amid their beginning when the process before this one ended. */
  readonly #careful: ReadonlySet<string>
  readonly #tickets = new Map<number, Suspect>()
  #trial: { suspect: Suspect; cancel: () => void } | undefined
  #cancel: (() => void) | undefined
  /** When the timer above goes off. */
  #wakesMs = Number.POSITIVE_INFINITY
  #closed = false

  /** To be opened by who holds the data dir alone. @throws Error of the system */
  constructor({ dataDir, logger, clock, bootedMs = Date.now() - uptime() * 1000 }: SetAsideOptions) {
    this.#clock = clock
    this.#logger = logger
    this.#file = new SuspectFile(join(dataDir, 'set-aside.json'), logger)
    this.#startedMs = clock.now()
    this.#underway = new UnderwayFile(join(dataDir, 'underway'), error =>
      logger.warn(
        { err: error },
        'what is under way cannot be noted: a key that ends the process will not be set aside',
      ),
    )
    for (const suspect of this.#file.read(this.#startedMs))
      this.#suspects.set(keyOf(suspect.queue, suspect.id), suspect)
    const { found: ran, writtenMs } = this.#underway
    this.#isNewMachine = writtenMs < bootedMs
    const found = this.#isNewMachine ? ran.filter(({ tried }) => tried) : ran
    if (found.length < ran.length)
      logger.info({ count: ran.length }, 'the whole machine ended: only work that was tried alone is set aside')
    this.#careful = new Set(found.filter(({ id }) => id === INTAKE).map(({ queue }) => queue))
    this.#accuse(found.filter(({ id }) => id !== INTAKE))
    this.#underway.forget()
    if (this.#isNewMachine) this.#underway.sync()
    this.#schedule()
  }

  guardFor(queue: string): KeyGuard {
    const suspects = this.#suspects
    return {
      get holdsAny() {
        return suspects.size > 0
      },
      holds: (id, go) => this.#holds(queue, id, go),
      suspects: id => this.#suspects.size > 0 && this.#suspects.get(keyOf(queue, shortId(id())))?.state === 'held',
      begin: id => this.#begin(queue, id),
      beginMany: ids => this.#beginMany(queue, ids),
      end: (ticket, postponed) => this.#end(ticket, postponed),
      intake: () => ({ ticket: this.#begin(queue, INTAKE), isCareful: this.#careful.has(queue) }),
    }
  }

  /** Keys that are set aside now, by queue. */
  counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { queue, state } of this.#suspects.values())
      if (state === 'held') counts.set(queue, (counts.get(queue) ?? 0) + 1)
    return counts
  }

  /** An orderly end of the process: nothing that ran is to blame. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#cancel?.()
    this.#trial?.cancel()
    this.#underway.close()
    if (this.#suspects.size > 0) this.#file.save(this.#suspects.values())
  }

  #accuse(found: readonly UnderwayEntry[]): void {
    if (found.length === 0) return
    const nowMs = this.#startedMs
    for (const { queue, id, tried } of found) {
      const known = this.#suspects.get(keyOf(queue, id))
      const suspect: Suspect = known ?? { queue, id, among: 0, alone: 0, ...BLANK }
      if (tried) suspect.alone++
      else suspect.among++
      suspect.state = 'held'
      suspect.diedMs = nowMs
      suspect.dueMs = nowMs + waitMs(suspect)
      this.#suspects.set(keyOf(queue, id), suspect)
    }
    const ranked = [...this.#suspects.entries()].sort(([, a], [, b]) => b.alone - a.alone || b.diedMs - a.diedMs)
    for (const [key] of ranked.slice(LIMIT)) this.#suspects.delete(key)
    this.#file.save(this.#suspects.values())
    this.#log(ranked.map(([, suspect]) => suspect).filter(({ diedMs }) => diedMs === nowMs))
  }

  #log(accused: readonly Suspect[]): void {
    const guilty = accused.filter(({ alone }) => alone > 0)
    for (const { queue, id, alone, dueMs } of guilty.slice(0, MAX_LOGGED))
      this.#logger.error(
        { controller: queue, key: id, deaths: alone, nextTry: new Date(dueMs).toISOString() },
        'the server ended while it worked on this key alone: it is set aside; mend or delete its object',
      )
    const others = accused.length - guilty.length
    if (others === 0) return
    const keys = accused.filter(({ alone }) => alone === 0).slice(0, MAX_LOGGED)
    // nobody's fault as far as is known: whoever kills a busy server meets this
    this.#logger.info(
      { keys: keys.map(({ queue, id }) => `${queue}: ${id}`), count: others },
      'the server did not end in order: what it worked on is set aside for some seconds, then tried one by one',
    )
  }

  #holds(queue: string, id: string, go: () => void): KeyHold | undefined {
    if (this.#suspects.size === 0) return undefined
    const suspect = this.#suspects.get(keyOf(queue, shortId(id)))
    if (suspect?.state !== 'held' || this.#closed) return undefined
    suspect.go = go
    const nowMs = this.#clock.now()
    if (suspect.alone > 0 && nowMs - this.#startedMs > BEGINNING_MS)
      suspect.dueMs = Math.min(suspect.dueMs, nowMs + requestedMs(suspect))
    // thousands may come in a row, each of which would look at all; the end of a trial does so anyway
    if (!this.#trial && suspect.dueMs < this.#wakesMs) this.#schedule()
    // its time may have come already: then it goes now
    return suspect.state === 'held' ? { deaths: suspect.alone, untilMs: suspect.dueMs } : undefined
  }

  #begin(queue: string, id: string): number {
    const short = shortId(id)
    const suspect = this.#suspects.size === 0 ? undefined : this.#suspects.get(keyOf(queue, short))
    const tried = suspect?.state === 'tried'
    const ticket = this.#underway.begin({ queue, id: short, tried })
    if (!tried) return ticket
    this.#tickets.set(ticket, suspect)
    if (this.#isNewMachine) this.#underway.sync()
    return ticket
  }

  #beginMany(queue: string, ids: readonly string[]): readonly number[] {
    // each may be one that is tried
    if (this.#suspects.size > 0) return ids.map(id => this.#begin(queue, id))
    return this.#underway.beginMany(queue, ids.map(shortId))
  }

  #end(ticket: number, postponed: boolean): void {
    this.#underway.end(ticket)
    const suspect = this.#tickets.get(ticket)
    if (!suspect) return
    this.#tickets.delete(ticket)
    // A postponed key has not been tried. It takes its turn when it comes again: others may come with it, and none of them is to be blamed
    // for what another does.
    if (postponed) suspect.state = 'held'
    else {
      suspect.state = 'lives'
      suspect.livesSinceMs = this.#clock.now()
      if (suspect.alone > 0) {
        suspect.alone = 0
        this.#file.save(this.#suspects.values())
        this.#logger.info({ controller: suspect.queue, key: suspect.id }, 'a key that was set aside is worked on again')
      }
    }
    if (this.#trial?.suspect === suspect) this.#endTrial()
    else this.#schedule()
  }

  #endTrial(): void {
    this.#trial?.cancel()
    this.#trial = undefined
    this.#schedule()
  }

  /** Tries the next one whose time has come, or waits for that; forgets those that have lived in peace. */
  #schedule(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#wakesMs = Number.POSITIVE_INFINITY
    if (this.#closed || this.#suspects.size === 0) return
    const nowMs = this.#clock.now()
    let nextMs = Number.POSITIVE_INFINITY
    let forgotten = false
    let chosen: Suspect | undefined
    for (const [key, suspect] of this.#suspects) {
      const endMs = endOf(suspect, this.#startedMs)
      if (endMs <= nowMs) {
        this.#suspects.delete(key)
        forgotten = true
      } else if (suspect.state === 'held' && suspect.go && suspect.dueMs <= nowMs) {
        if (!chosen || suspect.dueMs < chosen.dueMs) chosen = suspect
      } else nextMs = Math.min(nextMs, suspect.state === 'held' && suspect.go ? suspect.dueMs : endMs)
    }
    if (forgotten) this.#file.save(this.#suspects.values())
    if (chosen && !this.#trial) this.#try(chosen)
    else if (nextMs < Number.POSITIVE_INFINITY) {
      this.#wakesMs = nextMs
      this.#cancel = this.#clock.after(Math.min(nextMs - nowMs, MAX_TIMER_MS), () => this.#schedule())
    }
  }

  #try(suspect: Suspect): void {
    suspect.state = 'tried'
    const cancel = this.#clock.after(TRIAL_MS * 2 ** Math.min(suspect.alone, MORE_TIME), () => this.#endTrial())
    this.#trial = { suspect, cancel }
    const { go } = suspect
    suspect.go = undefined
    go?.()
  }
}

/** The longest that timers of Node can wait is a little more. */
const MAX_TIMER_MS = 2_000_000_000

function keyOf(queue: string, id: string): string {
  return `${queue}\0${id}`
}

/** Time at which it is forgotten: in peace, or when its time has come without an addition. */
function endOf({ state, go, dueMs, livesSinceMs }: Suspect, startedMs: number): number {
  if (state === 'lives') return livesSinceMs + PEACE_MS
  if (state === 'held' && !go) return Math.max(dueMs, startedMs + PEACE_MS)
  return Number.POSITIVE_INFINITY
}
