/**
 * A list of stored objects as JSON, copied from their stored bytes into the blocks that are sent. Most lists are so, and this makes nothing
 * for each object. Only for objects that all begin as the list's version and kind do, which upstream leaves out of the items of its own
 * kinds.
 */
import { apiVersionOf } from '../../../apimachinery/object.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import type { Work } from '../../../program/workTurns.ts'
import type { Stored } from '../../../storage/store.ts'
import { storageApiVersion } from '../../registry/convert.ts'
import { FORMS } from '../../registry/forms.ts'

const END = Buffer.from(']}\n')
const OPEN = 0x7b
const COMMA = 0x2c
/** Bytes before an item: its opening brace, and the comma behind the one before. */
const LEAD_BYTES = 2
/** Objects that are looked at in a row: next to nothing each. */
const LOOKED_AT = 1024

export class ItemRun {
  readonly length: number
  readonly #head: Buffer
  readonly #items: readonly Stored[]
  /** Bytes of each item that are left out. */
  readonly #skipped: number
  /** The item that comes next; -1 is the head, and the number of items the end. */
  #index = -1
  /** Bytes of it that were copied, or are left out. */
  #from = 0

  constructor({ head, items, skipped }: { head: Buffer; items: readonly Stored[]; skipped: number }) {
    this.#head = head
    this.#items = items
    this.#skipped = skipped
    let length = head.length + END.length + (items.length === 0 ? 0 : items.length * LEAD_BYTES - 1)
    for (let i = 0; i < items.length; i++) length += items[i]!.bytes.length - skipped
    this.length = length
  }

  /** Copies what comes next. @returns how many bytes: 0 when nothing is left. `block` has more room than a lead takes */
  fill(block: Buffer): number {
    const items = this.#items
    const count = items.length
    let used = 0
    for (; this.#index <= count; this.#index++) {
      const index = this.#index
      let piece = this.#head
      if (index === count) piece = END
      else if (index >= 0) {
        piece = items[index]!.bytes
        if (this.#from === 0) {
          if (block.length - used < LEAD_BYTES) return used
          if (index > 0) block[used++] = COMMA
          block[used++] = OPEN
          this.#from = this.#skipped
        }
      }
      const copied = piece.copy(block, used, this.#from)
      used += copied
      this.#from += copied
      if (this.#from < piece.length) return used
      this.#from = 0
    }
    return used
  }
}

/** `undefined` where an object has to be shown otherwise than it is stored. @throws Abandoned */
export async function itemRun(
  type: ResourceType,
  { head, items, work }: { head: Buffer; items: readonly Stored[]; work: Work },
): Promise<ItemRun | undefined> {
  const version = apiVersionOf(type)
  if (type.custom !== undefined || !FORMS[type.form].inScheme || storageApiVersion(type) !== version) return undefined
  const start = Buffer.from(`{"apiVersion":"${version}","kind":"${type.kind}",`)
  for (let from = 0; from < items.length; from += LOOKED_AT) {
    if (from > 0 && work.due) await work.rest()
    if (!allBeginWith(start, items, from)) return undefined
  }
  return new ItemRun({ head, items, skipped: start.length })
}

function allBeginWith(start: Buffer, items: readonly Stored[], from: number): boolean {
  const to = Math.min(items.length, from + LOOKED_AT)
  const { length } = start
  for (let i = from; i < to; i++) {
    const { bytes } = items[i]!
    // Byte by byte: a call that leaves JavaScript costs more than so few.
    for (let at = 0; at < length; at++) if (bytes[at] !== start[at]) return false
  }
  return true
}
