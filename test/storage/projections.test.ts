/** Remains of projections when they end. Their promises are in `conformance/projections.ts`. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Projections } from '../../src/storage/projections.ts'
import type { Range, StoreEvent } from '../../src/storage/store.ts'
import { key } from './support.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function projections() {
  let revision = 1
  const all = new Projections({ items: () => [], revision: () => revision, logger: { error() {} } })
  const heard: string[] = []
  return {
    heard,
    add: (name: string, range: Range) => all.add(range, { reset() {}, apply: () => heard.push(name) }),
    commit(space: string) {
      revision++
      const at = key('a', { space })
      const stored = { key: at, revision, bytes: Buffer.alloc(0), headBytes: 0 }
      const event: StoreEvent = { type: 'put', key: at, revision, stored, previous: undefined }
      all.apply([event])
    },
  }
}

t.test('a resource of which nothing is projected any more costs no memory', async t => {
  const { add } = projections()
  const end = (i: number): void => add('', { space: `s${i}`, group: 'example.com', resource: `kind${i}` })()
  for (let i = 0; i < 1000; i++) end(i)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 50_000; i++) end(i)
  collect()
  const left = process.memoryUsage().heapUsed - before
  t.ok(left < 50_000 * 100, `${left} bytes`)
})

t.test('an end takes away only what has ended, and may come twice', async t => {
  const { heard, add, commit } = projections()
  const range = { group: 'apps', resource: 'deployments' }
  const [inFirst, everywhere] = [add('in s1', { ...range, space: 's1' }), add('everywhere', range)]
  inFirst()
  commit('s1')
  t.same(heard.splice(0), ['everywhere'])
  everywhere()
  commit('s1')
  t.same(heard.splice(0), [])
  add('again', { ...range, space: 's1' })
  everywhere()
  inFirst()
  commit('s1')
  commit('s2')
  t.same(heard.splice(0), ['again'])
})
