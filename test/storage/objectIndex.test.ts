import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { ObjectIndex } from '../../src/storage/objectIndex.ts'
import { key } from './support.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

t.test('an indexed key keeps no request alive that it was cut from', async t => {
  const index = new ObjectIndex()
  const used = (): number => {
    gc()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  for (let i = 0; i < 30; i++) {
    const url = Buffer.alloc(1_000_000, `/api/object-with-a-long-name-${i}/`).toString()
    const cut = key(url.slice(5, 33), { namespace: url.slice(40, 60) })
    index.put({ key: index.ownKey(cut), revision: 1, bytes: Buffer.alloc(0), headBytes: 0 })
  }
  t.ok(used() - before < 10_000_000)
  t.ok(index.size > 0)
})

t.test('keys share the strings of their space, resource and namespace', async t => {
  const index = new ObjectIndex()
  const first = index.ownKey(key('a', { namespace: 'a-namespace-with-a-long-name' }))
  index.put({ key: first, revision: 1, bytes: Buffer.alloc(3), headBytes: 0 })
  t.same(index.ownKey(key('b', { namespace: 'a-namespace-with-a-long-name' })), { ...first, name: 'b' })
  t.equal(index.bytes, 3)
  index.put({ key: first, revision: 2, bytes: Buffer.alloc(5), headBytes: 0 })
  t.equal(index.bytes, 5)
  index.delete(first)
  index.delete(first)
  t.match(index, { bytes: 0, size: 0 })
})
