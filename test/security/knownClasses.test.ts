/** Classes of holes that the catalogue of attacks names, and that no other test covers. */
import t from 'tap'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from '../apiserver/admission/webhookServer.ts'
import type { Api } from '../support/api.ts'
import { crdsIn } from '../support/crds.ts'
import { ALICE, CONFIGMAPS, configMap, startTestServer, WEBHOOKS_HERE } from '../support/server.ts'

const { api, faults } = await startTestServer(t, WEBHOOKS_HERE)
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'
const names = async (answer: ReturnType<Api['get']>): Promise<unknown[]> =>
  (await api.ok(answer)).items.map(({ metadata }) => metadata.name)
const definition = (plural: string, kind: string, group = 'prefix.test'): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural, singular: kind.toLowerCase(), kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

t.test('rights in a namespace do not reach cluster-scoped objects by a namespaced URL', async t => {
  await crdsIn(api).define(definition('things', 'Thing'))
  await api.ok(
    api.post('/apis/prefix.test/v1/things', { apiVersion: 'prefix.test/v1', kind: 'Thing', metadata: { name: 'one' } }),
  )
  const subjects = [{ apiGroup: GROUP, kind: 'User', name: 'alice' }]
  const roleRef = { apiGroup: GROUP, kind: 'Role', name: 'all' }
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const at = `${RBAC}/namespaces/default`
  await api.ok(api.post(`${at}/roles`, { metadata: { name: 'all' }, rules }))
  await api.ok(api.post(`${at}/rolebindings`, { metadata: { name: 'all' }, roleRef, subjects }))
  const alice = api.as(ALICE)
  t.teardown(() => alice.close())
  t.equal((await alice.get(CONFIGMAPS)).code, 200)
  for (const path of ['/apis/prefix.test/v1/namespaces/default/things', `${RBAC}/namespaces/default/clusterroles`]) {
    for (const each of [path, `${path}/one`]) t.equal((await alice.get(each)).code, 404, each)
    t.equal((await alice.delete(`${path}/one`)).code, 404)
  }
  t.equal((await api.get('/apis/prefix.test/v1/things/one')).code, 200)
})

t.test('a kind, a group or a namespace whose name begins like another shows nothing of it', async t => {
  const crds = crdsIn(api)
  await crds.define(definition('thingsandmore', 'ThingAndMore'))
  await crds.define(definition('things', 'Thing', 'prefix.test.example'))
  const made: [string, string, string][] = [
    ['prefix.test', 'thingsandmore', 'ThingAndMore'],
    ['prefix.test.example', 'things', 'Thing'],
  ]
  for (const [group, plural, kind] of made) {
    const object = { apiVersion: `${group}/v1`, kind, metadata: { name: `of-${plural}` } }
    await api.ok(api.post(`/apis/${group}/v1/${plural}`, object))
  }
  t.same(await names(api.get('/apis/prefix.test/v1/things')), ['one'])
  t.same(await names(api.get('/apis/prefix.test.example/v1/things')), ['of-things'])
  for (const name of ['a', 'ab']) {
    await api.ok(api.post('/api/v1/namespaces', { metadata: { name } }))
    await api.ok(api.post(`/api/v1/namespaces/${name}/configmaps`, configMap(`of-${name}`)))
  }
  const inA = await names(api.get('/api/v1/namespaces/a/configmaps'))
  t.ok(inA.includes('of-a') && !inA.includes('of-ab'))
})

t.test('what users make up in paths makes no further metrics', async t => {
  /** Lines of the runtime (`nodejs_gc_…`) come with its work. */
  const lines = async (): Promise<number> =>
    (await api.get('/metrics')).text.split('\n').filter(line => !line.startsWith('nodejs_')).length
  const ask = async (tag: string): Promise<void> => {
    await api.get(`/api/v1/namespaces/${tag}/configmaps/${tag}`)
    await api.get(`/apis/${tag}.test/v1/${tag}`)
    await api.get(`/${tag}`)
    await api.send(tag.toUpperCase(), '/api').catch(() => undefined)
    await api.get('/api', { 'User-Agent': tag })
  }
  // a request is counted a little after it was answered: first each sort of them has to have been
  let before = 0
  for (let now = await lines(), calm = 0; calm < 3; now = await lines()) {
    calm = now === before ? calm + 1 : 0
    before = now
    await ask('once')
  }
  for (let i = 0; i < 20; i++) await ask(`tag${i}`)
  t.equal(await lines(), before)
  t.notMatch((await api.get('/metrics')).text, /tag\d/i)
})

t.test('a webhook that sends the server elsewhere is not followed', async t => {
  const hooks = await startWebhookServer(t)
  hooks.on('/target', () => ({ allowed: true }))
  for (const code of [301, 302, 307, 308]) {
    hooks.raw('/redirects', code, { Location: hooks.at('/target').url }, '')
    const webhooks = [webhook('elsewhere.example.com', hooks.at('/redirects'))]
    await api.ok(api.post(CONFIGURATIONS.Validating, configuration('Validating', 'test', webhooks)))
    t.match(await api.post(CONFIGMAPS, configMap(`r${code}`)), {
      code: 500,
      body: { message: /failed calling webhook/ },
    })
    await api.ok(api.delete(`${CONFIGURATIONS.Validating}/test`))
  }
  t.same(hooks.seen, [])
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
