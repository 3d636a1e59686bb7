/** Splits a body into lines, chunk by chunk. Every byte is looked at once and copied at most once, however long a line is. */
import { StatusError } from '../../apimachinery/errors.ts'

/** No line may be longer: an object is limited to a few MiB, so a longer one is not from a sane server. */
const LINE_LIMIT_BYTES = 64 * 1024 * 1024
const NEWLINE = 0x0a

/**
 * Batches of lines without their newline, one batch per chunk that completes a line; empty lines are left out.
 * @throws StatusError ServiceUnavailable when the body ends within a line
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[], void, void> {
  let parts: Buffer[] = []
  let partsBytes = 0
  for await (const chunk of chunks) {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end)
      const line = partsBytes === 0 ? last : Buffer.concat([...parts, last])
      parts = []
      partsBytes = 0
      start = end + 1
      if (line.length > 0) lines.push(line.toString('utf8'))
    }
    if (start < chunk.length) {
      const rest = chunk.subarray(start)
      parts.push(rest)
      partsBytes += rest.length
      if (partsBytes > LINE_LIMIT_BYTES) throw new StatusError('ServiceUnavailable', 'a streamed line is too long')
    }
    if (lines.length > 0) yield lines
  }
  if (partsBytes > 0) throw new StatusError('ServiceUnavailable', 'the stream ended within an event')
}
