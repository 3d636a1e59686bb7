/**
 * How many objects and spaces a server holds. The limit is a plan: it is reported from four fifths on, and refuses what is new before memory
 * runs short. Updates, deletions and the server's own work go on: a server that is full lets people make room, and what is placed stays
 * whole.
 *
 * Copies in mailboxes share their text. Four of them count as one object. A mailbox counts by its SyncTarget.
 */
import { BUDGET_EXCEEDED, isOfServer, weightOf } from '../../placement/spaces/spaceBudget.ts'
import type { Key, Refusal } from '../../storage/store.ts'
import type { Logger } from '../request/logger.ts'
import type { Use } from './spaceUse.ts'

/** `undefined`: as many as memory holds. */
export interface ServerLimit {
  readonly objects: number | undefined
  readonly spaces: number | undefined
}

export type ServerUse = Readonly<Record<keyof ServerLimit, number>>

/** Heap for each object of a kilobyte, and for each space, with what they leave to requests: see docs/performance.md. */
export const HEAP_PER_OBJECT = 2 * 1024
export const HEAP_PER_SPACE = 20 * 1024
const COPIES_PER_OBJECT = 4
/** The part of a limit from which it is reported. */
const NEARLY = 0.8
/** Below it the report ends. */
const ENOUGH = 0.75

const NAMES = ['objects', 'spaces'] as const

/** @param heapLimitBytes what may live in the heap */
export function defaultServerLimit(heapLimitBytes: number): ServerLimit {
  return {
    objects: Math.floor(heapLimitBytes / HEAP_PER_OBJECT),
    spaces: Math.floor(heapLimitBytes / HEAP_PER_SPACE),
  }
}

/** @param core of the space that holds the mailboxes, with these */
export function serverUse(all: Use | undefined, core: Use | undefined): ServerUse {
  const mailboxes = core?.objects ?? 0
  const objects = (all?.objects ?? 0) - mailboxes + Math.ceil(mailboxes / COPIES_PER_OBJECT)
  return { objects, spaces: (all?.spaces ?? 0) - (core?.spaces ?? 0) }
}

export class ServerLimits {
  readonly limit: ServerLimit
  readonly #log: Logger
  readonly #reported = new Set<keyof ServerLimit>()

  constructor(limit: ServerLimit, log: Logger) {
    this.limit = limit
    this.#log = log
  }

  /** Refusal of a new object outside of the core space and its mailboxes. */
  refusal(key: Key, use: ServerUse, isInRoot: boolean): Refusal | undefined {
    const { spaces } = weightOf(key)
    // a full server is administered in its root
    if (spaces === 0 && (isInRoot || isOfServer(key))) return undefined
    const more: ServerUse = { objects: 1 + weightOf(key).objects, spaces }
    const full = NAMES.find(name => more[name] > 0 && use[name] + more[name] > (this.limit[name] ?? Infinity))
    if (full === undefined) return undefined
    const message = `the server holds as many ${full} as it may (${this.limit[full]})`
    return {
      reason: 'Budget',
      message: `${message}; delete ${full} that nobody needs, or ask an administrator of the server for more (--max-${full}, "kubectl ws budget" in root)`,
      key,
      causes: [{ reason: BUDGET_EXCEEDED, field: full, message }],
    }
  }

  /** Logs the approach to a limit, and its end. */
  report(use: ServerUse): void {
    for (const [what, ratio] of ratios(use, this.limit)) {
      if (!this.#reported.has(what) && ratio >= NEARLY) {
        this.#reported.add(what)
        this.#log.warn(
          { what, used: use[what], limit: this.limit[what] },
          `the server holds four fifths of the ${what} that it may; beyond the limit new ones are refused. Delete some ("kubectl ws budget" in root), or raise --max-${what} with the heap`,
        )
      } else if (this.#reported.has(what) && ratio < ENOUGH) {
        this.#reported.delete(what)
        this.#log.info({ what, used: use[what], limit: this.limit[what] }, `the server has room for ${what} again`)
      }
    }
  }
}

/** The parts of the limits that are used, 1: all. */
export function ratios(use: ServerUse, limit: ServerLimit): [what: keyof ServerLimit, ratio: number][] {
  return NAMES.flatMap(name => {
    const most = limit[name]
    return most === undefined ? [] : [[name, use[name] / most]]
  })
}
