/**
 * The first PEM block of a text, found as Go's `encoding/pem` finds it. Other text around it is skipped, also text that only looks like
 * one. The work is linear in the text.
 * @see https://www.rfc-editor.org/rfc/rfc7468
 */
import { isBase64 } from '../structural/formats.ts'

interface PemBlock {
  /** `CERTIFICATE`, as between the dashes. */
  type: string
  bytes: Buffer
}

const BEGIN = '-----BEGIN '
const END = '\n-----END '
const DASHES = '-----'

/** `text` is Latin-1: what is no ASCII belongs to no block. */
export function firstPemBlock(text: string): PemBlock | undefined {
  let from = 0
  for (;;) {
    const end = text.indexOf(END, from)
    if (end < 0) return undefined
    const begin = text.slice(from, end).lastIndexOf(BEGIN)
    const block = begin >= 0 ? blockBetween(text, from + begin, end) : undefined
    if (block !== undefined) return block
    from = end + END.length
  }
}

/** `begin` and `end` are where the two lines begin; the latter with the line break before it. */
function blockBetween(text: string, begin: number, end: number): PemBlock | undefined {
  if (begin > 0 && text[begin - 1] !== '\n') return undefined
  const firstLine = /^([^\n]*?)-----[ \t]*\r?$/.exec(lineAt(text, begin + BEGIN.length))
  if (firstLine === null) return undefined
  const type = firstLine[1]!
  const lastLine = lineAt(text, end + END.length)
  if (!lastLine.startsWith(type + DASHES) || lastLine.slice(type.length + DASHES.length).trim() !== '') return undefined
  const lines = text.slice(begin, end).split('\n').slice(1)
  const body = lines.slice(lines.findIndex(line => !line.includes(':')))
  const base64 = body.join('').replace(/[ \t\r]/g, '')
  return isBase64(base64) ? { type, bytes: Buffer.from(base64, 'base64') } : undefined
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start)
  return text.slice(start, end < 0 ? text.length : end)
}
