/** Pages of an older revision: what was written since is undone where the page is, and not with each page anew. */
import t from 'tap'
import { compareKeys } from '../../src/storage/keys.ts'
import { ObjectIndex } from '../../src/storage/objectIndex.ts'
import { listAt, stretchesAt, Undo } from '../../src/storage/pastReads.ts'
import type { Key, Stored, StoreEvent } from '../../src/storage/store.ts'
import { key } from './support.ts'

const MANY = 1000
const stored = (of: Key, revision: number): Stored => ({ key: of, revision, bytes: Buffer.from(''), headBytes: 0 })
const named = (i: number): Key => key(`n${String(i).padStart(4, '0')}`)

t.test('a snapshot in pages undoes each change once or twice, however many pages it has', async t => {
  const index = new ObjectIndex()
  const events: StoreEvent[] = []
  for (let i = 0; i < MANY; i++) index.put(stored(named(i), i + 1))
  const before = listAt(index, new Undo(), {}, {}).items
  for (let i = 0; i < MANY; i++) {
    const previous = index.get(named(i))
    const [of, revision] = [i % 3 === 1 ? key(`n${String(i).padStart(4, '0')}x`) : named(i), MANY + i + 1]
    const version = stored(of, revision)
    const type = i % 3 === 2 ? 'delete' : 'put'
    events.push({ type, key: of, revision, stored: version, previous: i % 3 === 1 ? undefined : previous })
    if (type === 'delete') index.delete(of)
    else index.put(version)
  }
  let undone = 0
  const changes = (behind: Key | undefined, through: Key | undefined): Undo => {
    const undo = new Undo()
    for (const event of events) {
      if (behind && compareKeys(event.key, behind) <= 0) continue
      if (through && compareKeys(event.key, through) > 0) continue
      undo.add(event)
      undone++
    }
    return undo
  }
  const read: Stored[] = []
  for (let more = true; more; ) {
    const page = stretchesAt(index, changes, {}, { after: read.at(-1)?.key, limit: 10 })
    t.ok(page.items.length === 10 || !page.more)
    read.push(...page.items)
    more = page.more
  }
  t.strictSame(
    read.map(({ revision }) => revision),
    before.map(({ revision }) => revision),
  )
  t.ok(undone < 3 * MANY, `${undone} were undone`)
})
