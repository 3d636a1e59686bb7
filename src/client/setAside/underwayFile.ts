/**
 * Running keys of work queues, in a file that outlives the process. A write goes to the system's page cache and is not synced. That
 * survives everything but the end of the whole machine.
 *
 * A slot is taken when work begins, by one key or by several that begin together, and used again after it has ended. Its content until then
 * is a stale entry of work that has ended. When nothing runs any more all slots become stale at once, by one number in the head.
 */
import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

export interface UnderwayEntry {
  readonly queue: string
  /** As {@link shortId} makes it. */
  readonly id: string
  /** It ran alone of those that had been under way at an earlier end. */
  readonly tried: boolean
}

const SLOT = 1024
/** Slots that are written at a time. */
const TOGETHER = 32
/** Bytes of ids that begin at a time, in one slot; its other parts are short. */
const ID_BYTES = 900
/** As much of the file is looked at: where more runs at a time it is nobody's fault. */
const MAX_READ = 4096 * SLOT

export class UnderwayFile {
  /** Running keys at the end of the process before this one; none after an orderly end. */
  readonly found: readonly UnderwayEntry[]
  /** The last write before this process, in milliseconds since the epoch. */
  readonly writtenMs: number
  readonly #descriptor: number
  readonly #failed: (error: unknown) => void
  readonly #scratch = Buffer.alloc(TOGETHER * SLOT)
  /** Slots that nothing runs in; the one that was used last is used next. */
  readonly #free: number[] = []
  /** How many run in a slot, where they began together. */
  readonly #shares = new Map<number, number>()
  #slots = 0
  #running = 0
  #era = 1
  #broken = false

  /** `failed` is called once when the file cannot be written; from then on it stays unwritten. @throws Error of the system */
  constructor(path: string, failed: (error: unknown) => void) {
    this.#failed = failed
    this.#descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    this.writtenMs = fstatSync(this.#descriptor).mtimeMs
    const { era, entries } = parse(beginningOf(this.#descriptor))
    this.found = entries
    this.#era = era
  }

  /** Found keys count no more. To be called before anything begins. */
  forget(): void {
    this.#nextEra()
  }

  /** Something begins to run; the answer is for {@link end}. */
  begin(entry: UnderwayEntry): number {
    const slot = this.#free.pop() ?? ++this.#slots
    this.#running++
    this.#write(this.#text(entry), slot * SLOT)
    return slot
  }

  /** The same of several of one queue, as many as find room in a slot; the answers at their indexes. None of them is tried. */
  beginMany(queue: string, ids: readonly string[]): number[] {
    const texts: string[] = []
    const places: number[] = []
    let line = ''
    let bytes = 0
    for (const id of ids) {
      const text = JSON.stringify(id)
      const length = Buffer.byteLength(text) + 1
      if (line !== '' && bytes + length > ID_BYTES) {
        texts.push(line)
        line = ''
        bytes = 0
      }
      line = line === '' ? text : `${line},${text}`
      bytes += length
      places.push(texts.length)
    }
    if (line !== '') texts.push(line)
    const slots = texts.map(() => this.#free.pop() ?? ++this.#slots).sort((a, b) => a - b)
    const begun = places.map(place => slots[place]!)
    this.#running += ids.length
    for (const slot of begun) this.#shares.set(slot, (this.#shares.get(slot) ?? 0) + 1)
    const head = `[${this.#era},${JSON.stringify(queue)},[`
    for (let from = 0, to = 1; from < slots.length; from = to++) {
      while (to < slots.length && slots[to] === slots[to - 1]! + 1 && to - from < TOGETHER) to++
      let length = 0
      // each may leave what was there before behind its own line
      for (let i = from; i < to; i++)
        length = (i - from) * SLOT + this.#scratch.write(`${head}${texts[i]!}],false]\n`, (i - from) * SLOT)
      this.#put(length, slots[from]! * SLOT)
    }
    return begun
  }

  end(slot: number): void {
    const left = (this.#shares.get(slot) ?? 1) - 1
    if (left > 0) this.#shares.set(slot, left)
    else {
      this.#shares.delete(slot)
      this.#free.push(slot)
    }
    if (--this.#running === 0) this.#nextEra()
  }

  /** All that is noted so far survives the end of the machine, too. */
  sync(): void {
    this.#change(() => fdatasyncSync(this.#descriptor))
  }

  /** An orderly end. */
  close(): void {
    if (this.#broken) return
    this.#nextEra()
    this.#broken = true
    closeSync(this.#descriptor)
  }

  #nextEra(): void {
    this.#era++
    this.#write(`${this.#era}\n`, 0)
  }

  #text({ queue, id, tried }: UnderwayEntry): string {
    return `${JSON.stringify([this.#era, queue, id, tried])}\n`
  }

  #write(text: string, position: number): void {
    this.#put(this.#scratch.write(text), position)
  }

  /** Writes as much of the scratch. */
  #put(length: number, position: number): void {
    this.#change(() => writeSync(this.#descriptor, this.#scratch, 0, length, position))
  }

  #change(change: () => void): void {
    if (this.#broken) return
    try {
      change()
    } catch (error) {
      this.#broken = true
      closeSync(this.#descriptor)
      this.#failed(error)
    }
  }
}

function beginningOf(descriptor: number): Buffer {
  const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, MAX_READ))
  return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0))
}

/** Whatever the file holds: half a slot, or another program's text, is no entry. */
function parse(bytes: Buffer): { era: number; entries: UnderwayEntry[] } {
  const line = (slot: number): string => {
    const text = bytes.toString('utf8', slot * SLOT, (slot + 1) * SLOT)
    return text.slice(0, Math.max(0, text.indexOf('\n')))
  }
  const era = Number(line(0))
  if (!Number.isSafeInteger(era) || era < 1) return { era: 1, entries: [] }
  const entries: UnderwayEntry[] = []
  for (let slot = 1; slot * SLOT < bytes.length; slot++) {
    entries.push(...entriesOf(line(slot), era))
  }
  return { era, entries }
}

function entriesOf(text: string, era: number): UnderwayEntry[] {
  let parts: unknown
  try {
    parts = JSON.parse(text)
  } catch {
    return [] // a slot that was being written, or never was
  }
  if (!Array.isArray(parts) || parts[0] !== era) return []
  const [, queue, listed, tried] = parts as unknown[]
  if (typeof queue !== 'string') return []
  const ids: unknown[] = Array.isArray(listed) ? listed : [listed]
  return ids.filter(id => typeof id === 'string').map(id => ({ queue, id, tried: tried === true }))
}
