/** Archives as files: written whole or not at all, and opened in words for whoever named one. */
import { createReadStream } from 'node:fs'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { ArchiveError } from '../../../storage/archive/archive.ts'
import { type ArchiveContent, type ArchiveVisitor, readArchive } from '../../../storage/archive/readArchive.ts'
import { writeWhole } from '../../shell/wholeFile.ts'

/**
 * Writes an archive and reads it meanwhile: it gets its name only when all of it is on disk and whole.
 * @throws Error as {@link writeWhole}, and where the archive broke off or the signal aborts
 */
export async function writeArchiveFile(
  path: string,
  archive: AsyncIterable<Buffer>,
  { signal, ...visitor }: ArchiveVisitor & { signal: AbortSignal },
): Promise<ArchiveContent> {
  return await writeWhole(path, async write => {
    const written = async function* (): AsyncGenerator<Buffer> {
      for await (const piece of archive) {
        signal.throwIfAborted()
        await write(piece)
        yield piece
      }
    }
    return await readArchive(written(), visitor)
  })
}

/** @throws Error that names the file, as {@link readArchive} */
export async function readArchiveFile(path: string, visitor: ArchiveVisitor): Promise<ArchiveContent> {
  return await named(path, readArchive(createReadStream(path), visitor))
}

/** Errors of an archive get the name of its file. */
export async function named<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ArchiveError) {
      const isBroken = error.code === 'Cut' || error.code === 'Altered'
      throw new Error(`${path} ${isBroken ? 'is not whole' : 'cannot be read here'}: ${error.message}`, {
        cause: error,
      })
    }
    if (error instanceof Error && 'syscall' in error && /^(open|read)$/.test(String(error.syscall)))
      throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error })
    throw error
  }
}
