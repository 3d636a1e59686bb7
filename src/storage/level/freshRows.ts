/** The rows of a store that begins with objects and without history, written some at a time. */
import type { Whole } from '../body.ts'
import { keyText } from '../keys.ts'
import type { Revision } from '../store.ts'
import type { Database } from './database.ts'
import { addToSum, objectChecksum, objectRow, sealed, versionValue } from './rows.ts'
import { writeMeta } from './storeFolder.ts'

/** Rows of a batch, and their bytes. */
const BATCH = 1000
const BATCH_BYTES = 4 * 1024 * 1024

export class FreshRows {
  readonly #db: Database
  #rows: [row: string, value: Buffer][] = []
  #bytes = 0
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  #count = 0
  #sum = 0

  constructor(db: Database) {
    this.#db = db
  }

  add(stored: Whole): void {
    const id = keyText(stored.key)
    const value = versionValue(stored)
    const checksum = objectChecksum(id, value)
    this.#count++
    this.#sum = addToSum(this.#sum, checksum)
    this.#rows.push([objectRow(id), sealed(value, checksum)])
    this.#bytes += value.length
    if (this.#rows.length >= BATCH || this.#bytes >= BATCH_BYTES) this.#flush()
  }

  /** Resolves when no batch waits for the disk; `undefined`: none does. @throws the error of the disk */
  room(): Promise<void> | undefined {
    return this.#isWriting ? this.#writing : undefined
  }

  /** All of it is on disk, and the store begins at `revision`. */
  async finish(revision: Revision): Promise<void> {
    this.#flush()
    await this.#writing
    await writeMeta(this.#db, { revision, count: this.#count, sum: this.#sum })
  }

  #flush(): void {
    const rows = this.#rows
    this.#rows = []
    this.#bytes = 0
    this.#isWriting = true
    const write = async (): Promise<void> => {
      const batch = this.#db.batch()
      for (const [row, value] of rows) batch.put(row, value)
      await batch.write()
    }
    const writing = this.#writing.then(write).then(() => {
      if (this.#writing === writing) this.#isWriting = false
    })
    this.#writing = writing
    // Awaited in the end.
    this.#writing.catch(() => {})
  }
}
