/** Reads of what there is: one object, lists, and pages that show one moment whatever is written meanwhile. */
import t, { type Test } from 'tap'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { decodeObject, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { ExpiredContinueError } from '../../../src/apiserver/registry/continueToken.ts'
import type { ListQuery, ListResult } from '../../../src/apiserver/registry/reader.ts'
import { selectionFor } from '../../../src/apiserver/registry/selection.ts'
import * as fc from '../../support/fastCheck.ts'
import { configMap, type Heart, heart, refused, SPACE } from './support.ts'

async function world(t: Test) {
  const here: Heart = await heart(t)
  const type = here.type('v1/configmaps')
  /** `name`, `namespace/name` or `space/namespace/name` */
  const keyOf = (place: string) => {
    const [name, namespace = 'n', space = SPACE] = place.split('/').reverse()
    return { ...here.keyOf(type, namespace, name!), space }
  }
  const list = (query: Partial<ListQuery> = {}) => here.reader.list(type, { space: SPACE, namespace: 'n', ...query })
  return {
    ...here,
    type,
    keyOf,
    put: async (place: string, metadata: object = {}) => {
      const key = keyOf(place)
      const text = encodeObject(configMap(key.name, {}, { namespace: key.namespace, ...metadata }))
      await here.store.update(key, () => ({ type: 'put', text }))
    },
    remove: async (place: string) => {
      await here.store.update(keyOf(place), () => ({ type: 'delete' }))
    },
    list,
    /** All pages from the first one on. */
    async pages(query: Partial<ListQuery>, between?: (page: number) => Promise<void>): Promise<ListResult[]> {
      const pages: ListResult[] = []
      for (let next: string | undefined = ''; next !== undefined; next = pages.at(-1)!.continue) {
        pages.push(await list({ ...query, ...(next && { continue: next }) }))
        await between?.(pages.length)
      }
      return pages
    },
  }
}

const names = ({ items }: Pick<ListResult, 'items'>): string[] => items.map(({ key }) => key.name)
const selecting = (type: ResourceType, labelSelector?: string, fieldSelector?: string) =>
  selectionFor(type, undefined, { labelSelector, fieldSelector })

t.test('one object', async t => {
  const { reader, type, put, store } = await world(t)
  await put('a', { labels: { a: 'b' } })
  const stored = await reader.get(SPACE, type, 'n', 'a')
  t.match(decodeObject(stored), { metadata: { labels: { a: 'b' }, resourceVersion: '1' } })
  for (const [space, namespace, name] of [
    [SPACE, 'n', 'b'],
    [SPACE, 'm', 'a'],
    ['other', 'n', 'a'],
  ] as const)
    await t.rejects(async () => reader.get(space, type, namespace, name), {
      reason: 'NotFound',
      message: `configmaps "${name}" not found`,
    })
  for (const known of ['', '0', '1']) reader.requireRevision(known)
  t.throws(() => reader.requireRevision(`${store.revision + 1}`), {
    reason: 'Timeout',
    message: 'Timeout: Too large resource version: 2, current: 1',
  })
  t.throws(() => reader.requireRevision('one'), { reason: 'BadRequest', message: /invalid syntax/ })
})

t.test('a list shows what is asked for, in order, and the revision that it shows', async t => {
  const { list, put, type, store, keyOf } = await world(t)
  for (const place of ['b', 'a', 'm/a', 'other/n/z', 'z/y']) await put(place, { labels: { of: place.slice(0, 1) } })
  const whole = await list()
  t.strictSame([names(whole), whole.revision, whole.continue, whole.remaining], [['a', 'b'], 5, undefined, undefined])
  t.equal(whole.items[0], await store.get(keyOf('a')), 'as stored')
  const everywhere = (query: Partial<ListQuery>) => list({ namespace: undefined, ...query })
  t.strictSame(names(await everywhere({})), ['a', 'a', 'b', 'y'])
  t.strictSame(names(await everywhere({ space: '*' })), ['z', 'a', 'a', 'b', 'y'])
  t.strictSame(names(await list({ space: '*' })), ['z', 'a', 'b'], 'one namespace of all spaces')
  t.strictSame(names(await list({ space: 'nowhere' })), [])
  const of = async (labels?: string, fields?: string, query = {}) =>
    names(await everywhere({ selection: selecting(type, labels, fields), ...query }))
  t.strictSame(await of('of in (a,m)'), ['a', 'a'])
  t.strictSame(await of('of=a,of!=a'), [])
  t.strictSame(await of(undefined, 'metadata.name=a'), ['a', 'a'])
  t.strictSame(await of('of=a', 'metadata.name=a'), ['a'])
  t.strictSame(await of(undefined, 'metadata.namespace=m'), ['a'])
  t.strictSame(await of(undefined, 'metadata.namespace=m', { namespace: 'n' }), [], 'two places at once')
  t.strictSame(await of(undefined, 'metadata.name=b', { namespace: 'n' }), ['b'])
  t.strictSame(await of('of=b', 'metadata.name=a', { namespace: 'n' }), [])
  t.throws(() => selecting(type, undefined, 'data.a=b'), { reason: 'BadRequest', message: /known field selector/ })
  t.throws(() => selecting(type, 'a in'), { reason: 'BadRequest', message: /unable to parse/ })
})

t.test('pages show one moment, whatever is written meanwhile', async t => {
  const place = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'm/a', 'm/b')
  const write = fc.record({ place, labelled: fc.boolean(), removes: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { maxLength: 12 }),
      fc.array(fc.array(write, { maxLength: 3 }), { maxLength: 6 }),
      fc.record({
        limit: fc.integer({ min: 1, max: 5 }),
        labelSelector: fc.constantFrom(undefined, 'a=b'),
        namespace: fc.constantFrom('n', undefined),
      }),
      async (first, meanwhile, { limit, labelSelector, namespace }) => {
        const { put, remove, list, pages, type } = await world(t)
        const act = async (writes: typeof first): Promise<void> => {
          for (const { place, labelled, removes } of writes)
            await (removes ? remove(place) : put(place, labelled ? { labels: { a: 'b' } } : {}))
        }
        await put('b')
        await act(first)
        const selection = selecting(type, labelSelector)
        const query = { namespace, selection }
        const whole = await list(query)
        const all = await pages({ ...query, limit }, page => act(meanwhile[page - 1] ?? []))
        let left = whole.items.length
        for (const page of all) {
          left -= page.items.length
          if (page.revision !== whole.revision) throw new Error(`of ${page.revision} instead of ${whole.revision}`)
          if (page.items.length > limit) throw new Error(`${page.items.length} of ${limit}`)
          const wanted = page.continue !== undefined && selection.everything ? left : undefined
          if (page.remaining !== wanted) throw new Error(`${wanted} remain, it says ${page.remaining}`)
        }
        const shown = all.flatMap(({ items }) => items).map(({ bytes }) => bytes.toString())
        const wanted = whole.items.map(({ bytes }) => bytes.toString())
        if (JSON.stringify(shown) !== JSON.stringify(wanted)) throw new Error(`${shown} instead of ${wanted}`)
      },
    ),
    { numRuns: 100 },
  )
})

t.test('so does a page for which much has to be looked at', async t => {
  const { store, type, keyOf, put, remove, reader } = await world(t)
  const text = encodeObject(configMap('any'))
  const others = Array.from({ length: 1200 }, (_, i) => `n${i + 1000}`)
  await store.writeMany(others.map(name => ({ key: keyOf(name), mutation: { type: 'put', text }, expect: 0 })))
  for (const name of ['y', 'z']) await put(name, { labels: { a: 'b' } })
  const { revision } = store
  let looks = 0
  const slices = store.slices.bind(store)
  store.slices = async function* (range, options) {
    for await (const slice of slices(range, options)) {
      if (++looks === 2) await Promise.all([remove('z'), put('x', { labels: { a: 'b' } })])
      yield slice
    }
  }
  const page = await reader.list(type, { space: SPACE, namespace: 'n', selection: selecting(type, 'a=b'), limit: 5 })
  t.ok(looks > 2)
  t.strictSame([names(page), page.revision, page.continue], [['y', 'z'], revision, undefined])
})

t.test('a limit of nothing is none', async t => {
  const { list, put } = await world(t)
  for (const name of ['a', 'b', 'c']) await put(name)
  for (const limit of [0, 3, 4, undefined]) {
    const page = await list({ limit })
    t.strictSame([names(page), page.continue, page.remaining], [['a', 'b', 'c'], undefined, undefined])
  }
})

t.test('pages of one namespace of all spaces do not count what is in others', async t => {
  const { put, pages } = await world(t)
  for (const place of ['one/m/a', 'one/n/b', 'one/z/c', 'two/m/d', 'two/n/e', 'two/n/f', 'two/z/g']) await put(place)
  const all = await pages({ space: '*', limit: 1 })
  t.strictSame(all.flatMap(names), ['b', 'e', 'f'])
  for (const { remaining } of all) t.equal(remaining, undefined, 'nobody knows how many remain')
})

t.test('resourceVersion and resourceVersionMatch', async t => {
  const { list, put, remove } = await world(t)
  await put('a')
  await put('b')
  await remove('a')
  const shown = async (query: Partial<ListQuery>) => {
    const page = await list(query)
    return [names(page).join(), page.revision]
  }
  const newest = ['b', 3]
  const past = ['a,b', 2]
  for (const [query, wanted] of [
    [{}, newest],
    [{ resourceVersion: '0' }, newest],
    [{ resourceVersion: '2' }, newest],
    [{ resourceVersion: '2', resourceVersionMatch: 'NotOlderThan' }, newest],
    [{ resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' }, newest],
    [{ resourceVersion: '2', resourceVersionMatch: 'NotOlderThan', limit: 5 }, newest],
    [{ resourceVersion: '2', resourceVersionMatch: 'Exact' }, past],
    [{ resourceVersion: '2', limit: 5 }, past],
    [{ resourceVersion: '0', limit: 5 }, newest],
    [{ resourceVersion: '1', resourceVersionMatch: 'Exact' }, ['a', 1]],
  ] as const)
    t.strictSame(await shown(query), wanted, JSON.stringify(query))
  for (const [query, reason, message] of [
    [{ resourceVersion: '4' }, 'Timeout', 'Timeout: Too large resource version: 4, current: 3'],
    [{ resourceVersion: '4', resourceVersionMatch: 'Exact' }, 'Timeout', /Too large/],
    [{ resourceVersion: 'x' }, 'BadRequest', /resourceVersion: Invalid value: "x"/],
    [{ resourceVersion: '-1' }, 'BadRequest', /Invalid value: "-1"/],
    [{ resourceVersion: '2', resourceVersionMatch: 'Newest' }, 'Invalid', /Unsupported value: "Newest"/],
    [{ resourceVersionMatch: 'Exact' }, 'Invalid', /forbidden unless resourceVersion is provided/],
    [{ resourceVersion: '0', resourceVersionMatch: 'Exact' }, 'Invalid', /forbidden for resourceVersion "0"/],
  ] as const)
    await t.rejects(list(query), { reason, message }, JSON.stringify(query))
})

t.test('what is forgotten is said to be, and pages can go on with what there is now', async t => {
  const { list, put, store, remove } = await world(t)
  for (const name of ['a', 'b', 'c', 'd']) await put(name)
  const first = await list({ limit: 2 })
  await remove('c')
  await put('e')
  await store.compact(5)
  await t.rejects(list({ resourceVersion: '3', resourceVersionMatch: 'Exact' }), {
    reason: 'Expired',
    message: 'The resourceVersion for the provided list is too old.',
  })
  t.strictSame(names(await list({ resourceVersion: '3' })), ['a', 'b', 'd', 'e'], 'newer will do')
  const error = await list({ limit: 2, continue: first.continue }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ExpiredContinueError)) return t.fail(`${error}`)
  t.match(error.toStatus(), { code: 410, reason: 'Expired', metadata: { continue: error.continueToken } })
  const rest = await list({ limit: 1, continue: error.continueToken })
  t.strictSame([names(rest), rest.revision, rest.remaining], [['d'], 6, 1])
  await put('f')
  t.strictSame(names(await list({ continue: rest.continue })), ['e'], 'which is one moment again')
})

t.test('a continue token says where to go on, and nothing else', async t => {
  const { list, put } = await world(t)
  for (const name of ['a', 'b']) await put(name)
  const { continue: token } = await list({ limit: 1 })
  await t.rejects(list({ continue: token, resourceVersion: '2' }), {
    reason: 'BadRequest',
    message: 'specifying resource version is not allowed when using continue',
  })
  t.strictSame(names(await list({ continue: token, resourceVersion: '0' })), ['b'])
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  for (const wrong of ['x', '%', encoded(null), encoded({}), encoded({ v: 2, rv: 1 }), encoded({ v: 1, rv: '1' })])
    await t.rejects(list({ continue: wrong }), { reason: 'BadRequest', message: /^invalid continue token: / })
  const position = { v: 1, s: SPACE, ns: 'n', n: 'a', g: '', r: 'configmaps' }
  await t.rejects(list({ continue: encoded({ ...position, rv: 99 }) }), refused('Timeout'))
  t.strictSame(names(await list({ continue: encoded({ ...position, rv: 2 }) })), ['b'])
  for (const rv of [0, 1.5, 2 ** 60])
    await t.rejects(list({ continue: encoded({ ...position, rv }) }), {
      reason: 'BadRequest',
      message: 'invalid continue token: continue key is not valid: it names no revision',
    })
  // a token shows nothing outside the request, whatever place it names
  await put('other/n/secret')
  for (const place of [{ s: 'other' }, { s: '' }, { ns: 'a' }, { g: 'apps' }, { r: 'zebras' }, { n: '\0' }])
    for (const name of names(await list({ continue: encoded({ ...position, rv: 3, ...place }) })))
      t.ok(['a', 'b'].includes(name))
})
