/** Selecting among many objects leaves the loop to others, parses none for its labels, and ends when nobody wants the result. */
import t, { type Test } from 'tap'
import { encodeObject, ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { Reader } from '../../../src/apiserver/registry/reader.ts'
import { selectionFor } from '../../../src/apiserver/registry/selection.ts'
import { Abandoned, WorkTurns } from '../../../src/program/workTurns.ts'
import { configMap, heart, SPACE } from './support.ts'

const COUNT = 1000

async function world(t: Test) {
  const here = await heart(t)
  const type = here.type('v1/configmaps')
  for (let i = 0; i < COUNT; i++) {
    const labels = { app: i % 10 === 0 ? 'some' : 'others' }
    const text = encodeObject(configMap(`c${i}`, {}, { namespace: 'n', labels }))
    await here.store.update(here.keyOf(type, 'n', `c${i}`), () => ({ type: 'put', text }))
  }
  let turns = 0
  let onTurn = (): void => {}
  const work = new WorkTurns({
    sliceMs: 0,
    clock: () => 0,
    later: turn => {
      setImmediate(() => {
        turns++
        onTurn()
        turn()
      })
    },
  })
  const parsed = new ParsedCache()
  return {
    ...here,
    type,
    work,
    parsed,
    reader: new Reader({ store: here.store, parsed, turns: work }),
    turns: () => turns,
    everyTurn: (then: () => void) => {
      onTurn = then
    },
    some: (selectors: { labelSelector?: string; fieldSelector?: string }) => selectionFor(type, undefined, selectors),
  }
}

t.test('others have their turn, and the list is one revision all the same', async t => {
  const { reader, type, some, turns, everyTurn, store, keyOf } = await world(t)
  for (const space of [SPACE, '*']) {
    for (const [selectors, count] of [
      [{ labelSelector: 'app=some' }, COUNT / 10],
      [{ fieldSelector: 'metadata.name!=c1' }, COUNT - 1],
    ] as const) {
      const begun = turns()
      const { items } = await reader.list(type, { space, selection: some(selectors) })
      t.equal(items.length, count)
      t.ok(turns() - begun > 10, `${turns() - begun} turns`)
    }
  }
  let deleted = 0
  everyTurn(() => void store.update(keyOf(type, 'n', `c${10 * deleted++}`), () => ({ type: 'delete' })))
  const { items, revision } = await reader.list(type, { space: SPACE, selection: some({ labelSelector: 'app=some' }) })
  t.ok(deleted > 0)
  t.ok(items.every(item => item.revision <= revision))
  t.equal(items.length, COUNT / 10, 'what was deleted meanwhile was there at its revision')
  const left = await store.count({ space: SPACE, group: '', resource: 'configmaps' })
  const all = await reader.list(type, { space: SPACE })
  everyTurn(() => {})
  t.ok(all.items.every(item => item.revision <= all.revision))
  t.ok(
    all.items.length <= left &&
      all.items.length > (await store.count({ space: SPACE, group: '', resource: 'configmaps' })),
  )
})

t.test('a bounded list of many tells how many are left', async t => {
  const { reader, type, everyTurn, store, keyOf } = await world(t)
  let deleted = COUNT
  everyTurn(() => void store.update(keyOf(type, 'n', `c${--deleted}`), () => ({ type: 'delete' })))
  const page = await reader.list(type, { space: SPACE, limit: 600 })
  everyTurn(() => {})
  t.equal(page.items.length, 600)
  t.equal(page.remaining, COUNT - 600)
  const next = await reader.list(type, { space: SPACE, limit: 600, continue: page.continue })
  t.equal(next.items.length, COUNT - 600)
  t.equal(next.revision, page.revision)
  t.notOk(next.continue)
})

t.test('a long list of everything leaves turns to others, a page does not wait for one', async t => {
  const { reader, type, turns } = await world(t)
  const begun = turns()
  t.equal((await reader.list(type, { space: SPACE, limit: COUNT / 2 })).items.length, COUNT / 2)
  t.equal(turns() - begun, 0)
  t.equal((await reader.list(type, { space: SPACE })).items.length, COUNT)
  t.ok(turns() - begun > 0)
})

t.test('many long lists that come together take their objects one after the other', async t => {
  const { type, store, parsed } = await world(t)
  let nowMs = 0
  const turns: (() => void)[] = []
  const work = new WorkTurns({ sliceMs: 5, clock: () => nowMs, later: turn => turns.push(turn) })
  let begun = 0
  const slices = store.slices.bind(store)
  store.slices = (...of) => {
    const read = slices(...of)[Symbol.asyncIterator]()
    const next = () => {
      begun++
      nowMs += 3
      return read.next()
    }
    return { [Symbol.asyncIterator]: () => ({ next }) }
  }
  const reader = new Reader({ store, parsed, turns: work })
  const lists = Promise.all(Array.from({ length: 20 }, () => reader.list(type, { space: SPACE })))
  let most = 0
  for (let before = 0; ; before = begun) {
    await new Promise(setImmediate)
    most = Math.max(most, begun - before)
    if (turns.length === 0) break
    for (const turn of turns.splice(0)) turn()
  }
  t.ok((await lists).every(({ items }) => items.length === COUNT))
  t.ok(most <= 2, `${most} in one turn`)
})

t.test('labels are read without parsing', async t => {
  const { reader, type, some, parsed } = await world(t)
  const { items } = await reader.list(type, { space: SPACE, selection: some({ labelSelector: 'app in (some),!none' }) })
  t.equal(items.length, COUNT / 10)
  t.notOk(items.some(item => parsed.known(item)))
})

t.test('it ends with whoever asked', async t => {
  const { reader, type, some, work, turns } = await world(t)
  const begun = turns()
  const gone = { owner: SPACE, isAbandoned: () => turns() - begun >= 3 }
  const selection = some({ labelSelector: 'app=some' })
  let looked = 0
  const counted = {
    ...selection,
    matchesLabels: (labels: Record<string, string> | undefined) => {
      looked++
      return selection.matchesLabels!(labels)
    },
  }
  await t.rejects(reader.list(type, { space: SPACE, selection: counted, work: work.begin(gone) }), Abandoned)
  t.ok(looked < 100, `${looked} of ${COUNT} looked at`)
})
