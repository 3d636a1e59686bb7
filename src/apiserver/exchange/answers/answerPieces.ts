/**
 * Answers in pieces: short ones leave as a whole. Long ones go block by block, as fast as the client reads, and stop when it has gone.
 */
import type { Work } from '../../../program/workTurns.ts'
import type { Stored } from '../../../storage/store.ts'
import { CACHE_CONTROL } from '../../http/answer.ts'
import { CONTENT_TYPES, type Format } from '../../http/negotiate.ts'
import type { Exchange, Services } from '../exchange.ts'
import { type BlockSink, plainSink } from './blockWriter.ts'
import { GZIP_FROM_BYTES } from './compression.ts'
import type { ItemRun } from './itemRun.ts'
import { warningHeaders } from './warningHeaders.ts'

/** Longer answers are written block by block. */
const WHOLE_LIMIT_BYTES = GZIP_FROM_BYTES
/** Items by which the length of a long list is estimated. */
const LOOKED_AT = 1024

export interface Pieces {
  /** Some at a time; may be made on demand. */
  pieces: Iterable<readonly Buffer[]>
  format: Format
  work: Work
  /** Their sources: held as long as they are written. */
  items: readonly Stored[]
  /** Default 200. */
  code?: number
}

/** An answer that is there as a whole. */
export async function sendKnown(
  services: Services,
  exchange: Exchange,
  { pieces, ...rest }: Omit<Pieces, 'pieces'> & { pieces: readonly Buffer[]; length: number },
): Promise<void> {
  const { length, format, code = 200 } = rest
  if (length <= WHOLE_LIMIT_BYTES) return send(exchange, code, Buffer.concat(pieces, length), format)
  await streamPieces(services, exchange, { ...rest, pieces: [pieces] })
}

/** An answer whose length nobody knows before it is made. */
export async function sendPieces(services: Services, exchange: Exchange, made: Pieces): Promise<void> {
  const { work, format, code = 200 } = made
  const rest = made.pieces[Symbol.iterator]()
  const first: Buffer[] = []
  let length = 0
  while (length <= WHOLE_LIMIT_BYTES) {
    const { done, value } = rest.next()
    if (done) return send(exchange, code, Buffer.concat(first, length), format)
    for (const piece of value) first.push(piece)
    length += lengthOf(value)
    if (work.due) await work.rest()
  }
  await streamPieces(services, exchange, { ...made, pieces: continued(first, rest) })
}

function* continued(
  first: readonly Buffer[],
  rest: Iterator<readonly Buffer[]>,
): Generator<readonly Buffer[], void, undefined> {
  yield first
  yield* { [Symbol.iterator]: () => rest }
}

/** A long answer. `length` is absent where nobody knows it. */
export async function streamPieces(
  services: Services,
  exchange: Exchange,
  streamed: Pieces & { length?: number },
): Promise<void> {
  const { pieces, work } = streamed
  const out = openSink(services, exchange, streamed)
  if (await services.blocks.write(out, pieces, work)) out.end()
}

/** A list that is copied as it is stored. */
export async function sendRun(
  services: Services,
  exchange: Exchange,
  { run, items, work }: { run: ItemRun; items: readonly Stored[]; work: Work },
): Promise<void> {
  const { length } = run
  if (length <= WHOLE_LIMIT_BYTES) {
    const whole = Buffer.allocUnsafe(length)
    run.fill(whole)
    return send(exchange, 200, whole)
  }
  const out = openSink(services, exchange, { length, items, format: 'json' })
  if (await services.blocks.writeFilled(out, block => run.fill(block), work)) out.end()
}

/** Sends the head of a long answer. Its body is written to the sink. */
function openSink(
  services: Services,
  exchange: Exchange,
  { length, items, format, code = 200 }: Pick<Pieces, 'items' | 'format' | 'code'> & { length?: number },
): BlockSink {
  const { answer } = exchange
  const compressed = services.compression.wantsBlocks(exchange.request)
  const framing = compressed
    ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' }
    : length === undefined
      ? {}
      : { 'content-length': length }
  answer.sendHead(code, { ...headers(exchange), 'content-type': CONTENT_TYPES[format], ...framing })
  return compressed ? services.compression.sink(answer, length ?? aboutBytesIn(items)) : plainSink(answer)
}

export function lengthOf(pieces: readonly Buffer[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}

/** By the first ones: to look at each of a hundred thousand takes ten milliseconds. */
function aboutBytesIn(items: readonly Stored[]): number {
  const looked = Math.min(items.length, LOOKED_AT)
  let length = 0
  for (let i = 0; i < looked; i++) length += items[i]!.bytes.length
  return looked === 0 ? 0 : (length / looked) * items.length
}

export function headers(exchange: Pick<Exchange, 'warnings'>): Record<string, string | string[]> {
  const base = { 'cache-control': CACHE_CONTROL }
  if (exchange.warnings.length === 0) return base
  return { ...base, warning: warningHeaders(exchange.warnings) }
}

export function send(
  exchange: Pick<Exchange, 'answer' | 'warnings'>,
  code: number,
  body: Buffer,
  format: Format = 'json',
): void {
  const { answer, warnings } = exchange
  answer.code(code).header('cache-control', CACHE_CONTROL).type(CONTENT_TYPES[format])
  if (warnings.length > 0) answer.header('warning', warningHeaders(warnings))
  answer.send(body)
}
