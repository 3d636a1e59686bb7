/** Watches: ordered, complete, resumable; bookmarks and initial events as informers rely on them. */
import t from 'tap'
import { planOf, type WatchTarget } from '../../src/apiserver/endpoints/watch.ts'
import { parseRequest } from '../../src/apiserver/request/requestInfo.ts'
import type { WatchEvent } from '../support/api.ts'
import { ALICE, CONFIGMAPS, configMap, createSpace, startTestServer } from '../support/server.ts'

const { api, server, faults } = await startTestServer(t)
const short = (event: WatchEvent): string => `${event.type} ${event.object.metadata.name}`
const versionOf = (event: WatchEvent): number => Number(event.object.metadata.resourceVersion)
const revision = async (): Promise<string> => (await api.ok(api.get(CONFIGMAPS))).metadata.resourceVersion!

t.test('every change, in order, once, from where one asked', async t => {
  const from = await revision()
  const watch = await api.watch(`${CONFIGMAPS}?watch=1&resourceVersion=${from}`)
  await api.ok(api.post(CONFIGMAPS, configMap('w-a')))
  await api.ok(api.patch(`${CONFIGMAPS}/w-a`, 'merge', { data: { a: '1' } }))
  await api.ok(api.post(CONFIGMAPS, configMap('w-b')))
  await api.ok(api.delete(`${CONFIGMAPS}/w-a`))
  const events = await watch.take(4)
  watch.close()
  t.strictSame(events.map(short), ['ADDED w-a', 'MODIFIED w-a', 'ADDED w-b', 'DELETED w-a'])
  const versions = events.map(versionOf)
  t.strictSame(
    versions,
    [...versions].sort((a, b) => a - b),
  )
  t.equal(new Set(versions).size, 4, 'each change has a version of its own, the deletion too')

  const resumed = await api.watch(`${CONFIGMAPS}?watch=1&resourceVersion=${versions[1]}`)
  t.strictSame(await resumed.take(2), events.slice(2), 'a resumed watch shows the same events again, to the byte')
  resumed.close()
  await api.ok(api.delete(`${CONFIGMAPS}/w-b`))
})

t.test('without a version it begins with what is there', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('w-there', {}, { labels: { begin: 'yes' } })))
  for (const query of ['', '&resourceVersion=0']) {
    const watch = await api.watch(`${CONFIGMAPS}?watch=1&labelSelector=begin${query}`)
    t.strictSame((await watch.take(1)).map(short), ['ADDED w-there'], query || 'nothing said')
    watch.close()
  }
})

t.test('initial events end with a bookmark', async t => {
  const initial = '&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
  const watch = await api.watch(`${CONFIGMAPS}?watch=1&labelSelector=begin${initial}`)
  const [added, mark] = await watch.take(2)
  t.equal(short(added!), 'ADDED w-there')
  t.match(mark, {
    type: 'BOOKMARK',
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
  })
  t.ok(versionOf(mark!) >= versionOf(added!))
  await api.ok(api.patch(`${CONFIGMAPS}/w-there`, 'merge', { data: { a: '2' } }))
  t.equal(short((await watch.take(1))[0]!), 'MODIFIED w-there')
  watch.close()
  const none = await api.watch(`${CONFIGMAPS}?watch=1&labelSelector=nothing-has-it${initial}`)
  t.equal((await none.take(1))[0]!.type, 'BOOKMARK', 'an empty collection has its bookmark too')
  none.close()
  const from = await revision()
  const without = await api.watch(
    `${CONFIGMAPS}?watch=1&resourceVersion=${from}&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&labelSelector=begin`,
  )
  await api.ok(api.patch(`${CONFIGMAPS}/w-there`, 'merge', { data: { a: '3' } }))
  t.equal(short((await without.take(1))[0]!), 'MODIFIED w-there')
  without.close()
})

t.test('entering a selection is an addition, leaving it a deletion', async t => {
  const from = await revision()
  const watch = await api.watch(`${CONFIGMAPS}?watch=1&resourceVersion=${from}&labelSelector=in=yes`)
  const label = (value: string | null) =>
    api.ok(api.patch(`${CONFIGMAPS}/w-sel`, 'merge', { metadata: { labels: { in: value } } }))
  await api.ok(api.post(CONFIGMAPS, configMap('w-sel', { v: '1' })))
  await label('yes')
  await api.ok(api.patch(`${CONFIGMAPS}/w-sel`, 'merge', { data: { v: '2' } }))
  const left = await label('no')
  await api.ok(api.patch(`${CONFIGMAPS}/w-sel`, 'merge', { data: { v: '3' } }))
  await label('yes')
  await api.ok(api.delete(`${CONFIGMAPS}/w-sel`))
  const events = await watch.take(5)
  watch.close()
  t.strictSame(
    events.map(e => `${short(e)} ${(e.object.data as { v: string }).v}`),
    ['ADDED w-sel 1', 'MODIFIED w-sel 2', 'DELETED w-sel 2', 'ADDED w-sel 3', 'DELETED w-sel 3'],
  )
  t.equal(versionOf(events[2]!), Number(left.metadata.resourceVersion), 'the deletion has the version of the change')
  t.equal(events[2]!.object.metadata.labels?.in, 'yes', 'and shows the last state that was selected')
})

t.test('one object, one namespace, all namespaces', async t => {
  await api.ok(api.post('/api/v1/namespaces', { metadata: { name: 'w-ns' } }))
  const from = await revision()
  const at = `?watch=1&resourceVersion=${from}`
  const one = await api.watch(`${CONFIGMAPS}${at}&fieldSelector=metadata.name=w-2`)
  const space = await api.watch(`/api/v1/configmaps${at}&labelSelector=scope`)
  const labels = { labels: { scope: 'x' } }
  await api.ok(api.post(CONFIGMAPS, configMap('w-1', {}, labels)))
  await api.ok(api.post(CONFIGMAPS, configMap('w-2', {}, labels)))
  await api.ok(api.post('/api/v1/namespaces/w-ns/configmaps', configMap('w-3', {}, labels)))
  t.strictSame((await one.take(1)).map(short), ['ADDED w-2'])
  t.strictSame((await space.take(3)).map(short), ['ADDED w-1', 'ADDED w-2', 'ADDED w-3'])
  for (const watch of [one, space]) watch.close()
})

t.test('timeoutSeconds ends a watch quietly', async t => {
  const watch = await api.watch(`${CONFIGMAPS}?watch=1&timeoutSeconds=1&resourceVersion=${await revision()}`)
  t.strictSame(await watch.rest(), [])
})

t.test('timeoutSeconds below nothing ends a watch at once; none is the default, and there is a longest', async t => {
  const watch = await api.watch(`${CONFIGMAPS}?watch=1&timeoutSeconds=-1&resourceVersion=${await revision()}`)
  t.strictSame(await watch.rest(), [])
  const { services } = server
  const type = services.types.in('root').find('', 'v1', 'configmaps')!
  const timeoutOf = async (query: string): Promise<number> => {
    const info = parseRequest('GET', `${CONFIGMAPS}?watch=1${query}`)
    const form = { format: 'json' } as WatchTarget['form']
    const user = { name: 'u', groups: [] }
    return (await planOf(services, { info, resource: info.resource!, space: 'root', type, form, user })).timeoutMs
  }
  for (const query of ['', '&timeoutSeconds=0']) {
    const ms = await timeoutOf(query)
    t.ok(ms >= 1_800_000 && ms <= 3_600_000, query)
  }
  t.equal(await timeoutOf('&timeoutSeconds=3599'), 3_599_000)
  t.equal(await timeoutOf('&timeoutSeconds=31536000'), 3_600_000)
})

t.test('a version that is no longer kept', async t => {
  const from = await revision()
  await api.ok(api.patch(`${CONFIGMAPS}/w-1`, 'merge', { data: { x: '1' } }))
  await api.ok(api.patch(`${CONFIGMAPS}/w-1`, 'merge', { data: { x: '2' } }))
  await server.store.compact(server.store.revision)
  const watch = await api.watch(`${CONFIGMAPS}?watch=1&resourceVersion=${from}`)
  const events = await watch.rest()
  t.match(events, [{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }])
  t.match((events[0]!.object as { message?: string }).message, /^too old resource version: /)
})

t.test('as tables, and as metadata only', async t => {
  const from = await revision()
  const at = `${CONFIGMAPS}?watch=1&resourceVersion=${from}&labelSelector=form`
  const table = await api.watch(at, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  const partial = await api.watch(at, { Accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' })
  await api.ok(api.post(CONFIGMAPS, configMap('w-form', { a: 'b' }, { labels: { form: 'x' } })))
  await api.ok(api.patch(`${CONFIGMAPS}/w-form`, 'merge', { data: { c: 'd' } }))
  const rows = (await table.take(2)) as unknown as {
    object: { kind: string; columnDefinitions: unknown[]; rows: { cells: unknown[] }[] }
  }[]
  t.strictSame(
    rows.map(e => e.object.rows[0]!.cells.slice(0, 2)),
    [
      ['w-form', 1],
      ['w-form', 2],
    ],
  )
  t.ok(rows[0]!.object.columnDefinitions.length > 0, 'the first event brings the columns')
  const [first] = await partial.take(1)
  t.match(first, { type: 'ADDED', object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } })
  t.notOk('data' in first!.object)
  table.close()
  partial.close()
})

t.test('all spaces in one watch, and none that one may not see', async t => {
  const [a, b] = [await createSpace(api, 'w-one'), await createSpace(api, 'w-two')]
  const from = await revision()
  const wild = await api.in('*').watch(`/api/v1/configmaps?watch=1&resourceVersion=${from}`)
  const inA = await api.in(a).watch(`/api/v1/configmaps?watch=1&resourceVersion=${from}`)
  await api.ok(api.in(b).post(CONFIGMAPS, configMap('same', { from: 'b' })))
  await api.ok(api.in(a).post(CONFIGMAPS, configMap('same', { from: 'a' })))
  const fromData = (e: WatchEvent): string => `${(e.object.data as { from?: string }).from}`
  const all = await wild.until(e => short(e) === 'ADDED same' && fromData(e) === 'a')
  t.strictSame(
    all
      .filter(e => short(e) === 'ADDED same')
      .map(e => [e.object.metadata.annotations?.['kcp.io/cluster'], fromData(e)]),
    [
      [b, 'b'],
      [a, 'a'],
    ],
  )
  const own = await inA.until(e => short(e) === 'ADDED same')
  t.ok(own.every(e => e.object.metadata.annotations?.['kcp.io/cluster'] === a))
  wild.close()
  inA.close()
  const alice = api.as(ALICE)
  await t.rejects(alice.in(a).watch(`${CONFIGMAPS}?watch=1`), { message: /403/ })
  alice.close()
})

t.test('four hundred changes reach ten watchers complete and in order', async t => {
  const from = await revision()
  const watches = await Promise.all(
    Array.from({ length: 10 }, () => api.watch(`${CONFIGMAPS}?watch=1&resourceVersion=${from}&labelSelector=many`)),
  )
  const readers = watches.map(watch => watch.take(400))
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        api.ok(api.post(CONFIGMAPS, configMap(`many-${batch}-${i}`, {}, { labels: { many: 'x' } }))),
      ),
    )
  }
  const [first, ...others] = (await Promise.all(readers)).map(events => events.map(versionOf))
  t.strictSame(
    first,
    [...first!].sort((a, b) => a - b),
  )
  t.equal(new Set(first).size, 400)
  for (const other of others) t.strictSame(other, first)
  for (const watch of watches) watch.close()
  t.strictSame(faults, [])
})
