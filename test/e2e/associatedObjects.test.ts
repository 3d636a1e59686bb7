/**
 * Objects that clusters make for a placed Deployment, as its author reads them at the view of reports. One cluster is
 * a stand-in whose ReplicaSets and Pods this test makes. The other is a real one with its own controllers, where KUBEBUILDER_ASSETS is set.
 */
import t, { type Test } from 'tap'
import { at as fieldAt } from '../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { httpSpaceClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { at, deployment, there } from '../syncer/support/installation.ts'
import { DEPLOYMENTS, PLACEMENTS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { Florin } from './support/florin.ts'

const SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'replicasets' }
const PODS: GroupVersionResource = { group: '', version: 'v1', resource: 'pods' }

t.setTimeout(FILE_LIMIT_MS)

function ownedBy({ apiVersion, kind, metadata }: KubeObject, name: string): KubeObject['metadata'] {
  const { namespace = '', uid = '' } = metadata
  return { name, namespace, labels: { app: 'web' }, ownerReferences: [{ apiVersion, kind, name: metadata.name!, uid }] }
}

async function makePod(cluster: SpaceClient): Promise<void> {
  const web = await until(cluster, DEPLOYMENTS, at('web'), there)
  const spec = { containers: [{ name: 'c', image: 'shop/web:1' }] }
  const template = { metadata: { labels: { app: 'web' } }, spec }
  const set = await cluster.create(SETS, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: ownedBy(web!, 'web-1'),
    spec: { selector: { matchLabels: { app: 'web' } }, template },
  })
  await cluster.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: ownedBy(set, 'web-1-a'), spec })
}

async function viewIn(t: Test, florin: Florin, space: string): Promise<SpaceClient> {
  const access = await loadKubeconfig(florin.kubeconfig, 'base')
  const client = httpSpaceClient({ ...access.options, server: `${florin.url}/services/reported/clusters/${space}` })
  t.teardown(() => client.close())
  return client
}

t.test('an author reads the Pods that a cluster made of a Deployment', { timeout: FILE_LIMIT_MS }, async t => {
  const florin = await Florin.begin(t)
  const { wds, cluster } = florin
  await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { associated: { kinds: ['*'] } } })
  await wds.create(DEPLOYMENTS, deployment)
  await makePod(cluster)
  const view = await viewIn(t, florin, 'root:wmw1')
  const pod = await until(view, PODS, { namespace: 'shop', name: 'web-1-a' }, there)
  t.match(pod, { spec: { containers: [{ name: 'c', image: 'shop/web:1' }] } })
  t.match(
    fieldAt(pod?.metadata.annotations, 'edge.kubestellar.io/associated-with'),
    '"root":"apps|deployments|shop|web"',
  )
})
