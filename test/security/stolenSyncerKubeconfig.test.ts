/**
 * A thief has the file that `prep-for-syncer` wrote for one cluster, and the kubeconfig of that cluster. Tested are its value beside that
 * cluster, its detection, and its end; also two kubeconfigs in each other's place.
 */
import t from 'tap'
import { configMap, MAPS, MAPS_OF_APP, namespace, placement } from '../support/scene.ts'
import { accessOf } from '../support/server.ts'
import { gone, is } from '../syncer/support/installation.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { EDGE, RBAC, startFleet } from './support/fleet.ts'

const GROUP = 'rbac.authorization.k8s.io'
const CLUSTER_BINDINGS = { group: GROUP, version: 'v1', resource: 'clusterrolebindings' }
const TOKEN = '/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer/token'
const PAGE = { namespace: 'app', name: 'page' }
const fleet = await startFleet(t)
const { admin, world } = fleet
const wmw = admin.in('root:wmw1')
const florin = await fleet.cluster('florin')
const milano = await fleet.cluster('milano')
const PROD = { locationSelectors: [{ matchLabels: { env: 'prod' } }] }
await wmw.ok(wmw.post('/api/v1/namespaces', namespace('app')))
await wmw.ok(wmw.post('/api/v1/namespaces/app/configmaps', configMap('page', { title: 'ours' })))
await wmw.ok(wmw.post(`${EDGE}/edgeplacements`, placement('ep', { ...PROD, ...MAPS_OF_APP })))
for (const { api } of [florin, milano]) await until(api, MAPS, PAGE, is('data', { title: 'ours' }))

const file = accessOf(milano.syncerKubeconfig)
const thief = admin.as(file.token)
t.teardown(() => thief.close())
const command = placement('command', {
  locationSelectors: [{}],
  downsync: [{ labelSelectors: [{ matchLabels: { x: 'p' } }] }],
})
const mallory = {
  apiVersion: `${GROUP}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'mallory', labels: { x: 'p' } },
  roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: GROUP, kind: 'User', name: 'mallory' }],
}
let token = ''

t.test('the file alone asks for tokens of its own mailbox, and is worth nothing else', async t => {
  for (const space of [milano.mailbox, florin.mailbox, 'root', 'root:wmw1', 'root:imw1', 'root:espw']) {
    const at = thief.in(space)
    t.equal((await at.get('/api/v1/namespaces')).code, 403, space)
    t.equal((await at.post(`${EDGE}/edgeplacements`, command)).code, 403, space)
    if (space !== milano.mailbox) t.equal((await at.post(TOKEN, {})).code, 403, `no token in ${space}`)
  }
  token = ((await thief.in(milano.mailbox).ok(thief.in(milano.mailbox).post(TOKEN, {}))).status as { token: string })
    .token
  await milano.syncer.said('this session of the syncer has ended: another one began at')
  t.equal(await milano.syncer.exited(), 1, 'and who takes one is noticed: the syncer in its place ends, and says so')
})

t.test('its token commands no other cluster', async t => {
  const holder = admin.as(token)
  t.teardown(() => holder.close())
  const box = holder.in(milano.mailbox)
  t.equal((await box.get('/api/v1/namespaces/app/configmaps/page')).code, 200, 'it reads what is placed in its own')
  t.equal((await box.post(`${EDGE}/edgeplacements`, command)).code, 403)
  t.equal((await box.post(`${RBAC}/clusterrolebindings`, mallory)).code, 403)
  t.equal((await box.patch(`/api/v1/namespaces/app/configmaps/page`, 'merge', { data: { title: 'evil' } })).code, 403)
  for (const space of [florin.mailbox, 'root:wmw1', 'root:imw1', 'root:espw', 'root']) {
    t.equal((await holder.in(space).get('/api/v1/namespaces')).code, 403, space)
    t.equal((await holder.in(space).post(`${RBAC}/clusterrolebindings`, mallory)).code, 403, space)
    t.equal((await holder.get(`/services/stream/clusters/${space}`)).code, 403, space)
  }
  await fleet.passes(florin.mailbox)
  t.notOk(await until(florin.api, CLUSTER_BINDINGS, { name: 'mallory' }, gone))
  await until(florin.api, MAPS, PAGE, is('data', { title: 'ours' }))
})

t.test('what it reports is bounded', async t => {
  const holder = admin.as(token)
  t.teardown(() => holder.close())
  const config = `${EDGE}/syncerconfigs/the-one/status`
  const report = (status: object) => holder.in(milano.mailbox).patch(config, 'merge', { status })
  const large = 'x'.repeat(256 * 1024)
  t.match(await report({ refused: { reasons: { ['r'.repeat(256 * 1024)]: 1 } } }), {
    code: 422,
    body: {
      reason: 'Invalid',
      message: /status: Too long: a syncer reports at most 262144 bytes of JSON of an object; shorten/,
    },
  })
  t.match(await report({ refused: { objects: [{ message: large }] } }), { code: 422, body: { message: /1000/ } })
  t.match(await report({ refused: { objects: Array(101).fill({ name: 'a' }) } }), {
    code: 422,
    body: { message: /100/ },
  })
  t.match(await report({ refused: { count: 1, objects: [{ name: 'a', message: 'why' }] } }), { code: 200 })
})

t.test('what cannot be is refused by its field', async t => {
  const holder = admin.as(token)
  t.teardown(() => holder.close())
  const config = `${EDGE}/syncerconfigs/the-one`
  const box = holder.in(milano.mailbox)
  const report = (status: object) => box.patch(`${config}/status`, 'merge', { status })
  const refused: [status: object, says: RegExp][] = [
    [{ refused: { count: -1 } }, /status\.refused\.count: Invalid value: -1: .*greater than or equal to 0/],
    [{ refused: { count: 1e308 } }, /status\.refused\.count/],
    [{ refused: { reasons: { Forbidden: -3 } } }, /status\.refused\.reasons/],
    [{ leaving: { policy: 'Orphan', remaining: -5 } }, /status\.leaving\.remaining: Invalid value: -5/],
    [{ leaving: { policy: 'Explode' } }, /status\.leaving\.policy: Unsupported value: "Explode"/],
    [{ leaving: 'now' }, /status\.leaving/],
    [{ paused: 'yes' }, /status\.paused/],
    [{ lastSyncerHeartbeatTime: 'now' }, /parsing time "now"/],
    [{ lastSyncerHeartbeatTime: 5 }, /lastSyncerHeartbeatTime|time/],
  ]
  for (const [status, says] of refused) {
    const { code, body } = await report(status)
    t.equal(code, 422, JSON.stringify(status))
    t.match(body.message, says)
  }
  const outcome = (spec: object) =>
    box.put(`${config}/outcome`, {
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind: 'SyncerOutcome',
      metadata: { name: 'the-one' },
      spec: { session: 's', number: 1, whole: true, compared: true, processed: 0, ...spec },
    })
  const first = await box.ok(outcome({}))
  const { epoch } = first.status as { epoch: string }
  const ahead = await outcome({ epoch, processed: Number.MAX_SAFE_INTEGER })
  t.match(ahead, {
    code: 400,
    body: {
      reason: 'BadRequest',
      message: /processed: 9007199254740991 is a revision that the center has not reached/,
    },
  })
  t.equal((await outcome({ epoch, processed: -1 })).code, 400)
  t.equal((await outcome({ epoch, unlisted: { refused: 1e308 } })).code, 400)
  t.equal((await outcome({ epoch, processed: Number(first.metadata.resourceVersion ?? 0) })).code, 200)
})

t.test('revoked, it ends at once with its token and its stream; the cluster keeps what it holds', async t => {
  const holder = admin.as(token)
  t.teardown(() => holder.close())
  const stream = await holder.watch(`/services/stream/clusters/${milano.mailbox}?protocol=2-2`)
  await fleet.done('syncer revoke milano --imw root:imw1')
  await stream.rest()
  t.equal((await holder.in(milano.mailbox).get('/api/v1/namespaces')).code, 401)
  t.equal((await thief.in(milano.mailbox).post(TOKEN, {})).code, 401)
  await until(milano.api, MAPS, PAGE, is('data', { title: 'ours' }))
})

t.test('kubeconfigs in the place of each other, or of another cluster: one line, and nothing is touched', async t => {
  await fleet.done(`syncer rotate milano --imw root:imw1 --kubeconfig-output ${milano.syncerKubeconfig}`)
  for (const [from, to, says] of [
    [
      milano.kubeconfig,
      milano.syncerKubeconfig,
      "holds a syncer's credential for a mailbox, and is no kubeconfig of a",
    ],
    [fleet.kubeconfig, milano.kubeconfig, 'which is no mailbox; nothing was touched'],
    [milano.syncerKubeconfig, fleet.kubeconfig, 'nothing was touched'],
    [milano.syncerKubeconfig, florin.kubeconfig, 'nothing was touched'],
  ] as const) {
    const mistaken = new Command(t, ['syncer', '--from-kubeconfig', from, '--to-kubeconfig', to])
    await mistaken.said(says)
    t.equal(await mistaken.exited(), 1)
  }
  await until(florin.api, MAPS, PAGE, is('data', { title: 'ours' }))
  t.notOk(world.get(fleet.idOf('root'), 'configmaps app/page'))
  const args = ['syncer', '--from-kubeconfig', milano.syncerKubeconfig, '--to-kubeconfig', milano.kubeconfig]
  const back = new Command(t, [...args, '--qps', '0'])
  await wmw.ok(wmw.post('/api/v1/namespaces/app/configmaps', configMap('later', { a: 'b' })))
  await until(milano.api, MAPS, { namespace: 'app', name: 'later' }, is('data', { a: 'b' }))
  t.equal(await back.end(), 0, 'the right ones go on')
})
