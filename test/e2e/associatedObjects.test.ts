/**
 * Objects that clusters make for a placed Deployment, as its author reads them at the view of reports. One cluster is
 * a stand-in whose ReplicaSets and Pods this test makes. The other is a real one with its own controllers, where KUBEBUILDER_ASSETS is set.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { at as fieldAt } from '../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { httpSpaceClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { COMBINED_STATUSES, STATUS_COLLECTORS } from '../../src/placement/words/placement.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { pluginHere } from '../support/runHere.ts'
import { at, deployment, there } from '../syncer/support/installation.ts'
import { DEPLOYMENTS, PLACEMENTS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { assetsDir, startControllers, startRealCluster } from '../syncer/support/realCluster.ts'
import { Florin, has, type StartCluster } from './support/florin.ts'

const SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'replicasets' }
const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
const PODS: GroupVersionResource = { group: '', version: 'v1', resource: 'pods' }

t.setTimeout(FILE_LIMIT_MS)

function ownedBy({ apiVersion, kind, metadata }: KubeObject, name: string): KubeObject['metadata'] {
  const { namespace = '', uid = '' } = metadata
  return { name, namespace, labels: { app: 'web' }, ownerReferences: [{ apiVersion, kind, name: metadata.name!, uid }] }
}

const spec = { containers: [{ name: 'c', image: 'shop/web:1' }] }

/** A ReplicaSet of the Deployment. */
async function makeSet(cluster: SpaceClient): Promise<KubeObject> {
  const web = await until(cluster, DEPLOYMENTS, at('web'), there)
  const template = { metadata: { labels: { app: 'web' } }, spec }
  return await cluster.create(SETS, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: ownedBy(web!, 'web-1'),
    spec: { selector: { matchLabels: { app: 'web' } }, template },
  })
}

const makePod = (cluster: SpaceClient, set: KubeObject, name: string): Promise<KubeObject> =>
  cluster.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: ownedBy(set, name), spec })

/** The collector `pods` that ships. */
function podsCollector(): KubeObject {
  const file = join(import.meta.dirname, '../../deploy/collectors/collectors.yaml')
  const all = parseAllDocuments(readFileSync(file, 'utf8')).map(document => document.toJS() as KubeObject)
  return all.find(({ metadata }) => metadata.name === 'pods')!
}

/** Whether the summary of all Pods has one row, of so many that run. */
const summedUp =
  (pods: number) =>
  (object: KubeObject | undefined): boolean => {
    const rows = fieldAt(object, 'results', 0, 'rows')
    const columns = [{ string: 'Running' }, { float: `${pods}` }, { float: '0' }]
    const isSame = (column: object, i: number): boolean =>
      fieldAt(rows, 0, 'columns', i, Object.keys(column)[0]!) === Object.values(column)[0]
    return Array.isArray(rows) && rows.length === 1 && columns.every(isSame)
  }

const isRunning = (object: KubeObject | undefined): boolean => fieldAt(object?.status, 'phase') === 'Running'

/** The name of an Event about an object, once there is one. */
async function eventAbout(cluster: SpaceClient, name: string): Promise<string> {
  for (;;) {
    const { items } = await cluster.list(EVENTS, { namespace: 'shop' })
    const found = items.find(event => fieldAt(event, 'involvedObject', 'name') === name)
    if (found) return found.metadata.name ?? ''
    await new Promise(resolve => setImmediate(resolve))
  }
}

async function viewIn(t: Test, florin: Florin, space: string): Promise<SpaceClient> {
  const access = await loadKubeconfig(florin.kubeconfig, 'base')
  const client = httpSpaceClient({ ...access.options, server: `${florin.url}/services/reported/clusters/${space}` })
  t.teardown(() => client.close())
  return client
}

t.test('an author reads the Pods that a cluster made of a Deployment', { timeout: FILE_LIMIT_MS }, async t => {
  const florin = await Florin.begin(t, { serverFlags: ['--api-threads', '1'] })
  const { wds, cluster } = florin
  const flags = ['--space', 'root:wmw1', '-n', 'shop', '--kubeconfig', florin.kubeconfig]
  const ks = (...args: string[]) => pluginHere('kubestellar', ...args, ...flags)
  t.match(await ks('tree', 'deployment/web'), { code: 1, err: /no EdgePlacement of root:wmw1 asks for objects/ })
  await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { associated: { kinds: ['*'] } } })
  await wds.create(DEPLOYMENTS, deployment)
  await until(wds, PLACEMENTS, { name: 'p' }, has('AssociatedReported', 'True', 'AllReported'))
  const set = await makeSet(cluster)
  const { uid: podUid } = (await makePod(cluster, set, 'web-1-a')).metadata
  const view = await viewIn(t, florin, 'root:wmw1')
  const pod = await until(view, PODS, { namespace: 'shop', name: 'web-1-a' }, isRunning)
  t.match(pod, { spec: { containers: [{ name: 'c', image: 'shop/web:1' }] } })
  t.match(
    fieldAt(pod?.metadata.annotations, 'edge.kubestellar.io/associated-with'),
    '"root":"apps|deployments|shop|web"',
  )
  await cluster.create(EVENTS, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: at('crash'),
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-1-a', uid: podUid },
    type: 'Warning',
    reason: 'BackOff',
    message: 'back-off restarting failed container c',
    lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
  })
  await until(view, EVENTS, at('crash'), there)
  t.match(
    (await ks('tree', 'deployment/web')).out,
    /imw1.florin.*\n└─ Deployment\/web.*\n(.*\n)* {3}[└├]─ ReplicaSet\/web-1 .*\n {3}[ │] {2}└─ Pod\/web-1-a +Healthy/,
  )
  t.match(await ks('pods', 'deploy/web'), { out: /^LOCATION.*\nimw1.florin +web-1-a +1\/1 +Running +0 +\d+s/ })
  t.match(await ks('events', 'deploy/web', '--cluster', 'florin'), {
    out: /imw1.florin +\d+s +Warning +BackOff +pod\/web-1-a +1 +back-off/,
  })
  t.match(await ks('events', 'deploy/web', '--cluster', 'oslo'), { code: 1, err: /no cluster reports .* at oslo/ })

  t.comment('an API thread answers and watches a summary of them, also after a restart')
  await wds.create(STATUS_COLLECTORS, podsCollector())
  await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { associated: { statusCollectors: ['pods'] } } })
  const summary = { namespace: 'kubestellar-report', name: 'p:pods' }
  t.match(await until(wds, COMBINED_STATUSES, summary, summedUp(1)), {
    spec: { placement: 'p' },
    clusters: { total: 1, stale: 0 },
    results: [{ name: 'pods', columnNames: ['phase', 'pods', 'restarts'] }],
  })
  await florin.endCenter()
  await makePod(cluster, set, 'web-1-b')
  await florin.startCenter()
  t.match(await until(wds, COMBINED_STATUSES, summary, summedUp(2)), { clusters: { stale: 0 } })
})

const skip = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.test(
  "a cluster's own controllers make ReplicaSets and Pods, and both come up",
  { skip, timeout: FILE_LIMIT_MS },
  async t => {
    const controllers = ['deployment', 'replicaset', 'garbagecollector', 'serviceaccount']
    const startCluster: StartCluster = async (t, dir) => {
      const kubeconfig = await startRealCluster(t, dir)
      startControllers(t, kubeconfig, controllers)
      return kubeconfig
    }
    const florin = await Florin.begin(t, { startCluster })
    const { wds, cluster } = florin
    const spec = { associated: { kinds: ['pods', 'replicasets.apps', 'events'] } }
    await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec })
    await wds.create(DEPLOYMENTS, deployment)
    const view = await viewIn(t, florin, 'root:wmw1')
    const names = async (resource: GroupVersionResource): Promise<string[]> =>
      (await view.list(resource, { namespace: 'shop' })).items.map(({ metadata }) => metadata.name ?? '')
    const inCluster = async (resource: GroupVersionResource): Promise<string[]> =>
      (await cluster.list(resource, { namespace: 'shop' })).items.map(({ metadata }) => metadata.name ?? '')
    const alike = async (count: number): Promise<string[]> => {
      for (;;) {
        const [up, down] = await Promise.all([names(PODS), inCluster(PODS)])
        if (up.length === count && up.sort().join() === down.sort().join()) return up
        await new Promise(resolve => setImmediate(resolve))
      }
    }
    const [first = ''] = await alike(1)
    t.match(first, /^web-[0-9a-f]+-/)
    // an Event of the Deployment's own controller
    await until(view, EVENTS, { namespace: 'shop', name: await eventAbout(cluster, 'web') }, there)
    await wds.patch(DEPLOYMENTS, at('web'), 'merge', { spec: { replicas: 3 } })
    await alike(3)
    // a Pod that is deleted is replaced by another one
    await cluster.delete(PODS, at(first), { propagationPolicy: 'Background' })
    t.notOk((await alike(3)).includes(first))
    t.strictSame(await names(SETS), await inCluster(SETS))
    await wds.delete(DEPLOYMENTS, at('web'))
    t.strictSame(await alike(0), [])
  },
)
