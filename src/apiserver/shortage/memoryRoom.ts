/**
 * Whether the process has memory left. Live memory counts: the heap behind its last full collection, and buffers outside of it; garbage is
 * no lack. V8 ends the process when its old generation is full, from whatever line runs then, so growth ends before.
 */
import { totalmem } from 'node:os'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Logger } from '../request/logger.ts'
import type { Lack, Room } from './room.ts'

export interface MemoryFigures {
  /** Size of the heap, behind the last full collection; 0 as long as there was none. */
  readonly heapBytes: number
  readonly heapLimitBytes: number
  /** Buffers, behind the same collection or later, whichever are fewer: many are garbage already. */
  readonly outsideBytes: number
  /** Memory of the machine, or of the container. */
  readonly machineBytes: number
}

export interface MemoryRoomOptions {
  figures: () => MemoryFigures
  /** Monotonic, ms. */
  elapsed: () => number
  log: Logger
}

/** Parts of the heap's limit from which growth is refused, and from which next to nothing is left. */
export const HEAP_SHORT = 0.8
const HEAP_CRITICAL = 0.9
/** The same of the machine's memory. */
export const MACHINE_SHORT = 0.9
const MACHINE_CRITICAL = 0.95
/** How long figures count. */
const LOOK_EVERY_MS = 100

export class MemoryRoom implements Room {
  readonly what = 'memory'
  readonly #options: MemoryRoomOptions
  #lack: Lack | undefined
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(options: MemoryRoomOptions) {
    this.#options = options
  }

  lack(): Lack | undefined {
    const nowMs = this.#options.elapsed()
    if (nowMs - this.#lookedMs < LOOK_EVERY_MS) return this.#lack
    this.#lookedMs = nowMs
    const figures = this.#options.figures()
    const lack = lackOf(figures)
    if ((lack === undefined) !== (this.#lack === undefined)) this.#report(figures, lack !== undefined)
    this.#lack = lack
    return lack
  }

  #report(figures: MemoryFigures, short: boolean): void {
    const { log } = this.#options
    if (short) log.warn({ ...figures }, 'memory is short: growth is refused, deletions and reads go on')
    else log.info({ ...figures }, 'memory is there again: growth is taken')
  }
}

function lackOf({ heapBytes, heapLimitBytes, outsideBytes, machineBytes }: MemoryFigures): Lack | undefined {
  const heap = heapBytes / heapLimitBytes
  const machine = (heapLimitBytes < machineBytes ? heapBytes + outsideBytes : heapBytes) / machineBytes
  if (heap < HEAP_SHORT && machine < MACHINE_SHORT) return undefined
  return { critical: heap >= HEAP_CRITICAL || machine >= MACHINE_CRITICAL, message: MESSAGE }
}

/** Users get no figures of the server. */
const MESSAGE = 'its memory is nearly used up; delete what is not needed, or tell who runs it'

/** V8's default for a semi-space, MiB. Three of them are part of the limit that it tells, and not of what may live long. */
const SEMI_SPACE_MIB = 32
const SEMI_SPACE = /--max[-_]semi[-_]space[-_]size[= ](\d+)/g

/** `flags`: those of the process, later ones behind earlier ones. */
export function oldLimitBytes(limitBytes: number, flags: string): number {
  const given = [...flags.matchAll(SEMI_SPACE)].at(-1)?.[1]
  const young = 3 * (given === undefined ? SEMI_SPACE_MIB : Number(given)) * 1024 * 1024
  return Math.max(limitBytes - young, limitBytes / 4)
}

/** Bytes that may live long in the heap of this process. */
export function heapLimitBytes(): number {
  const flags = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].join(' ')
  return oldLimitBytes(getHeapStatistics().heap_size_limit, flags)
}

/** Reads this process's figures until `stop`. */
export function memoryFigures(): { read: () => MemoryFigures; stop: () => void } {
  const limitBytes = heapLimitBytes()
  const constrained = process.constrainedMemory()
  const machineBytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
  let [heapBytes, settledBytes] = [0, 0]
  const observer = new PerformanceObserver(list => {
    const entries = list.getEntries() as readonly { readonly detail?: { readonly kind?: number } }[]
    const isFull = entries.some(({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR)
    if (!isFull) return
    const { used_heap_size: used, external_memory: external } = getHeapStatistics()
    heapBytes = used
    settledBytes = external
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    read() {
      const { used_heap_size: used, external_memory: external } = getHeapStatistics()
      // what was collected since then was no full collection's to find
      return {
        heapBytes: Math.min(heapBytes, used),
        heapLimitBytes: limitBytes,
        outsideBytes: Math.min(settledBytes || external, external),
        machineBytes,
      }
    },
    stop: () => observer.disconnect(),
  }
}
