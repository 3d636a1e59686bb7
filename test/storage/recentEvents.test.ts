import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { RecentEvents } from '../../src/storage/recentEvents.ts'
import type { StoreEvent } from '../../src/storage/store.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** How many of them are still in memory. A WeakRef holds what it refers to until the turn in which it was made is over. */
async function alive(refs: readonly WeakRef<StoreEvent>[]): Promise<number> {
  await nextTurn()
  gc()
  return refs.filter(ref => ref.deref() !== undefined).length
}

const KEY = { space: 'root', group: '', resource: 'configmaps', namespace: 'default', name: 'a' }
const KB = 1024

function version(revision: number, size: number): StoreEvent['stored'] {
  return { key: KEY, revision, bytes: Buffer.allocUnsafeSlow(size), headBytes: 0 }
}

/** An object of `size` bytes is changed: from revision 1 to each of the next. */
function changes(count: number, size: number): StoreEvent[] {
  const versions = Array.from({ length: count + 1 }, (_, i) => version(i + 1, size))
  return versions.slice(1).map((stored, i) => ({
    type: 'put',
    revision: stored.revision,
    key: KEY,
    timeMs: 0,
    stored,
    previous: versions[i],
  }))
}

t.test('what is forgotten because there are too many bytes keeps no memory', async t => {
  const recent = new RecentEvents({ maxEvents: 10_000, maxBytes: 100 * KB, after: 1 })
  // few enough that no array would have been cut
  const refs = changes(40, 30 * KB).map(event => {
    recent.add([event])
    return new WeakRef(event)
  })
  const kept: number[] = []
  recent.visit(38, ({ revision }) => kept.push(revision))
  t.same(kept, [39, 40, 41], 'the newest are there')
  t.equal(recent.reaches(37), false)
  t.equal(recent.reaches(38), true)
  t.equal(await alive(refs), 3)
})

t.test('what a compaction forgets keeps no memory', async t => {
  const recent = new RecentEvents({ maxEvents: 10_000, maxBytes: 10_000 * KB, after: 1 })
  const refs = changes(40, KB).map(event => {
    recent.add([event])
    return new WeakRef(event)
  })
  recent.dropThrough(40)
  t.equal(await alive(refs), 1)
})
