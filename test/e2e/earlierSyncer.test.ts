/**
 * Syncers of other releases at a center of today. What the syncer of release 0.1.0 asks was recorded there and is asked here again,
 * with what it relies on in the answers; a syncer of a later release that speaks nothing known is turned away, and that is told.
 */
import { join } from 'node:path'
import t from 'tap'
import { at as field, objects } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { Api } from '../support/api.ts'
import { accessOf, temporaryDir } from '../support/server.ts'
import { at, Center, deployment, map, register, there } from '../syncer/support/installation.ts'
import { DEPLOYMENTS, MAPS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'

const DISCOVERY =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'
const CONFIG = '/apis/edge.kubestellar.io/v2alpha1/syncerconfigs/the-one/status?fieldManager=kubestellar-syncer'
const STATUS = '/apis/apps/v1/namespaces/shop/deployments/web/status?fieldManager=kubestellar-syncer'

const dir = temporaryDir(t)
const center = new Center(t, join(dir, 'center'))
await center.start()
const mailbox = await register(center)
const [wds, mail, inventory] = [center.in('root:wmw1'), center.in(mailbox), center.in('root:imw1')]
await wds.create(MAPS, map('page', { x: '1' }))
await wds.create(DEPLOYMENTS, deployment)
await until(mail, MAPS, at('page'), there)
await until(mail, DEPLOYMENTS, at('web'), there)
const kubeconfig = join(dir, 'syncer.kubeconfig')
await center.syncerKubeconfig(kubeconfig, mailbox)
const all = new Api(accessOf(kubeconfig))
t.teardown(() => all.close())
const box = all.in(mailbox)
const STREAM = `/services/stream/clusters/${mailbox}`

const condition =
  (type: string, reason: string) =>
  (target: KubeObject | undefined): boolean =>
    objects(target?.status, 'conditions').some(each => each.type === type && each.reason === reason)

t.test('the syncer of release 0.1.0 is served', async t => {
  for (const path of ['/api', '/apis'])
    t.match(await box.get(path, { accept: DISCOVERY }), { code: 200, body: { kind: 'APIGroupDiscoveryList' } })
  const stream = await all.watch(STREAM)
  const lines = await stream.until(({ type }) => type === 'BOOKMARK')
  const bookmark = lines.at(-1)!
  t.match(bookmark, { type: 'BOOKMARK', revision: Number, synced: true })
  t.notOk('protocol' in bookmark, 'who said nothing of protocols is told nothing of them')
  const told = (resource: string, name: string) =>
    lines.find(line => line.type === 'ADDED' && line.resource === resource && line.name === name)
  const page = told('configmaps', 'page')!
  t.match(page, { space: mailbox, group: '', version: 'v1', namespace: 'shop', revision: Number })
  t.match(page.object, { data: { x: '1' }, metadata: { labels: { 'edge.kubestellar.io/projected': 'yes' } } })
  t.match(
    told('deployments', 'web')?.object,
    { spec: { progressDeadlineSeconds: undefined, selector: Object } },
    'only what was said',
  )
  t.match(told('logicalclusters', 'cluster')?.object, { kind: 'LogicalCluster' })
  const lists = JSON.stringify(told('syncerconfigs', 'the-one')?.object.spec)
  t.match(lists, /"resource":"configmaps".*"names":\["page"\]/, 'it goes by the lists, which others are spared')
  t.match(lists, /"resource":"deployments".*"names":\["web"\]/)

  const lastSyncerHeartbeatTime = `${new Date().toISOString().slice(0, 19)}Z`
  t.match(await box.patch(CONFIG, 'merge', { status: { lastSyncerHeartbeatTime } }), { code: 200 })
  await until(inventory, TARGETS, { name: 'florin' }, condition('Ready', 'SyncerAlive'))
  await until(inventory, TARGETS, { name: 'florin' }, condition('SyncerSupported', 'EarlierRelease'))
  const value = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
  t.match(await box.patch(STATUS, 'json', [{ op: 'add', path: '/status', value }]), { code: 200 })
  await until(wds, DEPLOYMENTS, at('web'), object => field(object?.status, 'readyReplicas') === 1)

  stream.close()
  await wds.delete(MAPS, at('page'))
  const resumed = await all.watch(`${STREAM}?resourceVersion=${bookmark.revision}`)
  const deleted = await resumed.until(({ type, name }) => type === 'DELETED' && name === 'page')
  t.match(deleted.at(-1)!.object.metadata, { name: 'page', namespace: 'shop' }, 'what is deleted is told whole')
  resumed.close()
})

t.test('one of today is told which protocol is spoken, with its cursor too', async t => {
  const stream = await all.watch(`${STREAM}?protocol=1-2&brief=true`)
  const bookmark = (await stream.until(({ type }) => type === 'BOOKMARK')).at(-1)!
  t.match(bookmark, { synced: true, protocol: 2 })
  await until(inventory, TARGETS, { name: 'florin' }, condition('SyncerSupported', 'Supported'))
  stream.close()
  const resumed = await all.watch(`${STREAM}?protocol=2-9&resourceVersion=${bookmark.revision}`)
  t.match(await resumed.next(), { type: 'BOOKMARK', protocol: 2 }, 'a later release speaks what is known here')
  resumed.close()
})

t.test('one that speaks nothing known here is turned away, and both sides read what to do', async t => {
  const stream = await all.watch(`${STREAM}?protocol=7-9`)
  const message =
    'this syncer is too new for its center: it speaks protocols 7 to 9, the center protocols 1 to 2; ' +
    'upgrade the center, or install an older release of the syncer. The cluster keeps what it holds'
  const [line, ...more] = await stream.rest()
  t.match(line, { type: 'ERROR', object: { kind: 'Status', code: 406, reason: 'NotAcceptable', message } })
  t.same(more, [], 'it is given nothing')
  const target = await until(inventory, TARGETS, { name: 'florin' }, condition('SyncerSupported', 'SyncerUnsupported'))
  t.match(
    objects(target?.status, 'conditions').find(({ type }) => type === 'SyncerSupported'),
    { status: 'False', message },
  )
  t.ok(condition('Ready', 'SyncerUnsupported')(target))
  t.match(await all.get(`${STREAM}?protocol=new`), {
    code: 400,
    body: {
      reason: 'BadRequest',
      message: 'protocol: "new" must be two numbers, the oldest and the newest, such as 1-2',
    },
  })
})
