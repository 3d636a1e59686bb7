/**
 * Reads what can be read of a damaged database. LevelDB trusts the order of keys: a key that is damaged hides rows, and so does
 * a block that cannot be read. So each row is looked for anew, and behind what is not good the next good row is searched for.
 */
import { type Database, type RowVisit, wordsOf } from './database.ts'

const FIRST_ROW = 'l/0000000000000000'
const LAST_LETTER = '~'.charCodeAt(0)

/** Calls `visit` for every row that can be reached. @returns LevelDB's words about what it could not read */
export async function readCarefully(db: Database, visit: RowVisit, isGood: RowVisit): Promise<string[]> {
  const unreadable = new Set<string>()
  const first = async (range: { gt: string } | { gte: string }): Promise<[string, Buffer] | undefined> => {
    const iterator = db.iterator({ ...range, limit: 1 })
    try {
      return (await iterator.nextv(1))[0]
    } catch (error) {
      unreadable.add(wordsOf(error, db))
      return undefined
    } finally {
      await iterator.close()
    }
  }
  const firstGood = async (range: { gt: string } | { gte: string }, last: string): Promise<string | undefined> => {
    const entry = await first(range)
    return entry !== undefined && entry[0] > last && isGood(...entry) ? entry[0] : undefined
  }
  /** The first good row behind `last` that is found by seeking ever further, in as small steps as there are letters. */
  const nextGood = async (last: string, bad: string | undefined): Promise<string | undefined> => {
    const behindBad = bad !== undefined && bad > last ? await firstGood({ gt: bad }, last) : undefined
    const start = last === '' ? FIRST_ROW : last
    for (let length = start.length - 1; length >= 0; length--)
      for (let letter = start.charCodeAt(length) + 1; letter <= LAST_LETTER; letter++) {
        const target = start.slice(0, length) + String.fromCharCode(letter)
        if (behindBad !== undefined && target > behindBad) return behindBad
        const found = await firstGood({ gte: target }, last)
        if (found !== undefined) return behindBad !== undefined && behindBad < found ? behindBad : found
      }
    return behindBad
  }
  let last = ''
  let range: { gt: string } | { gte: string } = { gt: '' }
  for (;;) {
    const entry = await first(range)
    if (entry === undefined && unreadable.size === 0) return []
    if (entry !== undefined && entry[0] > last && visit(...entry)) {
      last = entry[0]
      range = { gt: last }
      continue
    }
    const next = await nextGood(last, entry?.[0])
    if (next === undefined) return [...unreadable]
    range = { gte: next }
  }
}
