/**
 * The archive of a store: all objects as of one revision, in one file that knows whether it is whole.
 *
 *   ORRERY ARCHIVE 1\n     plain text; the number is the version of what follows.
 *   {…}\n                  {@link ArchiveHeader} as JSON.
 *   records                one frame of zstd.
 *
 * A record begins with a byte for its kind and 32 bits (big-endian) for the length of its content. Kind `s` has sealed files, once and first.
 * Kind `o` is an object: the length of its key (32 bits), the key, and the row (level/rows.ts). Kind `e` is the end: {@link ArchiveEnd}.
 *
 * Objects stand in key order. The end has their number, the sum of their checksums, and the SHA-256 of all before it, uncompressed. An archive
 * that was cut short or damaged never reads as whole. It is not signed: whoever may write the file can make another whole archive of it.
 */
import type { Revision } from '../store.ts'

export const ARCHIVE_VERSION = 1
export const MAGIC = 'ORRERY ARCHIVE '

export const SEALED = 0x73
export const OBJECT = 0x6f
export const END = 0x65
export const RECORD_HEAD = 5

/** The lines of text before the records: more is no archive. */
export const MOST_HEADER_BYTES = 1024 * 1024
/** The content of one record: a stored object has 2 MiB beside its managed fields. */
export const MOST_RECORD_BYTES = 64 * 1024 * 1024

/** Facts about an archive that are readable without its objects. */
export interface ArchiveHeader {
  /** Format of the rows. */
  readonly rows: number
  /** The program that wrote it. */
  readonly program: string
  /** The moment of the snapshot, RFC 3339. */
  readonly takenAt: string
  /** The revision that it shows. */
  readonly revision: Revision
  readonly objects: number
  /** Files that a server needs beside its store, and how they are sealed; absent: they are not in the archive. */
  readonly sealed?: SealedFiles
  /** Settings of the server that name files outside of its data dir, which are not in the archive. */
  readonly outside: Readonly<Record<string, string>>
}

export interface SealedFiles {
  readonly names: readonly string[]
  /** Salt of scrypt, base64. */
  readonly salt: string
  /** Logarithm of its cost. */
  readonly cost: number
}

export interface ArchiveEnd {
  readonly objects: number
  /** Sum of the checksums of objects. */
  readonly sum: number
  readonly sha256: string
}

/** An archive that is not whole, or that this program cannot read. The message says what to do. */
export class ArchiveError extends Error {
  readonly code: 'NoArchive' | 'Newer' | 'Cut' | 'Altered'

  constructor(code: ArchiveError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ArchiveError'
    this.code = code
  }
}
