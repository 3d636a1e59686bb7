/** Pages of an older revision: what was written since is undone where the page is, and not with each page anew. */
import t from 'tap'
import { compareKeys } from '../../src/storage/keys.ts'
import { ObjectIndex } from '../../src/storage/objectIndex.ts'
import { listAt, SlicedRead, stretchesAt, Undo } from '../../src/storage/pastReads.ts'
import type { Key, Stored, StoreEvent } from '../../src/storage/store.ts'
import * as fc from '../support/fastCheck.ts'
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

t.test('a list that is read in slices shows where it began, whatever changes between them', t => {
  const change = fc.record({ at: fc.nat(40), isDeletion: fc.boolean() })
  const options = fc.record({
    after: fc.option(fc.nat(40).map(named), { nil: undefined }),
    limit: fc.option(fc.nat(45), { nil: undefined }),
    uncounted: fc.boolean(),
  })
  const most = fc.integer({ min: 1, max: 9 })
  const runs = fc.property(
    fc.array(change),
    fc.array(fc.array(change), { minLength: 1 }),
    options,
    most,
    (first, turns, asked, most) => {
      const index = new ObjectIndex()
      let revision = 0
      const make = ({ at, isDeletion }: { at: number; isDeletion: boolean }): StoreEvent | undefined => {
        const of = named(at)
        const previous = index.get(of)
        if (isDeletion && previous === undefined) return undefined
        const version = stored(of, ++revision)
        if (isDeletion) index.delete(of)
        else index.put(version)
        return { type: isDeletion ? 'delete' : 'put', key: of, revision, stored: version, previous }
      }
      for (const one of first) make(one)
      const { after, limit, uncounted } = asked
      const given = { uncounted, ...(after && { after }), ...(limit !== undefined && { limit }) }
      const wanted = listAt(index, new Undo(), {}, given)
      const read = new SlicedRead(index, new Undo(), {}, given)
      const items: Stored[] = []
      for (let i = 0; ; i++) {
        const slice = read.next(most)
        items.push(...slice.items)
        if (slice.isLast) {
          t.strictSame(
            { more: slice.more, remaining: slice.remaining },
            { more: wanted.more, remaining: wanted.remaining },
          )
          break
        }
        for (const one of turns[i % turns.length]!) {
          const event = make(one)
          if (event) read.changed(event)
        }
      }
      t.strictSame(
        items.map(item => item.revision),
        wanted.items.map(item => item.revision),
      )
    },
  )
  fc.assert(runs, { numRuns: 500 })
  t.end()
})

t.test('a read in slices forgets the changes that it has passed', async t => {
  const undo = new Undo()
  for (let i = 0; i < 3; i++)
    undo.add({
      type: 'delete',
      key: named(i),
      revision: MANY + i,
      stored: stored(named(i), MANY + i),
      previous: stored(named(i), i + 1),
    })
  const names = (some: Undo): string[] => some.behind(undefined).map(each => each.key.name)
  t.strictSame(names(undo.takeBetween(undefined, named(1), undefined)), ['n0000', 'n0001'])
  t.strictSame(names(undo), ['n0000', 'n0001', 'n0002'], 'what was asked for may be asked for again')
  t.strictSame(names(undo.takeBetween(named(1), undefined, named(0))), ['n0002'])
  t.strictSame(names(undo), ['n0001', 'n0002'])
})
