/** PlacementPreview: judged as the writes that it asks about, answered by whoever places, and never stored. */
import t from 'tap'
import { pathsOf, showPath } from '../../../src/apimachinery/apply/fieldSet.ts'
import { defaultedFields } from '../../../src/apimachinery/defaultedFields.ts'
import {
  MAX_PREVIEWED,
  MAX_PREVIEWS_AT_ONCE,
  type ObjectPreview,
  type PreviewRequest,
  type Previews,
  type RevisionsRequest,
} from '../../../src/placement/desks/placementPreview.ts'
import { Api } from '../../support/api.ts'
import { ALICE, BOB, CONFIGMAPS, createSpace, startTestServer } from '../../support/server.ts'

const { api, server } = await startTestServer(t)
const PREVIEWS = '/apis/edge.kubestellar.io/v1alpha1/placementpreviews'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const id = await createSpace(api, 'team', 'workload')
const team = api.in('root:team')
const natured = { labels: { 'edge.kubestellar.io/natured': 'true' } }

let roles = 0
async function letIn(user: string, ...rules: object[]): Promise<void> {
  const name = `${user}-${roles++}`
  const metadata = { name, ...natured }
  const enters = { nonResourceURLs: ['/'], verbs: ['access'] }
  const asks = { apiGroups: ['edge.kubestellar.io'], resources: ['placementpreviews'], verbs: ['create'] }
  await team.ok(team.post(`${RBAC}/clusterroles`, { metadata, rules: [enters, asks, ...rules] }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }]
  await team.ok(team.post(`${RBAC}/clusterrolebindings`, { metadata, roleRef, subjects }))
}
const map = (name: string, data: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
  data,
})
const ask = (user: Api, ...objects: unknown[]) => user.post(PREVIEWS, { spec: { objects } })
const refused = (code: number, message: RegExp) => ({ code, body: { kind: 'Status', message } })

const NOTHING: Previews = { objects: [], rollouts: [] }
const asked: PreviewRequest[] = []
const answering = {
  preview: async (request: PreviewRequest) => {
    asked.push(request)
    const objects = request.objects.map(({ resource, object: { kind, metadata }, operation }): ObjectPreview => {
      const { group, resource: plural } = resource
      return { group, resource: plural, kind, name: metadata.name!, operation, placements: [], groups: [] }
    })
    return { objects, rollouts: [] }
  },
  compare: async () => NOTHING,
  consequence: async () => undefined,
  locationFaults: async () => [],
}

t.test('who places is asked about the objects as they would be stored', async t => {
  t.match(await ask(team, map('a')), refused(503, /controller "placement" does not run/))
  server.desks.previews.deliverTo(answering)
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    },
  }
  await team.ok(team.post(CONFIGMAPS, map('there', { v: '1' })))
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'default' },
    stringData: { p: 'hush' },
  }
  const told = await ask(team, deployment, map('there', { v: '2' }), map('there', { v: '1' }), secret)
  t.match(told, {
    code: 201,
    body: { kind: 'PlacementPreview', spec: { objects: [] }, status: { objects: { length: 4 } } },
  })
  t.notMatch(told.text, /hush/, 'what was asked does not come back')
  const [request] = asked.splice(0)
  t.equal(request?.space, id)
  const [made, updated, same] = request!.objects
  t.match(made, {
    operation: 'create',
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    object: { spec: { replicas: 1 } },
  })
  const unsaid = [...pathsOf(defaultedFields(made!.object)!)].map(path => showPath(path))
  t.ok(unsaid.includes('.spec.replicas'), 'and what of them nobody said')
  t.match(updated, { operation: 'update', object: { data: { v: '2' } } })
  t.match(same, { operation: 'unchanged' })
  t.match(await team.get(`${CONFIGMAPS}/there`), { body: { data: { v: '1' } } }, 'nothing is stored')
  t.match(await team.get('/apis/apps/v1/namespaces/default/deployments/web'), { code: 404 })
  t.match(await team.get(PREVIEWS), { code: 405 })
  t.match(await api.in('root:imw1').post(PREVIEWS, { spec: { objects: [map('a')] } }), { code: 404 })
})

t.test('the rights of the write count, and those to see what comes of it', async t => {
  const maps = (...verbs: string[]) => ({ apiGroups: [''], resources: ['configmaps'], verbs })
  await letIn('alice', maps('get', 'create'))
  await letIn('bob', maps('create', 'update'))
  const [alice, bob] = [team.as(ALICE), team.as(BOB)]
  t.match(await ask(alice, map('new')), { code: 201 })
  t.match(await ask(alice, map('there')), refused(403, /alice.* cannot update resource "configmaps"/))
  const { body: there } = await team.get(`${CONFIGMAPS}/there`)
  t.match(await ask(alice, there), { code: 201 }, 'what is as it is asks for no write')
  for (const name of ['there', 'new'])
    t.match(await ask(bob, map(name)), refused(403, /bob.* cannot get resource "configmaps"/))
  const customized = map('new', {}, { annotations: { 'edge.kubestellar.io/customizer': 'c' } })
  t.match(await ask(alice, customized), refused(403, /cannot get resource "customizers"/))
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' } }
  t.match(await ask(alice, role), refused(403, /cannot get resource "clusterroles"/))
  asked.splice(0)
})

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const widget = (spec: object, metadata: object = {}) => ({
  apiVersion: 'example.org/v1',
  kind: 'Widget',
  metadata: { name: 'w', ...metadata },
  spec,
})
const definition = (schema: object, scope = 'Namespaced') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.org' },
  spec: {
    group: 'example.org',
    scope,
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: schema } } } },
      },
    ],
  },
})

t.test('Namespaces and definitions of a question count for what is in it', async t => {
  const inShop = (name: string) => map(name, {}, { namespace: 'shop' })
  t.match(await ask(team, inShop('a')), refused(404, /namespaces "shop" not found/))
  t.match(await ask(team, inShop('a'), namespace('shops')), refused(404, /namespaces "shop" not found/))
  t.match(await ask(team, inShop('a'), namespace('shop'), inShop('b')), {
    code: 201,
    body: { status: { objects: [{ name: 'a' }, { name: 'shop' }, { name: 'b' }] } },
  })
  t.match(asked.splice(0)[0]?.objects[0], { operation: 'create', object: { metadata: { namespace: 'shop' } } })
  const question = ask(team.as(ALICE), namespace('shop'), inShop('a'))
  t.match(await question, refused(403, /alice.* cannot get resource "namespaces"/))
  t.match(await team.get('/api/v1/namespaces/shop'), { code: 404 })

  const shop = { namespace: 'default' }
  t.match(await ask(team, widget({}, shop)), refused(400, /spec\.objects\[0\]: no matches for kind "Widget"/))
  const size = { size: { type: 'integer', default: 7 }, text: { type: 'string', maxLength: 3 } }
  t.match(await ask(team, widget({ text: 'abc' }, shop), definition(size)), { code: 201 })
  const [request] = asked.splice(0)
  t.match(request?.objects, [
    { resource: { group: 'example.org', resource: 'widgets' }, object: { spec: { text: 'abc' } } },
    { resource: { resource: 'customresourcedefinitions' } },
  ])
  t.match(await ask(team, definition(size), widget({ text: 'abcd' }, shop)), refused(422, /spec\.text.*3/))
  t.match(await ask(team, definition(size), widget({}, { namespace: 'none' })), refused(404, /namespaces "none"/))
  t.match(await ask(team, definition(size, 'Cluster'), widget({})), { code: 201 })
  t.match(
    await ask(team, definition({ text: { type: 'integer' } }), widget({ text: 'a' }, shop)),
    refused(422, /spec\.text/),
  )
  t.match(await team.get('/apis/example.org/v1/widgets'), { code: 404 }, 'and nothing is served')
  asked.splice(0)
})

t.test('policies see a Namespace of the question as it would be stored', async t => {
  const group = '/apis/admissionregistration.k8s.io/v1'
  const metadata = { name: 'shop-is-closed', ...natured }
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
  const spec = { matchConstraints: { resourceRules }, validations: [{ expression: 'false', message: 'closed' }] }
  const policies = `${group}/validatingadmissionpolicies`
  const bindings = `${group}/validatingadmissionpolicybindings`
  await team.ok(team.post(policies, { metadata, spec }))
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } }
  const binding = { policyName: 'shop-is-closed', validationActions: ['Deny'], matchResources: { namespaceSelector } }
  await team.ok(team.post(bindings, { metadata, spec: binding }))
  const inShop = map('a', {}, { namespace: 'shop' })
  t.match(await ask(team, inShop, namespace('shop')), refused(422, /denied request: closed/))
  t.match(await ask(team, map('a', {}, { namespace: 'stall' }), namespace('stall')), { code: 201 })
  for (const path of [bindings, policies]) await team.ok(team.delete(`${path}/shop-is-closed`))
  asked.splice(0)
})

t.test('warnings of the writes are told with the objects', async t => {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
  const scaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { scaleTargetRef: target, minReplicas: 2, maxReplicas: 4, metrics: [] },
  }
  const web = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    },
  }
  const leaves = {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'EdgePlacement',
    metadata: { name: 'p' },
    spec: { ignoreDifferences: [{ group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas'] }] },
  }
  const { body, headers } = await ask(team, namespace('shop'), scaler, web)
  const warning = /^HorizontalPodAutoscaler "web" scales Deployment "web", and its spec\.replicas: 3 undoes that/
  t.match(body, { status: { objects: [{ warnings: undefined }, { warnings: [warning] }, { warnings: [warning] }] } })
  t.notOk(headers.warning, 'and once')
  const { body: left } = await ask(team, namespace('shop'), scaler, web, leaves)
  t.notMatch(JSON.stringify(left), /undoes that/)
  asked.splice(0)
})

t.test('a bad question is refused with the place and the remedy, and a bad object as its write', async t => {
  t.match(await team.post(PREVIEWS, { spec: {} }), refused(400, /spec\.objects: must name at least one object/))
  const many = Array.from({ length: MAX_PREVIEWED + 1 }, (_, i) => map(`m${i}`))
  t.match(await ask(team, ...many), refused(400, /has 101 objects, of at most 100: ask for them in several previews/))
  t.match(await ask(team, map('big', { v: 'x'.repeat(1024 * 1024) })), refused(400, /bytes, of at most 1048576/))
  t.match(
    await ask(team, { ...map('a'), kind: 'Nope' }),
    refused(400, /spec\.objects\[0\]: no matches for kind "Nope" in version "v1"/),
  )
  const unnamed = { ...map(''), metadata: { generateName: 'a-', namespace: 'default' } }
  t.match(await ask(team, unnamed), refused(400, /spec\.objects\[0\]\.metadata\.name: must be there/))
  t.match(
    await ask(team, { ...map('a'), metadata: { name: 'a' } }),
    refused(400, /namespace: must be there for a ConfigMap/),
  )
  t.match(await ask(team, map('A')), refused(422, /ConfigMap "A" is invalid: metadata\.name/))
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: { name: 'a' } }
  t.match(await ask(team, review), refused(400, /objects of kind TokenReview are not written/))
  t.same(asked, [])
})

t.test('a question about revisions takes the right to get them and the objects, and names a wrong field', async t => {
  const compared: RevisionsRequest[] = []
  const compare = async (request: RevisionsRequest) => {
    compared.push(request)
    return { ...NOTHING, hidden: 2 }
  }
  server.desks.previews.deliverTo({ ...answering, compare })
  await letIn('alice', { apiGroups: ['edge.kubestellar.io'], resources: ['placementrevisions'], verbs: ['get'] })
  const asks = (user: string, wish: unknown, more: object = {}) =>
    team.as(user).post(PREVIEWS, { spec: { revisions: wish, ...more } })
  const wish = { placement: 'web', from: 1, to: 2 }
  t.match(await asks(BOB, wish), refused(403, /bob.* cannot get resource "placementrevisions"/))
  t.match(await asks(ALICE, wish), { code: 201, body: { status: { hidden: 2, objects: [] } } })
  const [request] = compared
  t.match(request, { space: id, ...wish })
  const here = { namespace: 'default', name: 'a' }
  t.equal(await request!.mayGet({ group: '', version: 'v1', resource: 'configmaps' }, here), true)
  t.equal(await request!.mayGet({ group: '', version: 'v1', resource: 'secrets' }, here), false, 'no Secret')
  const named = (resource: string) => ({ ...wish, objects: [{ resource, ...here }] })
  t.match(await asks(ALICE, named('configmaps')), { code: 201 })
  t.match(await asks(ALICE, named('secrets')), refused(403, /cannot get resource "secrets"/))
  for (const [bad, message] of [
    [{ from: 1 }, /spec\.revisions\.placement: must name an EdgePlacement/],
    [{ placement: 'web' }, /spec\.revisions\.from: must be the number/],
    [{ placement: 'web', from: 0 }, /spec\.revisions\.from: must be the number of a revision where there is no/],
    [{ placement: 'web', from: 1, to: -1 }, /spec\.revisions\.to: must be/],
    [{ ...wish, objects: [] }, /spec\.revisions\.objects: must be a list of 1 to 1000/],
    [{ ...wish, objects: [{ name: 'a' }] }, /spec\.revisions\.objects\[0\]: must have a resource/],
  ] as const)
    t.match(await asks(ALICE, bad), refused(400, message), JSON.stringify(bad))
  t.match(await asks(ALICE, wish, { objects: [map('a')] }), refused(400, /spec\.revisions: goes without spec\.objects/))
  t.equal(compared.length, 2)
  server.desks.previews.deliverTo(answering)
})

t.test('few previews of one space are under way at a time', async t => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let under = 0
  server.desks.previews.deliverTo({
    ...answering,
    preview: async () => {
      if (++under === MAX_PREVIEWS_AT_ONCE) begun.resolve()
      await held
      return NOTHING
    },
  })
  const running = Array.from({ length: MAX_PREVIEWS_AT_ONCE }, () => ask(team, map('a')))
  await begun.promise
  t.match(await ask(team, map('a')), refused(429, /4 previews of this space are under way, of at most 4/))
  release()
  t.strictSame(
    (await Promise.all(running)).map(({ code }) => code),
    [201, 201, 201, 201],
  )
  server.desks.previews.deliverTo(undefined)
})

t.test('who has gone does not keep a place among the previews, however long clusters take to answer', async t => {
  const gone: Promise<unknown>[] = []
  const begun = Promise.withResolvers<void>()
  server.desks.previews.deliverTo({
    ...answering,
    preview: async ({ gone: signal }) => {
      if (!signal) return NOTHING
      gone.push(new Promise(resolve => signal.addEventListener('abort', resolve)))
      if (gone.length === MAX_PREVIEWS_AT_ONCE) begun.resolve()
      await Promise.all(gone)
      return NOTHING
    },
  })
  const leaving = new Api(api.access)
  const live = { spec: { objects: [map('a')], live: {} } }
  const running = Array.from({ length: MAX_PREVIEWS_AT_ONCE }, () => leaving.in('root:team').post(PREVIEWS, live))
  const ends = Promise.allSettled(running)
  await begun.promise
  t.match(await ask(team, map('a')), { code: 429 })
  leaving.close()
  for (const { status } of await ends) t.equal(status, 'rejected')
  await Promise.all(gone)
  t.match(await ask(team, map('a')), { code: 201 })
  server.desks.previews.deliverTo(undefined)
})
