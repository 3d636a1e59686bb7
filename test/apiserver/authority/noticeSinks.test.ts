/** NoticeSinks: faults are refused with their field, and nobody sends out of a space what they may not read there. */
import t from 'tap'
import { conditionOf } from '../../../src/apimachinery/conditions.ts'
import { MAX_SINKS } from '../../../src/apiserver/authority/sinkAdmission.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { NOTICE_CONTROLLER, startNoticeController } from '../../../src/controllers/notices/noticeController.ts'
import { ALICE, BOB, createSpace, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'
import { timeBy } from '../../support/time.ts'
import { World } from '../../support/world.ts'

const { api, server } = await startTestServer(t, ON_MAIN_THREAD)
await createSpace(api, 'shop')
await createSpace(api, 'full', 'workload')
const shop = api.in('root:shop')
const alice = shop.as(ALICE)
const SINKS = '/apis/edge.kubestellar.io/v1alpha1/noticesinks'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const url = 'https://example.com/notices'
const sink = (name: string, spec: object) => ({ metadata: { name }, spec })

t.test('a fault is refused with its field and the remedy', async t => {
  const wrong: [object, RegExp][] = [
    [{}, /spec.url: Required value: exactly one of url or urlSecretRef is required/],
    [{ url, urlSecretRef: { namespace: 'a', name: 'b', key: 'c' } }, /spec.url: .*exactly one/],
    [{ url: 'http://example.com' }, /spec.url: .*has to begin with https/],
    [{ url: 'notices' }, /spec.url: .*it is no URL, such as/],
    [{ url: 'https://u:p@example.com' }, /spec.url: .*use tokenSecretRef/],
    [{ url: `${url}#x` }, /spec.url: .*fragment/],
    [{ url, caBundle: 'eHh4' }, /spec.caBundle: .*it holds no certificate/],
    // each write of a status holds it once more
    [{ url, caBundle: 'x'.repeat(65_540) }, /spec.caBundle: Too long: may not be more than 65536 bytes/],
    [{ url, form: 'Teams' }, /spec.form: .*supported values: "CloudEvents", "Slack"/],
    [{ url, tokenSecretRef: { namespace: 'a', name: 'b' } }, /spec.tokenSecretRef.key: Required/],
  ]
  for (const [spec, message] of wrong) {
    const { code, body } = await shop.post(SINKS, sink('wrong', spec))
    t.equal(code, 422)
    t.match(body, { reason: 'Invalid', message })
  }
  const made = await shop.ok(shop.post(SINKS, sink('ok', { url })))
  t.match(made.spec, { form: 'CloudEvents', kinds: ['EdgePlacement', 'SyncTarget'] })
  t.equal((await shop.delete(`${SINKS}/ok`)).code, 200)
})

t.test('the writer of a sink may read the Events and Secrets that it sends', async t => {
  const role = async (name: string, rules: object[]) => {
    await shop.ok(shop.post(`${RBAC}/clusterroles`, { metadata: { name }, rules }))
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
    await shop.ok(shop.post(`${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }))
  }
  await role('sinks', [
    { apiGroups: ['edge.kubestellar.io'], resources: ['noticesinks'], verbs: ['*'] },
    { nonResourceURLs: ['/'], verbs: ['access'] },
  ])
  const events = await alice.post(SINKS, sink('alices', { url }))
  t.equal(events.code, 403)
  t.match(events.body.message, /spec sends what "alice" may not read: .*cannot list resource "events"/)
  await role('events', [{ apiGroups: [''], resources: ['events'], verbs: ['list', 'watch'] }])
  await alice.ok(alice.post(SINKS, sink('alices', { url })))
  const secret = { tokenSecretRef: { namespace: 'default', name: 'token', key: 'k' } }
  const token = await alice.patch(`${SINKS}/alices`, 'merge', { spec: secret })
  t.equal(token.code, 403)
  t.match(token.body.message, /spec.tokenSecretRef sends what "alice" may not read: .*cannot get resource "secrets"/)
  await shop.ok(shop.patch(`${SINKS}/alices`, 'merge', { spec: secret }))
  const elsewhere = await alice.patch(`${SINKS}/alices`, 'merge', { spec: { url: 'https://evil.example.com' } })
  t.equal(elsewhere.code, 403, "somebody else's token does not go to another place")
  await alice.ok(alice.patch(`${SINKS}/alices`, 'merge', { metadata: { labels: { a: 'b' } } }))
  const rules = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['token'], verbs: ['get'] }]
  await shop.ok(shop.post(`${RBAC}/namespaces/default/roles`, { metadata: { name: 'token' }, rules }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'token' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  await shop.ok(
    shop.post(`${RBAC}/namespaces/default/rolebindings`, { metadata: { name: 'token' }, roleRef, subjects }),
  )
  await alice.ok(alice.patch(`${SINKS}/alices`, 'merge', { spec: { url: 'https://example.com/others' } }))
  await shop.ok(shop.delete(`${SINKS}/alices`))
})

t.test('the role admin reads sinks, and writes them no more than webhooks', async t => {
  const bind = async (name: string) => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }]
    await shop.ok(shop.post(`${RBAC}/clusterrolebindings`, { metadata: { name: `bob-${name}` }, roleRef, subjects }))
  }
  const enter = [{ nonResourceURLs: ['/'], verbs: ['access'] }]
  await shop.ok(shop.post(`${RBAC}/clusterroles`, { metadata: { name: 'enter' }, rules: enter }))
  await bind('enter')
  await bind('admin')
  const bob = shop.as(BOB)
  t.equal((await bob.get(SINKS)).code, 200)
  const made = await bob.post(SINKS, sink('bobs', { url }))
  t.match(made, { code: 403, body: { message: /cannot create resource "noticesinks"/ } })
})

t.test('a space has few sinks, and one points them neither at the server nor at its provider', async t => {
  const full = api.in('root:full')
  const { port } = new URL(server.url)
  const places = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433']
  const urls = [
    ...places.map(place => `https://${place}:${port}/api`),
    'https://169.254.169.254/',
    'https://[fd00:ec2::254]/',
  ]
  for (const [i, one] of urls.entries()) await full.ok(full.post(SINKS, sink(`s${i}`, { url: one })))
  for (let i = urls.length; i < MAX_SINKS; i++) await full.ok(full.post(SINKS, sink(`s${i}`, { url: urls[0] })))
  const more = await full.post(SINKS, sink('more', { url }))
  t.equal(more.code, 403)
  t.match(more.body.message, `a space may have ${MAX_SINKS} noticesinks; delete one first`)
  const client = embeddedClient({ ...server, component: NOTICE_CONTROLLER })
  const running = startNoticeController({
    ...timeBy(systemClock),
    client,
    places: server.tree,
    post: server.desks.postNotice,
    figures: undefined,
    logger: silentLogger,
  })
  t.teardown(() => running.stop())
  const world = new World(client)
  t.teardown(() => world.stop())
  const space = server.tree.idAt('root:full') ?? ''
  for (let i = 0; i < MAX_SINKS; i++) {
    const found = await world.present(
      space,
      `noticesinks.edge.kubestellar.io s${i}`,
      object => conditionOf(object, 'Delivered') !== undefined,
    )
    t.equal(conditionOf(found, 'Delivered')?.reason, 'AddressNotAllowed', String((found.spec as { url: string }).url))
  }
})

t.test('mailboxes and core spaces serve no sinks', async t => {
  const name = 'x-mb-11111111-1111-4111-8111-111111111111'
  await createSpace(api.in('root:espw'), name, 'mailbox')
  for (const space of ['root:espw', `root:espw:${name}`]) t.equal((await api.in(space).get(SINKS)).code, 404, space)
})
