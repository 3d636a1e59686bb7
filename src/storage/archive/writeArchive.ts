/** Writes an archive of a store that takes writes meanwhile: all objects as of the revision of the call, piece by piece. */
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import type { Work } from '../../program/workTurns.ts'
import type { Whole } from '../body.ts'
import { keyText } from '../keys.ts'
import { addToSum, FORMAT, objectChecksum, sealed, versionValue } from '../level/rows.ts'
import type { Store } from '../store.ts'
import {
  ARCHIVE_VERSION,
  type ArchiveEnd,
  type ArchiveHeader,
  END,
  MAGIC,
  OBJECT,
  RECORD_HEAD,
  SEALED,
} from './archive.ts'

export interface ArchiveOptions extends Omit<ArchiveHeader, 'rows' | 'revision' | 'objects' | 'sealed'> {
  /** The sealed files; absent: none. */
  sealed?: { readonly facts: NonNullable<ArchiveHeader['sealed']>; readonly bytes: Buffer } | undefined
  /** Gives way to others between steps. */
  work: Work
}

/** Records that go to the compressor together: a fraction of a millisecond of work. */
const PIECE_BYTES = 256 * 1024
/** Half of the default's time for a tenth more bytes. */
const LEVEL = 1

/** @throws Error where Node.js has no zstd; Abandoned, and as the store */
export async function* writeArchive(
  store: Pick<Store, 'revision' | 'count' | 'slices'>,
  options: ArchiveOptions,
): AsyncGenerator<Buffer, void, void> {
  const { sealed: files, work, ...facts } = options
  if (createZstdCompress === undefined)
    throw new Error(`Node.js ${process.version} has no zstd, in which archives are written: take Node.js 24 or later`)
  const { revision } = store
  // counted before anything else is written: no turn of the loop lies between
  const counting = store.count({})
  const objects = store.slices({}, { at: revision, uncounted: true })
  const header: ArchiveHeader = {
    ...facts,
    rows: FORMAT,
    revision,
    objects: await counting,
    ...(files && { sealed: files.facts }),
  }
  const head = Buffer.from(`${MAGIC}${ARCHIVE_VERSION}\n${JSON.stringify(header)}\n`)
  yield head
  const zstd = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  })
  const compressing = pipeline(records(objects, { head, sealed: files?.bytes, work }), zstd)
  // its failure ends the loop below, too
  compressing.catch(() => {})
  for await (const piece of zstd) yield piece as Buffer
  await compressing
}

async function* records(
  pages: ReturnType<Store['slices']>,
  { head, sealed: files, work }: { head: Buffer; sealed: Buffer | undefined; work: Work },
): AsyncGenerator<Buffer, void, void> {
  const digest = createHash('sha256').update(head)
  let objects = 0
  let sum = 0
  let parts: Buffer[] = []
  let bytes = 0
  const add = (kind: number, ...contents: Buffer[]): void => {
    const length = contents.reduce((all, content) => all + content.length, 0)
    const start = Buffer.allocUnsafe(RECORD_HEAD)
    start[0] = kind
    start.writeUInt32BE(length, 1)
    parts.push(start, ...contents)
    bytes += RECORD_HEAD + length
  }
  const piece = (): Buffer => {
    const whole = Buffer.concat(parts, bytes)
    parts = []
    bytes = 0
    digest.update(whole)
    return whole
  }
  if (files !== undefined) add(SEALED, files)
  for await (const { items } of pages) {
    for (const stored of items) {
      const { id, value, checksum } = rowOf(stored)
      sum = addToSum(sum, checksum)
      objects++
      const key = Buffer.from(id)
      const length = Buffer.allocUnsafe(4)
      length.writeUInt32BE(key.length)
      add(OBJECT, length, key, value)
      if (bytes < PIECE_BYTES) continue
      yield piece()
      if (work.due) await work.rest()
    }
    if (work.due) await work.rest()
  }
  if (bytes > 0) yield piece()
  const end: ArchiveEnd = { objects, sum, sha256: digest.digest('hex') }
  add(END, Buffer.from(JSON.stringify(end)))
  yield Buffer.concat(parts, bytes)
}

/** As the store on disk has it. */
function rowOf(stored: Whole): { id: string; value: Buffer; checksum: number } {
  const id = keyText(stored.key)
  const version = versionValue(stored)
  const checksum = objectChecksum(id, version)
  return { id, value: sealed(version, checksum), checksum }
}
