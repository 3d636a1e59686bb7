/** Reads an archive to its end, and checks all of it: each row, the order, the counts, the sums. */
import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { isRecord } from '../../apimachinery/object.ts'
import type { Whole } from '../body.ts'
import { compareKeys, parseKeyText } from '../keys.ts'
import { addToSum, FORMAT, nameOfKey, objectRow, parseVersion } from '../level/rows.ts'
import { isStorageError, type Key } from '../store.ts'
import {
  ARCHIVE_VERSION,
  ArchiveError,
  type ArchiveHeader,
  END,
  MAGIC,
  MOST_HEADER_BYTES,
  MOST_RECORD_BYTES,
  OBJECT,
  RECORD_HEAD,
  SEALED,
} from './archive.ts'

export interface ArchiveVisitor {
  header?(header: ArchiveHeader): void
  sealed?(bytes: Buffer): void
  /** Gets each object; its bytes are part of a larger piece of memory. */
  object?(stored: Whole): void
  /** Is waited for between pieces: whoever visits has enough for now. */
  room?(): Promise<void> | undefined
}

export interface ArchiveContent {
  readonly header: ArchiveHeader
  readonly objects: number
  /** Bytes of the archive. */
  readonly bytes: number
}

const CUT = 'it was cut short: take another archive, or write it again'
const ALTERED = 'it was altered since it was written: take another archive'
const MORE = `there is more behind its end: ${ALTERED}`

/** The visitor's findings count once this resolves. @throws ArchiveError, and what its source throws */
export async function readArchive(
  source: AsyncIterable<Buffer>,
  visitor: ArchiveVisitor = {},
): Promise<ArchiveContent> {
  if (createZstdDecompress === undefined)
    throw new Error(`Node.js ${process.version} has no zstd, in which archives are written: take Node.js 24 or later`)
  const pieces = source[Symbol.asyncIterator]()
  try {
    const { head, header, rest } = await readHeader(pieces)
    visitor.header?.(header)
    const digest = createHash('sha256').update(head)
    const records = new Records(header, digest, visitor)
    let fed = 0
    const compressed = async function* (): AsyncGenerator<Buffer> {
      for (let piece = rest; ; ) {
        fed += piece.length
        if (piece.length > 0) yield piece
        const next = await pieces.next()
        if (next.done) return
        piece = next.value
      }
    }
    const zstd = createZstdDecompress()
    let failure: unknown
    const feeding = pipeline(Readable.from(compressed()), zstd).catch(error => {
      failure = error
    })
    try {
      for await (const piece of zstd) {
        records.take(piece as Buffer)
        const room = visitor.room?.()
        if (room !== undefined) await room
      }
    } catch (error) {
      await feeding
      throw asArchiveError(error)
    }
    await feeding
    if (failure !== undefined) throw asArchiveError(failure)
    const objects = records.finish()
    if (zstd.bytesWritten !== fed) throw new ArchiveError('Altered', MORE)
    return { header, objects, bytes: head.length + fed }
  } finally {
    await pieces.return?.()
  }
}

/** The header alone: the rest may not be whole. @throws ArchiveError, and what its source throws */
export async function readArchiveHeader(source: AsyncIterable<Buffer>): Promise<ArchiveHeader> {
  const pieces = source[Symbol.asyncIterator]()
  try {
    return (await readHeader(pieces)).header
  } finally {
    await pieces.return?.()
  }
}

/** The errors of the decompressor in words for whoever has the file. */
function asArchiveError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof ArchiveError) return error
  if (error.code === 'Z_BUF_ERROR') return new ArchiveError('Cut', CUT, { cause: error })
  // it takes no more behind the end of its frame
  if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') return new ArchiveError('Altered', MORE, { cause: error })
  const isItsOwn = /^(ZSTD_|Z_)/.test(String(error.code))
  return isItsOwn ? new ArchiveError('Altered', `${error.message}: ${ALTERED}`, { cause: error }) : error
}

async function readHeader(
  pieces: AsyncIterator<Buffer>,
): Promise<{ head: Buffer; header: ArchiveHeader; rest: Buffer }> {
  let read = Buffer.alloc(0)
  for (;;) {
    assertMagic(read)
    const first = read.indexOf('\n')
    if (first >= 0) assertVersion(read.toString('latin1', MAGIC.length, first))
    const second = first < 0 ? -1 : read.indexOf('\n', first + 1)
    if (second >= 0) {
      const header = parseHeader(read.toString('utf8', first + 1, second))
      return { head: read.subarray(0, second + 1), header, rest: read.subarray(second + 1) }
    }
    if (read.length > MOST_HEADER_BYTES) throw noArchive()
    const next = await pieces.next()
    if (next.done) throw read.length === 0 ? noArchive() : new ArchiveError('Cut', CUT)
    read = Buffer.concat([read, next.value])
  }
}

function noArchive(): ArchiveError {
  return new ArchiveError('NoArchive', 'it is no archive of Orrery: name a file that "orrery backup" wrote')
}

function assertMagic(read: Buffer): void {
  const length = Math.min(read.length, MAGIC.length)
  if (read.toString('latin1', 0, length) !== MAGIC.slice(0, length)) throw noArchive()
}

function assertVersion(text: string): void {
  if (!/^\d{1,9}$/.test(text)) throw noArchive()
  if (Number(text) > ARCHIVE_VERSION)
    throw new ArchiveError(
      'Newer',
      `it is an archive of version ${text}, and this program reads version ${ARCHIVE_VERSION}: use the newer Orrery that wrote it`,
    )
}

function parseHeader(text: string): ArchiveHeader {
  let header: unknown
  try {
    header = JSON.parse(text)
  } catch (error) {
    throw new ArchiveError('Altered', `its header is no JSON: ${ALTERED}`, { cause: error })
  }
  if (!isHeader(header)) throw new ArchiveError('Altered', `its header is incomplete: ${ALTERED}`)
  if (header.rows === FORMAT) return header
  const by = `${header.program || 'another Orrery'} wrote it`
  const remedy = header.rows > FORMAT ? 'use that newer Orrery' : 'use that Orrery'
  throw new ArchiveError(
    'Newer',
    `its rows have format ${header.rows}, and this program reads format ${FORMAT}; ${by}: ${remedy}`,
  )
}

function isHeader(value: unknown): value is ArchiveHeader {
  if (!isRecord(value)) return false
  const { rows, program, takenAt, revision, objects, sealed, outside } = value
  return (
    [rows, revision, objects].every(number => Number.isSafeInteger(number) && (number as number) >= 0) &&
    [program, takenAt].every(text => typeof text === 'string') &&
    !Number.isNaN(Date.parse(String(takenAt))) &&
    isRecord(outside) &&
    (sealed === undefined ||
      (isRecord(sealed) &&
        Array.isArray(sealed.names) &&
        typeof sealed.salt === 'string' &&
        Number.isInteger(sealed.cost)))
  )
}

class Records {
  readonly #header: ArchiveHeader
  readonly #digest: Hash
  readonly #visitor: ArchiveVisitor
  /** The beginning of a record, in pieces: joined once, when all of it has come. */
  #left: Buffer[] = []
  #leftBytes = 0
  /** Until so many are there, the record is not whole. */
  #needed = RECORD_HEAD
  #last: Key | undefined
  #objects = 0
  #sum = 0
  #isSealed = false
  #isEnded = false

  constructor(header: ArchiveHeader, digest: Hash, visitor: ArchiveVisitor) {
    this.#header = header
    this.#digest = digest
    this.#visitor = visitor
  }

  take(piece: Buffer): void {
    this.#left.push(piece)
    this.#leftBytes += piece.length
    if (this.#leftBytes < this.#needed) return
    const bytes = this.#left.length === 1 ? piece : Buffer.concat(this.#left, this.#leftBytes)
    this.#needed = RECORD_HEAD
    let at = 0
    while (bytes.length - at >= RECORD_HEAD) {
      const length = bytes.readUInt32BE(at + 1)
      if (length > MOST_RECORD_BYTES) throw new ArchiveError('Altered', `a record has ${length} bytes: ${ALTERED}`)
      const end = at + RECORD_HEAD + length
      if (end > bytes.length) {
        this.#needed = end - at
        break
      }
      if (bytes[at] !== END) this.#digest.update(bytes.subarray(at, end))
      this.#record(bytes[at]!, bytes.subarray(at + RECORD_HEAD, end))
      at = end
    }
    const left = bytes.subarray(at)
    this.#left = left.length === 0 ? [] : [left]
    this.#leftBytes = left.length
  }

  /** The number of objects. @throws ArchiveError where the end is not there */
  finish(): number {
    if (!this.#isEnded || this.#leftBytes > 0) throw new ArchiveError('Cut', CUT)
    return this.#objects
  }

  #record(kind: number, content: Buffer): void {
    if (this.#isEnded) throw new ArchiveError('Altered', MORE)
    if (kind === OBJECT) this.#object(content)
    else if (kind === END) this.#end(content)
    else if (kind === SEALED && !this.#isSealed && this.#objects === 0 && this.#header.sealed) {
      this.#isSealed = true
      this.#visitor.sealed?.(Buffer.from(content))
    } else throw new ArchiveError('Altered', `it has a record of an unknown kind: ${ALTERED}`)
  }

  #object(content: Buffer): void {
    const end = content.length < 4 ? Number.POSITIVE_INFINITY : 4 + content.readUInt32BE()
    if (end > content.length) throw new ArchiveError('Altered', `an object has no key: ${ALTERED}`)
    const id = content.toString('utf8', 4, end)
    try {
      const key = parseKeyText(id)
      if (this.#last && compareKeys(this.#last, key) >= 0)
        throw new ArchiveError('Altered', `${nameOfKey(key)} is not in its place: ${ALTERED}`)
      this.#last = key
      const { checksum, ...version } = parseVersion(objectRow(id), content.subarray(end))
      if (version.revision > this.#header.revision)
        throw new ArchiveError('Altered', `${nameOfKey(key)} is newer than the archive: ${ALTERED}`)
      this.#sum = addToSum(this.#sum, checksum)
      this.#objects++
      this.#visitor.object?.({ key, ...version })
    } catch (error) {
      if (!isStorageError(error, 'Damaged', 'Format') && !(error instanceof TypeError)) throw error
      const name = id.replaceAll('\0', '/')
      throw new ArchiveError('Altered', `the row of ${JSON.stringify(name)} is not intact: ${ALTERED}`, {
        cause: error,
      })
    }
  }

  #end(content: Buffer): void {
    let end: unknown
    try {
      end = JSON.parse(content.toString())
    } catch (error) {
      throw new ArchiveError('Altered', `its end is no JSON: ${ALTERED}`, { cause: error })
    }
    const { objects, sum, sha256 } = isRecord(end) ? end : {}
    if (objects !== this.#objects || objects !== this.#header.objects)
      throw new ArchiveError('Altered', `it has ${this.#objects} objects of ${objects}: ${ALTERED}`)
    if (
      sum !== this.#sum ||
      sha256 !== this.#digest.digest('hex') ||
      this.#isSealed !== (this.#header.sealed !== undefined)
    )
      throw new ArchiveError('Altered', `its sums do not match: ${ALTERED}`)
    this.#isEnded = true
  }
}
