/** Which requests a thread answers, and that it is in step before it begins. */
import type { Socket } from 'node:net'
import t from 'tap'
import { RbacAuthorizer } from '../../../src/apiserver/auth/rbac.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import type { Answer } from '../../../src/apiserver/http/answer.ts'
import type { Request } from '../../../src/apiserver/http/request.ts'
import { OwnReads } from '../../../src/apiserver/threads/ownReads.ts'
import { routeRequests } from '../../../src/apiserver/threads/routeRequests.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { openReplica } from '../../../src/storage/replica/replicaStore.ts'
import { SharedLog } from '../../../src/storage/replica/sharedLog.ts'
import type { Key } from '../../../src/storage/store.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

const catalog = loadCatalog()
const types = new TypeRegistry(catalog.types)
const reads = new OwnReads(catalog.types, types)

t.test('GETs, lists and watches of what is stored, and of kinds, are answered; everything else crosses', async t => {
  const space = '/clusters/root:wmw1'
  for (const url of [
    '/api/v1/namespaces/default/configmaps/a',
    `${space}/apis/apps/v1/deployments?limit=500`,
    '/clusters/*/api/v1/secrets',
    '/api/v1/namespaces',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/admin',
    '/api/v1/configmaps?watch=1',
    '/apis/example.com/v1/widgets?watch=1',
    `${space}/apis/edge.kubestellar.io/v1/widgets`,
    `${space}/api/v1/watch/namespaces/default/configmaps`,
    `${space}/apis/edge.kubestellar.io/v2alpha1/edgeplacements`,
    `${space}/apis/tenancy.kcp.io/v1alpha1/workspaces/a`,
    '/apis',
    '/api/v1',
    '/apis/example.com/v1',
    `${space}/openapi/v3/apis/apps/v1?hash=A`,
  ])
    t.ok(reads.has('GET', url), url)
  for (const [method, url] of [
    ['POST', '/api/v1/namespaces/default/configmaps'],
    ['HEAD', '/api/v1/namespaces/default/configmaps/a'],
    ['GET', '/api/v1/services?watch=1'],
    ['GET', '/api/v1/namespaces/default/pods/p/log'],
    ['GET', '/api/v1/namespaces/default/services/kubernetes'],
    ['GET', '/apis/discovery.k8s.io/v1/endpointslices'],
    ['GET', `${space}/apis/edge.kubestellar.io/v2alpha1/workstatuses`],
    ['GET', '/apis/example.com/v1/namespaces/default/widgets/w/status'],
    ['POST', '/apis/example.com/v1/widgets'],
    ['HEAD', '/apis/example.com/v1'],
    ['GET', '/'],
    ['GET', '/apisx'],
    ['GET', '/services/stream/clusters/root'],
    ['GET', '/healthz'],
    ['POST', '/apis'],
    ['GET', '/%'],
  ] as const)
    t.notOk(reads.has(method, url), `${method} ${url}`)
})

t.test('what a webhook converts in some space crosses, as long as it does', async t => {
  const url = '/clusters/root:a/apis/example.com/v1/widgets'
  const widgets = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', verbs: ['list'] }
  const define = (space: string, custom: object): void =>
    types.define(space, 'widgets.example.com', [{ ...widgets, form: 'custom', custom } as never])
  const convert = (): unknown => t.fail('nobody asked')
  define('a', {})
  t.ok(reads.has('GET', url))
  define('a', { convert })
  define('b', { convert })
  t.notOk(reads.has('GET', url))
  t.ok(reads.has('GET', '/apis/example.com/v1/gadgets'))
  define('a', {})
  t.notOk(reads.has('GET', url))
  types.forgetSpace('b')
  t.ok(reads.has('GET', url))
})

t.test('a request is judged by what was written before it, though the thread had no turn to hear of that', async t => {
  const log = new SharedLog()
  const writer = await openMemoryStore({ log })
  const logger = { error: (_: object, message: string) => t.fail(message) }
  const store = await openReplica(log.follow().link, { logger })
  t.teardown(() => Promise.all([store.close(), writer.close()]))
  const authorizer = new RbacAuthorizer({ turns: endlessTurns(), store, requireSpaceAccess: false })
  const resource = { group: '', version: 'v1', resource: 'secrets', subresource: '', namespace: '', name: '' }
  const user = { name: 'alice', uid: '', groups: [], extra: {} }
  const ask = () => authorizer.authorize({ user, space: 'root', verb: 'list', path: '', resource })
  const forwarder = { forward: () => t.fail('it is its own'), upgrade() {} }
  const forwarding = routeRequests({ store, reads, forwarder, forwardsAll: false })
  const request = { method: 'GET', url: '/api/v1/secrets' } as Request
  const isLetIn = async (): Promise<boolean> => {
    forwarding.forward(request, {} as Answer, () => {})
    return (await ask()).allowed
  }
  const binding: Key = {
    space: 'root',
    group: 'rbac.authorization.k8s.io',
    resource: 'clusterrolebindings',
    namespace: '',
    name: 'alice',
  }
  const object = {
    metadata: { name: 'alice' },
    roleRef: { apiGroup: binding.group, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'alice', apiGroup: binding.group }],
  }
  const tail = `",${JSON.stringify(object).slice(1)}`
  const text = { head: '{"resourceVersion":"', tail }
  for (let round = 0; round < 1000; round++) {
    await writer.update(binding, () => ({ type: 'put', text }))
    if (!(await isLetIn())) t.fail(`${round}: not let in`)
    await writer.update(binding, () => ({ type: 'delete' }))
    if (await isLetIn()) t.fail(`${round}: still let in`)
  }
  t.pass('never once')
})

t.test('where all requests are recorded, all cross', async t => {
  let crossed = 0
  const forwarder = { forward: () => crossed++, upgrade: () => crossed++ }
  const forwarding = routeRequests({ store: { revision: 1 }, reads, forwarder, forwardsAll: true })
  t.ok(forwarding.forward({ method: 'GET', url: '/api/v1/secrets' } as Request, {} as Answer, () => {}))
  forwarding.upgrade({} as Request, {} as Socket, Buffer.of())
  t.equal(crossed, 2)
})
