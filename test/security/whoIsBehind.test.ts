/** The audit log says who is behind what controllers do: the workload space and the EdgePlacement, not only the controller. */
import t from 'tap'
import type { AuditEvent } from '../../src/apiserver/audit/auditEvent.ts'
import { Auditor } from '../../src/apiserver/audit/auditor.ts'
import { auditPolicy } from '../../src/apiserver/audit/policy.ts'
import { MAPS, NAMESPACES, PLACEMENTS, startCenter } from '../support/center.ts'

const PLACED_BY = 'edge.kubestellar.io/placed-by'
const TRANSLATOR = 'system:orrery:placement-translator'

t.test('what is placed in a mailbox names whose it is, when it comes, changes and goes', async t => {
  const events: AuditEvent[] = []
  const sink = { write: (line: string) => void events.push(JSON.parse(line)), close: async () => {} }
  const rules = [
    { level: 'None', users: ['system:orrery:service-account-controller'] },
    { level: 'RequestResponse', resources: [{ group: '', resources: ['configmaps', 'namespaces', 'secrets'] }] },
    { level: 'Metadata', resources: [{ group: 'edge.kubestellar.io', resources: ['syncerconfigs'] }] },
  ]
  const policy = auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules })
  const center = await startCenter(t, { audit: new Auditor({ clock: Date.now, policy, sink }) })
  const scene = await center.scene('audited', ['one'])
  const mailbox = await scene.mailbox('one')
  const found = (verb: string, resource: string): AuditEvent[] =>
    events.filter(
      ({ user, verb: done, objectRef, annotations }) =>
        user.username === TRANSLATOR &&
        done === verb &&
        objectRef?.resource === resource &&
        annotations?.['kcp.io/cluster'] === mailbox,
    )
  const causes = (event: AuditEvent | undefined): unknown => JSON.parse(event?.annotations?.[PLACED_BY] ?? 'null')
  const behind = [{ cluster: scene.wdsId, path: 'root:audited-wmw', edgePlacement: 'spread' }]

  const upsync = [{ apiGroup: 'g.test', resources: ['r'], namespaces: ['*'], names: ['*'] }]
  await scene.place('spread', { upsync })
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'app' }, data: { a: '1' } }
  await scene.wds.create(MAPS, map)
  await center.holds(mailbox, ['app/m'])
  await center.settled()
  const [made] = found('create', 'configmaps')
  t.match(made, {
    stage: 'ResponseComplete',
    level: 'RequestResponse',
    requestURI: `/clusters/${mailbox}/api/v1/namespaces/app/configmaps`,
    objectRef: { name: 'm', namespace: 'app' },
    responseStatus: { code: 201 },
    requestObject: { data: { a: '1' } },
    responseObject: { data: { a: '1' }, metadata: { uid: String } },
  })
  t.notOk(made?.sourceIPs, 'from nowhere')
  t.same(causes(made), behind)
  t.same(causes(found('create', 'namespaces')[0]), behind, 'so does the Namespace that comes with it')
  const orders = [...found('create', 'syncerconfigs'), ...found('update', 'syncerconfigs')]
  t.same(causes(orders.at(-1)), behind, "and the syncer's orders")

  await scene.wds.patch(MAPS, { name: 'm', namespace: 'app' }, 'merge', { data: { a: '2' } })
  await center.settled()
  t.same(causes(found('update', 'configmaps').at(-1)), behind)
  await scene.wds.delete(PLACEMENTS, { name: 'spread' })
  await center.holds(mailbox, [])
  await center.settled()
  t.match(found('delete', 'configmaps').at(-1), { objectRef: { name: 'm' }, responseStatus: { code: 200 } })
  t.same(causes(found('delete', 'configmaps').at(-1)), [{ cluster: scene.wdsId, path: 'root:audited-wmw' }])
  t.notOk(
    events.some(({ user }) => user.username === 'system:orrery:service-account-controller'),
    'the policy rules over controllers, too',
  )
})

t.test('a write that fails is recorded with its Status, and Secrets never with what they hold', async t => {
  const events: AuditEvent[] = []
  const sink = { write: (line: string) => void events.push(JSON.parse(line)), close: async () => {} }
  const policy = auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'RequestResponse' }] })
  const { client } = await startCenter(t, { audit: new Auditor({ clock: Date.now, policy, sink }) })
  const root = client.in('root')
  await t.rejects(root.update(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'no', namespace: 'x' } }))
  await root.create(
    { group: '', version: 'v1', resource: 'secrets' },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' }, data: { a: 'aHVudGVyMg==' } },
  )
  await root.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
  const of = (name: string): AuditEvent[] =>
    events.filter(({ user, objectRef }) => user.username === 'system:orrery:test' && objectRef?.name === name)
  t.match(of('no'), [{ verb: 'update', responseStatus: { code: 404, reason: 'NotFound' } }])
  t.match(of('s'), [{ level: 'Metadata', responseStatus: { code: 201 } }])
  t.notMatch(JSON.stringify(events), 'aHVudGVyMg')
  t.equal(of('n')[0]?.annotations?.[PLACED_BY], undefined)
})
