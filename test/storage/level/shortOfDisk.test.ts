/** A store whose disk is short keeps what is, and no history: deletions make room instead of taking it. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Budget } from '../../../src/storage/journaledStore.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import * as fc from '../../support/fastCheck.ts'
import { temporaryDir } from '../../support/temporaryDir.ts'
import { create, del, key, put, readWatch, textOf } from '../support.ts'

async function folder(t: Test): Promise<string> {
  const path = temporaryDir(t)
  return join(path, 'store')
}

/** As a disk that is short or not, and takes all that is written. */
function disk(): Budget & { isShort: boolean } {
  return {
    isShort: false,
    refusal: () => undefined,
    count: () => {},
    loaded: () => {},
    isShortOfDisk() {
      return this.isShort
    },
  }
}

/** A file that is merged away between its name and its size would be missed together with its successor: the listing is made anew. */
async function bytesIn(path: string): Promise<number> {
  for (;;) {
    try {
      const sizes = (await readdir(path)).map(async name => (await stat(join(path, name))).size)
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

t.test('what is deleted leaves the disk, and is no history but in memory', async t => {
  const path = await folder(t)
  const budget = disk()
  const store = await openLevelStore({ path, budget })
  const text = randomBytes(250_000).toString('hex') // not to be compressed to nothing
  const names = Array.from({ length: 60 }, (_, i) => `o${String(i).padStart(2, '0')}`)
  for (const name of names) await store.write({ key: key(name), mutation: put(text + name), expect: 0 })
  await store.update(key('o00'), () => put(`${text}changed`))
  const before = await bytesIn(path)
  t.ok(before > 25_000_000)
  budget.isShort = true
  for (const name of names.slice(1)) await store.update(key(name), () => del())
  t.equal(store.compactedRevision, store.revision)
  const from = store.revision - 5
  t.equal((await readWatch(store, {}, from, store.revision)).length, 5, 'a watch goes on where it was')
  while ((await bytesIn(path)) > before / 2) await setImmediate()
  await store.close()
  const again = await openLevelStore({ path, budget })
  t.equal(await again.count({}), 1)
  t.ok(textOf(await again.get(key('o00')))!.endsWith('changed'))
  await t.rejects(readWatch(again, {}, from, again.revision), { code: 'Compacted' })
  await again.close()
})

t.test('whenever it is short, what is there fits together and is what was written', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ name: fc.constantFrom('a', 'b', 'c'), text: fc.option(fc.string()) }) },
    { weight: 2, arbitrary: fc.constantFrom('short', 'wide', 'compact', 'reopen') },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async steps => {
      const path = join(await mkdtemp(join(tmpdir(), 'orrery-short-')), 'store')
      const budget = disk()
      let store = await openLevelStore({ path, budget })
      const model = new Map<string, string>()
      for (const one of steps) {
        if (one === 'short' || one === 'wide') budget.isShort = one === 'short'
        else if (one === 'compact') await store.compact(store.revision)
        else if (one === 'reopen') {
          await store.close()
          store = await openLevelStore({ path, budget })
        } else {
          const text = one.text ?? undefined
          await store.update(key(one.name), () => (text === undefined ? del() : put(text)))
          if (text === undefined) model.delete(one.name)
          else model.set(one.name, text)
        }
      }
      await store.close()
      store = await openLevelStore({ path, budget })
      const found = (await store.list({})).items.map(stored => [stored.key.name, textOf(stored)!.replace(/^\d+:/, '')])
      await store.close()
      await rm(join(path, '..'), { recursive: true })
      return JSON.stringify(found) === JSON.stringify([...model].sort())
    }),
    { numRuns: 10 },
  )
})

t.test('a refusal for want of room makes some, when there is history', async t => {
  const path = await folder(t)
  const budget = disk()
  const refused = { reason: 'Shortage', message: 'no room', key: key('a'), causes: [] } as const
  const store = await openLevelStore({
    path,
    budget: Object.assign(budget, { refusal: () => (budget.isShort ? refused : undefined) }),
  })
  await create(store, key('a'), key('b'))
  budget.isShort = true
  t.match(await store.write({ key: key('c'), mutation: put('c'), expect: 0 }), { ok: false, refused })
  t.equal(store.compactedRevision, store.revision)
  await store.close()
})
