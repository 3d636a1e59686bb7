/** One ReplicaSet stands beside each Deployment that tells what clusters report, in workload spaces alone. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { replicaSetStandInController } from '../../../src/controllers/replica-set-stand-in/replicaSetStandInController.ts'
import { createSpace, startTestServer } from '../../support/server.ts'
import { realTime } from '../../support/time.ts'
import { World } from '../../support/world.ts'

const { api, server, faults } = await startTestServer(t)
const clientOf = (component: string) => embeddedClient({ ...server, component })
const translator = clientOf('placement-translator')
const user = clientOf('somebody')
const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
const SETS = { group: 'apps', version: 'v1', resource: 'replicasets' }
const WEB = { namespace: 'default', name: 'web' }
const STAND_IN = 'edge.kubestellar.io/stand-in'
const NATURED = 'edge.kubestellar.io/natured'
const COUNT = 'kubestellar.io/executing-count'

let running = begin()
t.teardown(() => running.stop())
const world = new World(user)
t.teardown(() => world.stop())
await world.synced

function begin() {
  const client = clientOf('replicaset-stand-in-controller')
  const controller = replicaSetStandInController({
    ...realTime(),
    client,
    places: server.tree,
    logger: silentLogger,
  })
  controller.start()
  return controller
}

async function restart(meanwhile: () => Promise<unknown>): Promise<void> {
  await running.stop()
  try {
    await meanwhile()
  } finally {
    running = begin()
  }
}

const web = (image = 'web:1'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...WEB, annotations: { [COUNT]: '2' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
  },
})
const ready = (readyReplicas: number) => ({ replicas: 2, updatedReplicas: 2, readyReplicas })
const RUNS = ready(2)

/** As the placement translator returns it, of the present generation unless it says another; `undefined` takes it back. */
async function report(space: string, counts: object | undefined): Promise<void> {
  const { status: _status, ...deployment } = await translator.in(space).get(DEPLOYMENTS, WEB)
  const status = counts && { observedGeneration: deployment.metadata.generation, ...counts }
  await translator
    .in(space)
    .update(DEPLOYMENTS, { ...deployment, ...(status && { status }) }, { subresource: 'status' })
}

const names = (space: string): string[] => world.names(space, 'replicasets.apps')
const inSpace = (space: string): KubeObject | undefined => world.get(space, `replicasets.apps ${names(space)[0]}`)

async function stands(space: string, is: (standIn: KubeObject) => boolean): Promise<KubeObject> {
  await world.until('the one stand-in', () => {
    const found = inSpace(space)
    return !(names(space).length === 1 && found && is(found)) && `found ${JSON.stringify(found)}`
  })
  return inSpace(space)!
}
const none = (space: string) => world.until('no ReplicaSets', () => names(space).length > 0 && names(space).join(', '))
const readyOf = ({ status }: KubeObject): unknown => (status as { readyReplicas?: number }).readyReplicas
const imageOf = ({ spec }: KubeObject): unknown =>
  (spec as { template: { spec: { containers: { image: string }[] } } }).template.spec.containers[0]!.image

async function workload(name: string, type = 'workload'): Promise<string> {
  const space = await createSpace(api, name, type)
  await user.in(space).create(DEPLOYMENTS, web())
  return space
}

const marker = await workload('marker')
let reports = 0

/** Resolves when the controller has looked at all that happened before. */
async function settled(): Promise<void> {
  const count = 1 + (reports++ % 2)
  await report(marker, ready(count))
  await stands(marker, each => readyOf(each) === count)
  await running.queue.idle()
}

t.test('it comes with the status, follows the Deployment, and goes when the status is taken back', async t => {
  const space = await workload('follows')
  await report(space, RUNS)
  const first = await stands(space, each => readyOf(each) === 2)
  t.match(first, {
    metadata: { labels: { app: 'web', [NATURED]: 'true' }, ownerReferences: [{ kind: 'Deployment', name: 'web' }] },
    status: { replicas: 2, observedGeneration: first.metadata.generation },
  })
  const at = user.in(space)
  await at.patch(DEPLOYMENTS, WEB, 'merge', { spec: { replicas: 3 } })
  await stands(space, each => (each.spec as { replicas: number }).replicas === 3 && readyOf(each) === undefined)
  await report(space, { replicas: 3, updatedReplicas: 3, readyReplicas: 3 })
  const more = await stands(space, each => readyOf(each) === 3)
  t.equal(more.metadata.uid, first.metadata.uid, 'the template is the same')
  t.equal((more.status as { observedGeneration: number }).observedGeneration, more.metadata.generation)

  await at.patch(DEPLOYMENTS, WEB, 'strategic', {
    spec: { template: { spec: { containers: [{ name: 'c', image: 'web:2' }] } } },
  })
  t.notOk(readyOf(await stands(space, each => imageOf(each) === 'web:2')), 'nothing is known of the new template')
  await report(space, { replicas: 4, updatedReplicas: 2, readyReplicas: 3 })
  await stands(space, each => readyOf(each) === 1)
  await report(space, undefined)
  await none(space)
  await report(space, RUNS)
  await stands(space, each => readyOf(each) === 2)
  // the garbage collector does not run here
  await at.delete(DEPLOYMENTS, WEB)
  await none(space)
})

t.test('it is put back when it is deleted or could travel', async t => {
  const space = await workload('kept')
  await report(space, RUNS)
  const { metadata } = await stands(space, each => readyOf(each) === 2)
  const ref = { namespace: 'default', name: metadata.name! }
  await user.in(space).patch(SETS, ref, 'merge', { metadata: { labels: { [NATURED]: null } } })
  await stands(space, each => each.metadata.labels?.[NATURED] === 'true')
  await user.in(space).delete(SETS, ref)
  const again = await stands(space, each => each.metadata.uid !== metadata.uid && readyOf(each) === 2)
  t.equal(again.metadata.name, metadata.name)
})

t.test('what happened while the controller was away counts when it begins', async t => {
  const space = await workload('away')
  await report(space, RUNS)
  await stands(space, each => readyOf(each) === 2)
  await restart(() => report(space, ready(1)))
  await stands(space, each => readyOf(each) === 1)
  await restart(() => report(space, undefined))
  await none(space)
  await report(space, RUNS)
  const { metadata } = await stands(space, each => readyOf(each) === 2)
  await restart(async () => {
    await user.in(space).delete(DEPLOYMENTS, WEB)
    await user.in(space).create(DEPLOYMENTS, web())
    await report(space, RUNS)
  })
  const again = await stands(space, each => each.metadata.uid !== metadata.uid && readyOf(each) === 2)
  const { metadata: owner } = await user.in(space).get(DEPLOYMENTS, WEB)
  t.equal(again.metadata.ownerReferences?.[0]?.uid, owner.uid)
  await restart(() => user.in(space).delete(DEPLOYMENTS, WEB))
  await none(space)
})

t.test('who has ReplicaSets of their own keeps them', async t => {
  const space = await workload('others')
  await report(space, RUNS)
  const { metadata, spec } = await stands(space, each => readyOf(each) === 2)
  const { name = '', labels = {} } = metadata
  await restart(async () => {
    await user.in(space).delete(SETS, { namespace: 'default', name })
    const own = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { namespace: 'default', name, labels }, spec }
    await user.in(space).create(SETS, own)
  })
  await report(space, ready(1))
  await settled()
  t.match(inSpace(space), { metadata: { annotations: { [STAND_IN]: undefined } }, status: { replicas: 0 } })

  const counted = await workload('counted')
  await report(counted, RUNS)
  await stands(counted, each => readyOf(each) === 2)
  const annotations = { 'deployment.kubernetes.io/revision': '1' }
  await user.in(counted).patch(DEPLOYMENTS, WEB, 'merge', { metadata: { annotations } })
  await none(counted)
})

t.test('none stands in other spaces, nor where no status has come back', async t => {
  const [universal, silent] = [await workload('plain', 'universal'), await workload('silent')]
  await report(universal, RUNS)
  await settled()
  t.same([names(universal), names(silent)], [[], []])
})

t.test('what a quota refuses is tried again', async t => {
  const space = await workload('full')
  const QUOTAS = { group: '', version: 'v1', resource: 'resourcequotas' }
  const quota = { namespace: 'default', name: 'full' }
  await user.in(space).create(QUOTAS, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { ...quota, labels: { [NATURED]: 'true' } },
    spec: { hard: { 'count/replicasets.apps': '0' } },
  })
  await report(space, RUNS)
  await settled()
  t.same(names(space), [])
  await user.in(space).delete(QUOTAS, quota)
  await stands(space, each => readyOf(each) === 2)
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
