/**
 * Deflates blocks on the thread pool, each by itself: what comes back ends on a whole byte and refers to nothing before it.
 * Compressors are kept and used again; making one costs half as much as a block.
 * @see https://www.rfc-editor.org/rfc/rfc1951
 */
import { constants, createDeflateRaw, type DeflateRaw } from 'node:zlib'

/** Compresses a block, without the mark of a last one. The block must not change meanwhile. */
export type Deflate = (block: Buffer) => Promise<Buffer>

const OPTIONS = {
  // The fastest: on JSON the others save little more and cost several times as much.
  level: 1,
  // Each write is done once it is written.
  flush: constants.Z_SYNC_FLUSH,
  // A compressed block mostly fits into one buffer, so it is one piece of work for the pool.
  chunkSize: 64 * 1024,
} as const

/** As many compressors are kept as ever ran at a time: whoever calls bounds that. */
export function deflater(): Deflate {
  const idle: DeflateRaw[] = []
  return async block => {
    const stream = idle.pop() ?? newStream()
    const result = await deflated(stream, block)
    stream.reset()
    idle.push(stream)
    return result
  }
}

function newStream(): DeflateRaw {
  // The callback of the write tells of errors, too.
  return createDeflateRaw(OPTIONS).on('error', () => {})
}

function deflated(stream: DeflateRaw, block: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const gather = (chunk: Buffer): void => void chunks.push(chunk)
    stream.on('data', gather)
    stream.write(block, error => {
      stream.off('data', gather)
      if (error) reject(error)
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
  })
}
