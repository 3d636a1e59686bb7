/**
 * Where to divide rows so that several can read them side by side: by what LevelDB knows of their sizes on disk, without reading them.
 */
import { type Database, openDatabase, type RowRange } from './database.ts'

/** Tolerance of a part: near enough to its end. */
const TOLERANCE = 1 / 16
/** Behind all characters that most rows have; at others no row is divided. */
const LAST_CHARACTER = 0x7f
/** Bound on a divider, behind the common start of all rows of the range. */
const MOST_CHARACTERS = 512

/**
 * In order, one fewer than `parts` at most: fewer where there is too little, or only in LevelDB's memory. They need not be rows.
 * `folder`: of a database that this process has open for threads.
 * @throws StorageError
 */
export async function dividersIn(folder: string, range: Required<RowRange>, parts: number): Promise<string[]> {
  const db = await openDatabase(folder, { create: false, threads: true })
  try {
    const { gte } = range
    const part = (await db.approximateSize(gte, range.lt)) / parts
    const dividers: string[] = []
    for (let i = 1; i < parts; i++) {
      const divider = await rowAt(db, gte, i * part, part * TOLERANCE)
      if (divider > (dividers.at(-1) ?? gte)) dividers.push(divider)
    }
    return dividers
  } finally {
    await db.close()
  }
}

/** Up to which there are at most so many bytes from `start`, and nearly as many: character by character, each found by halves. */
async function rowAt(db: Database, start: string, bytes: number, tolerance: number): Promise<string> {
  const sizeTo = (row: string): Promise<number> => db.approximateSize(start, row)
  let found = start
  for (let length = 0; length < MOST_CHARACTERS && bytes - (await sizeTo(found)) > tolerance; length++) {
    let low = 0
    let high = LAST_CHARACTER
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((await sizeTo(found + String.fromCharCode(middle))) <= bytes) low = middle
      else high = middle - 1
    }
    if (low === LAST_CHARACTER) break
    found += String.fromCharCode(low)
  }
  return found
}
