/** Lists: order, ranges, pages, the past. */
import { compareKeys } from '../../../src/storage/keys.ts'
import type { Key, ListOptions, Page, Range, Store } from '../../../src/storage/store.ts'
import { create, del, key, put, rangesAround, textOf } from '../support.ts'
import type { Case } from './case.ts'

const names = async (store: Store, range: Range, options = {}) =>
  (await store.list(range, options)).items.map(item => item.key.name)

/** Reads a list in slices; `meanwhile` is awaited behind the first. */
async function sliced(
  store: Store,
  range: Range,
  options: ListOptions = {},
  meanwhile?: () => Promise<unknown>,
): Promise<Page[]> {
  const pages: Page[] = []
  for await (const page of store.slices(range, options)) if (pages.push(page) === 1) await meanwhile?.()
  return pages
}

const numbered = (count: number): Key[] =>
  Array.from({ length: count }, (_, i) => key(`n${String(i).padStart(5, '0')}`))

/** Keys that differ in every part, so that a part that is forgotten shows. */
const grid = ['s1', 's2', 's10'].flatMap(space =>
  [
    ['', 'pods'],
    ['', 'configmaps'],
    ['apps', 'deployments'],
    ['apps', 'pods'],
  ].flatMap(([group, resource]) =>
    ['', 'default', 'default2'].flatMap(namespace =>
      ['a', 'b', 'a-b'].map(name => ({ space, group: group!, resource: resource!, namespace, name })),
    ),
  ),
)

export const listCases: Case[] = [
  {
    name: 'lists and counts of every range shape hold what belongs there, in key order',
    async run(t, open) {
      const { store } = await open()
      await create(store, ...grid.toReversed())
      for (const range of [...grid.slice(0, 8), ...grid.slice(50, 55)].flatMap(rangesAround)) {
        const expected = grid
          .filter(k => Object.entries(range).every(([part, value]) => k[part as keyof typeof k] === value))
          .sort(compareKeys)
        const page = await store.list(range)
        t.same(
          page.items.map(item => ({ ...item.key })),
          expected,
          JSON.stringify(range),
        )
        t.match(page, { revision: grid.length, remaining: 0 })
        t.equal(await store.count(range), expected.length)
      }
      t.same((await store.list({ space: 'nobody' })).items, [])
      t.equal(await store.count({ group: 'no', resource: 'things' }), 0)
    },
  },
  {
    name: 'a range that no index serves is refused',
    async run(t, open) {
      const { store } = await open()
      for (const range of [{ group: '' }, { resource: 'pods' }, { namespace: 'a' }, { space: 's', namespace: 'a' }]) {
        await t.rejects(store.list(range), TypeError)
        await t.rejects(store.count(range), TypeError)
        t.throws(() => store.watch(range, { after: 0, signal: AbortSignal.abort() }), TypeError)
      }
    },
  },
  {
    name: 'pages follow each other and count what is left, wherever they begin',
    async run(t, open) {
      const { store } = await open()
      await create(store, ...grid)
      for (const range of rangesAround(grid[0]!)) {
        const all = (await store.list(range)).items
        for (const limit of [1, 2, 7]) {
          let paged: string[] = []
          let after: (typeof all)[number]['key'] | undefined
          for (;;) {
            const page = await store.list(range, { limit, ...(after && { after }) })
            paged = paged.concat(page.items.map(i => JSON.stringify(i.key)))
            t.equal(page.remaining, all.length - paged.length)
            t.equal(page.more, page.remaining !== 0)
            if (page.remaining === 0) break
            after = page.items.at(-1)!.key
          }
          t.same(
            paged,
            all.map(i => JSON.stringify(i.key)),
          )
        }
      }
      const inDefault = { space: 's1', group: 'apps', resource: 'pods', namespace: 'default' }
      t.same(await names(store, inDefault, { after: { ...inDefault, name: 'a-a' } }), ['a-b', 'b'], 'need not exist')
      t.same(await names(store, inDefault, { after: { ...inDefault, namespace: 'zzz', name: '' } }), [])
      t.same(await names(store, inDefault, { after: { ...inDefault, namespace: '', name: 'zzz' } }), ['a', 'a-b', 'b'])
    },
  },
  {
    name: 'pages that do not count tell whether there are more, of the present and of the past',
    async run(t, open) {
      const { store } = await open()
      const at = await create(store, key('b'), key('c'), key('d'))
      t.match(await store.list({}, { limit: 2, uncounted: true }), { more: true, remaining: undefined })
      t.match(await store.list({}, { limit: 3, uncounted: true }), { more: false, remaining: 0 })
      t.match(await store.list({}, { limit: 0, uncounted: true }), { items: [], more: true })
      t.match(await store.list({}, { uncounted: true }), { more: false, remaining: 0 })
      t.match(await store.list({}, { limit: 2, after: key('b'), uncounted: true }), { more: false })
      await create(store, key('a'), key('e'))
      await store.update(key('d'), () => del())
      t.match(await store.list({}, { at, limit: 2, uncounted: true }), { more: true, remaining: undefined })
      t.match(await store.list({}, { at, limit: 3, uncounted: true }), { more: false, remaining: 0 })
      t.match(await store.list({}, { at, limit: 1, after: key('c'), uncounted: true }), { more: false })
      t.match(await store.list({}, { at, limit: 1, after: key('b') }), { more: true, remaining: 1 })
      t.match(await store.list({}, { limit: 3, uncounted: true }), { more: true })
      t.match(await store.list({}, { limit: 4, uncounted: true }), { more: false })
    },
  },
  {
    name: 'slices are the list: every range shape, limits, places to begin, the past',
    async run(t, open) {
      const { store } = await open()
      const at = await create(store, ...grid)
      await store.update(grid[0]!, () => del())
      await store.update(grid[40]!, () => put('changed'))
      for (const range of rangesAround(grid[1]!))
        for (const options of [
          {},
          { at },
          { limit: 5 },
          { limit: 5, uncounted: true },
          { after: grid[1]! },
          { limit: 2, after: grid[1]!, at },
        ])
          t.strictSame(await sliced(store, range, options), [await store.list(range, options)], JSON.stringify(range))
      await t.rejects(sliced(store, {}, { at: store.revision + 1 }), { code: 'Future' })
      await t.rejects(sliced(store, { group: '' }), TypeError)
    },
  },
  {
    name: 'slices show one revision, whatever is written meanwhile',
    async run(t, open) {
      const { store } = await open({ maxHistoryEventsInMemory: 10 })
      const all = numbered(2500)
      await create(store, ...all)
      const before = await store.list({})
      let turn = 0
      const change = async (): Promise<void> => {
        turn++
        // some far behind, some where the reader is, some ahead
        await Promise.all(
          all
            .filter((_, i) => i % 7 === 0)
            .map(each => store.update(each, () => (turn % 2 === 0 ? put('back') : del()))),
        )
        await Promise.all(all.filter((_, i) => i % 7 === 1).map(each => store.update(each, () => put(`turn ${turn}`))))
        await create(store, ...all.filter((_, i) => i % 5 === 0).map(({ name }) => key(`${name}-${turn}`)))
        await store.compact(store.revision)
      }
      const items: Page['items'] = []
      let pages = 0
      for await (const page of store.slices({})) {
        pages++
        items.push(...page.items)
        t.equal(page.revision, before.revision)
        t.match(page, items.length < all.length ? { more: true } : { more: false, remaining: 0 })
        await change()
      }
      t.ok(pages > 2, `${pages} slices`)
      t.strictSame(items.map(textOf), before.items.map(textOf))
      const [first, ...others] = await sliced(store, {}, { limit: 2000 }, change)
      t.ok(others.length > 0)
      t.match(others.at(-1), { more: true, revision: first!.revision })
      const later = await store.list({})
      t.not(first!.revision, later.revision)
    },
  },
  {
    name: 'a bounded list in slices counts what is left at its revision',
    async run(t, open) {
      const { store } = await open()
      const all = numbered(2500)
      const at = await create(store, ...all)
      const pages = await sliced(store, {}, { limit: 2000 }, () =>
        store.writeMany(all.slice(1500).map((each, i) => ({ key: each, mutation: del(), expect: 1501 + i }))),
      )
      t.strictSame(
        pages.flatMap(({ items }) => items.map(({ revision }) => revision)),
        Array.from({ length: 2000 }, (_, i) => i + 1),
      )
      t.match(pages.at(-1), { more: true, remaining: 500, revision: at })
      t.equal(await store.count({}), 1500)
    },
  },
  {
    name: 'slices end with a store that closes',
    async run(t, open) {
      const { store } = await open()
      await create(store, ...numbered(2000))
      await t.rejects(
        sliced(store, {}, {}, () => store.close()),
        { code: 'Closed' },
      )
    },
  },
  {
    name: 'many objects in random order come out sorted, also after most are deleted',
    async run(t, open) {
      const { store } = await open()
      const order = Array.from({ length: 3000 }, (_, i) => String((i * 1777) % 3000).padStart(4, '0'))
      await create(store, ...order.map(n => key(n)))
      t.same(await names(store, {}), order.toSorted())
      const some = await store.list({}, { after: key('1234'), limit: 3 })
      t.same(
        some.items.map(i => i.key.name),
        ['1235', '1236', '1237'],
      )
      t.equal(some.remaining, 3000 - 1238)
      const doomed = order.filter(n => Number(n) % 10 !== 3)
      await store.writeMany(doomed.map(n => ({ key: key(n), mutation: del(), expect: order.indexOf(n) + 1 })))
      t.same(
        await names(store, {}),
        order.toSorted().filter(n => Number(n) % 10 === 3),
      )
    },
  },
  {
    name: 'a list at an older revision shows that moment, page by page',
    async run(t, open) {
      const { store } = await open()
      const at = await create(store, key('a'), key('b'), key('c'), key('d'))
      await store.update(key('b'), () => put('changed'))
      await store.update(key('a'), () => del())
      await store.update(key('c'), () => del())
      await store.update(key('c'), () => put('again'))
      await create(store, key('aa'), key('e'))
      const first = await store.list({}, { at, limit: 2 })
      t.same(first.items.map(textOf), ['1:a', '2:b'])
      t.match(first, { revision: at, remaining: 2 })
      const second = await store.list({}, { at, limit: 2, after: key('b') })
      t.same(second.items.map(textOf), ['3:c', '4:d'])
      t.match(second, { revision: at, remaining: 0 })
      t.same((await store.list({}, { at: 0 })).items, [])
      t.same(await names(store, {}), ['aa', 'b', 'c', 'd', 'e'])
    },
  },
  {
    name: 'a list of the future is refused',
    async run(t, open) {
      const { store } = await open()
      const revision = await create(store, key('a'))
      await t.rejects(store.list({}, { at: revision + 1 }), { code: 'Future' })
    },
  },
]
