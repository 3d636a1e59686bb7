/** That texts are shared at all; that they read as others do is in the conformance suite. */
import t from 'tap'
import { BlockMaker } from '../../src/storage/blockMaker.ts'
import type { JournalState, LoadedObjects } from '../../src/storage/journal.ts'
import { openJournaledStore } from '../../src/storage/journaledStore.ts'
import { MemoryJournal } from '../../src/storage/memory/memoryJournal.ts'
import { SharedStored } from '../../src/storage/sharedStored.ts'
import type { Key, Mutation, Store, Stored } from '../../src/storage/store.ts'
import { apart } from '../../src/storage/texts.ts'

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
  return { type: 'put', text: { head, tail: rest, ...(alike && { own: uid }) } }
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
    for (const { key, revision, bytes, headBytes } of this.#objects)
      maker.add({ key: { ...key }, revision, bytes: Buffer.from(bytes), headBytes })
    maker.end()
    const revision = Math.max(...this.#objects.map(stored => stored.revision))
    return { revision, compactedRevision: revision }
  }
}

async function formOf(store: Store, key: Key): Promise<unknown> {
  const stored = await store.get(key)
  return stored instanceof SharedStored ? stored.form : undefined
}

async function forms(store: Store, count: number): Promise<unknown[]> {
  return await Promise.all(Array.from({ length: count }, (_, space) => formOf(store, keyOf(space))))
}

t.test('copies of one object keep its text once, whenever they were made', async t => {
  const store = await openJournaledStore(new MemoryJournal())
  for (let space = 0; space < 3; space++)
    await store.write({ key: keyOf(space), mutation: text(space, { time: space }), expect: 0 })
  const [first, ...others] = await forms(store, 3)
  t.ok(first)
  t.same(
    others.map(form => form === first),
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

t.test('a change of all of them is one text again, and a status that some report is one', async t => {
  const store = await openJournaledStore(new MemoryJournal())
  for (let space = 0; space < 3; space++) await store.update(keyOf(space), () => text(space))
  const before = (await forms(store, 3))[0]
  for (let space = 0; space < 3; space++) await store.update(keyOf(space), () => text(space, { data: 'y' }))
  const changed = await forms(store, 3)
  t.not(changed[0], before)
  t.equal(changed[1], changed[0])
  t.equal(changed[2], changed[0])
  for (let space = 0; space < 3; space++)
    await store.update(keyOf(space), () => text(space, { data: 'y', status: 'good', alike: false }))
  const reported = await forms(store, 3)
  t.equal(reported[0], undefined, 'the first one is one of a kind')
  t.ok(reported[1])
  t.equal(reported[2], reported[1])
  await store.close()
})

t.test('what nobody else says is kept whole', async t => {
  const store = await openJournaledStore(new MemoryJournal())
  for (let space = 0; space < 3; space++) await store.update(keyOf(space), () => text(space, { alike: false }))
  t.same(await forms(store, 3), [undefined, undefined, undefined])
  await store.update(keyOf(0, 'b'), () => ({ type: 'put', text: { head: '{"r":"', tail: '"}', own: uidOf(0) } }))
  t.equal(await formOf(store, keyOf(0, 'b')), undefined, 'nothing tells it from others')
  const bare = { head: `{"uid":"${uidOf(0)}","r":`, tail: '}', own: uidOf(0) }
  await store.update(keyOf(0, 'c'), () => ({ type: 'put', text: bare }))
  t.equal(await formOf(store, keyOf(0, 'c')), undefined, 'its revision is no JSON string')
  await store.close()
})

t.test('a start finds again what is the same', async t => {
  const before = await openJournaledStore(new MemoryJournal())
  for (let space = 0; space < 4; space++) {
    await before.update(keyOf(space), () => text(space, { time: space, alike: false }))
    await before.update(keyOf(space, 'other'), () => text(space, { data: `only ${space}`, alike: false }))
  }
  const { items } = await before.list({})
  const texts = items.map(({ bytes }) => bytes.toString())
  const store = await openJournaledStore(new Loaded(items))
  const [first, ...others] = await forms(store, 4)
  t.equal(first, undefined, 'nobody before it said so')
  t.ok(others[0])
  t.same(
    others.map(form => form === others[0]),
    [true, true, true],
  )
  t.equal(await formOf(store, keyOf(2, 'other')), undefined)
  t.same(
    (await store.list({})).items.map(({ bytes }) => bytes.toString()),
    texts,
  )
  await before.close()
  await store.close()
})

t.test('a start finds what is the same also behind much that has the same name and says something else', async t => {
  const before = await openJournaledStore(new MemoryJournal())
  const other = (space: number, name: string, data: string) =>
    before.update(keyOf(space, name), () => text(space, { data, alike: false }))
  for (let space = 0; space < 3; space++) {
    for (let i = 100; i < 300; i++) await other(space, `a${i}`, `${space}`)
    for (let i = 100; i < 200; i++) await other(space, `b${i}`, 'x')
  }
  const store = await openJournaledStore(new Loaded((await before.list({})).items))
  const { items } = await store.list({ space: keyOf(2).space })
  const shared = items.filter(stored => stored instanceof SharedStored)
  t.ok(shared.length >= 100 - 32, `${shared.length} of 100`)
  t.ok(shared.every(({ key }) => key.name.startsWith('b')))
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
