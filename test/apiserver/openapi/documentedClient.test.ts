/** A client that is made of nothing but the OpenAPI documents of a space reads logs, watches, and finds what there is. */
import t from 'tap'
import { crdsIn } from '../../support/crds.ts'
import { createSpace, startTestServer } from '../../support/server.ts'
import { DocumentedClient, operationsOfV2, operationsOfV3 } from './documentedClient.ts'
import { definitionOf } from './servedDefinition.ts'

const { api, faults } = await startTestServer(t)
const space = api.in(await createSpace(api, 'clients'))
await crdsIn(space).define(definitionOf('places', 'Cluster', ['v1']))
const pod = { containers: [{ name: 'c', image: 'i' }] }
const waiting = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: pod }
await space.ok(space.post('/api/v1/namespaces/default/pods', waiting))

for (const [version, read] of [
  ['v2', operationsOfV2],
  ['v3', operationsOfV3],
] as const) {
  t.test(`a client made of ${version} reads logs, watches and discovers`, async t => {
    const client = new DocumentedClient(space, await read(space))
    const namespace = 'default'
    const log = await client.call('readCoreV1NamespacedPodLog', {
      namespace,
      name: 'x',
      tailLines: '5',
      container: 'c',
    })
    t.equal(log.code, 204, 'a pod without a node has an empty log')
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `on-${version}` }, spec: { ...pod, nodeName: 'n' } }
    t.equal((await client.call('createCoreV1NamespacedPod', { namespace }, { body })).code, 201)
    const elsewhere = await client.call('readCoreV1NamespacedPodLog', { namespace, name: body.metadata.name })
    t.match(elsewhere, { code: 501, body: { reason: 'NotImplemented', message: /ask the cluster where the pod runs/ } })

    const watches = [
      await client.watch('listCoreV1NamespacedConfigMap', { namespace, watch: 'true', labelSelector: `of=${version}` }),
      await client.watch('watchCoreV1NamespacedConfigMapList', { namespace, labelSelector: `of=${version}` }),
      await client.watch('watchCoreV1ConfigMapListForAllNamespaces', { labelSelector: `of=${version}` }),
      await client.watch('watchCoreV1NamespacedConfigMap', { namespace, name: version }),
    ]
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: version, labels: { of: version } } }
    t.equal((await client.call('createCoreV1NamespacedConfigMap', { namespace }, { body: map })).code, 201)
    await client.call('deleteCoreV1NamespacedConfigMap', { namespace, name: version })
    for (const watch of watches) {
      const events = await watch.take(2)
      t.same(
        events.map(({ type, object }) => [type, object.metadata.name]),
        [
          ['ADDED', version],
          ['DELETED', version],
        ],
      )
      watch.close()
    }

    const groups = await client.call('getAPIVersions')
    t.match(groups.body, { kind: 'APIGroupList' })
    t.match((await client.call('getServedExampleComV1APIResources')).body, { kind: 'APIResourceList' })
    t.match((await client.call('getServedExampleComAPIGroup')).body, { kind: 'APIGroup', name: 'served.example.com' })
    t.match((await client.call('getCodeVersion')).text, /"gitVersion"/)
    const custom = {
      apiVersion: 'served.example.com/v1',
      kind: 'Place',
      metadata: { name: version },
      spec: { replicas: 2 },
    }
    const place = await client.call('createServedExampleComV1Place', {}, { body: custom })
    t.equal(place.code, 201)
    const scale = await client.call('readServedExampleComV1PlaceScale', { name: version })
    t.match(scale.body, { kind: 'Scale', spec: { replicas: 2 } })
  })
}

t.test('nothing of this was a fault', async t => t.same(faults, []))
