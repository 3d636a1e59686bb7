/** Types of space: what is served in one, and which children it may have. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const workspace = (name: string, type?: object) => ({ metadata: { name }, spec: type === undefined ? {} : { type } })
const typed = (name: string) => ({ name, path: 'root' })

/** Plurals of the edge kinds that discovery tells of a space. */
async function served(path: string): Promise<string[]> {
  const answer = await api.in(path).get(EDGE)
  if (answer.code === 404) return []
  const { resources } = answer.body as unknown as { resources: { name: string }[] }
  return resources
    .map(({ name }) => name)
    .filter(name => !name.includes('/'))
    .sort()
}

t.test('a space serves the kinds of its type, and the others do not exist there', async t => {
  await createSpace(api, 'plain')
  t.same(await served('root:imw1'), ['locations', 'placementgrants', 'synctargets'])
  t.same(await served('root:wmw1'), [
    'customizers',
    'edgeplacements',
    'grantedlocations',
    'inventorybindings',
    'singleplacementslices',
  ])
  const unanswered = await api.in('root:wmw1').get('/apis/edge.kubestellar.io/v1alpha1/workstatuses')
  t.match(unanswered, { code: 503, headers: { 'retry-after': '2' } }, 'no controller is no empty list')
  t.match(await api.in('root:imw1').get('/apis/edge.kubestellar.io/v1alpha1/workstatuses'), { code: 404 })
  t.same(await served('root:espw'), [])
  t.ok((await served('root:plain')).length > 8, 'a universal space serves them all')
  t.match(await api.in('root:wmw1').get(`${EDGE}/synctargets`), { code: 404 })
  t.match(await api.in('root:imw1').post(`${EDGE}/edgeplacements`, { metadata: { name: 'x' } }), { code: 404 })
})

/** Whether the server has decided if a CRD is served. */
function judged({ status }: KubeObject): boolean {
  const { conditions } = (status ?? {}) as { conditions?: { type: string }[] | null }
  return conditions?.some(({ type }) => type === 'Established') === true
}

t.test("a definition of the space's own does not take the place of a kind that is not served there", async t => {
  const crd = {
    metadata: { name: 'synctargets.edge.kubestellar.io' },
    spec: {
      group: 'edge.kubestellar.io',
      names: { plural: 'synctargets', kind: 'SyncTarget' },
      scope: 'Cluster',
      versions: [{ name: 'v2alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }
  const space = api.in('root:wmw1')
  await api.ok(space.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd))
  const watch = await space.watch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1')
  await watch.until(({ object }) => judged(object))
  watch.close()
  t.match(await space.get(`${EDGE}/synctargets`), { code: 404 })
})

t.test('a child gets the type that is asked for, or the first that its parent allows', async t => {
  await api.ok(api.post(WORKSPACES, workspace('shop', typed('workload'))))
  t.match(await api.get(`${WORKSPACES}/shop`), { body: { spec: { type: typed('workload') } } })
  await api.ok(api.in('root:shop').post(WORKSPACES, workspace('night')))
  t.match(await api.in('root:shop').get(`${WORKSPACES}/night`), { body: { spec: { type: typed('workload') } } })
  t.match(await api.post(WORKSPACES, workspace('short', { name: 'inventory' })), {
    code: 201,
    body: { spec: { type: typed('inventory') } },
  })
})

t.test('a type that does not exist or that the parent does not allow is refused with what there is', async t => {
  t.match(await api.post(WORKSPACES, workspace('x', typed('warehouse'))), {
    code: 422,
    body: {
      reason: 'Invalid',
      message:
        /spec\.type\.name: Unsupported value: "warehouse": supported values: "universal", "inventory", "workload", "workload-rbac"/,
    },
  })
  t.match(await api.post(WORKSPACES, workspace('x', { name: 'workload', path: 'root:team' })), {
    code: 422,
    body: { message: /spec\.type\.path: Unsupported value: "root:team": supported values: "root"/ },
  })
  t.match(await api.in('root:imw1').post(WORKSPACES, workspace('x', typed('workload'))), {
    code: 422,
    body: { message: /spec\.type\.name: .*a space of type "inventory" may have children of type inventory only/ },
  })
  t.match(await api.post(WORKSPACES, workspace('x', typed('core'))), { code: 422 })
  const mailbox = workspace('0123456789abcdef-mb-11111111-1111-4111-8111-111111111111')
  await api.ok(api.in('root:espw').post(WORKSPACES, mailbox))
  t.match(await api.in(`root:espw:${mailbox.metadata.name}`).post(WORKSPACES, workspace('x')), { code: 404 })
})

t.test('the type of a space never changes', async t => {
  await createSpace(api, 'fixed')
  t.match(await api.patch(`${WORKSPACES}/fixed`, 'merge', { spec: { type: typed('workload') } }), {
    code: 422,
    body: { message: /spec\.type: .*field is immutable/ },
  })
})

t.test('spaces stand a hundred levels deep, and no deeper', async t => {
  let space = 'root'
  for (let level = 0; level < 100; level++) space = await createSpace(api.in(space), 'n')
  t.match(await api.in(space).post(WORKSPACES, workspace('n')), {
    code: 403,
    body: { message: /spaces stand at most 100 levels deep: make it in a space further up$/ },
  })
})
