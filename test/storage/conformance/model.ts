/** Random runs of operations against the naive store. */
import { compareKeys } from '../../../src/storage/keys.ts'
import type { Key, Mutation, Page, Store } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'
import { del, Model, put, rangesAround, readWatch, seen, textOf, updated } from '../support.ts'
import type { Case } from './case.ts'

/** Neighbours in every part, among them a pair that UTF-8 and UTF-16 order differently. */
const keys: Key[] = ['s', 's1'].flatMap(space =>
  ['', 'g'].flatMap(group =>
    ['', 'n'].flatMap(namespace =>
      ['a', 'a0', '\uff5e', '😀'].map(name => ({ space, group, resource: 'r', namespace, name })),
    ),
  ),
)
const ranges = [...rangesAround(keys[0]!), ...rangesAround(keys.at(-1)!)]

const anyKey = fc.constantFrom(...keys)
const anyRange = fc.constantFrom(...ranges)
/** Where in the history, 0 the oldest and 1 the newest revision. */
const when = fc.double({ min: 0, max: 1, noNaN: true })
const data = fc.string({ unit: 'binary', maxLength: 8 })
const type = fc.constantFrom('put' as const, 'put' as const, 'delete' as const)

type Op =
  | { op: 'write'; key: Key; type: 'put' | 'delete'; data: string; expect: 'current' | 'absent' | 'other' }
  | { op: 'update'; keys: Key[]; type: 'put' | 'delete'; data: string }
  | { op: 'list'; range: (typeof ranges)[number]; at: number; limit: number | undefined; after: Key | undefined }
  | { op: 'watch'; range: (typeof ranges)[number]; after: number }
  | { op: 'compact'; at: number }
  | { op: 'reopen' }

const anyOp: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('write' as const),
      key: anyKey,
      type,
      data,
      expect: fc.constantFrom('current' as const, 'current' as const, 'absent' as const, 'other' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('update' as const),
      keys: fc.array(anyKey, { minLength: 1, maxLength: 5 }),
      type,
      data,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('list' as const),
      range: anyRange,
      at: when,
      limit: fc.option(fc.nat(5), { nil: undefined }),
      after: fc.option(anyKey, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('watch' as const), range: anyRange, after: when }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('compact' as const), at: when }) },
  { weight: 1, arbitrary: fc.constant({ op: 'reopen' as const }) },
)

export const modelCases: Case[] = [
  {
    name: 'random operations answer as a naive store would',
    async run(t, open) {
      await fc.assert(
        fc.asyncProperty(fc.array(anyOp, { maxLength: 40 }), async ops => {
          const opened = await open({ maxHistoryEventsInMemory: 4 })
          let store = opened.store
          const model = new Model()
          for (const op of ops) {
            if (op.op !== 'reopen') await step(store, model, op)
            else store = (await opened.reopen?.({ maxHistoryEventsInMemory: 4 })) ?? store
          }
          await step(store, model, { op: 'list', range: {}, at: 1, limit: undefined, after: undefined })
          await store.close()
        }),
        { numRuns: 20 },
      )
      t.pass('the store and the model agree')
    },
  },
]

async function step(store: Store, model: Model, op: Exclude<Op, { op: 'reopen' }>): Promise<void> {
  const place = (part: number): number =>
    store.compactedRevision + Math.round(part * (store.revision - store.compactedRevision))
  switch (op.op) {
    case 'write': {
      const current = model.current(op.key)?.revision ?? 0
      const expect = op.expect === 'current' ? current : op.expect === 'absent' ? 0 : current + 1
      const result = await store.write({ key: op.key, mutation: { put, delete: del }[op.type](op.data), expect })
      const ok = expect === current && !(op.type === 'delete' && current === 0)
      equal(result.ok, ok)
      if (ok) model.apply(op.type, op.key, op.data)
      else equal(result.ok ? undefined : result.current?.revision, current || undefined)
      return
    }
    case 'update': {
      const held = new Set(op.keys.filter(key => model.current(key) !== undefined))
      const change = (): Mutation => ({ put, delete: del })[op.type](op.data)
      const stored = await Promise.all(op.keys.map(key => updated(store, key, change)))
      const written = op.keys.flatMap((key, i) => (stored[i] ? [{ key, revision: stored[i].revision }] : []))
      equal(written.length, op.type === 'put' ? op.keys.length : held.size)
      // whose turn is first, of those with different keys, is for the engine to say
      for (const { key, revision } of written.sort((one, other) => one.revision - other.revision)) {
        model.apply(op.type, key, op.data)
        equal(revision, model.revision)
      }
      equal(store.revision, model.revision)
      return
    }
    case 'list': {
      const at = place(op.at)
      const { range, limit, after } = op
      const all = model.stateAt(at, range).filter(s => after === undefined || compareKeys(s.key, after) > 0)
      const items = all.slice(0, limit ?? all.length)
      const page = await store.list(range, { at, ...(limit !== undefined && { limit }), ...(after && { after }) })
      equal(
        page.items.map(textOf),
        items.map(s => s.text),
      )
      equal(page.remaining, all.length - items.length)
      const uncounted = await store.list(range, {
        at,
        uncounted: true,
        ...(limit !== undefined && { limit }),
        ...(after && { after }),
      })
      equal(uncounted.items.map(textOf), page.items.map(textOf))
      equal(uncounted.more, page.remaining !== 0)
      const slices: Page[] = []
      for await (const slice of store.slices(range, {
        at,
        ...(limit !== undefined && { limit }),
        ...(after && { after }),
      }))
        slices.push(slice)
      equal(slices, [page])
      equal(await store.count(range), model.stateAt(model.revision, range).length)
      return
    }
    case 'watch': {
      const after = place(op.after)
      const expected = model.eventsAfter(after, op.range)
      const events = await readWatch(store, op.range, after, expected.at(-1)?.revision ?? 0)
      equal(events.map(seen), expected)
      return
    }
    case 'compact':
      await store.compact(place(op.at))
  }
}

function equal(found: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (a !== b) throw new Error(`found ${a}, wanted ${b}`)
}
