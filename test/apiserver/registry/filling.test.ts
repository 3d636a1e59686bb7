/** Texts told by the words in which they differ are those that would be put together, and are not told so where that is not sure. */
import t from 'tap'
import { Filling } from '../../../src/apiserver/registry/filling.ts'
import { AlikeText } from '../../../src/storage/alikeText.ts'
import { openJournaledStore } from '../../../src/storage/journaledStore.ts'
import { MemoryJournal } from '../../../src/storage/memory/memoryJournal.ts'
import type { Encoded, Key, Store, Stored } from '../../../src/storage/store.ts'
import { declared } from '../../storage/declared.ts'

type Slot = 'uid' | 'now'
const UID = '11111111-2222-4333-8444-000000000001'
const NOW = '2026-01-02T03:04:05Z'
const SPACE = '0123456789abcdef'
const keyOf = (space: string): Key => ({ space, group: '', resource: 'configmaps', namespace: 'n', name: 'x' })

interface Says {
  /** What all of them say. */
  data?: string
  note?: string
}

/** As a template puts it together. */
function joined({ data = 'x', note }: Says, wordFor: (slot: Slot) => string, space: string): Encoded {
  const head = `{"d":"${data}","uid":"${wordFor('uid')}","at":"${wordFor('now')}","by":"${wordFor('now')}","in":"${space}","rv":"`
  return { head, tail: `"},"é":"${data}"}`, note }
}

const slotOf = (word: string): Slot | undefined => (word === UID ? 'uid' : word === NOW ? 'now' : undefined)
const first = (slot: Slot): string => (slot === 'uid' ? UID : NOW)

async function made(
  store: Store,
  says: Says,
  space = SPACE,
): Promise<{ stored: Stored; filling: Filling<Slot> | undefined }> {
  const text = declared(joined(says, first, space), { uid: UID, space, times: [NOW, '2020-01-01T00:00:00Z'] })
  const result = await store.write({ key: keyOf(space), mutation: { type: 'put', text }, expect: 0 })
  if (!result.ok) throw new Error('not written')
  const example = (wordFor: (slot: Slot) => string, of: string): Encoded => joined(says, wordFor, of)
  return { stored: result.stored, filling: Filling.of<Slot>(result.stored, { slotOf, example }) }
}

t.test('the next one is told by its words, and reads as if it was put together', async t => {
  for (const says of [
    {},
    { note: 'bare' },
    { data: '2020-01-01T00:00:00Z' },
    { data: '99999999-2222-4333-8444-000000000001' },
  ]) {
    const store = await openJournaledStore(new MemoryJournal())
    const { filling } = await made(store, says)
    const words = { uid: '22222222-2222-4333-8444-000000000002', now: '2027-01-02T03:04:05Z' }
    const space = 'fedcba9876543210'
    const text = filling?.text(slot => words[slot], space)
    t.ok(text instanceof AlikeText, JSON.stringify(says))
    const wanted = joined(says, slot => words[slot], space)
    t.same({ head: text!.head, tail: text!.tail, note: text!.note }, { note: undefined, ...wanted })
    const result = await store.write({ key: keyOf(space), mutation: { type: 'put', text: text! }, expect: 0 })
    t.ok(result.ok)
    const stored = (await store.get(keyOf(space)))!
    t.equal(stored.bytes.toString(), `${wanted.head}${stored.revision}${wanted.tail}`)
    await store.close()
  }
})

t.test('what all of them say and is by chance what one of them is, is not taken for that', async t => {
  for (const data of [UID, NOW, SPACE]) {
    const store = await openJournaledStore(new MemoryJournal())
    t.equal((await made(store, { data })).filling, undefined, data)
    await store.close()
  }
})

t.test('a word for which there is no room is put together as ever', async t => {
  const store = await openJournaledStore(new MemoryJournal())
  const { filling } = await made(store, {})
  t.ok(filling)
  t.equal(
    filling!.text(() => 'short', SPACE),
    undefined,
  )
  t.equal(filling!.text(first, 'root'), undefined)
  t.equal(
    (await made(store, {}, 'root')).filling,
    undefined,
    'nor is anything learned of a space whose id is no other length',
  )
  await store.close()
})
