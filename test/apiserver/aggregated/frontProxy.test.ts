/** Requests by a host's front proxy: who counts as one, whose the requests are, and what the host and the spaces have to say. */
import { once } from 'node:events'
import { connect } from 'node:tls'
import t from 'tap'
import WebSocket from 'ws'
import type { PemPair } from '../../../src/apiserver/pki/issue.ts'
import { Api } from '../../support/api.ts'
import { Authority } from '../../support/frontProxy.ts'
import { ALICE, BOB } from '../../support/server.ts'
import { authenticationData, type Behind, handshakeLink, KNOWN, startBehind } from './support.ts'

const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const SPACES = '/apis/tenancy.kcp.io/v1alpha1/spaces'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const WMW = '/clusters/root:wmw1'
const proxyTo = (space: string): string => `${SPACES}/${space}/proxy`
const NATURED = { 'edge.kubestellar.io/natured': 'true' }

/** A right of the host. */
async function hostGrants(behind: Behind, name: string, rule: object, user = name): Promise<void> {
  const { host } = behind
  await host.ok(host.post(`${RBAC}/clusterroles`, { metadata: { name }, rules: [rule] }))
  await host.ok(
    host.post(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    }),
  )
}

const ALL_OF_SPACES = {
  apiGroups: ['tenancy.kcp.io', 'edge.kubestellar.io'],
  resources: ['*'],
  verbs: ['*'],
}

/** A role of a space, for who enters it by that. */
async function spaceGrants({ orrery: { api } }: Behind, user: string, rules: readonly object[], space = WMW) {
  const name = `test-${user.replace(':', '-')}`
  const metadata = { name, labels: NATURED }
  const enter = { nonResourceURLs: ['/'], verbs: ['access'] }
  await api.ok(api.post(`${space}${RBAC}/clusterroles`, { metadata, rules: [enter, ...rules] }))
  await api.ok(
    api.post(`${space}${RBAC}/clusterrolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    }),
  )
}

const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const READING = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }

t.test('two users of the host work in a space by one connection, each with their own rights', async t => {
  const behind = await startBehind(t)
  for (const user of ['alice', 'bob']) await hostGrants(behind, user, ALL_OF_SPACES)
  await spaceGrants(behind, 'host:alice', [EVERYTHING])
  await spaceGrants(behind, 'host:bob', [READING])
  const { certPem: cert, keyPem: key } = await behind.authority.client()
  const proxy = new Api({ url: behind.url, cert, key })
  t.teardown(() => proxy.close())
  const by = (user: string) => ({ 'x-remote-user': user })
  const path = `${proxyTo('root:wmw1')}/api/v1/namespaces/default/configmaps`
  const one = { metadata: { name: 'one' }, data: { a: 'b' } }
  t.equal((await proxy.send('POST', path, { body: one, headers: by('bob') })).code, 403, 'bob reads')
  const made = await proxy.send('POST', path, { body: one, headers: by('alice') })
  t.equal(made.code, 201, made.text)
  t.match((await proxy.get(`${path}/one`, by('bob'))).body, { data: { a: 'b' } })
  const own = behind.orrery.api.in('root:wmw1')
  t.match((await own.get('/api/v1/namespaces/default/configmaps/one')).body, { data: { a: 'b' } })
  const watch = await proxy.watch(`${path}?watch=1&fieldSelector=metadata.name=one`, by('bob'))
  t.match(await watch.take(1), [{ type: 'ADDED', object: { metadata: { name: 'one' } } }])
  watch.close()
  t.match((await proxy.get(`${EDGE}/edgeplacements`, by('alice'))).body, { kind: 'EdgePlacementList' })
  const self = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const whoami = await proxy.send('POST', `${proxyTo('root:wmw1')}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
    body: self,
    headers: { ...by('alice'), 'x-remote-group': ['devs', 'system:masters', 'system:authenticated'] as never },
  })
  t.match(whoami.body, {
    status: {
      userInfo: { username: 'host:alice', groups: ['host:devs', 'host:system:masters', 'system:authenticated'] },
    },
  })
  t.same(behind.orrery.faults, [])
})

t.test('rights of the host and rights of the space are both needed', async t => {
  const behind = await startBehind(t)
  await spaceGrants(behind, 'host:carol', [EVERYTHING])
  const carol = await behind.as('carol')
  const path = `${proxyTo('root:wmw1')}/api/v1/namespaces`
  const byHost = await carol.get(path)
  t.match(byHost, {
    code: 403,
    body: {
      message:
        'spaces.tenancy.kcp.io "root:wmw1" is forbidden: User "carol" cannot get resource "spaces/proxy" in API group "tenancy.kcp.io" at the cluster scope',
    },
  })
  await hostGrants(behind, 'dave', ALL_OF_SPACES)
  const dave = await behind.as('dave')
  const bySpace = await dave.get(path)
  t.match(bySpace, {
    code: 403,
    body: { message: /^forbidden: User "host:dave" cannot get path .*workspace access not permitted$/ },
  })
  const masters = await behind.as('root', ['system:masters'])
  t.match(
    await masters.get(path),
    { code: 403, body: { message: /workspace access not permitted/ } },
    'masters of the host',
  )
  t.equal((await masters.get(`${proxyTo('*')}/api/v1/namespaces`)).code, 403, 'all spaces at a time')
})

t.test('spaces lists those that a user may enter', async t => {
  const behind = await startBehind(t)
  for (const user of ['alice', 'bob']) await hostGrants(behind, user, ALL_OF_SPACES)
  await spaceGrants(behind, 'host:alice', [READING])
  const alice = await behind.as('alice')
  const bob = await behind.as('bob')
  const names = async (of: typeof alice): Promise<unknown> =>
    (await of.get(SPACES)).body.items.map(({ metadata }) => metadata.name)
  t.same(await names(alice), ['root', 'root:wmw1'])
  t.same(await names(bob), ['root'], 'everybody may enter the root')
  t.match((await alice.get(`${SPACES}/root:wmw1`)).body, {
    kind: 'Space',
    metadata: { name: 'root:wmw1' },
    spec: { type: 'workload' },
    status: { proxyPath: proxyTo('root:wmw1') },
  })
  t.match(await bob.get(`${SPACES}/root:wmw1`), {
    code: 404,
    body: { message: 'spaces.tenancy.kcp.io "root:wmw1" not found' },
  })
  t.equal((await bob.get(`${SPACES}/root:none`)).code, 404)
  t.equal((await alice.send('DELETE', `${SPACES}/root:wmw1`)).code, 405)
  const chosen = async (query: string): Promise<unknown> =>
    (await alice.get(`${SPACES}?${query}`)).body.items.map(({ metadata }) => metadata.name)
  t.same(await chosen('fieldSelector=metadata.name%3Droot:wmw1'), ['root:wmw1'])
  t.same(await chosen('fieldSelector=metadata.name%3Droot:none'), [])
  t.same(await chosen('labelSelector=team%3Da'), [])
  t.equal((await alice.get(`${SPACES}?fieldSelector=spec.type%3Dx`)).code, 400)
  const accept = (as: string): Record<string, string> => ({ accept: `application/json;as=${as};g=meta.k8s.io;v=v1` })
  const partial = await alice.get(SPACES, accept('PartialObjectMetadataList'))
  t.match(partial.body, { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList' })
  t.strictSame(partial.body.items[1], {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { name: 'root:wmw1' },
  })
  t.match((await alice.get(`${SPACES}/root:wmw1`, accept('PartialObjectMetadata'))).body, {
    kind: 'PartialObjectMetadata',
    metadata: { name: 'root:wmw1' },
  })
  t.equal((await alice.get(SPACES, accept('PartialObjectMetadata'))).code, 406)
  const table = await alice.get(SPACES, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' })
  t.match(table.body, { kind: 'Table', rows: [{ cells: ['root', 'universal'] }, { cells: ['root:wmw1', 'workload'] }] })
})

t.test('no WebSocket watches kinds of the root that are named as those of the host', async t => {
  const behind = await startBehind(t)
  await hostGrants(behind, 'alice', ALL_OF_SPACES)
  const { api } = behind.orrery
  const names = { plural: 'spaces', singular: 'space', kind: 'Space', listKind: 'SpaceList' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1alpha1', served: true, storage: true, schema }]
  const spec = { group: 'tenancy.kcp.io', scope: 'Cluster', names, versions }
  const definition = { metadata: { name: 'spaces.tenancy.kcp.io' }, spec }
  await api.ok(api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition))
  const watch = new WebSocket(`${behind.url}${SPACES}?watch=1`, {
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${ALICE}` },
  })
  watch.on('error', () => {})
  const answered = once(watch, 'unexpected-response').then(([, { statusCode }]) => statusCode)
  t.equal(await Promise.race([answered, once(watch, 'open').then(() => 'open')]), 405)
  watch.terminate()
})

t.test('documents: two groups, cluster-scoped, for whoever the front proxy names', async t => {
  const behind = await startBehind(t)
  const probe = await behind.as('system:kube-aggregator')
  const { groups } = (await probe.get('/apis')).body as unknown as { groups: { name: string }[] }
  t.same(groups.map(({ name }) => name).sort(), ['edge.kubestellar.io', 'tenancy.kcp.io'])
  const edge = (await probe.get(EDGE)).body as unknown as {
    resources: { name: string; namespaced: boolean; verbs: string[] }[]
  }
  t.ok(edge.resources.some(({ name }) => name === 'edgeplacements'))
  t.notOk(edge.resources.some(({ namespaced }) => namespaced))
  t.notOk(
    edge.resources.some(({ verbs }) => verbs.includes('watch')),
    'the collector of garbage leaves them alone',
  )
  const tenancy = (await probe.get('/apis/tenancy.kcp.io/v1alpha1')).body as unknown as typeof edge
  t.match(
    tenancy.resources.find(({ name }) => name === 'spaces'),
    { verbs: ['get', 'list'] },
  )
  const aggregated = await probe.get('/apis', {
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  })
  t.match(aggregated.body, { kind: 'APIGroupDiscoveryList' })
  t.equal(aggregated.body.items.length, 2)
  const v2 = await probe.get('/openapi/v2')
  t.match(
    Object.keys((v2.body as unknown as { paths: object }).paths).filter(path => path.includes('/apis/apps')),
    [],
  )
  t.ok(v2.text.includes('EdgePlacement'))
  const index = (await probe.get('/openapi/v3')).body as unknown as {
    paths: Record<string, { serverRelativeURL: string }>
  }
  const group = index.paths['apis/edge.kubestellar.io/v2alpha1']!
  t.equal((await probe.get(group.serverRelativeURL)).code, 200)
  t.equal(
    (await probe.get(group.serverRelativeURL.replace(/hash=.*/, 'hash=0'))).code,
    200,
    'a proxy follows no redirect',
  )
  const schemaOf = async (by: typeof probe, path: string): Promise<unknown> =>
    (await by.get(path)).headers['x-kubernetes-pf-flowschema-uid']
  t.equal(await schemaOf(probe, EDGE), await schemaOf(probe, '/livez'), 'probes of the host wait for no seat')
  t.not(await schemaOf(await behind.as('alice'), EDGE), await schemaOf(probe, EDGE))
  for (const path of ['/livez', '/readyz', '/version']) t.equal((await probe.get(path)).code, 200, path)
  for (const path of ['/metrics', '/configz', '/clusters/root:wmw1/apis', '/services/stream/clusters/root'])
    t.not((await probe.get(path)).code, 200, path)
})

t.test(
  'namespaced kinds are shown where that is wanted, without verbs that controllers of the host act on',
  async t => {
    const behind = await startBehind(t, { namespaced: true })
    const probe = await behind.as('system:kube-aggregator')
    const { resources } = (await probe.get(EDGE)).body as unknown as { resources: { name: string; verbs: string[] }[] }
    const verbsOf = (name: string): unknown => resources.find(each => each.name === name)?.verbs.sort()
    t.strictSame(verbsOf('customizers'), ['create', 'get', 'list', 'patch', 'update'])
    t.strictSame(verbsOf('edgeplacements'), ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update'])
    await hostGrants(behind, 'alice', ALL_OF_SPACES)
    await spaceGrants(behind, 'host:alice', [EVERYTHING])
    const alice = await behind.as('alice')
    const path = `${EDGE}/namespaces/default/customizers`
    t.equal((await alice.send('POST', path, { metadata: { name: 'one' } })).code, 201)
    t.match((await alice.get(path)).body, { items: [{ metadata: { name: 'one' } }] })
    t.equal((await alice.send('DELETE', `${path}/one`)).code, 200)
  },
)

t.test('nobody but the front proxy is believed', async t => {
  const behind = await startBehind(t)
  await hostGrants(behind, 'alice', ALL_OF_SPACES)
  await spaceGrants(behind, 'host:alice', [EVERYTHING])
  const path = `${proxyTo('root:wmw1')}/api/v1/namespaces`
  const stranger = await Authority.make('another authority')
  const { orrery, authority, url } = behind
  const { cert, key, token } = orrery.api.access
  const shown: Record<string, object> = {
    'no certificate': {},
    'a token of this server': { token: await accountToken(orrery.api) },
    'a certificate of another authority': await pairOf(stranger.client()),
    'a certificate of this server': { cert, key, token },
    'another name of the right authority': await pairOf(authority.client('somebody')),
    'no name': await pairOf(authority.client('')),
  }
  for (const [what, access] of Object.entries(shown)) {
    const api = new Api({ url, ...access })
    t.teardown(() => api.close())
    for (const asked of [path, '/apis', '/livez']) {
      const answer = await api.get(asked, { 'x-remote-user': 'alice', 'x-remote-group': 'system:masters' })
      t.match(
        answer,
        { code: 401, body: { reason: 'Unauthorized', message: /front proxy and tokens of the host cluster alone/ } },
        what,
      )
    }
  }
  t.equal(behind.logged.texts.filter(text => text.includes('X-Remote')).length, 1, 'once in the log')
  const nameless = await behind.as('')
  t.equal((await nameless.get('/apis')).code, 401, 'a front proxy that names no user')
  const ordinary = new Api({ url: orrery.server.url, ...(await pairOf(authority.client())) })
  t.teardown(() => ordinary.close())
  t.equal((await ordinary.get('/clusters/root:wmw1/api/v1/namespaces', { 'x-remote-user': 'alice' })).code, 401)
  const member = orrery.api.as(ALICE)
  t.teardown(() => member.close())
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const who = await member.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, {
    headers: { 'x-remote-user': 'system:admin', 'x-remote-group': 'system:masters' },
  })
  t.match(who.body, { status: { userInfo: { username: 'alice' } } }, 'headers mean nothing at the ordinary address')
})

t.test('a token of the host is its user at the port, by the same rights', async t => {
  const behind = await startBehind(t, {}, { strangers: { refusals: 3 } as never })
  await hostGrants(behind, 'alice', ALL_OF_SPACES)
  await spaceGrants(behind, 'host:alice', [READING])
  const by = (token: string): Api => {
    const api = new Api({ url: behind.url, token })
    t.teardown(() => api.close())
    return api
  }
  const alice = by(ALICE)
  const path = `${proxyTo('root:wmw1')}/api/v1/namespaces`
  t.match((await alice.get(path)).body, { kind: 'NamespaceList' })
  t.equal((await alice.post(path, { metadata: { name: 'x' } })).code, 403, 'rights of the space')
  t.match((await alice.get(SPACES)).body, { kind: 'SpaceList' })
  t.equal((await alice.get('/apis')).code, 200)
  t.equal((await alice.get('/metrics')).code, 404, 'documents of the host alone')
  t.equal((await alice.get(path, { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' })).code, 200)
  t.match(await by(BOB).get(path), { code: 403, body: { message: /User "bob" cannot get/ } }, 'rights of the host')
  t.equal((await alice.get(path, { 'impersonate-user': 'bob' })).code, 400, 'nobody acts as themselves by mistake')
  const own = '/api/v1/namespaces/default/configmaps'
  await hostGrants(behind, 'bob', { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] })
  await spaceGrants(behind, 'host:bob', [READING])
  t.match(
    await by(BOB).get(own),
    { code: 403, body: { message: /User "bob" cannot get resource "spaces\/proxy"/ } },
    'a right to what the host has is none to what a space has',
  )
  t.equal((await alice.get(own)).code, 200, 'as by the proxy of that space')
  const watch = await alice.watch(`${path}?watch=1&fieldSelector=metadata.name=default`)
  t.match(await watch.take(1), [{ type: 'ADDED', object: { metadata: { name: 'default' } } }])
  watch.close()
  const codes = []
  const wrong = by('wrong')
  for (let i = 0; i < 3; i++) {
    const { code, headers } = await wrong.get(path)
    codes.push(`${code} ${headers.connection === 'close' ? 'last' : 'more'}`)
  }
  t.same(codes, ['401 more', '401 more', '401 last'], 'wrong tokens count')
  const nameless = await behind.as('')
  t.equal(
    (await nameless.get('/apis', { authorization: `Bearer ${ALICE}` })).code,
    200,
    'a front proxy that names no user',
  )
  t.same(behind.orrery.faults, [])
})

t.test('headers of a user beside those of the front proxy change nothing', async t => {
  const behind = await startBehind(t)
  await hostGrants(behind, 'alice', ALL_OF_SPACES)
  await spaceGrants(behind, 'host:alice', [EVERYTHING])
  const alice = await behind.as('alice')
  const path = `${proxyTo('root:wmw1')}/apis/authentication.k8s.io/v1/selfsubjectreviews`
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const answer = await alice.send('POST', path, review, {
    authorization: `Bearer ${ALICE}`,
    'impersonate-user': 'system:admin',
    'impersonate-group': 'system:masters',
    'x-remote-extra-authentication.kubernetes.io%2fcluster-name': 'root',
  })
  t.match(answer.body, { status: { userInfo: { username: 'host:alice' } } })
  for (const bad of ['/%zz', `${SPACES}/%zz/proxy/api`, `${SPACES}/root%2Fwmw1/proxy/api`, `${SPACES}/UPPER/proxy/api`])
    t.equal((await alice.get(bad)).code, 400, bad)
  t.equal((await alice.get(`${proxyTo('root:wmw1')}/clusters/root/api/v1/namespaces`)).code, 403, 'a path of the space')
  t.equal((await alice.get(`${SPACES}/root:wmw1/%70roxy/api`)).code, 404, 'no proxy')
  t.equal((await alice.get(`${SPACES}/root%3Awmw1/proxy/api`)).code, 200, 'an escaped colon is one')
})

t.test('another authority of the host counts at once, and the former one no more', async t => {
  const behind = await startBehind(t)
  await hostGrants(behind, 'alice', ALL_OF_SPACES)
  const before = await behind.as('alice')
  t.equal((await before.get(SPACES)).code, 200)
  const next = await Authority.make()
  const pair = await next.client('next-proxy')
  const after = await behind.as('alice', [], pair)
  t.equal((await after.get(SPACES)).code, 401)
  const turned = behind.logged.next('another front proxy')
  await behind.describe(authenticationData(next.ca.certPem, ['next-proxy']))
  await turned
  t.equal((await (await behind.as('alice', [], pair)).get(SPACES)).code, 200)
  t.equal((await (await behind.as('alice')).get(SPACES)).code, 401)
  const refused = behind.logged.next('cannot be used')
  await behind.describe({ ...authenticationData(next.ca.certPem), 'requestheader-allowed-names': 'front-proxy-client' })
  await refused
  t.equal((await (await behind.as('alice', [], pair)).get(SPACES)).code, 401, 'a description that cannot be read')
  const known = behind.logged.next(KNOWN)
  await behind.describe(authenticationData(next.ca.certPem, []))
  await known
  t.equal((await (await behind.as('alice', [], pair)).get(SPACES)).code, 200, 'any name of that authority')
})

t.test('connections of a front proxy that is no more known end, a handshake that is under way too', async t => {
  const behind = await startBehind(t)
  await hostGrants(behind, 'alice', ALL_OF_SPACES)
  const pair = await pairOf(behind.authority.client())
  const opened = async (): Promise<{ ended: Promise<unknown> }> => {
    const socket = connect({ port: Number(new URL(behind.url).port), rejectUnauthorized: false, ...pair })
    socket.on('error', () => {})
    t.teardown(() => socket.destroy())
    await once(socket, 'secureConnect')
    return { ended: once(socket, 'close') }
  }
  const first = await opened()
  const named = behind.logged.next('another front proxy')
  await behind.describe(authenticationData(behind.authority.ca.certPem, ['next-proxy']))
  await named
  await first.ended
  t.pass('another name')
  const again = behind.logged.next('another front proxy')
  await behind.describe(authenticationData(behind.authority.ca.certPem))
  await again
  const link = await handshakeLink(t, behind.url)
  const late = new Api({ url: link.url, ...pair })
  t.teardown(() => late.close())
  const asked = late.get(SPACES, { 'x-remote-user': 'alice' }).then(
    ({ code }) => code,
    () => 'ended',
  )
  await link.held
  const second = await opened()
  const turned = behind.logged.next('another front proxy')
  await behind.describe(authenticationData((await Authority.make()).ca.certPem))
  await turned
  await second.ended
  link.release()
  t.equal(await asked, 'ended')
})

t.test('a watch ends with the authority of its front proxy, and with the certificate', async t => {
  const behind = await startBehind(t)
  await hostGrants(behind, 'alice', ALL_OF_SPACES)
  await spaceGrants(behind, 'host:alice', [READING])
  const path = `${proxyTo('root:wmw1')}/api/v1/namespaces?watch=1&fieldSelector=metadata.name=default`
  const opened = async (pair: PemPair) => {
    const { api, headers } = await behind.as('alice', [], pair)
    const watch = await api.watch(path, headers)
    t.match(await watch.take(1), [{ type: 'ADDED', object: { metadata: { name: 'default' } } }])
    return watch
  }
  const second = 1 / 86_400
  const short = await opened(await behind.authority.client(undefined, 2 * second))
  t.match(await short.next(), { type: 'ERROR', object: { reason: 'Unauthorized' } })
  t.equal(await short.next(), undefined)
  const long = await opened(await behind.authority.client())
  await behind.describe(authenticationData((await Authority.make()).ca.certPem))
  await t.rejects(long.next(), { code: 'ECONNRESET' })
})

t.test('names of users and groups are UTF-8', async t => {
  const behind = await startBehind(t)
  await hostGrants(behind, 'juergen', ALL_OF_SPACES, 'jürgen')
  await spaceGrants(behind, 'host:jürgen', [READING])
  const sent = (text: string): string => Buffer.from(text).toString('latin1')
  const user = await behind.as(sent('jürgen'), [sent('équipe')])
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = `${proxyTo('root:wmw1')}/apis/authentication.k8s.io/v1/selfsubjectreviews`
  t.match((await user.send('POST', path, review)).body, {
    status: { userInfo: { username: 'host:jürgen', groups: ['host:équipe', 'system:authenticated'] } },
  })
})

t.test('a host that gives no answer allows nothing, and documents are there all the same', async t => {
  const failing = { create: () => Promise.reject(new Error('connection refused')) }
  const behind = await startBehind(t, {}, {}, failing)
  const alice = await behind.as('alice', ['system:masters'])
  t.match(await alice.get(`${EDGE}/edgeplacements`), {
    code: 503,
    headers: { 'retry-after': '1' },
    body: { message: 'the host cluster answers no SubjectAccessReview, so nothing is allowed: connection refused' },
  })
  t.equal((await alice.get(EDGE)).code, 200)
})

t.test('wrong requests of one user of the host end no connection of another', async t => {
  const behind = await startBehind(t, {}, { strangers: { refusals: 2 } as never })
  await hostGrants(behind, 'alice', ALL_OF_SPACES)
  const { certPem: cert, keyPem: key } = await behind.authority.client()
  const proxy = new Api({ url: behind.url, cert, key })
  t.teardown(() => proxy.close())
  for (let i = 0; i < 5; i++) {
    const { code, headers } = await proxy.get('/clusters/UPPER/x', { 'x-remote-user': 'mallory' })
    t.ok(code >= 400 && headers.connection !== 'close', `${code} ${headers.connection}`)
  }
  t.equal((await proxy.get(SPACES, { 'x-remote-user': 'alice' })).code, 200)
})

/** A token of an account of the root. */
async function accountToken(api: Api): Promise<string> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await api.ok(api.post(accounts, { metadata: { name: 'one' } }))
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = await api.ok(api.post(`${accounts}/one/token`, body))
  return (status as { token: string }).token
}

async function pairOf(made: ReturnType<Authority['client']>): Promise<{ cert: string; key: string }> {
  const { certPem: cert, keyPem: key } = await made
  return { cert, key }
}
