/**
 * A small file beside the database that names a revision which was acknowledged: when the database lacks that one, it has
 * lost something. Never ahead of what is on disk; some writes behind, because it is written at leisure and not synced.
 */
import { type FileHandle, open, readFile } from 'node:fs/promises'
import type { Revision } from '../store.ts'

/** At most this often; the writes between cost nothing. */
const PAUSE_MS = 20

export function acknowledgedPath(path: string): string {
  return `${path}.acknowledged`
}

/**
 * The revision that the file names. `undefined` when there is none, or when it holds something else: a power cut may leave
 * it empty, so that is no sign of damage.
 */
export async function readAcknowledged(path: string): Promise<Revision | undefined> {
  try {
    const text = await readFile(acknowledgedPath(path), 'latin1')
    return /^\d{16}\n$/.test(text) ? Number(text) : undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

export class Acknowledged {
  readonly #file: FileHandle
  readonly #warn: (error: unknown) => void
  readonly #text = Buffer.from(`${'0'.repeat(16)}\n`, 'latin1')
  #revision: Revision
  #written: Revision | undefined
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  private constructor(file: FileHandle, revision: Revision, warn: (error: unknown) => void) {
    this.#file = file
    this.#revision = revision
    this.#warn = warn
  }

  /** `warn` hears of writes that failed: the file is then behind, and finds less. */
  static async open(path: string, revision: Revision, warn: (error: unknown) => void): Promise<Acknowledged> {
    // Written in place: at no moment is the file shorter.
    const file = await open(acknowledgedPath(path), 'a+', 0o600).then(async made => {
      await made.close()
      return await open(acknowledgedPath(path), 'r+')
    })
    const acknowledged = new Acknowledged(file, revision, warn)
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
    await this.#file.close()
  }

  async #write(): Promise<void> {
    const revision = this.#revision
    try {
      this.#text.write(String(revision).padStart(16, '0'), 0, 'latin1')
      await this.#file.write(this.#text, 0, this.#text.length, 0)
    } catch (error) {
      this.#warn(error)
    }
    this.#written = revision
  }
}
