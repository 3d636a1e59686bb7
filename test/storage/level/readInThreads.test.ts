import { join } from 'node:path'
import { Level } from 'level'
import t from 'tap'
import type { Budget } from '../../../src/storage/journaledStore.ts'
import { keyText } from '../../../src/storage/keys.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { objectRow } from '../../../src/storage/level/rows.ts'
import { SharedStored } from '../../../src/storage/sharedStored.ts'
import type { Key, Mutation, Store } from '../../../src/storage/store.ts'
import { temporaryDir } from '../../support/temporaryDir.ts'
import { declared } from '../declared.ts'

const root = temporaryDir(t)

const uidOf = (space: number, name: number): string =>
  `11111111-2222-4333-8444-${String(space * 1000 + name).padStart(12, '0')}`
const keyOf = (space: number, name: string): Key => ({
  space: `space${String(space).padStart(11, '0')}`,
  group: space % 2 === 0 ? '' : 'apps',
  resource: 'configmaps',
  namespace: name.startsWith('b') ? 'default' : '',
  name,
})

function text(space: number, name: number, data: string, note?: string, isShared = true): Mutation {
  const head = `{"metadata":{"uid":"${uidOf(space, name)}","at":"${keyOf(space, '').space}","resourceVersion":"`
  const text = { head, tail: `"},"data":"${data}"}`, ...(note !== undefined && { note }) }
  const own = { uid: uidOf(space, name), space: keyOf(space, '').space }
  return { type: 'put', text: isShared ? declared(text, own) : text }
}

/** A budget that only counts. */
function counting(): { used: Map<string, number[]>; budget: Budget } {
  const used = new Map<string, number[]>()
  const loaded: Budget['loaded'] = ({ space, group, resource }, objects, bytes) => {
    const id = `${space} ${group} ${resource}`
    const before = used.get(id) ?? [0, 0]
    used.set(id, [before[0]! + objects, before[1]! + bytes])
  }
  return { used, budget: { refusal: () => undefined, count() {}, loaded } }
}

interface Content {
  readonly objects: unknown[]
  /** How many of them share their texts. */
  readonly sharing: number
}

async function contentOf(store: Store): Promise<Content> {
  const { items } = await store.list({})
  return {
    objects: items.map(({ key, revision, bytes, headBytes, note }) => {
      return { key, revision, text: bytes.toString(), headBytes, note }
    }),
    sharing: items.filter(stored => stored instanceof SharedStored).length,
  }
}

t.test('a store reads the same, whoever reads it', async t => {
  const path = join(root, 'same')
  let store = await openLevelStore({ path })
  for (let space = 0; space < 12; space++)
    await store.writeMany(
      Array.from({ length: 450 }, (_, i) => {
        const name = i % 100 === 7 ? `ä-😀-${i}` : `${i % 3 === 0 ? 'b' : 'a'}-object-with-a-long-name-${i}`
        const data = i === 9 ? 'x'.repeat(20_000) : i % 4 === 0 ? `only ${space}` : 'what all say'
        const mutation = text(space, i, data, i % 50 === 0 ? `noted ${space}` : undefined, i % 7 !== 0)
        return { key: keyOf(space, name), expect: 0, mutation }
      }),
    )
  for (let space = 0; space < 12; space += 5) {
    await store.update(keyOf(space, 'a-object-with-a-long-name-1'), () => ({ type: 'delete' }))
    await store.update(keyOf(space, 'b-object-with-a-long-name-3'), () => text(space, 3, 'another'))
  }
  const { revision } = store
  await store.close()
  const here = counting()
  store = await openLevelStore({ path, budget: here.budget })
  const content = await contentOf(store)
  await store.close()
  const there = counting()
  store = await openLevelStore({ path, budget: there.budget, threadsFromBytes: 0 })
  t.equal(store.revision, revision)
  t.equal(store.compactedRevision, 0)
  t.strictSame(await contentOf(store), content)
  t.strictSame(there.used, here.used)
  await store.close()
  const divided = counting()
  store = await openLevelStore({ path, budget: divided.budget, threadsFromBytes: 0, readers: 3 })
  t.equal(store.revision, revision)
  const parts = await contentOf(store)
  t.strictSame(parts, content, 'several read objects side by side')
  t.strictSame(divided.used, here.used)
  t.ok(content.sharing > 2000, `${content.sharing} share their texts`)
  await store.update(keyOf(1, 'a-object-with-a-long-name-1'), () => text(1, 1, 'written since'))
  await store.close()
  store = await openLevelStore({ path, threadsFromBytes: 0 })
  t.match((await store.get(keyOf(1, 'a-object-with-a-long-name-1')))?.bytes.toString(), /written since/)
  await store.close()
})

t.test('what is written in an unknown way is refused in the same words', async t => {
  const path = join(root, 'unknown')
  const store = await openLevelStore({ path })
  await store.write({ key: keyOf(0, 'b'), mutation: text(0, 0, 'x'), expect: 0 })
  await store.close()
  const db = new Level<string, Buffer>(path, { valueEncoding: 'buffer' })
  const row = objectRow(keyText(keyOf(0, 'b')))
  const value = (await db.get(row))!
  value[0] = 64
  await db.put(row, value)
  await db.close()
  const refusals = []
  for (const threadsFromBytes of [Number.MAX_SAFE_INTEGER, 0])
    refusals.push(await openLevelStore({ path, threadsFromBytes }).catch((error: Error) => error.message))
  t.match(refusals[0], /damaged/)
  t.equal(refusals[1], refusals[0])
})
