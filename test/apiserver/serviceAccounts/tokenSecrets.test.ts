/** Secrets of type kubernetes.io/service-account-token: how scripts and tools without TokenRequest get a token. */
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Api } from '../../support/api.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const SECRETS = '/api/v1/namespaces/default/secrets'
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'

const account = (name: string): object => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })
const secret = (name: string, of: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': of } },
})

t.test('one server', async t => {
  const { api, server, faults } = await startTestServer(t)
  t.after(() => {
    if (faults.length > 0) throw new Error(faults.join('\n'))
  })
  const space = await createSpace(api, 'tenant')

  t.test('a Secret that names a ServiceAccount is filled, and its token works in that space only', async t => {
    const tenant = api.in('root:tenant')
    await tenant.ok(tenant.post(ACCOUNTS, account('robot')))
    await tenant.ok(tenant.post(SECRETS, secret('robot-token', 'robot')))
    const filled = await until(tenant, 'robot-token', s => 'token' in dataOf(s))
    const data = dataOf(filled)
    t.equal(decode(data.namespace), 'default')
    t.equal(decode(data['ca.crt']), server.caPem)
    const { uid } = (await tenant.get(`${ACCOUNTS}/robot`)).body.metadata
    t.equal(filled.metadata.annotations?.['kubernetes.io/service-account.uid'], uid)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const robot = tenant.as(decode(data.token))
    // Knowing who one is needs access to the space.
    await tenant.ok(tenant.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', access('robot')))
    const { body } = await robot.post(reviews, review)
    t.match(body, { status: { userInfo: { username: 'system:serviceaccount:default:robot', uid } } })
    t.equal((await api.as(decode(data.token)).in('root').get('/api/v1/namespaces')).code, 403)
    t.equal(space.length > 0, true)
  })

  t.test('what somebody takes out of it comes back; what is in it stays', async t => {
    await api.ok(api.post(ACCOUNTS, account('keeper')))
    await api.ok(api.post(SECRETS, secret('keeper-token', 'keeper')))
    const before = dataOf(await until(api, 'keeper-token', s => 'token' in dataOf(s)))
    await api.ok(api.patch(`${SECRETS}/keeper-token`, 'merge', { data: { 'ca.crt': null, mine: 'bWluZQ==' } }))
    const after = dataOf(await until(api, 'keeper-token', s => 'ca.crt' in dataOf(s)))
    t.equal(after.token, before.token, 'the token is the same')
    t.equal(after['ca.crt'], before['ca.crt'])
    t.equal(after.mine, 'bWluZQ==')
    await api.ok(api.patch(`${SECRETS}/keeper-token`, 'merge', { data: { token: null } }))
    await until(api, 'keeper-token', s => 'token' in dataOf(s))
  })

  t.test('it goes with its ServiceAccount, others stay', async t => {
    for (const name of ['leaver', 'stayer']) {
      await api.ok(api.post(ACCOUNTS, account(name)))
      await api.ok(api.post(SECRETS, secret(`${name}-token`, name)))
      await until(api, `${name}-token`, s => 'token' in dataOf(s))
    }
    await api.ok(api.delete(`${ACCOUNTS}/leaver`))
    await gone(api, 'leaver-token')
    t.equal((await api.get(`${SECRETS}/stayer-token`)).code, 200)
  })

  t.test('in a workload space, too, it goes with the account that acted', async () => {
    await createSpace(api, 'describing', 'workload')
    const describing = api.in('root:describing')
    const labels = { 'edge.kubestellar.io/natured': 'true' }
    await describing.ok(describing.post(ACCOUNTS, { metadata: { name: 'acts', labels } }))
    await describing.ok(describing.post(SECRETS, secret('acts-token', 'acts')))
    await until(describing, 'acts-token', s => 'token' in dataOf(s))
    await describing.ok(describing.delete(`${ACCOUNTS}/acts`))
    await gone(describing, 'acts-token')
  })

  t.test('one that names nobody, or somebody of another uid, is deleted', async () => {
    await api.ok(api.post(SECRETS, secret('orphan', 'nobody')))
    await gone(api, 'orphan')
    await api.ok(api.post(ACCOUNTS, account('renewed')))
    const stale = secret('stale', 'renewed') as { metadata: { annotations: Record<string, string> } }
    stale.metadata.annotations['kubernetes.io/service-account.uid'] = 'another'
    await api.ok(api.post(SECRETS, stale))
    await gone(api, 'stale')
  })
})

t.test('one that could not be filled, or deleted, at first is so in the end', async t => {
  const { api, server } = await startTestServer(t)
  const { registry } = server.services
  const update = registry.update.bind(registry)
  let left = 3
  registry.update = async (context, type, ...rest) => {
    if (type.kind === 'Secret' && left-- > 0) throw statusError.forbidden(type, 'late-token', 'not now')
    return await update(context, type, ...rest)
  }
  await api.ok(api.post(ACCOUNTS, account('late')))
  await api.ok(api.post(SECRETS, secret('late-token', 'late')))
  await until(api, 'late-token', s => 'token' in dataOf(s))
  t.equal(left, -1)
  const { list } = server.store
  let broken = 2
  server.store.list = async (range, options) => {
    if (range.resource === 'secrets' && options === undefined && broken-- > 0) throw new Error('no list')
    return await list.call(server.store, range, options)
  }
  await api.ok(api.delete(`${ACCOUNTS}/late`))
  await gone(api, 'late-token')
  server.store.list = list
  t.ok(broken < 2)
})

t.test('a server that was down makes good what it missed', async t => {
  const first = await startTestServer(t)
  await first.api.ok(first.api.post(ACCOUNTS, account('sleeper')))
  await first.api.ok(first.api.post(SECRETS, secret('sleeper-token', 'sleeper')))
  await until(first.api, 'sleeper-token', s => 'token' in dataOf(s))
  // As if the server had died between the deletion of the account and its own answer to it.
  const store = first.server.store
  const key = { space: 'root', group: '', resource: 'serviceaccounts', namespace: 'default', name: 'sleeper' }
  const { body } = await first.api.get(`${SECRETS}/sleeper-token`)
  const held = await store.get({ ...key, resource: 'secrets', name: 'sleeper-token' })
  await first.api.ok(first.api.delete(`${ACCOUNTS}/sleeper`))
  await gone(first.api, 'sleeper-token')
  const text = held!.bytes.toString().split(`"${body.metadata.resourceVersion}"`)
  const write = { head: `${text[0]}"`, tail: `"${text[1]}` }
  const closing = first.restart
  await store.write({ key: held!.key, mutation: { type: 'put', text: write }, expect: 0 })
  const second = await closing()
  await gone(second.api, 'sleeper-token')
  t.equal((await second.api.get(`${SECRETS}/sleeper-token`)).code, 404)
})

function access(name: string): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `access-${name}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name }],
  }
}

/** The Secret as soon as it is as wanted. */
async function until(api: Api, name: string, wanted: (secret: KubeObject) => boolean): Promise<KubeObject> {
  const watch = await api.watch(`${SECRETS}?watch=1&fieldSelector=metadata.name=${name}`)
  for (;;) {
    const event = await watch.next()
    if (event === undefined) throw new Error('the watch ended')
    if (event.type !== 'DELETED' && !wanted(event.object)) continue
    watch.close()
    return event.object
  }
}

async function gone(api: Api, name: string): Promise<void> {
  const list = await api.get(`${SECRETS}?fieldSelector=metadata.name=${name}`)
  if (list.body.items.length === 0) return
  const { resourceVersion } = list.body.metadata
  const watch = await api.watch(
    `${SECRETS}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=${resourceVersion}`,
  )
  await watch.until(event => event.type === 'DELETED')
  watch.close()
}

function dataOf(secret: KubeObject): Record<string, string> {
  return (secret.data ?? {}) as Record<string, string>
}

function decode(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64').toString()
}
