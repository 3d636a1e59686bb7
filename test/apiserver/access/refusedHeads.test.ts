/** A refusal costs no body, and a server that closes admits no more. */
import { request } from 'node:https'
import t, { type Test } from 'tap'
import { ALICE, CONFIGMAPS, startTestServer } from '../../support/server.ts'
import { ANN, fakeAccess, rawRequest } from './support.ts'

const RBAC = 'rbac.authorization.k8s.io'

async function heads(t: Test) {
  const draining = new AbortController()
  const { access } = await fakeAccess(t, { more: { anonymousAuth: false, draining: draining.signal } })
  const body = { read: () => t.fail('the body is read'), on: () => t.fail('the body is waited for') }
  return {
    draining,
    authorize: async (path: string, token?: string) =>
      access.authorize({ ...rawRequest(`GET ${path}`, token), ...body }),
  }
}

t.test('the head alone decides, and nobody reads the body', async t => {
  const { authorize } = await heads(t)
  t.match(await authorize('/api', 'ann'), { user: ANN, info: { path: '/api' } })
  await t.rejects(authorize('/api'), { reason: 'Unauthorized', message: 'Unauthorized' })
})

t.test('a server that closes sends everybody away but probes, and tells strangers nothing', async t => {
  const { authorize, draining } = await heads(t)
  draining.abort()
  for (const path of ['/api', '/api/v1/namespaces', '/services/stream/clusters/root', '/version', '/livezz'])
    await t.rejects(
      authorize(path, 'ann'),
      {
        reason: 'ServiceUnavailable',
        code: 503,
        message: 'the server is shutting down',
        details: { retryAfterSeconds: 1 },
      },
      path,
    )
  for (const path of ['/livez', '/readyz', '/healthz', '/readyz/etcd']) t.ok(await authorize(path, 'ann'), path)
  await t.rejects(authorize('/api'), { reason: 'Unauthorized', message: 'Unauthorized' })
})

t.test('who may not is answered before the body has come', async t => {
  const { api, server, faults } = await startTestServer(t)
  const { ca } = api.access
  /** Promises a body of 3 MB, and sends its first byte. */
  const promise = (path: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        `${server.url}${path}`,
        {
          method: 'POST',
          ca,
          agent: false,
          headers: { 'Content-Type': 'application/json', 'Content-Length': 3_000_000, ...headers },
        },
        answer => {
          resolve(answer.statusCode)
          sent.destroy()
        },
      )
      sent.once('error', reject)
      sent.write('{')
    })
  const alice = { Authorization: `Bearer ${ALICE}` }
  t.equal(await promise(CONFIGMAPS, { Authorization: 'Bearer unknown' }), 401)
  t.equal(await promise(CONFIGMAPS, alice), 403)
  t.equal(await promise(`/clusters/root:nowhere${CONFIGMAPS}`, alice), 403) // as one that is closed
  t.equal(await promise(`/clusters/Bad!${CONFIGMAPS}`, alice), 400)

  const role = { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ apiGroup: RBAC, kind: 'User', name: 'alice' }]
  const binding = { metadata: { name: 'alice' }, roleRef: role, subjects }
  await api.ok(api.post(`/apis/${RBAC}/v1/clusterrolebindings`, binding))
  const flows = '/apis/flowcontrol.apiserver.k8s.io/v1'
  const limited = { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } }
  await api.ok(
    api.post(`${flows}/prioritylevelconfigurations`, {
      metadata: { name: 'none' },
      spec: { type: 'Limited', limited },
    }),
  )
  const resourceRules = [{ verbs: ['create'], apiGroups: [''], resources: ['configmaps'], namespaces: ['*'] }]
  const rules = [{ subjects: [{ kind: 'User', user: { name: 'alice' } }], resourceRules }]
  const spec = { priorityLevelConfiguration: { name: 'none' }, matchingPrecedence: 3, rules }
  await api.ok(api.post(`${flows}/flowschemas`, { metadata: { name: 'none' }, spec }))
  t.equal(await promise(CONFIGMAPS, alice), 429)
  t.strictSame(faults, [])
})
