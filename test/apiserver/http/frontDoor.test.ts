/** The one way in: a refusal costs no body, and a server that closes takes no more. */
import { request } from 'node:https'
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { FrontDoor } from '../../../src/apiserver/http/frontDoor.ts'
import type { AuthorizedRequest, RawRequest } from '../../../src/apiserver/http/pipeline.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { ALICE, CONFIGMAPS, startTestServer } from '../../support/server.ts'
import { ANN } from './support.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** A door before a pipeline that lets in everybody but strangers. */
function door() {
  const draining = new AbortController()
  const seen: RawRequest[] = []
  const here = new FrontDoor({
    draining: draining.signal,
    pipeline: {
      async authorize(raw): Promise<AuthorizedRequest> {
        seen.push(raw)
        if (raw.headers.authorization === undefined) throw new StatusError('Unauthorized', 'Unauthorized')
        return { info: parseRequest(raw.method, raw.url), user: ANN, space: 'root' }
      },
    },
  })
  const message = (url: string, authorization?: string) =>
    ({
      method: 'GET',
      url,
      headers: { ...(authorization && { authorization }) },
      headersDistinct: { accept: ['a', 'b'] },
      socket: {},
      // whoever reads it finds out
      read: () => t.fail('the body is read'),
      on: () => t.fail('the body is waited for'),
    }) as unknown as RawRequest
  return {
    draining,
    seen,
    authorize: async (url: string, authorization?: string) => here.authorize(message(url, authorization)),
  }
}

t.test('the pipeline gets the head of a request, and nobody reads its body', async t => {
  const { authorize, seen } = door()
  t.match(await authorize('/api', 'Bearer ann'), { user: ANN, info: { path: '/api' } })
  await t.rejects(authorize('/api'), { reason: 'Unauthorized', message: 'Unauthorized' })
  t.match(seen, [{ method: 'GET', url: '/api', headers: { authorization: 'Bearer ann' } }, { headers: {} }])
  t.strictSame(seen[0]!.headersDistinct, { accept: ['a', 'b'] })
})

t.test('a server that closes sends everybody away but probes, and tells strangers nothing', async t => {
  const { authorize, draining } = door()
  draining.abort()
  for (const path of ['/api', '/api/v1/namespaces', '/services/stream/clusters/root', '/version', '/livezz'])
    await t.rejects(
      authorize(path, 'Bearer ann'),
      {
        reason: 'ServiceUnavailable',
        code: 503,
        message: 'the server is shutting down',
        details: { retryAfterSeconds: 1 },
      },
      path,
    )
  for (const path of ['/livez', '/readyz', '/healthz', '/readyz/etcd']) t.ok(await authorize(path, 'Bearer ann'), path)
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
