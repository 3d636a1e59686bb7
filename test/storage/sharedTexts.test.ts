/** Bodies are shared at all; that they read as others do is in the conformance suite. */
import t from 'tap'
import { BlockMaker } from '../../src/storage/blockMaker.ts'
import type { JournalState, LoadedObjects } from '../../src/storage/journal.ts'
import { openJournaledStore } from '../../src/storage/journaledStore.ts'
import { MemoryJournal } from '../../src/storage/memory/memoryJournal.ts'
import { SharedStored } from '../../src/storage/sharedStored.ts'
import type { Encoded, Key, Mutation, Store, Stored } from '../../src/storage/store.ts'
import { apart } from '../../src/storage/texts.ts'
import { declared } from './declared.ts'

const uidOf = (space: number): string => `11111111-2222-4333-8444-${String(space).padStart(12, '0')}`
const keyOf = (space: number, name = 'an-object-of-all-spaces'): Key => ({
  space: `space${String(space).padStart(11, '0')}`,
  group: '',
  resource: 'configmaps',
  namespace: 'default',
  name,
})

function text(space: number, { data = 'x', time = 0, alike = true, status = '' } = {}): Mutation {
  const uid = uidOf(space)
  const when = `2026-01-01T00:00:${String(time).padStart(2, '0')}Z`
  const head = `{"metadata":{"uid":"${uid}","creationTimestamp":"${when}","at":"${keyOf(space).space}","resourceVersion":"`
  const rest = `"},"data":"${data}"${status === '' ? '' : `,"status":"${status}"`}}`
  const text = { head, tail: rest }
  return { type: 'put', text: alike ? declared(text, { uid, space: keyOf(space).space, times: [when] }) : text }
}

/** A journal that has objects to load. */
class Loaded extends MemoryJournal {
  readonly #objects: readonly Stored[]

  constructor(objects: readonly Stored[]) {
    super()
    this.#objects = objects
  }

  override async load(objects?: LoadedObjects): Promise<JournalState> {
    const maker = new BlockMaker({ give: objects?.taker() ?? (() => {}) })
    for (const stored of this.#objects) {
      const { key, revision, bytes, headBytes } = stored
      const outline = stored instanceof SharedStored ? stored.outline : undefined
      maker.add({ key: { ...key }, revision, bytes: Buffer.from(bytes), headBytes, outline })
    }
    maker.end()
    const revision = Math.max(...this.#objects.map(stored => stored.revision))
    return { revision, compactedRevision: revision }
  }
}

async function bodyOf(store: Store, key: Key): Promise<unknown> {
  const stored = await store.get(key)
  return stored instanceof SharedStored ? stored.body : undefined
}

async function bodies(store: Store, count: number): Promise<unknown[]> {
  return await Promise.all(Array.from({ length: count }, (_, space) => bodyOf(store, keyOf(space))))
}

t.test('copies of one object keep its text once, whenever they were made', async t => {
  const store = await openJournaledStore(new MemoryJournal())
  for (let space = 0; space < 3; space++)
    await store.write({ key: keyOf(space), mutation: text(space, { time: space }), expect: 0 })
  const [first, ...others] = await bodies(store, 3)
  t.ok(first)
  t.same(
    others.map(body => body === first),
    [true, true],
  )
  const [one, two] = [await store.get(keyOf(0)), await store.get(keyOf(1))]
  t.match(two!.bytes.toString(), uidOf(1))
  t.notMatch(two!.bytes.toString(), uidOf(0))
  t.equal(two!.bytes.toString().length, one!.bytes.length)
  t.same(
    apart(two!),
    { ...apart(two!), headBytes: two!.headBytes, bytes: two!.bytes },
    'whoever keeps one has all of it',
  )
  await store.close()
})

t.test('a change of all of them is one body again, and so is a status that some report', async t => {
  const store = await openJournaledStore(new MemoryJournal())
  for (let space = 0; space < 3; space++) await store.update(keyOf(space), () => text(space))
  const before = (await bodies(store, 3))[0]
  for (let space = 0; space < 3; space++) await store.update(keyOf(space), () => text(space, { data: 'y' }))
  const changed = await bodies(store, 3)
  t.not(changed[0], before)
  t.equal(changed[1], changed[0])
  t.equal(changed[2], changed[0])
  for (let space = 0; space < 3; space++)
    await store.update(keyOf(space), () => text(space, { data: 'y', status: 'good', time: space }))
  const reported = await bodies(store, 3)
  t.ok(reported[0])
  t.equal(reported[1], reported[0])
  t.equal(reported[2], reported[0])
  await store.close()
})

t.test('a text whose writer declares nothing, or what is not there, is kept whole', async t => {
  const store = await openJournaledStore(new MemoryJournal())
  for (let space = 0; space < 3; space++) await store.update(keyOf(space), () => text(space, { alike: false }))
  t.same(await bodies(store, 3), [undefined, undefined, undefined])
  const head = `{"uid":"${uidOf(0)}","in":"${keyOf(1).space}","é":"x","rv":"`
  const uid = { at: 8, length: 36, kind: 'uid' } as const
  const wrong: [why: string, text: Encoded][] = [
    ['nothing tells it from others', { head, tail: '"}', gaps: [] }],
    ['its revision is no JSON string', { head: head.slice(0, -1), tail: '}', gaps: [uid] }],
    ['a gap begins at another place', { head, tail: '"}', gaps: [{ ...uid, at: 9 }] }],
    ['a gap is longer than the value', { head, tail: '"}', gaps: [{ ...uid, length: 37 }] }],
    ['a gap lies behind the text', { head, tail: '"}', gaps: [uid, { at: 500, length: 20, kind: 'time' }] }],
    ['the space is not its own', { head, tail: '"}', gaps: [uid, { at: 52, length: 16, kind: 'space' }] }],
    ['gaps are not in order', { head, tail: '"}', gaps: [uid, uid] }],
    ['a value is not plain', { head, tail: '"}', gaps: [uid, { at: 71, length: 2, kind: 'time' }] }],
    ['a gap holds the revision', { head, tail: '"}', gaps: [uid, { at: head.length + 1, length: 0, kind: 'time' }] }],
  ]
  for (const [why, text] of wrong) {
    const { stored } = (await store.update(keyOf(0, 'b'), () => ({ type: 'put', text }))) as { stored: Stored }
    t.equal(stored.bytes.toString(), `${text.head}${stored.revision}${text.tail}`)
    t.equal(await bodyOf(store, keyOf(0, 'b')), undefined, why)
  }
  await store.update(keyOf(0, 'b'), () => ({ type: 'put', text: { head, tail: '"}', gaps: [uid] } }))
  t.ok(await bodyOf(store, keyOf(0, 'b')))
  await store.close()
})

t.test('a start shares by what rows say, whatever comes between them', async t => {
  const before = await openJournaledStore(new MemoryJournal())
  for (let space = 0; space < 4; space++) {
    for (let i = 100; i < 300; i++)
      await before.update(keyOf(space, `a${i}`), () => text(space, { data: `only ${space}`, alike: false }))
    await before.update(keyOf(space), () => text(space, { time: space }))
    await before.update(keyOf(space, 'whole'), () => text(space, { alike: false }))
  }
  const { items } = await before.list({})
  const texts = items.map(({ bytes }) => bytes.toString())
  const store = await openJournaledStore(new Loaded(items))
  const [first, ...others] = await bodies(store, 4)
  t.ok(first)
  t.same(
    others.map(body => body === first),
    [true, true, true],
  )
  t.equal(await bodyOf(store, keyOf(2, 'whole')), undefined)
  t.same(
    (await store.list({})).items.map(({ bytes }) => bytes.toString()),
    texts,
  )
  await store.update(keyOf(9), () => text(9, { time: 9 }))
  t.equal(await bodyOf(store, keyOf(9)), first, 'a new one joins them')
  await before.close()
  await store.close()
})

t.test('thousands of them are read whole, also when their texts were put together long ago', async t => {
  const store = await openJournaledStore(new MemoryJournal())
  const data = 'd'.repeat(4000)
  const count = 1200
  await store.writeMany(
    Array.from({ length: count }, (_, space) => ({ key: keyOf(space), mutation: text(space, { data }), expect: 0 })),
  )
  const { items } = await store.list({})
  t.equal(items.length, count)
  t.ok(items.every((stored, space) => stored.bytes.includes(uidOf(space)) && stored.bytes.includes(data)))
  await store.close()
})
