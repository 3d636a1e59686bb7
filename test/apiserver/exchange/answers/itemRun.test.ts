/** Lists of stored objects are copied into blocks of any length, and only where that is what the list is to show. */
import t, { type Test } from 'tap'
import { type ItemRun, itemRun } from '../../../../src/apiserver/exchange/answers/itemRun.ts'
import { encodeObject } from '../../../../src/apiserver/registry/codec.ts'
import type { Stored } from '../../../../src/storage/store.ts'
import { endlessTurns } from '../../../support/endlessTurns.ts'
import { configMap, heart } from '../../registry/support.ts'

const HEAD = Buffer.from('{"kind":"ConfigMapList","items":[')
const NAMES = ['a', 'b', 'a-name-that-is-longer-than-the-others']

async function world(t: Test) {
  const { type, store, keyOf } = await heart(t)
  const maps = type('v1/configmaps')
  for (const name of NAMES) {
    const text = encodeObject(configMap(name, { name }, { namespace: 'n' }))
    await store.update(keyOf(maps, 'n', name), () => ({ type: 'put', text }))
  }
  const found = await Promise.all(NAMES.map(name => store.get(keyOf(maps, 'n', name))))
  const turns = endlessTurns()
  const run = (items: readonly Stored[], of = maps) =>
    itemRun(of, { head: HEAD, items, work: turns.begin({ owner: '' }) })
  return { type, maps, stored: found.map(each => each!), run }
}

function filled(run: ItemRun, blockBytes: number): string {
  const blocks: Buffer[] = []
  const block = Buffer.alloc(blockBytes)
  for (let used = run.fill(block); used > 0; used = run.fill(block)) blocks.push(Buffer.from(block.subarray(0, used)))
  return Buffer.concat(blocks).toString()
}

t.test('is the same in blocks of any length, and as long as it says', async t => {
  const { stored, run } = await world(t)
  const items = stored.map(({ bytes }) => {
    const { apiVersion: _, kind: __, ...item } = JSON.parse(bytes.toString()) as Record<string, unknown>
    return JSON.stringify(item)
  })
  for (let count = 0; count <= items.length; count++) {
    const expected = `${HEAD}${items.slice(0, count).join(',')}]}\n`
    for (let blockBytes = 2; blockBytes <= expected.length + 1; blockBytes++) {
      const made = await run(stored.slice(0, count))
      t.equal(made?.length, expected.length)
      if (filled(made!, blockBytes) !== expected) t.fail(`${count} items in blocks of ${blockBytes}`)
    }
  }
})

t.test('is none where an object was stored in another form', async t => {
  const { type, stored, run } = await world(t)
  const other: Stored = { ...stored[0]!, bytes: Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}') }
  t.equal(await run([stored[0]!, other]), undefined)
  const short: Stored = { ...stored[0]!, bytes: Buffer.from('{') }
  t.equal(await run([short]), undefined)
  t.equal(await run(stored, type('v1/secrets')), undefined)
})

t.test('is none where objects are shown with version and kind', async t => {
  const { type, run } = await world(t)
  t.equal(await run([], type('edge.kubestellar.io/v2alpha1/edgeplacements')), undefined)
})
