/** The audit log of a running server: what is recorded of requests, of whom, in which space, and what never is. */
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import type { AuditEvent } from '../../../src/apiserver/audit/auditEvent.ts'
import { Auditor, type AuditSink } from '../../../src/apiserver/audit/auditor.ts'
import { NO_BODIES } from '../../../src/apiserver/audit/auditTrail.ts'
import { auditPolicy } from '../../../src/apiserver/audit/policy.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { ALICE, CONFIGMAPS, configMap, createSpace, startTestServer, type TestServer } from '../../support/server.ts'

/** Collects events; a test waits for the one that it looks for. */
class Lines implements AuditSink {
  readonly events: AuditEvent[] = []
  closed = false
  #wake = (): void => {}

  write(line: string): void {
    this.events.push(JSON.parse(line) as AuditEvent)
    this.#wake()
  }

  async close(): Promise<void> {
    this.closed = true
  }

  async find(wanted: (event: AuditEvent) => boolean): Promise<AuditEvent> {
    for (;;) {
      const found = this.events.find(wanted)
      if (found) return found
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  /** The last event of the request with this id. */
  complete(id: string): Promise<AuditEvent> {
    return this.find(event => event.auditID === id && event.stage === 'ResponseComplete')
  }
}

async function start(t: Test, rules: object[], more: object = {}): Promise<TestServer & { lines: Lines }> {
  const lines = new Lines()
  const policy = auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...more })
  const started = await startTestServer(t, { more: { audit: new Auditor({ clock: Date.now, policy, sink: lines }) } })
  return { ...started, lines }
}

const as = (id: string): Record<string, string> => ({ 'Audit-ID': id })
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

t.test('a write is told in stages: who, what, from where, in which space, and how it ended', async t => {
  const { api, lines } = await start(t, [{ level: 'RequestResponse' }])
  const space = await createSpace(api, 'audited')
  const headers = { ...as('w1'), 'User-Agent': 'kubectl/v1.36.0', 'X-Forwarded-For': '10.0.0.9' }
  const answer = await api.in('root:audited').post(CONFIGMAPS, configMap('c', { a: 'b' }), { headers })
  t.equal(answer.headers['audit-id'], 'w1')
  const done = await lines.complete('w1')
  const received = lines.events.find(event => event.auditID === 'w1' && event.stage === 'RequestReceived')
  t.match(received, { level: 'RequestResponse', verb: 'create', annotations: { 'kcp.io/cluster': space } })
  t.notOk(received!.requestObject ?? received!.responseStatus, 'nothing is known of either yet')
  t.match(done, {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    requestURI: `/clusters/root:audited${CONFIGMAPS}`,
    verb: 'create',
    user: { username: 'orrery-admin', groups: ['system:masters', 'system:authenticated'] },
    sourceIPs: ['10.0.0.9', '127.0.0.1'],
    userAgent: 'kubectl/v1.36.0',
    objectRef: { resource: 'configmaps', namespace: 'default', name: 'c', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestObject: { data: { a: 'b' } },
    responseObject: { metadata: { name: 'c', uid: String } },
    requestReceivedTimestamp: TIME,
    stageTimestamp: TIME,
    annotations: { 'authorization.k8s.io/decision': 'allow', 'kcp.io/cluster': space },
  })
  await api.send('DELETE', `/clusters/root:audited${CONFIGMAPS}/c`, { headers: as('w2') })
  t.match((await lines.complete('w2')).responseStatus, { status: 'Success', details: { name: 'c' }, code: 200 })
})

t.test('secrets and tokens are never written out, whatever the policy says', async t => {
  const { api, lines } = await start(t, [{ level: 'RequestResponse' }])
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'hunter2' } }
  const secrets = '/api/v1/namespaces/default/secrets'
  await api.post(secrets, secret, { headers: as('s1') })
  await api.patch(`${secrets}/s`, 'merge', { stringData: { password: 'hunter3' } })
  await api.get(secrets, as('s2'))
  await api.post('/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'a' },
  })
  const token = await api.post('/api/v1/namespaces/default/serviceaccounts/a/token', {}, { headers: as('s3') })
  const text = String((token.body.status as { token: string }).token)
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: text } }
  await api.post('/apis/authentication.k8s.io/v1/tokenreviews', review, { headers: as('s4') })
  for (const id of ['s1', 's2', 's3', 's4']) t.equal((await lines.complete(id)).level, 'Metadata')
  const all = JSON.stringify(lines.events)
  t.notMatch(all, /hunter/)
  t.notMatch(all, Buffer.from('hunter2').toString('base64'))
  t.notMatch(all, text.slice(-20))
  t.match((await lines.complete('s1')).objectRef, { resource: 'secrets', name: 's' }, 'what was written is told')
})

t.test('refusals: who may not, and who is nobody', async t => {
  const { api, lines } = await start(t, [{ level: 'Metadata' }])
  const alice = api.as(ALICE)
  t.teardown(() => alice.close())
  await alice.get('/api/v1/pods', as('r1'))
  t.match(await lines.complete('r1'), {
    user: { username: 'alice', uid: 'u-1' },
    responseStatus: { status: 'Failure', reason: 'Forbidden', message: /cannot list resource "pods"/, code: 403 },
    annotations: { 'authorization.k8s.io/decision': 'forbid' },
  })
  const stranger = api.as('no-such-token')
  t.teardown(() => stranger.close())
  await stranger.get('/api/v1/pods', as('r2'))
  const unknown = await lines.find(event => event.auditID === 'r2')
  t.match(unknown, { stage: 'ResponseStarted', user: {}, responseStatus: { reason: 'Unauthorized', code: 401 } })
  const impersonated = { ...as('r3'), 'Impersonate-User': 'zoe' }
  await api.get('/api/v1/pods', impersonated)
  t.match(await lines.complete('r3'), { user: { username: 'orrery-admin' }, impersonatedUser: { username: 'zoe' } })
})

t.test('a watch is told when it starts and when it ends, over HTTP and WebSocket', async t => {
  const { api, lines } = await start(t, [{ level: 'Metadata', verbs: ['watch'] }])
  const watch = await api.watch('/api/v1/namespaces?watch=1', as('l1'))
  await watch.take(1)
  const stagesOf = (id: string): string[] => lines.events.filter(e => e.auditID === id).map(e => e.stage)
  t.strictSame(stagesOf('l1'), ['RequestReceived', 'ResponseStarted'])
  watch.close()
  t.match((await lines.complete('l1')).responseStatus, { code: 200 })
  const { url, ca, cert, key } = api.access
  const options = { ca: ca!, cert: cert!, key: key!, headers: as('l2') }
  const socket = new WebSocket(`${url.replace('https', 'wss')}/api/v1/namespaces?watch=1`, options)
  await new Promise(resolve => socket.once('message', resolve))
  t.strictSame(stagesOf('l2'), ['RequestReceived', 'ResponseStarted'])
  socket.close()
  t.match((await lines.complete('l2')).responseStatus, { code: 101 })
})

t.test('only what the policy wants: levels, stages, managed fields', async t => {
  const { api, lines, server } = await start(
    t,
    [
      { level: 'None', resources: [{ group: '', resources: ['namespaces'] }] },
      { level: 'Request', verbs: ['create'] },
      { level: 'RequestResponse', verbs: ['get', 'patch'] },
    ],
    { omitStages: ['RequestReceived'], omitManagedFields: true },
  )
  await api.get('/api/v1/namespaces/default', as('p1'))
  await api.post(CONFIGMAPS, configMap('c', { a: 'b' }), { headers: as('p2') })
  await api.get(`${CONFIGMAPS}/c`, as('p3'))
  const apply = 'apiVersion: v1\nkind: ConfigMap\ndata:\n  c: d\n'
  await api.send('PATCH', `${CONFIGMAPS}/c?fieldManager=m`, {
    body: apply,
    type: 'application/apply-patch+yaml',
    headers: as('p4'),
  })
  t.match(await lines.complete('p2'), { level: 'Request', requestObject: { data: { a: 'b' } } })
  t.notOk((await lines.complete('p2')).responseObject)
  const read = (await lines.complete('p3')).responseObject as { metadata: object }
  t.match(read, { metadata: { name: 'c' } })
  t.notOk('managedFields' in read.metadata)
  t.strictSame((await lines.complete('p4')).requestObject, { apiVersion: 'v1', kind: 'ConfigMap', data: { c: 'd' } })
  t.notOk(lines.events.some(({ auditID, stage }) => auditID === 'p1' || stage === 'RequestReceived'))
  await server.close()
  t.ok(lines.closed, 'the log is closed with the server')
})

t.test('a fault of the server is told as such, and ends the trail', async t => {
  const lines = new Lines()
  const policy = auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] })
  const auditor = new Auditor({ policy, sink: lines, clock: () => Date.parse('2026-01-01T00:00:00Z') + 0.25 })
  const trail = auditor.openTrail({ url: '/version', headers: as('f1'), remoteAddress: '::ffff:10.1.2.3' })
  trail.parsed(parseRequest('GET', '/version'))
  trail.identified({ name: 'jane', groups: [] })
  trail.panicked(new Error('boom'))
  trail.ended(500, NO_BODIES)
  t.strictSame(
    lines.events.map(({ stage }) => stage),
    ['RequestReceived', 'Panic'],
  )
  t.match(lines.events[1], {
    sourceIPs: ['10.1.2.3'],
    responseStatus: { status: 'Failure', reason: 'InternalError', message: "APIServer panic'd: boom", code: 500 },
    requestReceivedTimestamp: '2026-01-01T00:00:00.000250Z',
  })
})
