/** Reports of all clusters for a space read as one list and one watch, and show nothing of other spaces. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { Api, type Watch } from '../../support/api.ts'
import { configMap, NAMESPACES, namespace, PLACEMENTS, placement, startCenter } from '../../support/center.ts'
import { LOCATIONS, MAPS, TARGETS } from '../../support/scene.ts'
import { accessOf } from '../../support/server.ts'
import { account, grant, person } from './account.ts'

const LOCATION = 'edge.kubestellar.io/location'
const MAPS_PATH = '/api/v1/namespaces/app/configmaps'
const ALL_MAPS = '/api/v1/configmaps'
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }
const CITIES = ['oslo', 'paris', 'rome']

const center = await startCenter(t)
const { client, world } = center
const admin = new Api({ ...accessOf(center.server.kubeconfigPath), url: center.server.url })
t.teardown(() => admin.close())

const scene = await center.scene('a', CITIES)
const a = scene.wdsId
const b = await center.space('b-wmw')
await center.consent('root:a-imw', 'root:b-wmw')
const mailboxes = await Promise.all(CITIES.map(city => scene.mailbox(city)))
const [ofA, ofB] = [client.in(a), client.in(b)]
await ofB.create(NAMESPACES, namespace('theirs'))
await scene.place('p', {
  downsync: [
    { apiGroup: '', resources: ['configmaps'], namespaces: ['app'], labelSelectors: [{ matchLabels: { all: 'yes' } }] },
  ],
})
await scene.place('solo', {
  ...scene.at('oslo'),
  downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app'], objectNames: ['solo'] }],
})
const everywhere = (name: string, data = {}): KubeObject => configMap(name, data, { labels: { all: 'yes' } })
for (const name of ['other', 'page']) await ofA.create(MAPS, everywhere(name, { of: 'a' }))
await ofA.create(MAPS, configMap('solo'))
await ofB.create(
  PLACEMENTS,
  placement('q', {
    ...scene.everywhere(),
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['theirs'], objectNames: ['*'] }],
  }),
)
for (const name of ['aaa', 'plans']) await ofB.create(MAPS, configMap(name, { of: 'b' }, { namespace: 'theirs' }))
await center.settled()

const view = (space: string): string => `/services/reported/clusters/${space}`
const A = view(a)
const placeOf = ({ metadata }: KubeObject): string => `${metadata.name} ${metadata.annotations?.[LOCATION]}`
const placesOf = ({ items }: { items: KubeObject[] }): string[] => items.map(placeOf)
const at = (name: string, cities = CITIES): string[] => cities.map(city => `${name} imw.${city}`)
const told = (watch: Watch, count: number): Promise<string[]> =>
  watch.take(count).then(events => events.map(({ type, object }) => `${type} ${placeOf(object)}`))
const metaOf = (list: KubeObject): { continue?: string; resourceVersion?: string } => list.metadata as never

t.test('one list has what all clusters report, by namespace, name and location', async t => {
  const whole = await admin.ok(admin.get(`${A}${MAPS_PATH}`))
  t.same(placesOf(whole), [...at('other'), ...at('page'), ...at('solo', ['oslo'])])
  t.equal(whole.items[0]!.metadata.annotations?.['kcp.io/cluster'], a)
  t.equal(new Set(whole.items.map(({ metadata }) => metadata.uid)).size, 7)
  t.same(placesOf(await admin.ok(admin.get(`${A}${ALL_MAPS}`))), placesOf(whole))
  for (const [selector, found] of [
    [`labelSelector=${LOCATION}=imw.rome`, ['other imw.rome', 'page imw.rome']],
    [
      `labelSelector=${LOCATION}%20in%20(imw.rome,imw.oslo)&fieldSelector=metadata.name=page`,
      at('page', ['oslo', 'rome']),
    ],
    ['fieldSelector=metadata.name=solo', ['solo imw.oslo']],
    ['labelSelector=all!=yes', ['solo imw.oslo']],
  ] as const)
    t.same(placesOf(await admin.ok(admin.get(`${A}${MAPS_PATH}?${selector}`))), found, selector)
  const table = (await admin.ok(admin.get(`${A}${MAPS_PATH}`, TABLE))) as unknown as {
    columnDefinitions: { name: string }[]
    rows: { cells: unknown[] }[]
  }
  t.same(
    table.columnDefinitions.map(({ name }) => name),
    ['Location', 'Name', 'Data', 'Age'],
  )
  t.same(table.rows.at(-1)!.cells.slice(0, 3), ['imw.oslo', 'solo', 0])
  t.match((await admin.get(`${A}${MAPS_PATH}`, { accept: 'application/vnd.kubernetes.protobuf' })).text, /^k8s\0/)
})

t.test('pages are of one moment, also between objects of one name', async t => {
  const whole = placesOf(await admin.ok(admin.get(`${A}${MAPS_PATH}`)))
  for (const limit of [1, 2, 3, 4, 7, 8]) {
    const found: string[] = []
    let token = ''
    do {
      const page = await admin.ok(admin.get(`${A}${MAPS_PATH}?limit=${limit}${token && `&continue=${token}`}`))
      t.ok(page.items.length <= limit && page.items.length > 0)
      found.push(...placesOf(page))
      token = metaOf(page).continue ?? ''
      if (token) {
        const said = Buffer.from(token, 'base64url').toString()
        t.notOk(
          mailboxes.some(mailbox => said.includes(mailbox)),
          'a token names no mailbox',
        )
      }
      // later pages do not show it
      if (found.length < 4)
        await ofA.patch(MAPS, { namespace: 'app', name: 'solo' }, 'merge', { metadata: { labels: { l: `${limit}` } } })
    } while (token)
    t.same(found, whole, `by ${limit}`)
  }
  t.equal((await admin.get(`${A}${MAPS_PATH}?continue=nonsense`)).code, 400)
})

t.test('a name is answered where one cluster has it; several are named', async t => {
  t.match(await admin.ok(admin.get(`${A}${MAPS_PATH}/solo`)), { metadata: { annotations: { [LOCATION]: 'imw.oslo' } } })
  const { code, body } = await admin.get(`${A}${MAPS_PATH}/page`)
  t.equal(code, 409)
  t.equal(body.reason, 'Conflict')
  t.match(body.message, /^configmaps "page" is at several locations: imw\.oslo, imw\.paris, imw\.rome; read it at /)
  t.match((await admin.get(`${A}${MAPS_PATH}/none`)).body, { code: 404, message: 'configmaps "none" not found' })
  t.match((await admin.get(`${A}/api/v1/namespaces/theirs/configmaps/plans`)).body, {
    code: 404,
    message: 'configmaps "plans" not found',
  })
})

t.test('one watch tells each cluster in the order of the center, and goes on where it ended', async t => {
  const { metadata } = await admin.ok(admin.get(`${A}${MAPS_PATH}`))
  const from = `${A}${MAPS_PATH}?watch=1&resourceVersion=`
  const watch = await admin.watch(`${from}${metadata.resourceVersion}`)
  t.teardown(() => watch.close())
  await ofA.create(MAPS, everywhere('fresh'))
  await ofB.patch(MAPS, { namespace: 'theirs', name: 'plans' }, 'merge', { data: { x: '2' } })
  await center.settled()
  await ofA.patch(MAPS, { namespace: 'app', name: 'fresh' }, 'merge', { data: { x: '2' } })
  await center.settled()
  await ofA.delete(MAPS, { namespace: 'app', name: 'fresh' })
  const events = await watch.take(9)
  const kinds = (types: typeof events): string[] => types.map(({ type, object }) => `${type} ${placeOf(object)}`)
  for (const [i, type] of ['ADDED', 'MODIFIED', 'DELETED'].entries())
    t.same(
      kinds(events.slice(3 * i, 3 * i + 3)).sort(),
      at('fresh').map(place => `${type} ${place}`),
    )
  const revisions = events.map(({ object }) => Number(object.metadata.resourceVersion))
  t.same(
    revisions,
    revisions.toSorted((x, y) => x - y),
  )
  t.equal(new Set(revisions).size, 9)
  const again = await admin.watch(`${from}${revisions[4]}`)
  t.teardown(() => again.close())
  t.same(await again.take(4), events.slice(5))
  const initial = await admin.watch(
    `${A}${MAPS_PATH}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  )
  t.teardown(() => initial.close())
  t.same(
    (await initial.take(8)).map(({ type }) => type),
    [...Array(7).fill('ADDED'), 'BOOKMARK'],
  )
  const chosen = await admin.watch(
    `${A}${MAPS_PATH}?watch=1&labelSelector=${LOCATION}=imw.rome&fieldSelector=metadata.name=page`,
  )
  t.teardown(() => chosen.close())
  t.same(await told(chosen, 1), ['ADDED page imw.rome'])
  await ofA.patch(MAPS, { namespace: 'app', name: 'page' }, 'merge', { data: { x: '2' } })
  t.same(await told(chosen, 1), ['MODIFIED page imw.rome'])
  t.equal((await admin.get(`${from}99999999`)).code, 504)
})

t.test('a location that leaves sends its deletions, and one that joins its objects', async t => {
  const { metadata } = await admin.ok(admin.get(`${A}${MAPS_PATH}`))
  const watch = await admin.watch(`${A}${MAPS_PATH}?watch=1&resourceVersion=${metadata.resourceVersion}`)
  t.teardown(() => watch.close())
  await scene.replace('p', scene.at('oslo', 'paris'))
  t.same((await told(watch, 2)).sort(), ['DELETED other imw.rome', 'DELETED page imw.rome'])
  t.same(placesOf(await admin.ok(admin.get(`${A}${MAPS_PATH}?labelSelector=${LOCATION}=imw.rome`))), [])
  await scene.replace('p', scene.everywhere())
  t.same((await told(watch, 2)).sort(), ['ADDED other imw.rome', 'ADDED page imw.rome'])
  const bern = await scene.addCluster('bern')
  t.same((await told(watch, 2)).sort(), ['ADDED other imw.bern', 'ADDED page imw.bern'])
  const again = await admin.watch(`${A}${MAPS_PATH}?watch=1&resourceVersion=${metadata.resourceVersion}`)
  t.teardown(() => again.close())
  t.match(
    await again.take(6),
    [...Array(2).fill({ type: 'DELETED' }), ...Array(4).fill({ type: 'ADDED' })],
    'the same again from before',
  )
  await client.in(scene.inventory).delete(TARGETS, { name: 'bern' })
  t.same((await told(watch, 2)).sort(), ['DELETED other imw.bern', 'DELETED page imw.bern'])
  await world.absent(bern, 'configmaps app/page')
  await client.in(scene.inventory).delete(LOCATIONS, { name: 'bern' })
  await center.settled()
})

t.test('discovery and documents are those of all clusters, and writes are refused', async t => {
  t.match((await admin.get(`${A}/api`)).body, { kind: 'APIVersions' })
  const { resources } = (await admin.ok(admin.get(`${A}/api/v1`))) as unknown as { resources: { verbs: string[] }[] }
  t.same([...new Set(resources.flatMap(({ verbs }) => verbs))].sort(), ['get', 'list', 'watch'])
  t.equal((await admin.get(`${A}/openapi/v3/api/v1`)).code, 200)
  const write = await admin.post(`${A}${MAPS_PATH}`, configMap('new'))
  t.equal(write.code, 405)
  t.match(write.body.message, /write at \/clusters\/root:a-wmw\/api\/v1\/namespaces\/app\/configmaps/)
  for (const path of [
    '/locations',
    '/locations/',
    `/locations/${'/api/v1/secrets'}`,
    '/locations/none/api/v1/secrets',
    '/metrics',
  ])
    t.equal((await admin.get(`${A}${path}`)).code, 404, path)
})

t.test('an empty space has an empty list', async t => {
  const empty = await center.space('c-wmw')
  t.same((await admin.ok(admin.get(`${view(empty)}${ALL_MAPS}`))).items, [])
  t.equal((await admin.get(`${view(empty)}${ALL_MAPS}?resourceVersion=99999999`)).code, 504)
})

t.test('rights are those of the space, and a tenant finds nothing of another', async t => {
  const maps = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }
  await ofB.create(NAMESPACES, namespace('app'))
  const reader = await account(admin, a, 'reader', [maps])
  const stranger = await account(admin, b, 'stranger', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
  t.equal((await reader.get(`${A}${MAPS_PATH}`)).code, 200)
  t.equal((await reader.get(`${A}/api/v1/secrets`)).code, 403)
  for (const path of [MAPS_PATH, `${MAPS_PATH}/solo`, `${MAPS_PATH}?watch=1`, '/api', '/openapi/v2'])
    t.equal((await stranger.get(`${A}${path}`)).code, 403, path)
  const own = await stranger.ok(stranger.get(`${view(b)}${ALL_MAPS}`))
  t.same(placesOf(own), [...at('aaa'), ...at('plans')])
  const forged = (fields: object): string =>
    Buffer.from(
      JSON.stringify({ v: 1, rv: -1, s: mailboxes[0], g: '', r: 'configmaps', ns: '', n: '', ...fields }),
    ).toString('base64url')
  for (const fields of [
    {},
    { r: 'secrets' },
    { ns: 'app' },
    { ns: 'app', n: 'pag', w: '' },
    { s: a, w: `imw.oslo ${a}` },
    { rv: 1 },
  ]) {
    const { text } = await stranger.get(`${view(b)}${ALL_MAPS}?continue=${forged(fields)}`)
    t.notMatch(text, /page|solo|"of":"a"/, JSON.stringify(fields))
    for (const mailbox of mailboxes) t.notOk(text.includes(mailbox))
  }
  const page = await stranger.ok(stranger.get(`${view(b)}${ALL_MAPS}?limit=6`))
  t.equal(metaOf(page).continue, undefined, 'what others have behind it makes no page')
  const none = await stranger.get(`${view(b)}${MAPS_PATH}/page`)
  t.match(none.body, { code: 404, message: 'configmaps "page" not found' })
  t.notMatch((await stranger.get(`${view(b)}/api/v1/namespaces`)).text, /"app"/)
  const watch = await reader.watch(`${A}${MAPS_PATH}?watch=1`)
  await admin.in(a).delete('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/reader')
  t.match((await watch.rest()).at(-1), { type: 'ERROR', object: { reason: 'Forbidden' } })
})

t.test('a name that passes to another mailbox ends what began before, and a new list has it', async t => {
  const before = await admin.ok(admin.get(`${A}${MAPS_PATH}`))
  const watch = await admin.watch(`${A}${MAPS_PATH}?watch=1&resourceVersion=${before.metadata.resourceVersion}`)
  const page = metaOf(await admin.ok(admin.get(`${A}${MAPS_PATH}?limit=2`)))
  const former = await scene.mailbox('rome')
  await client.in(scene.inventory).delete(TARGETS, { name: 'rome' })
  t.same((await told(watch, 2)).sort(), ['DELETED other imw.rome', 'DELETED page imw.rome'])
  await world.absent(former, 'configmaps app/page')
  await client.in(scene.inventory).create(TARGETS, {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'SyncTarget',
    metadata: { name: 'rome', labels: { id: 'rome' } },
    spec: {},
  })
  const expired = {
    type: 'ERROR',
    object: { code: 410, reason: 'Expired', message: /a location is another cluster, or has another name, since/ },
  }
  t.match((await watch.rest()).at(-1), expired)
  await world.present(await scene.mailbox('rome'), 'configmaps app/page')
  await center.settled()
  const old = await admin.watch(`${A}${MAPS_PATH}?watch=1&resourceVersion=${before.metadata.resourceVersion}`)
  t.match(await old.rest(), [expired])
  t.equal((await admin.get(`${A}${MAPS_PATH}?limit=2&continue=${page.continue}`)).code, 410)
  const list = await admin.ok(admin.get(`${A}${MAPS_PATH}`))
  t.same(placesOf(list), placesOf(before))
  const goesOn = await admin.watch(`${A}${MAPS_PATH}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
  t.teardown(() => goesOn.close())
  await ofA.patch(MAPS, { namespace: 'app', name: 'solo' }, 'merge', { data: { x: '3' } })
  t.same(await told(goesOn, 1), ['MODIFIED solo imw.oslo'])
})

t.test('all spaces where somebody may read a kind are one list, and one watch', async t => {
  const across = '/services/reported/clusters/*'
  const maps = { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }
  const both = await admin.ok(admin.get(`${across}${ALL_MAPS}`))
  const spaceOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.['kcp.io/cluster']
  t.same(placesOf(both), [
    ...[...at('other'), ...at('page'), ...at('solo', ['oslo'])],
    ...[...at('aaa'), ...at('plans')],
  ])
  t.same([...new Set(both.items.map(spaceOf))], [a, b])
  const table = await admin.get(`${across}${ALL_MAPS}`, TABLE)
  t.match(table.text, /"cells":\["root:b-wmw","imw.oslo","aaa"/)
  const found: string[] = []
  for (let token = ''; found.length === 0 || token; ) {
    const page = await admin.ok(admin.get(`${across}${ALL_MAPS}?limit=4${token && `&continue=${token}`}`))
    found.push(...placesOf(page))
    token = metaOf(page).continue ?? ''
  }
  t.same(found, placesOf(both))

  const policy = person(admin, 'policy')
  const refused = await policy.get(`${across}${ALL_MAPS}`)
  t.equal(refused.code, 403)
  t.notMatch(refused.text, /wmw/)
  await grant(admin, a, 'policy', [maps])
  const some = await policy.get(`${across}${ALL_MAPS}`)
  t.same([...new Set(some.body.items.map(spaceOf))], [a])
  t.equal(some.headers.warning, undefined, 'of spaces that may not be entered nothing is said')
  const watch = await policy.watch(`${across}${ALL_MAPS}?watch=1&resourceVersion=${some.body.metadata.resourceVersion}`)
  await ofB.patch(MAPS, { namespace: 'theirs', name: 'plans' }, 'merge', { data: { x: '7' } })
  await center.settled()
  await ofA.patch(MAPS, { namespace: 'app', name: 'solo' }, 'merge', { data: { x: '7' } })
  t.same(await told(watch, 1), ['MODIFIED solo imw.oslo'])
  await grant(admin, b, 'policy', [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }])
  const warned = await policy.get(`${across}${ALL_MAPS}`)
  t.equal(warned.headers.warning, '299 - "1 space is left out: configmaps may not be read there"')
  await grant(admin, b, 'policy', [maps], 'maps')
  t.match((await watch.rest()).at(-1), { type: 'ERROR', object: { reason: 'Expired', message: /list again/ } })
  t.same(placesOf(await policy.ok(policy.get(`${across}${ALL_MAPS}`))), placesOf(both))
  t.match((await policy.get(`${across}/api/v1`)).body, { kind: 'APIResourceList' })
  t.equal((await policy.get(`${across}${MAPS_PATH}/page`)).code, 405)
  t.equal((await policy.get(`${across}/locations/imw.oslo${MAPS_PATH}`)).code, 403)
  t.equal((await admin.as(undefined).get(`${across}${ALL_MAPS}`)).code, 401)
})

t.test('a watch ends with its space', async t => {
  const empty = await center.space('d-wmw')
  const watch = await admin.watch(`${view(empty)}${ALL_MAPS}?watch=1`)
  await client
    .in('root')
    .delete({ group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }, { name: 'd-wmw' })
  t.same(await watch.rest(), [])
})

t.test('a tenant that lets a reader list, and not watch, ends no watch of other spaces', async t => {
  const across = '/services/reported/clusters/*'
  const maps = (...verbs: string[]) => [{ apiGroups: [''], resources: ['configmaps'], verbs }]
  const scanner = person(admin, 'scanner')
  await grant(admin, a, 'scanner', maps('list', 'watch'))
  await grant(admin, b, 'scanner', maps('list'))
  const begun = async (x: string): Promise<Watch> => {
    const { metadata } = await scanner.ok(scanner.get(`${across}${ALL_MAPS}`))
    await ofB.patch(MAPS, { namespace: 'theirs', name: 'plans' }, 'merge', { data: { x } })
    await center.settled()
    return await scanner.watch(`${across}${ALL_MAPS}?watch=1&resourceVersion=${metadata.resourceVersion}`)
  }
  t.match(await (await begun('8')).rest(), [{ type: 'ERROR', object: { code: 410 } }], 'other spaces than the list')
  const watch = await begun('9')
  t.teardown(() => watch.close())
  await ofA.patch(MAPS, { namespace: 'app', name: 'solo' }, 'merge', { data: { x: '9' } })
  t.same(await told(watch, 1), ['MODIFIED solo imw.oslo'])
})
