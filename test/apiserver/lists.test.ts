/** Lists: pages are one consistent view while others write, and each resourceVersion rule does what the API's table says. */
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { CONFIGMAPS, configMap, createSpace, startTestServer } from '../support/server.ts'

const { api, server } = await startTestServer(t)
const names = (objects: readonly KubeObject[]): string[] => objects.map(object => object.metadata.name ?? '')
const COUNT = 25
const wanted = Array.from({ length: COUNT }, (_, i) => `list-${String(i).padStart(2, '0')}`)
await Promise.all(
  wanted.map((name, i) =>
    api.ok(api.post(CONFIGMAPS, configMap(name, { i: `${i}` }, { labels: { odd: `${i % 2}` } }))),
  ),
)
const ours = `${CONFIGMAPS}?labelSelector=odd`

t.test('pages show one moment, whatever is written meanwhile', async t => {
  const seen: KubeObject[] = []
  let token = ''
  let version = ''
  for (let page = 0; ; page++) {
    const list = await api.ok(api.get(`${CONFIGMAPS}?limit=4&continue=${token}`))
    const meta = list.metadata as { continue?: string; remainingItemCount?: number; resourceVersion: string }
    version ||= meta.resourceVersion
    t.equal(meta.resourceVersion, version, 'all pages carry the version of the first')
    seen.push(...list.items)
    if (!meta.continue) break
    t.ok(list.items.length <= 4)
    t.ok(meta.remainingItemCount! > 0)
    token = encodeURIComponent(meta.continue)
    // Behind, inside and before the place that the reader is at:
    await api.ok(api.post(CONFIGMAPS, configMap(`list-07-new-${page}`)))
    await api.ok(api.patch(`${CONFIGMAPS}/list-20`, 'merge', { data: { page: `${page}` } }))
    if (page === 1) await api.ok(api.delete(`${CONFIGMAPS}/list-24`))
  }
  t.strictSame(
    names(seen).filter(name => name.startsWith('list-')),
    wanted,
  )
  const changed = seen.find(o => o.metadata.name === 'list-20')
  t.strictSame(changed?.data, { i: '20' }, 'what was changed meanwhile looks as it did at first')
  await api.ok(api.post(CONFIGMAPS, configMap('list-24', { i: '24' }, { labels: { odd: '0' } })))
  await api.ok(api.delete(`${CONFIGMAPS}?labelSelector=!odd&fieldSelector=metadata.name!=kube-root-ca.crt`))
})

t.test('selectors and pages together', async t => {
  const seen: string[] = []
  let token = ''
  do {
    const list = await api.ok(
      api.get(`${CONFIGMAPS}?labelSelector=odd=1&limit=3&continue=${encodeURIComponent(token)}`),
    )
    const meta = list.metadata as { continue?: string; remainingItemCount?: number }
    t.equal(meta.remainingItemCount, undefined, 'nobody knows how many a selector leaves')
    seen.push(...names(list.items))
    token = meta.continue ?? ''
  } while (token)
  t.strictSame(
    seen,
    wanted.filter((_, i) => i % 2 === 1),
  )
  for (const [selector, count] of [
    ['odd in (0,1)', COUNT],
    ['odd notin (1),odd', 13],
    ['odd!=1,odd', 13],
    ['!odd', 0],
    ['odd=2', 0],
  ] as const) {
    const list = await api.ok(api.get(`${CONFIGMAPS}?labelSelector=${encodeURIComponent(selector)}`))
    t.equal(names(list.items).filter(name => name.startsWith('list-')).length, count, selector)
  }
  const one = await api.ok(api.get(`${CONFIGMAPS}?fieldSelector=metadata.name=list-03`))
  t.strictSame(names(one.items), ['list-03'])
  const others = await api.ok(api.get(`${ours}&fieldSelector=metadata.name!=list-03`))
  t.equal(others.items.length, COUNT - 1)
})

t.test('resourceVersion and resourceVersionMatch', async t => {
  const now = await api.ok(api.get(ours))
  const old = now.metadata.resourceVersion!
  await api.ok(api.patch(`${CONFIGMAPS}/list-00`, 'merge', { data: { i: 'changed' } }))
  const firstOf = async (query: string): Promise<{ i: string; version: number }> => {
    const list = await api.ok(api.get(`${ours}&${query}`))
    return { i: (list.items[0]!.data as { i: string }).i, version: Number(list.metadata.resourceVersion) }
  }
  const rows: [string, 'then' | 'now'][] = [
    ['', 'now'],
    ['resourceVersion=0', 'now'],
    [`resourceVersion=${old}`, 'now'],
    [`resourceVersion=${old}&resourceVersionMatch=NotOlderThan`, 'now'],
    ['resourceVersion=0&resourceVersionMatch=NotOlderThan', 'now'],
    [`resourceVersion=${old}&resourceVersionMatch=Exact`, 'then'],
    [`resourceVersion=${old}&resourceVersionMatch=Exact&limit=2`, 'then'],
    [`resourceVersion=${old}&limit=2`, 'then'],
    [`resourceVersion=${old}&limit=2&resourceVersionMatch=NotOlderThan`, 'now'],
    ['limit=2', 'now'],
  ]
  for (const [query, when] of rows) {
    const { i, version } = await firstOf(query)
    t.equal(i, when === 'now' ? 'changed' : '0', `${query || 'nothing said'}: content of ${when}`)
    if (when === 'then') t.equal(version, Number(old), `${query}: the list says the version that it shows`)
    else t.ok(version > Number(old), `${query}: the list says a newer version`)
  }
})

t.test('history that is no longer kept is said to be expired', async t => {
  const first = await api.ok(api.get(`${ours}&limit=2`))
  const { continue: token = '', resourceVersion } = first.metadata as { continue?: string; resourceVersion: string }
  await api.ok(api.patch(`${CONFIGMAPS}/list-00`, 'merge', { data: { i: 'again' } }))
  await server.store.compact(server.store.revision)
  const page = await api.get(`${ours}&limit=2&continue=${encodeURIComponent(token)}`)
  t.match(page, { code: 410, body: { reason: 'Expired' } })
  t.match(page.body.message, /^The provided continue parameter is too old to display a consistent list result\./)
  const other = (page.body.metadata as { continue?: string }).continue ?? ''
  const rest = await api.ok(api.get(`${ours}&continue=${encodeURIComponent(other)}`))
  t.equal(rest.items.length, COUNT - 2, 'the token in the error goes on, without consistency')
  const exact = await api.get(`${ours}&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)
  t.match(exact, { code: 410, body: { reason: 'Expired' } })
})

t.test('a list names its kind, its version and its order', async t => {
  const list = await api.ok(api.get(ours))
  t.match(list, { kind: 'ConfigMapList', apiVersion: 'v1' })
  t.strictSame(names(list.items), [...names(list.items)].sort())
  const table = await api.ok(api.get(ours, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }))
  t.match(table, { kind: 'Table', apiVersion: 'meta.k8s.io/v1' })
  const { columnDefinitions, rows } = table as unknown as { columnDefinitions: { name: string }[]; rows: unknown[] }
  t.strictSame(
    columnDefinitions.map(c => c.name),
    ['Name', 'Data', 'Age'],
  )
  t.equal(rows.length, COUNT)
  const partial = await api.ok(
    api.get(ours, { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }),
  )
  t.match(partial, { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' })
  t.notOk('data' in partial.items[0]!)
})

t.test('lists across namespaces and spaces', async t => {
  for (const name of ['one', 'two']) {
    const id = await createSpace(api, name)
    await api.ok(api.in(id).post(CONFIGMAPS, configMap('everywhere', { from: name }, { labels: { wild: 'yes' } })))
  }
  const list = await api.ok(api.in('*').get('/api/v1/configmaps?labelSelector=wild'))
  t.strictSame(list.items.map(o => (o.data as { from: string }).from).sort(), ['one', 'two'])
  const spaces = list.items.map(o => o.metadata.annotations?.['kcp.io/cluster'])
  t.equal(new Set(spaces).size, 2, 'each object says the space that it is in')
  const pages: KubeObject[] = []
  let token = ''
  do {
    const page = await api.ok(api.in('*').get(`/api/v1/configmaps?labelSelector=wild&limit=1&continue=${token}`))
    pages.push(...page.items)
    token = encodeURIComponent((page.metadata as { continue?: string }).continue ?? '')
  } while (token)
  t.equal(pages.length, 2)
})

t.test('deletecollection', async t => {
  const deleted = await api.ok(api.delete(`${CONFIGMAPS}?labelSelector=odd=1&limit=2`))
  t.strictSame(names(deleted.items), ['list-01', 'list-03'], 'a limit deletes one page')
  await api.ok(api.send('DELETE', `${CONFIGMAPS}?labelSelector=odd=1`))
  t.equal((await api.ok(api.get(ours))).items.length, 13)
  const dry = await api.ok(api.delete(`${CONFIGMAPS}?labelSelector=odd&dryRun=All`))
  t.equal(dry.items.length, 13)
  t.equal((await api.ok(api.get(ours))).items.length, 13, 'a dry run deletes nothing')
})
