/** Annotations of PodSecurity in the audit events of judged requests. */
import t from 'tap'
import type { AuditEvent } from '../../../../src/apiserver/audit/auditEvent.ts'
import { Auditor } from '../../../../src/apiserver/audit/auditor.ts'
import { auditPolicy } from '../../../../src/apiserver/audit/policy.ts'
import { startTestServer } from '../../../support/server.ts'

const P = 'pod-security.kubernetes.io/'
const waiting = new Map<string, (event: AuditEvent) => void>()
const write = (line: string): void => {
  const event = JSON.parse(line) as AuditEvent
  if (event.stage === 'ResponseComplete') waiting.get(event.auditID)?.(event)
}
const policy = auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] })
const audit = new Auditor({ clock: Date.now, policy, sink: { write, close: async () => {} } })
const { api } = await startTestServer(t, { more: { audit } })

/** Creates an object; the annotations of its last event that are about the security of pods. */
const told = async (path: string, id: string, object: object): Promise<Record<string, string>> => {
  const done = new Promise<AuditEvent>(resolve => waiting.set(id, resolve))
  await api.post(path, object, { headers: { 'Audit-ID': id } })
  const all = Object.entries((await done).annotations ?? {}).filter(([key]) => key.startsWith(P))
  return Object.fromEntries(all.map(([key, value]) => [key.slice(P.length), value]))
}
const namespace = (name: string, labels: Record<string, string>) =>
  api.ok(
    api.post('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [P + key, value])) },
    }),
  )
const HOST = { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] }
const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: HOST })
const VIOLATION = 'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'

t.test('what would violate is told, and which policy was enforced', async t => {
  await namespace('watched', { audit: 'baseline' })
  t.strictSame(await told('/api/v1/namespaces/watched/pods', 'pod', pod('p')), {
    'enforce-policy': 'privileged:latest',
    'audit-violations': VIOLATION,
  })
  const replicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'r' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: HOST },
    },
  }
  t.strictSame(await told('/apis/apps/v1/namespaces/watched/replicasets', 'set', replicaSet), {
    'audit-violations': VIOLATION,
  })
})

t.test('a refusal names the policy too', async t => {
  await namespace('strict', { enforce: 'baseline', 'enforce-version': 'v1.30' })
  t.strictSame(await told('/api/v1/namespaces/strict/pods', 'refused', pod('p')), {
    'enforce-policy': 'baseline:v1.30',
  })
})

t.test('namespaces without labels cost the audit log nothing', async t => {
  await namespace('plain', {})
  t.strictSame(await told('/api/v1/namespaces/plain/pods', 'plain', pod('p')), {})
})
