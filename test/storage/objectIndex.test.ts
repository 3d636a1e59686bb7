import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Body, declaredOf } from '../../src/storage/body.ts'
import { JoinedTexts } from '../../src/storage/joinedTexts.ts'
import { compareKeys, keyText, rangeHolds } from '../../src/storage/keys.ts'
import { ObjectIndex } from '../../src/storage/objectIndex.ts'
import { SharedStored } from '../../src/storage/sharedStored.ts'
import type { Key, Range, Stored } from '../../src/storage/store.ts'
import * as fc from '../support/fastCheck.ts'
import { key, rangesAround } from './support.ts'

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

const keys: Key[] = ['s', 's1'].flatMap(space =>
  ['', 'n'].flatMap(namespace =>
    ['a', 'a0', '\uff5e', '😀', 'a-name-that-is-long-enough'].map(name =>
      key(name, { space, namespace, group: '', resource: 'r' }),
    ),
  ),
)
const anyOp = fc.record({
  op: fc.constantFrom('put', 'place', 'putShared', 'placeShared', 'delete', 'list'),
  key: fc.constantFrom(...keys),
  length: fc.nat(6),
  note: fc.option(fc.constantFrom('one', 'other'), { nil: undefined }),
})

const said = ({ key, revision, bytes, headBytes, note }: Stored): string =>
  `${keyText(key)} ${revision} ${bytes} ${headBytes} ${note}`

const joined = new JoinedTexts()
const uidOf = (i: number): string => `11111111-2222-4333-8444-${String(i).padStart(12, '0')}`
const bodyOf = (data: string): Body => {
  const head = `{"uid":"${uidOf(0)}","at":"2026-01-01T00:00:00Z","resourceVersion":"`
  const gaps = [
    { at: 8, length: 36, kind: 'uid' },
    { at: 52, length: 20, kind: 'time' },
  ] as const
  const [key] = keys
  const { name } = key!
  const { own: _, ...parts } = declaredOf(key!, { head, tail: `","data":"${data}"}`, gaps })!
  return new Body({ ...parts, note: undefined, name })
}

t.test('whatever is put, placed and deleted, it answers as a plain map does, few objects made at a time', async t => {
  fc.assert(
    fc.property(fc.array(anyOp, { maxLength: 60 }), fc.boolean(), (ops, isShared) => {
      const memory = (bytes: number) => (isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes))
      const index = new ObjectIndex({ maxMade: 3, memory })
      const model = new Map<string, Stored>()
      const slabs = [new ArrayBuffer(600), new ArrayBuffer(600)]
      const bodies = [bodyOf('one'), bodyOf('other')]
      const rests = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z']
      for (const [i, { op, key, length, note }] of ops.entries()) {
        const [slab, at, revision] = [slabs[i % 2]!, i * 8, 10 ** (i % 11)]
        const bytes = Buffer.from(slab, at, length)
        bytes.fill(97 + (i % 26))
        const own = { uid: uidOf(i), times: rests[length % 2]! }
        const stored: Stored = op.endsWith('Shared')
          ? new SharedStored({ key, revision }, bodies[i % 2]!, own, joined)
          : { key, revision, bytes, headBytes: i, ...(note !== undefined && { note }) }
        if (op === 'put' || op === 'putShared') index.put(stored)
        if (op === 'place') index.place(key, { memory: slab, at, length, headBytes: i, revision, note })
        if (op === 'placeShared') index.place(key, stored as SharedStored)
        if (op.startsWith('p')) model.set(keyText(key), stored)
        if (op === 'delete') {
          index.delete(key)
          model.delete(keyText(key))
        }
        if (op === 'list') for (const range of rangesAround(key)) compare(index, model, range, key)
        const found = index.get(key)
        const wanted = model.get(keyText(key))
        equal(found && said(found), wanted && said(wanted))
        if (op.startsWith('put') && found !== stored) throw new Error('what was put is not what is there')
        if (index.made > 3) throw new Error(`${index.made} objects made`)
      }
      compare(index, model, {}, undefined)
      equal(index.size, model.size)
      equal(
        index.bytes,
        [...model.values()].reduce((sum, each) => sum + (each instanceof SharedStored ? 0 : each.bytes.length), 0),
      )
      for (const { key } of model.values()) index.delete(key)
      equal([index.size, index.bytes, index.made, index.referred], [0, 0, 0, 0])
    }),
    { numRuns: 300 },
  )
  t.pass('the index and the model agree')
})

function compare(index: ObjectIndex, model: Map<string, Stored>, range: Range, after: Key | undefined): void {
  const behind = (key: Key): boolean => after === undefined || compareKeys(key, after) > 0
  const wanted = [...model.values()].filter(({ key }) => rangeHolds(range, key) && behind(key))
  const found: string[] = []
  index.visit(range, after, stored => found.push(said(stored)) > 0)
  equal(found, wanted.sort((a, b) => compareKeys(a.key, b.key)).map(said))
  equal(index.count(range, after), wanted.length)
}

function equal(found: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (a !== b) throw new Error(`found ${a}, wanted ${b}`)
}

t.test('who asks twice gets the same object, as long as not too many others are asked for', async t => {
  const index = new ObjectIndex({ maxMade: 2048 })
  const memory = new ArrayBuffer(8)
  const nameOf = (i: number): string => `n${String(i).padStart(5, '0')}`
  const place = (i: number): void =>
    index.place(index.ownKey(key(nameOf(i))), { memory, at: 0, length: 8, headBytes: 0, revision: 1, note: undefined })
  for (let i = 0; i < 10_000; i++) place(i)
  t.equal(index.made, 0, 'nothing is made of what was only placed')
  const first = index.get(key(nameOf(0)))
  for (let i = 0; i < 10_000; i += 8) index.get(key(nameOf(i)))
  t.equal(index.get(key(nameOf(0))), first)
  index.visit({}, undefined, () => true)
  t.ok(index.made <= 2048)
  const kept = index.made
  let seen = 0
  index.visit({}, undefined, () => ++seen > 0, true)
  t.equal(seen, index.size)
  t.equal(index.made, kept, 'a scan leaves none')
  t.same(index.get(key(nameOf(0))), first, 'then another one that says the same')
})
