/** Keys that are set aside, as they stand in a file from one start to the next. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { isRecord } from '../../apimachinery/object.ts'
import type { Logger } from '../logger.ts'
import { type Ends, FIRST_MS, waitMs } from './waits.ts'

export interface Suspect extends Ends {
  readonly queue: string
  readonly id: string
  diedMs: number
  dueMs: number
  state: 'held' | 'tried' | 'lives'
  go: (() => void) | undefined
  livesSinceMs: number
}

export const BLANK = { diedMs: 0, dueMs: 0, state: 'held', go: undefined, livesSinceMs: 0 } as const

export class SuspectFile {
  readonly #path: string
  readonly #logger: Pick<Logger, 'warn'>

  constructor(path: string, logger: Pick<Logger, 'warn'>) {
    this.#path = path
    this.#logger = logger
  }

  /** Keys of before, with times that hold none for longer than its time. */
  read(nowMs: number): Suspect[] {
    try {
      const all: unknown = JSON.parse(readFileSync(this.#path, 'utf8'))
      return Array.isArray(all) ? all.flatMap(saved => suspectOf(saved, nowMs)) : []
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
      this.#logger.warn({ err: error }, 'set-aside.json cannot be read: nothing is set aside because of it')
      return []
    }
  }

  /** Synced: the next thing that runs may be the last. */
  save(suspects: Iterable<Suspect>): void {
    const saved = Array.from(suspects, ({ queue, id, among, alone, diedMs, dueMs, state }) => {
      return { queue, id, among, alone, diedMs, dueMs, lives: state === 'lives' }
    })
    try {
      const next = `${this.#path}.next`
      const descriptor = openSync(next, 'w', 0o600)
      try {
        writeSync(descriptor, JSON.stringify(saved))
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
      renameSync(next, this.#path)
    } catch (error) {
      this.#logger.warn({ err: error }, 'what is set aside cannot be noted for the next start')
    }
  }
}

function suspectOf(saved: unknown, nowMs: number): Suspect[] {
  if (!isRecord(saved)) return []
  const { queue, id, among, alone, diedMs, dueMs, lives } = saved
  if (typeof queue !== 'string' || typeof id !== 'string') return []
  const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? Math.floor(value) : 0)
  const ends = { among: count(among), alone: count(alone) }
  const suspect: Suspect = { queue, id, ...ends, ...BLANK, diedMs: count(diedMs) }
  if (lives === true) return [{ ...suspect, state: 'lives', livesSinceMs: nowMs }]
  // a clock that was set back must not hold it for longer than its time
  return [{ ...suspect, dueMs: Math.max(nowMs + FIRST_MS, Math.min(count(dueMs), nowMs + waitMs(suspect))) }]
}
