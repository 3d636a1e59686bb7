// A Pod on its way to a cluster: the token volume of its space stays, the cluster adds its own.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { startSyncer } from '../../src/syncer/syncer.ts'
import { startCenter } from '../support/center.ts'
import { ACCOUNTS, NAMESPACES, namespace } from '../support/scene.ts'
import { startTestServer, temporaryDir } from '../support/server.ts'
import { realTime } from '../support/time.ts'
import { World } from '../support/world.ts'

const PODS: GroupVersionResource = { group: '', version: 'v1', resource: 'pods' }
interface Spec {
  volumes?: { name: string }[]
  containers: { volumeMounts?: { name: string }[] }[]
}
const specOf = (object: KubeObject | undefined): Spec => object?.spec as Spec
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'app', name: 'default' } }

t.test('each server mounts its own token', async t => {
  const center = await startCenter(t)
  const { server } = await startTestServer(t, { spaces: false, serviceAccounts: true })
  const client = embeddedClient({ ...server, component: 'test' })
  const cluster = client.in('root')
  const world = new World(client)
  await cluster.create(NAMESPACES, namespace('app'))
  await cluster.create(ACCOUNTS, account)
  const scene = await center.scene('pods', ['a'])
  const mailbox = await scene.mailbox('a')
  const syncer = startSyncer({
    center: center.client,
    space: mailbox,
    cluster,
    stateDir: temporaryDir(t),
    quietMs: 1e9,
    ...realTime(),
    logger: silentLogger,
  })
  t.teardown(async () => {
    await syncer.stop()
    await world.stop()
  })
  await scene.place('ep', { downsync: [{ apiGroup: '', resources: ['pods'], namespaces: ['app'] }] })
  await center.world.present(scene.wdsId, 'serviceaccounts app/default')
  const volumeMounts = [{ name: 'data', mountPath: '/data' }]
  const spec = {
    containers: [
      { name: 'c', image: 'i', volumeMounts },
      { name: 'd', image: 'i' },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
  }
  const user = center.client.in(scene.wdsId)
  const home = specOf(
    await user.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'app', name: 'p' }, spec }),
  )
  t.match(home.volumes, [{ name: 'data' }, { name: /^kube-api-access-/ }])
  const there = specOf(await world.present('root', 'pods app/p'))
  t.match(there.volumes, [{ name: 'data' }, { name: /^kube-api-access-/ }])
  t.not(there.volumes?.[1]?.name, home.volumes?.[1]?.name)
  t.match(there.containers, [{ volumeMounts: [{}, { name: there.volumes?.[1]?.name }] }, { volumeMounts: [{}] }])
  const copy = specOf(center.world.get(mailbox, 'pods app/p'))
  t.match(copy.volumes, [{ name: 'data' }])
  t.equal(copy.volumes?.length, 1)
  t.strictSame(
    copy.containers.map(({ volumeMounts }) => volumeMounts),
    [volumeMounts, undefined],
  )
  const before = await center.settled()
  t.equal(await center.settled(), before, 'and then there is peace')
})
