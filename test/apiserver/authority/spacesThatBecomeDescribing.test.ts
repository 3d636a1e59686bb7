/** A space of an earlier release that is given a type which describes workload: what acted is a description, its owner gets in. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { decodeObject, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { SpaceContent } from '../../../src/apiserver/spaces/spaceContent.ts'
import { ALICE, BOB, CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const NATURED = 'edge.kubestellar.io/natured'
const toAdmin = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
const binding = (name: string, to: string): object => ({
  metadata: { name },
  roleRef: toAdmin,
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: to }],
})

t.test('what acted there acts no more with the next request, but for its administration', async t => {
  const { api, server, faults } = await startTestServer(t)
  const id = await createSpace(api, 'old')
  const space = api.in('root:old')
  // as an earlier release left it
  await api.ok(space.delete(`${RBAC}/clusterrolebindings/workspace-admin`))
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('workspace-admin', 'alice')))
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('edge', 'bob')))
  await api.ok(
    space.post('/api/v1/namespaces/default/resourcequotas', {
      metadata: { name: 'q' },
      spec: { hard: { configmaps: '0' } },
    }),
  )
  await api.ok(space.post(ACCOUNTS, { metadata: { name: 'robot' } }))
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = await api.ok(space.post(`${ACCOUNTS}/robot/token`, request))
  const [alice, bob] = [api.as(ALICE).in('root:old'), api.as(BOB).in('root:old')]
  const robot = api.as((status as { token: string }).token).in('root:old')
  t.equal((await bob.get(CONFIGMAPS)).code, 200)
  t.equal((await robot.get(CONFIGMAPS)).code, 403)
  t.equal((await space.post(CONFIGMAPS, configMap('a'))).code, 403)

  const content = new SpaceContent({
    store: server.store,
    registry: server.services.registry,
    types: server.services.types,
    tree: server.tree,
    externalUrl: () => server.url,
    spaces: true,
  })
  await content.prepareDescribing(id)
  const key = { space: 'root', group: 'tenancy.kcp.io', resource: 'workspaces', namespace: '', name: 'old' }
  await server.store.update(key, stored => {
    const object: KubeObject = decodeObject(stored!)
    object.spec = { ...(object.spec as object), type: { name: 'workload', path: 'root' } }
    return { type: 'put', text: encodeObject(object) }
  })

  t.equal((await alice.get(CONFIGMAPS)).code, 200)
  t.equal((await bob.get(CONFIGMAPS)).code, 403)
  t.equal((await robot.get(CONFIGMAPS)).code, 401)
  t.equal((await space.post(CONFIGMAPS, configMap('a'))).code, 201)
  await content.prepareDescribing(id)
  const after = await api.ok(space.get(`${RBAC}/clusterrolebindings/edge`))
  t.equal(after.metadata.labels?.[NATURED], undefined)
  t.strictSame(faults, [])
})

t.test('in a space that describes already, no label is given to what somebody put there under that name', async t => {
  const { api, server } = await startTestServer(t)
  const id = await createSpace(api, 'described', 'workload')
  const space = api.in(id)
  await space.delete(`${RBAC}/clusterrolebindings/workspace-admin`)
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('workspace-admin', 'bob')))
  const { services, store, tree, url } = server
  const { registry, types } = services
  const content = new SpaceContent({ store, registry, types, tree, externalUrl: () => url, spaces: true })
  await content.prepareDescribing(id)
  t.equal((await api.as(BOB).in(id).get(CONFIGMAPS)).code, 403)
})
