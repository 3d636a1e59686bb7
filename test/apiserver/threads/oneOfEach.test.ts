/** Things that exist once, however many threads answer: the record of requests, and each metric. */
import t, { type Test } from 'tap'
import type { AuditEvent } from '../../../src/apiserver/audit/auditEvent.ts'
import { Auditor, type AuditSink } from '../../../src/apiserver/audit/auditor.ts'
import { auditPolicy } from '../../../src/apiserver/audit/policy.ts'
import { Api } from '../../support/api.ts'
import { CONFIGMAPS, startTestServer } from '../../support/server.ts'

/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12

function clientsOf(t: Test, { access }: Api): Api[] {
  const clients = Array.from({ length: CONNECTIONS }, () => new Api(access))
  t.teardown(() => {
    for (const client of clients) client.close()
  })
  return clients
}

t.test('each request is recorded once, with the address of its client, whichever thread it came to', async t => {
  const events: AuditEvent[] = []
  const policy = auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] })
  const sink: AuditSink = {
    write(event) {
      events.push(JSON.parse(event) as AuditEvent)
    },
    close: async () => {},
  }
  const more = { apiThreads: 2, audit: new Auditor({ clock: Date.now, policy, sink }) }
  const { api, server, faults } = await startTestServer(t, { more })
  const clients = clientsOf(t, api)
  await Promise.all(clients.map((client, i) => client.get(CONFIGMAPS, { 'Audit-ID': `read-${i}` })))
  await server.close()
  const ended = events.filter(({ auditID, stage }) => stage === 'ResponseComplete' && auditID.startsWith('read-'))
  t.same(ended.map(({ auditID }) => auditID).sort(), clients.map((_, i) => `read-${i}`).sort())
  t.same(new Set(ended.map(({ sourceIPs }) => sourceIPs?.join())), new Set(['127.0.0.1']))
  t.same(faults, [])
})

t.test('connections, and requests that ran by their flow, are those of all threads', async t => {
  const { api } = await startTestServer(t, { more: { apiThreads: 2 } })
  const figure = async (name: string): Promise<number> => {
    const { text } = await api.get('/metrics')
    return text
      .split('\n')
      .filter(line => line.startsWith(name))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }
  const ran = 'apiserver_flowcontrol_dispatched_requests_total{priority_level="exempt"'
  const before = await figure(ran)
  await Promise.all(clientsOf(t, api).map(client => client.get(CONFIGMAPS)))
  t.ok((await figure(ran)) >= before + CONNECTIONS)
  t.ok((await figure('orrery_connections{authenticated="yes"}')) >= CONNECTIONS)
  t.equal(await figure('orrery_api_threads '), 2)
})
