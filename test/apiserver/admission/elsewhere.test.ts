/** In mailboxes nothing is judged or completed: what they hold lives in a cluster, which does that. */
import t from 'tap'
import type { ApiServerOptions } from '../../../src/apiserver/apiServerOptions.ts'
import { threadOptions } from '../../../src/apiserver/apiThreadOptions.ts'
import type { StrangerLimits } from '../../../src/apiserver/connections/strangerLimits.ts'
import { elsewhere } from '../../../src/cli/orrery/server/placementOptions.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t, { serviceAccounts: true })
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    serviceAccountName: 'of-the-cluster',
    priority: 7,
    runtimeClassName: 'of-the-cluster',
    overhead: { cpu: '1m' },
    containers: [{ name: 'c', image: 'i' }],
  },
}
const QUOTA = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '0' } } }
const PODS = '/api/v1/namespaces/default/pods'
const QUOTAS = '/api/v1/namespaces/default/resourcequotas'

t.test('a Pod comes into a mailbox as it is', async t => {
  const name = 'abc123-mb-01234567-89ab-cdef-0123-456789abcdef'
  const mailbox = api.in(await createSpace(api.in('root:espw'), name))
  await api.ok(mailbox.post(QUOTAS, QUOTA))
  const { spec } = await api.ok(mailbox.post(PODS, POD))
  t.match(spec, { serviceAccountName: 'of-the-cluster', priority: 7, runtimeClassName: 'of-the-cluster' })
  t.match(spec, { overhead: { cpu: '1m' } })
  t.notOk('tolerations' in (spec as object))
  t.notOk('volumes' in (spec as object))
})

t.test('in other spaces it does not', async t => {
  const space = api.in(await createSpace(api, 'plain'))
  t.match((await space.post(PODS, POD)).body.message, 'error looking up service account default/of-the-cluster')
})

t.test('who only bears the name of a component is judged', async t => {
  const space = api.in(await createSpace(api, 'names'))
  const name = 'system:orrery:bootstrap'
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  await api.ok(space.post(bindings, { metadata: { name: 'x' }, roleRef, subjects }))
  const { code, body } = await space.post(PODS, POD, { headers: { 'Impersonate-User': name } })
  t.match([code, body.message], [403, 'error looking up service account default/of-the-cluster'])
})

t.test('a server that is told of no other place judges there as everywhere', async t => {
  const { api } = await startTestServer(t, { serviceAccounts: true, more: { elsewhere: undefined } })
  const name = 'abc123-mb-01234567-89ab-cdef-0123-456789abcdef'
  const mailbox = api.in(await createSpace(api.in('root:espw'), name))
  t.match((await mailbox.post(PODS, POD)).body.message, 'error looking up service account default/of-the-cluster')
})

t.test('an API thread knows of the other place, too', async t => {
  const told = structuredClone(threadOptions({ elsewhere, apiThreads: 1 } as ApiServerOptions, {} as StrangerLimits))
  t.ok(told.elsewhere!.users.has('system:orrery:placement-translator'))
  t.ok(told.elsewhere!.paths.test('root:espw:abc123-mb-01234567-89ab-cdef-0123-456789abcdef:below'))
  t.notOk(told.elsewhere!.paths.test('root:plain'))
})

t.test('who carries is bound by nothing, whoever else comes is', async t => {
  const judges = (component: string): boolean => elsewhere.users.has(`system:orrery:${component}`)
  for (const component of ['placement-translator', 'mailbox-controller', 'where-resolver']) t.ok(judges(component))
  for (const component of ['resourcequota-controller', 'placement-translator2', '']) t.notOk(judges(component))
  t.notOk(elsewhere.users.has('placement-translator'), 'a user of that name')
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
