/** A tenant asks for reports of another one on shared clusters, by each way of asking that there is, and gets no byte of them. */
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { account, person } from '../apiserver/reported/account.ts'
import { Api } from '../support/api.ts'
import { configMap, NAMESPACES, namespace, PLACEMENTS, placement, startCenter } from '../support/center.ts'
import { MAPS } from '../support/scene.ts'
import { accessOf } from '../support/server.ts'

const EDGE = 'edge.kubestellar.io'
const NAME = 'victims-plan'
const DATA = 'kept-from-others'
const MAPS_PATH = '/api/v1/namespaces/app/configmaps'

const center = await startCenter(t)
const { client, world } = center
const admin = new Api({ ...accessOf(center.server.kubeconfigPath), url: center.server.url })
t.teardown(() => admin.close())
const scene = await center.scene('victim', ['oslo', 'paris'])
const victim = scene.wdsId
const own = await center.space('tenant-wmw')
await center.consent('root:victim-imw', 'root:tenant-wmw')
await client.in(own).create(NAMESPACES, namespace('app'))
await client.in(own).create(NAMESPACES, namespace('mine'))
const downsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app', 'mine'], objectNames: ['*'] }]
await scene.place('p', { downsync })
await client.in(victim).create(MAPS, configMap(NAME, { plan: DATA }))
await client.in(own).create(PLACEMENTS, placement('q', { ...scene.everywhere(), downsync }))
await client.in(own).create(MAPS, configMap('mine', {}, { namespace: 'mine' }))
const mailboxes = [await scene.mailbox('oslo'), await scene.mailbox('paris')]
for (const mailbox of mailboxes) await world.present(mailbox, `configmaps app/${NAME}`)
await center.settled()

const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
const tenant = await account(admin, own, 'tenant', everything)
const view = (space: string): string => `/services/reported/clusters/${space}`
const forms = [
  {},
  { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
  { accept: 'application/vnd.kubernetes.protobuf' },
]

t.test('no path leads to it', async t => {
  const others = [
    victim,
    'root:victim-wmw',
    ...mailboxes,
    'root',
    'root:espw',
    'root:victim-imw',
    'root:tenant-wmw:..:victim-wmw',
  ]
  const paths = others.flatMap(space => [
    `${view(space)}${MAPS_PATH}`,
    `${view(space)}/locations/imw.oslo${MAPS_PATH}/${NAME}`,
    `${view(encodeURIComponent(space))}${MAPS_PATH}`,
    `/clusters/root:tenant-wmw${view(space)}${MAPS_PATH}`,
    `/clusters/${space}${MAPS_PATH}`,
  ])
  const tricks = [
    `${view(`root:tenant-wmw/../${victim}`)}${MAPS_PATH}`,
    `${view(`root:tenant-wmw%2f..%2f${victim}`)}${MAPS_PATH}`,
    `${view(`root:tenant-wmw/locations/imw.oslo/clusters/${victim}`)}${MAPS_PATH}`,
    `${view(`${own},${victim}`)}${MAPS_PATH}`,
    `${view(own)}/locations/${encodeURIComponent('../imw.oslo')}${MAPS_PATH}`,
    `${view('%2A')}/api/v1/configmaps`,
    `${view('*')}/api/v1/configmaps`,
    `${view('*')}/locations/imw.oslo/api/v1/configmaps`,
    `${view(own)}${MAPS_PATH}`,
    `${view(own)}/api/v1/configmaps?fieldSelector=metadata.name=${NAME}`,
    `${view(own)}/api/v1/configmaps?fieldSelector=metadata.namespace=app`,
    `${view(own)}/api/v1/configmaps?resourceVersion=1&resourceVersionMatch=Exact`,
    `${view(own)}/locations/imw.oslo${MAPS_PATH}/${NAME}`,
    `${view(own)}/api/v1/configmaps?limit=1`,
  ]
  for (const path of [...paths, ...tricks]) {
    for (const headers of forms) {
      const { text, headers: sent } = await tenant.get(path, headers)
      // a refusal repeats the words of its request
      for (const hidden of [DATA, NAME, ...mailboxes])
        if (hidden === DATA || !path.includes(hidden)) t.notOk(`${text}${JSON.stringify(sent)}`.includes(hidden), path)
    }
  }
})

t.test('nor do forged marks bring objects of the tenant into the view of another', async t => {
  const forged = {
    labels: { [`${EDGE}/projected`]: 'yes', [`${EDGE}/location`]: 'imw.oslo' },
    annotations: {
      [`${EDGE}/owner`]: victim,
      [`${EDGE}/upsynced`]: 'ConfigMap/mine/forged',
      [`${EDGE}/upsynced-for`]: victim,
      'kcp.io/cluster': victim,
    },
  }
  await client.in(own).create(MAPS, configMap('forged', {}, { namespace: 'mine', ...forged }))
  for (const mailbox of mailboxes) await world.present(mailbox, 'configmaps mine/forged')
  await center.settled()
  const namesIn = async (space: string): Promise<(string | undefined)[]> => {
    const { items } = (await admin.ok(admin.get(`${view(space)}/api/v1/configmaps`))) as unknown as {
      items: KubeObject[]
    }
    return items.map(({ metadata }) => metadata.name)
  }
  t.same([...new Set(await namesIn(victim))], [NAME])
  t.same([...new Set(await namesIn(own))], ['forged', 'mine'])
})

t.test('a stranger learns of no space, and an account is none of another space by its name', async t => {
  const stranger = person(admin, 'stranger')
  for (const path of [`${view('*')}/api`, `${view('*')}/api/v1/configmaps`, `${view(victim)}/api/v1/configmaps`]) {
    const { code, text } = await stranger.get(path)
    t.equal(code, 403, path)
    t.notMatch(text, /tenant/, path)
  }
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]
  const named = await account(admin, victim, 'tenant', rules)
  t.equal((await tenant.get(`${view(victim)}/api/v1/configmaps`)).code, 403)
  t.equal((await named.get(`${view(victim)}/api/v1/configmaps`)).code, 200)
})
