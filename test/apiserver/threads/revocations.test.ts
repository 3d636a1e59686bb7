/**
 * A right, an account or an object that one thread's answer removes is gone in all, every time. `REVOCATIONS=10000` plays so many, of 300
 * by default.
 */
import t from 'tap'
import type { Api } from '../../support/api.ts'
import { ALICE, CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'

/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 20
const REVOCATIONS = Number(process.env.REVOCATIONS ?? 300)
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const READS = { apiGroups: [''], resources: ['secrets'], verbs: ['list'] }

const { api, faults } = await startTestServer(t, { more: { apiThreads: 2 } })

function clients(of: Api, token: string): Api[] {
  const all = Array.from({ length: CONNECTIONS }, () => of.as(token))
  t.teardown(() => {
    for (const client of all) client.close()
  })
  return all
}

/** Answers of all of them to the same path at once. */
async function codes(all: readonly Api[], path: string): Promise<string> {
  const answers = await Promise.all(all.map(client => client.get(path)))
  return [...new Set(answers.map(({ code }) => code))].join()
}

async function letIn(at: Api, subject: object): Promise<void> {
  await at.ok(at.post(ROLES, { metadata: { name: 'reader' }, rules: [READS] }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' }
  await at.ok(at.post(BINDINGS, { metadata: { name: 'reader' }, roleRef, subjects: [subject] }))
  // without this nobody gets into a space
  const member = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kcp:workspace:access' }
  await at.post(BINDINGS, { metadata: { name: 'member' }, roleRef: member, subjects: [subject] })
}

t.test('questions behind answers that took a right away', async t => {
  const at = api.in(await createSpace(api, 'rights'))
  await letIn(at, { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' })
  const all = clients(at, ALICE)
  const path = '/api/v1/secrets?limit=1'
  const rules = (rules: object[]) => api.ok(at.patch(`${ROLES}/reader`, 'merge', { rules }))
  t.equal(await codes(all, path), '200')
  for (let asked = 0; asked < REVOCATIONS; asked += CONNECTIONS) {
    await rules([])
    const refused = await codes(all, path)
    if (refused !== '403') t.fail(`${asked}: ${refused}`)
    await rules([READS])
    if (asked % 1000 > 0) continue
    const allowed = await codes(all, path)
    if (allowed !== '200') t.fail(`${asked}: ${allowed}`)
  }
  t.equal(await codes(all, path), '200')
})

t.test('the account of a token that is gone', async t => {
  const at = api.in(await createSpace(api, 'accounts'))
  for (let round = 0; round < 5; round++) {
    await api.ok(at.post(ACCOUNTS, { metadata: { name: 'robot' } }))
    if (round === 0) await letIn(at, { kind: 'ServiceAccount', name: 'robot', namespace: 'default' })
    const made = await at.ok(at.post(`${ACCOUNTS}/robot/token`, { spec: {} }))
    const all = clients(at, (made.status as unknown as { token: string }).token)
    if (!t.equal(await codes(all, '/api/v1/secrets'), '200')) break
    await api.ok(at.delete(`${ACCOUNTS}/robot`))
    if (!t.equal(await codes(all, '/api/v1/secrets'), '401')) break
    for (const client of all) client.close()
  }
})

t.test('an object that is gone', async t => {
  const at = api.in(await createSpace(api, 'objects'))
  const all = Array.from({ length: CONNECTIONS }, () => clients(at, ALICE)[0]!)
  await letIn(at, { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' })
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]
  await api.ok(at.patch(`${ROLES}/reader`, 'merge', { rules }))
  for (let round = 0; round < 20; round++) {
    await api.ok(at.post(CONFIGMAPS, configMap('one')))
    const there = await codes(all, `${CONFIGMAPS}/one`)
    await api.ok(at.delete(`${CONFIGMAPS}/one`))
    const gone = await codes(all, `${CONFIGMAPS}/one`)
    if (there !== '200' || gone !== '404') t.fail(`${round}: ${there}, ${gone}`)
  }
  t.pass('never once')
})

t.test('nothing of it was a fault of the server', async t => t.same(faults, []))
