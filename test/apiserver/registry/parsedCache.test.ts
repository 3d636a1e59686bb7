import t from 'tap'
import { ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { versionOf } from '../../../src/storage/texts.ts'
import { key } from '../../storage/support.ts'

const objects = Array.from({ length: 200 }, (_, i) =>
  versionOf(key(`n${i}`), i + 1, {
    head: '{"apiVersion":"v1","kind":"X","metadata":{"resourceVersion":"',
    tail: '"}}',
  }),
)

t.test('a scan of more than the cache holds does not throw out what is asked for again', async t => {
  const cache = new ParsedCache({ objects: 100 })
  const hot = objects.slice(0, 10).map(stored => cache.get(stored))
  const first = objects.map(stored => cache.scan(stored))
  for (let i = 0; i < 10; i++) t.equal(cache.get(objects[i]!), hot[i])
  const second = objects.map(stored => cache.scan(stored))
  t.equal(second.filter((object, i) => object === first[i]).length, 100, 'and finds again what it has room for')
})

t.test('what is asked for gets room, and scans get it again in the end', async t => {
  const cache = new ParsedCache({ objects: 10 })
  for (const stored of objects.slice(0, 10)) cache.scan(stored)
  const wanted = cache.get(objects[50]!)
  t.equal(cache.get(objects[50]!), wanted)
  let last = cache.scan(objects[60]!)
  for (let scans = 0; cache.scan(objects[60]!) !== last; scans++) {
    last = cache.scan(objects[60]!)
    if (scans > 1000) return t.fail('it stays full of what nobody asks for')
  }
  t.equal(cache.scan(objects[60]!), last)
})

/** A version of so many bytes; each call makes a new one. */
let versions = 1000
const sized = (bytes: number) => {
  const revision = ++versions
  const around = { head: '{"apiVersion":"v1","kind":"X","metadata":{"resourceVersion":"', tail: '"},"text":""}' }
  const empty = versionOf(key(`v${revision}`), revision, around).bytes.length
  return versionOf(key(`v${revision}`), revision, {
    ...around,
    tail: around.tail.replace('""', `"${'x'.repeat(bytes - empty)}"`),
  })
}

t.test('large objects fill it sooner than many: what is kept is bounded by its text', async t => {
  const cache = new ParsedCache({ objects: 100, bytes: 10_000 })
  const large = Array.from({ length: 20 }, () => sized(2000))
  for (const stored of large) cache.get(stored)
  const kept = large.filter(stored => cache.known(stored) !== undefined)
  t.strictSame(kept, large.slice(-5), 'the oldest went')
  const scanned = sized(1000)
  cache.scan(scanned)
  t.equal(cache.known(scanned), undefined, 'a scan takes only room that is free')
  t.equal(large.filter(stored => cache.known(stored) !== undefined).length, 5)
})

t.test('full of large ones that nobody asks for, it is emptied for scans after a while', async t => {
  const cache = new ParsedCache({ objects: 100, bytes: 10_000 })
  for (let i = 0; i < 5; i++) cache.get(sized(2000))
  const wanted = sized(1000)
  let scans = 0
  while (cache.known(wanted) === undefined && scans < 100) {
    cache.scan(wanted)
    scans++
  }
  t.ok(scans < 100, 'as many as it holds count, not as many as it could')
})

t.test('a long text counts for four times: it is mostly many small values', async t => {
  const cache = new ParsedCache({ objects: 100, bytes: 400_000 })
  const long = Array.from({ length: 10 }, () => sized(20_000))
  for (const stored of long) cache.get(stored)
  t.strictSame(
    long.filter(stored => cache.known(stored) !== undefined),
    long.slice(-5),
  )
})
