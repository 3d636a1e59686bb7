/**
 * A small file beside the database that names a revision which was acknowledged: when the database lacks that one, it has
 * lost something. Never ahead of what is on disk; some writes behind, because it is written at leisure and not synced. A witness is a
 * second such file in another folder: the loss of one file and of the newest writes is noticed, too.
 */
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Revision } from '../store.ts'

/** At most this often; the writes between cost nothing. */
const PAUSE_MS = 20

export function acknowledgedPath(path: string): string {
  return `${path}.acknowledged`
}

interface Marked {
  /** The database. */
  path: string
  /** The second file. */
  witness?: string | undefined
}

/**
 * The newest revision that the files name. `undefined` when there is none, or when they hold something else: a power cut may leave
 * one empty, so that is no sign of damage.
 */
export async function readAcknowledged({ path, witness }: Marked): Promise<Revision | undefined> {
  const files = [acknowledgedPath(path), ...(witness === undefined ? [] : [witness])]
  const found = (await Promise.all(files.map(readMark))).filter(revision => revision !== undefined)
  return found.length === 0 ? undefined : Math.max(...found)
}

async function readMark(file: string): Promise<Revision | undefined> {
  try {
    const text = await readFile(file, 'latin1')
    return /^\d{16}\n$/.test(text) ? Number(text) : undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

export class Acknowledged {
  readonly #files: readonly FileHandle[]
  readonly #warn: (error: unknown) => void
  readonly #text = Buffer.from(`${'0'.repeat(16)}\n`, 'latin1')
  #revision: Revision
  #written: Revision | undefined
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  private constructor(files: readonly FileHandle[], revision: Revision, warn: (error: unknown) => void) {
    this.#files = files
    this.#revision = revision
    this.#warn = warn
  }

  /** `warn` gets failed writes: the file is then behind, and finds less. */
  static async open(
    { path, witness }: Marked,
    revision: Revision,
    warn: (error: unknown) => void,
  ): Promise<Acknowledged> {
    const files = [await openMark(acknowledgedPath(path))]
    try {
      if (witness !== undefined) {
        await mkdir(dirname(witness), { recursive: true, mode: 0o700 })
        files.push(await openMark(witness))
      }
    } catch (error) {
      // a folder of keys may be read-only
      warn(error)
    }
    const acknowledged = new Acknowledged(files, revision, warn)
    await acknowledged.#write()
    return acknowledged
  }

  /** All revisions up to this one are on disk. */
  note(revision: Revision): void {
    this.#revision = revision
    this.#timer ??= setTimeout(() => {
      this.#writing = this.#write().finally(() => {
        this.#timer = undefined
        if (this.#revision !== this.#written) this.note(this.#revision)
      })
    }, PAUSE_MS).unref()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writing
    clearTimeout(this.#timer)
    if (this.#revision !== this.#written) await this.#write()
    for (const file of this.#files) await file.close()
  }

  async #write(): Promise<void> {
    const revision = this.#revision
    try {
      this.#text.write(String(revision).padStart(16, '0'), 0, 'latin1')
      for (const file of this.#files) await file.write(this.#text, 0, this.#text.length, 0)
    } catch (error) {
      this.#warn(error)
    }
    this.#written = revision
  }
}

/** Written in place: at no moment is the file shorter. */
async function openMark(file: string): Promise<FileHandle> {
  await (await open(file, 'a+', 0o600)).close()
  return await open(file, 'r+')
}
