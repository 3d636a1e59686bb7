/** A wait for a slow peer delays no other request: clients that do not read, webhooks that do not answer. */
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { ALICE, BOB, CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from '../admission/webhookServer.ts'

const RBAC = 'rbac.authorization.k8s.io'
const { api, server, faults } = await startTestServer(t, {
  more: { inFlight: { reading: 40, mutating: 20, watching: 40 }, webhookAllowedHosts: ['localhost', '127.0.0.1'] },
})
await createSpace(api, 'one')
const one = api.in('root:one')
const role = { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' }
for (const space of [api, one]) {
  const subjects = ['alice', 'bob'].map(name => ({ apiGroup: RBAC, kind: 'User', name }))
  await api.ok(
    space.post(`/apis/${RBAC}/v1/clusterrolebindings`, { metadata: { name: 'all' }, roleRef: role, subjects }),
  )
}
const { hostname, port } = new URL(server.url)

t.test('lists that nobody reads hold no seats', async t => {
  for (let n = 0; n < 24; n++) await api.ok(api.post(CONFIGMAPS, configMap(`big-${n}`, { data: 'x'.repeat(500_000) })))
  const sockets: TLSSocket[] = []
  for (let n = 0; n < 40; n++) {
    await new Promise<void>(resolve => {
      const socket = connect({ host: hostname, port: Number(port), ca: api.access.ca! }, () => {
        socket.once('readable', resolve)
        socket.write(`GET ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ALICE}\r\n\r\n`)
      })
      socket.on('error', () => {})
      sockets.push(socket)
    })
  }
  t.equal((await api.as(BOB).get(`${CONFIGMAPS}/big-1`)).code, 200)
  t.equal((await api.as(ALICE).get(`${CONFIGMAPS}/big-1`)).code, 200)
  for (const socket of sockets) socket.destroy()
})

t.test('who waits for a webhook has no seat; it is the space of the webhook that is told when too many do', async t => {
  const hooks = await startWebhookServer(t)
  let asked = 0
  const all = Promise.withResolvers<void>()
  hooks.on('/hang', () => {
    if (++asked === 100) all.resolve()
    return 'hang'
  })
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['*'], resources: ['configmaps'] }]
  const hanging = webhook('hangs.example.com', hooks.at('/hang'), { rules, timeoutSeconds: 30 })
  await one.ok(one.post(CONFIGURATIONS.Validating, configuration('Validating', 'hangs', [hanging])))
  const alice = one.as(ALICE)
  const waiting = Array.from({ length: 100 }, (_, n) => alice.post(CONFIGMAPS, configMap(`waits-${n}`)))
  await all.promise
  t.match(await alice.post(CONFIGMAPS, configMap('one-more')), { code: 429, headers: { 'retry-after': '1' } })
  t.equal((await one.as(BOB).get(CONFIGMAPS)).code, 200)
  t.equal((await api.as(BOB).post(CONFIGMAPS, configMap('elsewhere'))).code, 201)
  t.equal((await api.as(ALICE).post(CONFIGMAPS, configMap('of-alice'))).code, 201)
  await one.ok(one.delete(`${CONFIGURATIONS.Validating}/hangs`))
  hooks.close()
  for (const answer of await Promise.all(waiting)) t.equal(answer.code, 500)
  t.equal((await alice.post(CONFIGMAPS, configMap('after'))).code, 201)
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
