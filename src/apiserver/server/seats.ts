/**
 * A bound on requests at a time, divided among the priority levels, so that no crowd keeps another out.
 *
 * Each level has a share of the seats, and keeps a part of it free for itself; the rest it lends while it does not need it.
 * So a seat is to be had below what the level keeps, always; beyond, while there are more seats than are taken or kept free.
 * Whoever is refused within its share is owed a seat: for a while nobody borrows, and what falls free goes to those whose it is.
 */
import { PRIORITY_LEVELS, type PriorityLevel } from './priorityLevels.ts'

/** Longer than it takes clients that are refused to come again. */
const NO_LENDING_MS = 2000

type PerLevel = Record<PriorityLevel, number>

export class Seats {
  readonly #limit: number
  readonly #clock: () => number
  readonly #share: Readonly<PerLevel>
  readonly #kept: Readonly<PerLevel>
  readonly #running: PerLevel = perLevel(() => 0)
  /** Of all levels the sum of what runs or is kept free, whichever is more. Never above the limit. */
  #taken: number
  #total = 0
  #lendsFromMs = Number.NEGATIVE_INFINITY

  /** `clock`: milliseconds on any clock that only goes forward. Read when seats are scarce, not for every request. */
  constructor(limit: number, clock: () => number) {
    const shares = Object.values(PRIORITY_LEVELS).reduce((sum, level) => sum + level.shares, 0)
    this.#limit = limit
    this.#clock = clock
    this.#share = perLevel(level => Math.floor((limit * PRIORITY_LEVELS[level].shares) / shares))
    this.#kept = perLevel(level => {
      const { shares: own, lendablePercent } = PRIORITY_LEVELS[level]
      return Math.floor((limit * own * (100 - lendablePercent)) / (shares * 100))
    })
    this.#taken = Object.values(this.#kept).reduce((sum, kept) => sum + kept, 0)
  }

  /** Takes a seat until `give`, if there is one. */
  take(level: PriorityLevel): boolean {
    const running = this.#running[level]
    if (level !== 'exempt' && running >= this.#kept[level]) {
      const borrows = running >= this.#share[level]
      if (this.#taken >= this.#limit || (borrows && this.#clock() < this.#lendsFromMs)) {
        if (!borrows) this.#lendsFromMs = this.#clock() + NO_LENDING_MS
        return false
      }
      this.#taken++
    }
    this.#running[level]++
    this.#total++
    return true
  }

  /** Gives a seat back that `take` gave. */
  give(level: PriorityLevel): void {
    this.#running[level]--
    this.#total--
    if (level !== 'exempt' && this.#running[level] >= this.#kept[level]) this.#taken--
  }

  /** Seats in use, those of the exempt included. */
  get total(): number {
    return this.#total
  }

  running(level: PriorityLevel): number {
    return this.#running[level]
  }

  /** How many seats are the level's own. */
  share(level: PriorityLevel): number {
    return this.#share[level]
  }

  /** How many of them nobody else ever gets. */
  kept(level: PriorityLevel): number {
    return this.#kept[level]
  }
}

function perLevel(value: (level: PriorityLevel) => number): PerLevel {
  return {
    exempt: value('exempt'),
    system: value('system'),
    'node-high': value('node-high'),
    'leader-election': value('leader-election'),
    'workload-high': value('workload-high'),
    'workload-low': value('workload-low'),
    'global-default': value('global-default'),
    'catch-all': value('catch-all'),
  }
}
