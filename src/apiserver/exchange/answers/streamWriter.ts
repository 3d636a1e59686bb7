/** Writes frames to a chunked response with back-pressure, and ends it cleanly from either side. */
import type { ServerResponse } from 'node:http'
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import type { Soon } from '../../../apimachinery/soon.ts'
import type { Turns } from './writeTurns.ts'

export interface FrameSink {
  /** Known when the sink can take more, mostly at once; false once the other side is gone. Frames leave in the order of the calls. */
  write(frames: readonly Buffer[]): Soon<boolean>
  end(): void
  /** True while a write waits for the other side. */
  readonly busy: boolean
}

/** Frames that wait for their turn, or for a slow reader, before the watch has to wait too. */
export const WAITING_LIMIT_BYTES = 64 * 1024
/** Bytes that are written at once. */
const CHUNK_BYTES = 64 * 1024

export interface SinkOptions {
  /** Nobody else is sent the same frames: those that wait leave as one chunk. */
  isAlone?: boolean
}

/** Frames that come before the response's turn to write leave together. Its headers have left. */
export function responseSink(raw: ServerResponse, turns: Turns, { isAlone = false }: SinkOptions = {}): FrameSink {
  const out = bodyOf(raw, isAlone)
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let scheduled = false
  /** Room for more frames, when somebody waits for it. */
  let room: PromiseWithResolvers<void> | undefined
  const gone = (): boolean => raw.destroyed || raw.writableEnded
  const makeRoom = (): void => {
    room?.resolve()
    room = undefined
  }
  const schedule = (): void => {
    if (scheduled || out.needsDrain() || waiting.length === 0) return
    scheduled = true
    turns.schedule(flush)
  }
  const flush = (): void => {
    scheduled = false
    if (gone() || waiting.length === 0) return
    // Written pieces are copied and encrypted at once: a slow reader must cost one piece, not all that there is for it.
    while (waiting.length > 0) {
      const pieces = nextPieces(waiting)
      for (const { length } of pieces) waitingBytes -= length
      if (!out.write(pieces)) return
    }
    makeRoom()
  }
  raw.on('close', makeRoom)
  out.onDrain(() => {
    if (waiting.length === 0) makeRoom()
    else schedule()
  })
  return {
    get busy() {
      return room !== undefined
    },
    write(frames) {
      if (gone()) return false
      for (const frame of frames) {
        for (const piece of out.framed(frame)) {
          waiting.push(piece)
          waitingBytes += piece.length
        }
      }
      schedule()
      if (waitingBytes <= WAITING_LIMIT_BYTES) return true
      room ??= Promise.withResolvers()
      return room.promise.then(() => !gone())
    },
    end() {
      scheduled = false
      if (gone()) return
      // The writer's last pieces are bounded.
      out.write(waiting.splice(0))
      raw.end()
    },
  }
}

interface Body {
  /** As it goes over the connection. */
  framed(frame: Buffer): readonly Buffer[]
  /** Writes {@link framed} pieces. False where it is to wait for a drain. */
  write(pieces: readonly Buffer[]): boolean
  needsDrain(): boolean
  onDrain(run: () => void): void
}

/**
 * The body of a response whose headers have left. Node makes four writes of each chunk of it, for each watcher anew. Here an event becomes
 * a chunk once, and goes to all sockets as it is. Frames of one reader alone are copied once, into the chunk in which they leave.
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-7.1
 */
function bodyOf(raw: ServerResponse, isAlone: boolean): Body {
  const { socket } = raw
  // HTTP/1.0 has no chunks
  const isChunked = socket !== null && raw.chunkedEncoding
  const out = isChunked ? socket : raw
  return {
    // As a chunk, nothing would be the end.
    framed: frame => (frame.length === 0 ? [] : isChunked && !isAlone ? chunkOf(frame) : [frame]),
    write(framed) {
      const pieces = isChunked && isAlone ? joinedChunk(framed) : framed
      if (pieces.length > 1) out.cork()
      for (const piece of pieces) out.write(piece)
      if (pieces.length > 1) out.uncork()
      return !out.writableNeedDrain
    },
    needsDrain: () => out.writableNeedDrain,
    onDrain(run) {
      out.on('drain', run)
      raw.once('close', () => out.off('drain', run))
    },
  }
}

/** Watchers of an event come by one soon after the other. */
const chunks = new BoundedCache<Buffer, Buffer>({
  entries: 64,
  weight: { limit: 1024 * 1024, of: ({ length }) => length },
})
/** A longer piece goes unchanged between its length and its end: a copy would be dearer than three writes. */
const COPIED_BYTES = 16 * 1024

function chunkOf(bytes: Buffer): readonly Buffer[] {
  const known = chunks.peek(bytes)
  if (known) return [known]
  const made = madeChunk(bytes)
  if (made.length === 1) chunks.set(bytes, made[0]!)
  return made
}

function madeChunk(bytes: Buffer): readonly Buffer[] {
  const length = Buffer.from(`${bytes.length.toString(16)}\r\n`)
  if (bytes.length > COPIED_BYTES) return [length, bytes, END_OF_CHUNK]
  return [Buffer.concat([length, bytes, END_OF_CHUNK])]
}

/** One piece is not copied where it is large. */
function joinedChunk(pieces: readonly Buffer[]): readonly Buffer[] {
  const [first] = pieces
  if (first === undefined || pieces.length === 1) return first ? madeChunk(first) : []
  let length = 0
  for (const piece of pieces) length += piece.length
  const head = `${length.toString(16)}\r\n`
  const chunk = Buffer.allocUnsafe(head.length + length + END_OF_CHUNK.length)
  let at = chunk.write(head, 'latin1')
  for (const piece of pieces) at += piece.copy(chunk, at)
  END_OF_CHUNK.copy(chunk, at)
  return [chunk]
}

const END_OF_CHUNK = Buffer.from('\r\n')

/** The next ones, up to the limit, and a part of one that is larger. Taken out of `waiting`. */
function nextPieces(waiting: Buffer[]): Buffer[] {
  let count = 0
  let bytes = 0
  while (count < waiting.length && bytes + waiting[count]!.length <= CHUNK_BYTES) bytes += waiting[count++]!.length
  const pieces = waiting.splice(0, count)
  const [next] = waiting
  if (next === undefined || next.length <= CHUNK_BYTES || bytes === CHUNK_BYTES) return pieces
  pieces.push(next.subarray(0, CHUNK_BYTES - bytes))
  waiting[0] = next.subarray(CHUNK_BYTES - bytes)
  return pieces
}

/**
 * Makes frames and writes them, not many more at a time than the sink takes: unread frames would be the reader's alone. False once the
 * other side is gone.
 */
export function writeEach<T>(sink: FrameSink, items: readonly T[], frameOf: (item: T) => Buffer): Soon<boolean> {
  return items.length === 1 ? sink.write([frameOf(items[0]!)]) : writeMany(sink, items, frameOf)
}

async function writeMany<T>(sink: FrameSink, items: readonly T[], frameOf: (item: T) => Buffer): Promise<boolean> {
  let frames: Buffer[] = []
  let bytes = 0
  for (const [index, item] of items.entries()) {
    const frame = frameOf(item)
    frames.push(frame)
    bytes += frame.length
    if (bytes <= WAITING_LIMIT_BYTES && index < items.length - 1) continue
    if (!(await sink.write(frames))) return false
    frames = []
    bytes = 0
  }
  return true
}
