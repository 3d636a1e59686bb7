/**
 * Random uids (UUID version 4). Node's own are joined of 21 pieces, which stay as long as the string does and take ten times its
 * room: these are one piece.
 * @see https://www.rfc-editor.org/rfc/rfc9562#section-5.4
 */
import { randomFillSync } from 'node:crypto'

const BYTES = 16
/** Drawn at a time. */
const DRAWN = 128
const HEX = Buffer.from('0123456789abcdef', 'latin1')
/** Bytes before which a dash stands. */
const DASHED: ReadonlySet<number> = new Set([4, 6, 8, 10])

export function uidMaker(): () => string {
  const random = Buffer.allocUnsafeSlow(BYTES * DRAWN)
  const text = Buffer.alloc(36, '-', 'latin1')
  let at = random.length
  return () => {
    if (at === random.length) {
      randomFillSync(random)
      at = 0
    }
    random[at + 6] = (random[at + 6]! & 0x0f) | 0x40
    random[at + 8] = (random[at + 8]! & 0x3f) | 0x80
    for (let i = 0, to = 0; i < BYTES; i++) {
      if (DASHED.has(i)) to++
      const byte = random[at + i]!
      text[to++] = HEX[byte >>> 4]!
      text[to++] = HEX[byte & 15]!
    }
    at += BYTES
    return text.toString('latin1')
  }
}
