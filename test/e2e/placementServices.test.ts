// A Service on its way to a cluster with other ranges: its space's allocations stay, its author's choices travel.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { startSyncer } from '../../src/syncer/syncer.ts'
import { startCenter } from '../support/center.ts'
import { CUSTOMIZERS, customizer, type Scene } from '../support/scene.ts'
import { startTestServer, temporaryDir } from '../support/server.ts'
import { realTime } from '../support/time.ts'
import { World } from '../support/world.ts'

const SERVICES: GroupVersionResource = { group: '', version: 'v1', resource: 'services' }
const SERVICES_OF_APP = { downsync: [{ apiGroup: '', resources: ['services'], namespaces: ['app'] }] }
interface Spec {
  clusterIP?: string
  ports: { port: number; nodePort?: number }[]
}
const specOf = (object: KubeObject | undefined): Spec => object?.spec as Spec
const at = (name: string) => ({ namespace: 'app', name })
const service = (name: string, spec: object, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { ...at(name), annotations },
  spec: { ports: [{ port: 80 }], ...spec },
})

const center = await startCenter(t)

/** A cluster that gives out of ranges of its own, with a syncer. */
async function clusterOf(scene: Scene, mailbox: string) {
  const { server } = await startTestServer(t, {
    spaces: false,
    more: { serviceClusterIpRange: '172.20.0.0/20', serviceNodePortRange: '31000-31999' },
  })
  const client = embeddedClient({ ...server, component: 'test' })
  const world = new World(client)
  const syncer = startSyncer({
    center: center.client,
    space: mailbox,
    cluster: client.in('root'),
    stateDir: temporaryDir(t),
    quietMs: 1e9,
    ...realTime(),
    logger: silentLogger,
  })
  t.teardown(async () => {
    await syncer.stop()
    await world.stop()
  })
  await world.synced
  return { world, client: client.in('root'), scene }
}

t.test('each side gives its own address and ports', async t => {
  const scene = await center.scene('services', ['a'])
  const mailbox = await scene.mailbox('a')
  const cluster = await clusterOf(scene, mailbox)
  await scene.place('ep', SERVICES_OF_APP)
  const home = specOf(await scene.wds.create(SERVICES, service('web', { type: 'NodePort' })))
  t.match(home, { clusterIP: /^10\.0\./, ports: [{ nodePort: Number }] })
  const there = specOf(await cluster.world.present('root', 'services app/web'))
  t.match(there.clusterIP, /^172\.20\./)
  t.ok((there.ports[0]?.nodePort ?? 0) >= 31_000, `${there.ports[0]?.nodePort}`)
  const copy = specOf(center.world.get(mailbox, 'services app/web'))
  t.strictSame([copy.clusterIP, copy.ports[0]?.nodePort], [undefined, undefined])
  t.strictSame(
    Object.keys(copy).filter(field => field.startsWith('ipFamil')),
    [],
  )

  const metadata = { labels: { version: '2' } }
  await scene.wds.patch(SERVICES, at('web'), 'merge', { metadata, spec: { ports: [{ port: 81 }] } })
  const changed = await cluster.world.present('root', 'services app/web', o => o.metadata.labels?.version === '2')
  t.equal(specOf(changed).ports[0]?.port, 81)
  t.equal(specOf(changed).clusterIP, there.clusterIP)
  const before = await center.settled()
  t.equal(await center.settled(), before, 'and then there is peace')
})

t.test('what the author asked for, in the source or for one place, goes along', async t => {
  const scene = await center.scene('services-said', ['a'])
  const mailbox = await scene.mailbox('a')
  const cluster = await clusterOf(scene, mailbox)
  await scene.wds.create(CUSTOMIZERS, customizer('there', [{ path: '$.spec.clusterIP', value: '"172.20.0.77"' }]))
  await scene.place('ep', SERVICES_OF_APP)
  await scene.wds.create(SERVICES, service('port', { type: 'NodePort', ports: [{ port: 80, nodePort: 31_080 }] }))
  await scene.wds.create(SERVICES, service('headless', { clusterIP: 'None' }))
  await scene.wds.create(SERVICES, service('placed', {}, { 'edge.kubestellar.io/customizer': 'there' }))
  const arrived = async (name: string) => specOf(await cluster.world.present('root', `services app/${name}`))
  t.equal((await arrived('port')).ports[0]?.nodePort, 31_080)
  t.equal((await arrived('headless')).clusterIP, 'None')
  t.equal((await arrived('placed')).clusterIP, '172.20.0.77')
  const home = specOf(await scene.wds.get(SERVICES, at('placed')))
  t.match(home.clusterIP, /^10\.0\./)
})
