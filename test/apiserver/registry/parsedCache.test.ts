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
  const cache = new ParsedCache(100)
  const hot = objects.slice(0, 10).map(stored => cache.get(stored))
  const first = objects.map(stored => cache.scan(stored))
  for (let i = 0; i < 10; i++) t.equal(cache.get(objects[i]!), hot[i])
  const second = objects.map(stored => cache.scan(stored))
  t.equal(second.filter((object, i) => object === first[i]).length, 100, 'and finds again what it has room for')
})

t.test('what is asked for gets room, and scans get it again in the end', async t => {
  const cache = new ParsedCache(10)
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
