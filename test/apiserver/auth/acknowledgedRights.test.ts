/** Rights that are given or taken count with the next request: of roles, and of tokens with what they hang on. */
import t from 'tap'
import type { Api } from '../../support/api.ts'
import { ALICE, createSpace, startTestServer } from '../../support/server.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const NS = '/api/v1/namespaces/default'

const binding = (name: string, subject: object): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [subject],
})

t.test('a binding counts as soon as its writer knows of it, and is gone as soon as that', async t => {
  const { api } = await startTestServer(t)
  const at = api.in(await createSpace(api, 's'))
  const alice = at.as(ALICE)
  t.teardown(() => alice.close())
  for (let round = 0; round < 20; round++) {
    const made = binding('alice', { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' })
    await api.ok(at.post(`${RBAC}/clusterrolebindings`, made))
    t.equal((await alice.get('/api/v1/secrets')).code, 200)
    await api.ok(at.delete(`${RBAC}/clusterrolebindings/alice`))
    t.equal((await alice.get('/api/v1/secrets')).code, 403)
  }
})

/** A token of ServiceAccount `a`, bound to `ref` if given. */
async function tokenFor(api: Api, ref?: object): Promise<string> {
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: ref ? { boundObjectRef: ref } : {},
  }
  const made = await api.ok(api.post(`${NS}/serviceaccounts/a/token`, request))
  return (made.status as { token: string }).token
}

t.test('a token ends at once with its account and with the Pod or Secret that it is bound to', async t => {
  const { api } = await startTestServer(t)
  const at = api.in(await createSpace(api, 's'))
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }
  await api.ok(at.post(`${NS}/serviceaccounts`, account))
  await api.ok(
    at.post(`${RBAC}/clusterrolebindings`, binding('a', { kind: 'ServiceAccount', name: 'a', namespace: 'default' })),
  )
  const spec = { serviceAccountName: 'a', containers: [{ name: 'c', image: 'i' }] }
  await api.ok(at.post(`${NS}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }))
  await api.ok(at.post(`${NS}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }))
  const tokens = {
    pod: await tokenFor(at, { apiVersion: 'v1', kind: 'Pod', name: 'p' }),
    secret: await tokenFor(at, { apiVersion: 'v1', kind: 'Secret', name: 's' }),
    account: await tokenFor(at),
  }
  const codes = async (): Promise<Record<string, number>> => {
    const found: Record<string, number> = {}
    for (const [name, token] of Object.entries(tokens)) {
      const holder = at.as(token)
      found[name] = (await holder.get('/api/v1/namespaces')).code
      holder.close()
    }
    return found
  }
  t.strictSame(await codes(), { pod: 200, secret: 200, account: 200 })
  await api.ok(at.delete(`${NS}/pods/p`))
  t.strictSame(await codes(), { pod: 401, secret: 200, account: 200 })
  await api.ok(at.delete(`${NS}/secrets/s`))
  t.strictSame(await codes(), { pod: 401, secret: 401, account: 200 })
  await api.ok(at.delete(`${NS}/serviceaccounts/a`))
  await api.ok(at.post(`${NS}/serviceaccounts`, account))
  t.strictSame(
    await codes(),
    { pod: 401, secret: 401, account: 401 },
    'another account of that name is another account',
  )
})

t.test('whoever brings no credentials is nobody, or system:anonymous where that is wanted', async t => {
  const closed = await startTestServer(t)
  const open = await startTestServer(t, { more: { anonymousAuth: true } })
  const nobody = (api: Api): Api => {
    const one = api.as(undefined)
    t.teardown(() => one.close())
    return one
  }
  t.equal((await nobody(closed.api).get('/api/v1/namespaces')).code, 401)
  t.equal((await nobody(closed.api).get('/livez')).code, 200)
  const refused = await nobody(open.api).get('/api/v1/namespaces')
  t.equal(refused.code, 403)
  t.match(refused.body.message, 'User "system:anonymous" cannot')
  const group = { kind: 'Group', name: 'system:unauthenticated', apiGroup: 'rbac.authorization.k8s.io' }
  await open.api.ok(open.api.post(`${RBAC}/clusterrolebindings`, binding('everybody', group)))
  t.equal((await nobody(open.api).get('/api/v1/namespaces')).code, 200)
  const wrong = open.api.as('no-such-token')
  t.teardown(() => wrong.close())
  t.equal((await wrong.get('/api/v1/namespaces')).code, 401, 'bad credentials are not no credentials')
})
