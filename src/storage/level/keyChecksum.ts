/**
 * The CRC-32 of a key, begun with another checksum. A call of zlib's costs more than all of a short text does here, and a start
 * makes one for each object.
 */
import { crc32 } from 'node:zlib'

const POLYNOMIAL = 0xedb88320
const ASCII = 0x80

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1
  return rest
})

/** Checksum of the text behind `from`, as UTF-8. */
export function keyChecksum(text: string, from: number, begun: number): number {
  let checksum = ~begun
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= ASCII) return crc32(text.slice(from), begun)
    checksum = TABLE[(checksum ^ code) & 0xff]! ^ (checksum >>> 8)
  }
  return ~checksum >>> 0
}
