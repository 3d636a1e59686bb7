/** The small print of the protocol: methods, media types, compression, old paths, health. Facts are kube-apiserver's. */
import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { parse } from 'yaml'
import { startApiServer } from '../../src/apiserver/apiServer.ts'
import { Api } from '../support/api.ts'
import { accessOf, CONFIGMAPS, configMap, startTestServer, temporaryDir } from '../support/server.ts'

const AS = (kind: string, version = 'v1'): Record<string, string> => ({
  Accept: `application/json;as=${kind};v=${version};g=meta.k8s.io`,
})
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

t.test('one server', async t => {
  const { api, faults } = await startTestServer(t)
  t.after(() => {
    if (faults.length > 0) throw new Error(faults.join('\n'))
  })
  await api.ok(api.post(CONFIGMAPS, configMap('one', { answer: 'yes' })))

  t.test('a method that a path does not take is refused, with those that it takes', async t => {
    const cases: [string, string, string][] = [
      ['OPTIONS', '/api/v1/namespaces', 'GET, POST'],
      ['OPTIONS', '/api/v1/namespaces/default', 'DELETE, GET, PATCH, PUT'],
      ['HEAD', `${CONFIGMAPS}/one`, 'DELETE, GET, PATCH, PUT'],
      ['HEAD', CONFIGMAPS, 'DELETE, GET, POST'],
      ['POST', `${CONFIGMAPS}/one`, 'DELETE, GET, PATCH, PUT'],
      ['PUT', CONFIGMAPS, 'DELETE, GET, POST'],
      ['PATCH', CONFIGMAPS, 'DELETE, GET, POST'],
      ['POST', '/api/v1/configmaps', 'GET'],
      ['DELETE', '/api/v1/configmaps', 'GET'],
      ['DELETE', '/api/v1/namespaces', 'GET, POST'],
      ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'POST'],
      ['POST', '/version', 'GET, HEAD'],
      ['POST', '/services/stream/clusters/root', 'GET'],
    ]
    for (const [method, path, allow] of cases) {
      const { code, headers, body } = await api.send(method, path)
      t.match({ code, allow: headers.allow }, { code: 405, allow }, `${method} ${path}`)
      if (method === 'HEAD') continue
      t.match(body, {
        reason: 'MethodNotAllowed',
        message: 'the server does not allow this method on the requested resource',
      })
    }
    const custom = await api.send('OPTIONS', '/apis/tenancy.kcp.io/v1alpha1/workspaces')
    t.equal(custom.code, 405)
    t.equal((await api.send('HEAD', '/apis')).code, 200, 'discovery answers HEAD')
    t.equal((await api.send('TRACE', '/apis')).code, 405)
  })

  t.test('a path that is not there is not there for any method', async t => {
    const below = `/services/stream/clusters/root${CONFIGMAPS}`
    for (const path of ['/nonsense', '/apis/nope', '/apis/nope/v1', '/apis/apps/v7', '/api/v2', below]) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        t.match(await api.send(method, path), { code: 404, body: { reason: 'NotFound' } }, `${method} ${path}`)
    }
    for (const path of ['/apis/apps', '/apis/apps/v1', '/api/', '/', '/livez/ping', '/openapi/v3/apis/apps/v1'])
      t.equal((await api.send('POST', path)).code, 405, `POST ${path}`)
  })

  t.test('only media types that the server speaks', async t => {
    const bad = [
      'text/html',
      'application/json;as=Table',
      'application/json;as=Table;v=v2;g=meta.k8s.io',
      'application/json;as=Foo;v=v1;g=meta.k8s.io',
    ]
    for (const Accept of bad) {
      for (const path of [CONFIGMAPS, `${CONFIGMAPS}?watch=1`, '/apis', '/version']) {
        const { code, body } = await api.get(path, { Accept })
        t.match({ code, ...body }, { code: 406, reason: 'NotAcceptable' }, `${path} as ${Accept}`)
      }
    }
    const first = await api.get(CONFIGMAPS, { Accept: 'application/vnd.kubernetes.protobuf,application/json' })
    t.equal(first.code, 200, 'the first acceptable one is taken')
    const body = await api.post(CONFIGMAPS, '<html>', { type: 'text/html' })
    t.match(body, { code: 415, body: { reason: 'UnsupportedMediaType' } })
    const patch = await api.send('PATCH', `${CONFIGMAPS}/one`, { body: {} })
    t.match(patch, { code: 415, body: { reason: 'UnsupportedMediaType' } })
    for (const type of ['json', ';', '[object Object]']) {
      for (const [method, path, accepted] of [
        ['POST', CONFIGMAPS, /: application\/json, application\/yaml/],
        ['PATCH', `${CONFIGMAPS}/one`, /: application\/json-patch\+json, /],
      ] as const) {
        const odd = await api.send(method, path, { type, body: {} })
        t.match(odd, { code: 415, body: { reason: 'UnsupportedMediaType', message: accepted } }, `${method} ${type}`)
      }
    }
    const stream = await api.get(`${CONFIGMAPS}?watch=1`, { Accept: 'application/yaml' })
    t.match(parse(stream.text), { code: 406, message: /application\/json;stream=watch/ })
  })

  t.test('YAML goes in and comes out, errors too', async t => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {flag: "no"}\n'
    const made = await api.post(CONFIGMAPS, text, {
      type: 'application/yaml',
      headers: { Accept: 'application/yaml' },
    })
    t.equal(made.code, 201)
    t.equal(made.headers['content-type'], 'application/yaml')
    t.match(made.text, /flag: "no"/, 'what YAML 1.1 readers would take for a boolean is quoted')
    t.match(parse(made.text), { kind: 'ConfigMap', data: { flag: 'no' } })
    const list = await api.get(CONFIGMAPS, { Accept: 'application/yaml' })
    t.match(parse(list.text), { kind: 'ConfigMapList', items: [{}, {}] })
    const missing = await api.get(`${CONFIGMAPS}/nothing`, { Accept: 'application/yaml' })
    t.equal(missing.headers['content-type'], 'application/yaml')
    t.match(parse(missing.text), { kind: 'Status', code: 404, details: { name: 'nothing' } })
    t.match(parse((await api.get('/apis', { Accept: 'application/yaml' })).text), { kind: 'APIGroupList' })
  })

  t.test('JSON is indented for people: when asked for, and for their tools', async t => {
    const path = `${CONFIGMAPS}/one`
    const lines = async (path: string, agent = 'kubectl/v1.36.0'): Promise<number> =>
      (await api.get(path, { 'User-Agent': agent })).text.trim().split('\n').length
    t.equal(await lines(path), 1)
    t.ok((await lines(`${path}?pretty=true`)) > 5)
    t.ok((await lines(path, 'curl/8.0')) > 5)
    t.equal(await lines(`${path}?pretty=false`, 'curl/8.0'), 1)
    t.ok((await lines(`${CONFIGMAPS}?pretty=1`)) > 5)
    t.ok((await lines(`${CONFIGMAPS}/nothing?pretty=1`)) > 5)
    t.ok((await lines('/apis/apps/v1?pretty=1')) > 5)
  })

  t.test('tables and metadata, for objects, lists, writes and scale', async t => {
    for (const path of [CONFIGMAPS, `${CONFIGMAPS}/one`]) {
      const { body } = await api.get(`${path}?includeObject=Object`, AS('Table'))
      t.match(body, { kind: 'Table', rows: [{ cells: ['one', 1], object: { kind: 'ConfigMap' } }] })
    }
    const none = await api.get(`${CONFIGMAPS}?includeObject=None`, AS('Table', 'v1beta1'))
    t.match(none.body, { apiVersion: 'meta.k8s.io/v1beta1', rows: [{ object: null }] })
    const plain = await api.get(`${CONFIGMAPS}?includeObject=`, AS('Table'))
    t.match(plain.body, { rows: [{ object: { kind: 'PartialObjectMetadata' } }] })
    const bad = await api.get(`${CONFIGMAPS}?includeObject=Foo`, AS('Table'))
    t.match(bad, { code: 400, body: { message: /includeObject: Invalid value: "Foo"/ } })
    const created = await api.post(CONFIGMAPS, configMap('two'), { headers: AS('Table') })
    t.match(created, { code: 201, body: { kind: 'Table', rows: [{ cells: ['two'] }] } })
    t.match((await api.get(`${CONFIGMAPS}/one`, AS('PartialObjectMetadata'))).body, { kind: 'PartialObjectMetadata' })
    t.equal((await api.get(CONFIGMAPS, AS('PartialObjectMetadata'))).code, 406)
    t.equal((await api.get(`${CONFIGMAPS}/one`, AS('PartialObjectMetadataList'))).code, 406)
    const deployments = '/apis/apps/v1/namespaces/default/deployments'
    const labels = { a: 'b' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 3, selector: { matchLabels: labels }, template }
    await api.ok(api.post(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec }))
    const scale = await api.get(`${deployments}/d/scale`, AS('Table'))
    t.match(scale.body, { kind: 'Table', rows: [{ cells: ['d', 3, 0] }] })
  })

  t.test('paths of old: /watch/ before the resource', async t => {
    const first = async (path: string) => {
      const watch = await api.watch(path)
      const event = await watch.next()
      watch.close()
      return event
    }
    t.match(await first('/api/v1/watch/namespaces/default/configmaps'), { object: { kind: 'ConfigMap' } })
    t.match(await first('/api/v1/watch/namespaces/default/configmaps/two'), { object: { metadata: { name: 'two' } } })
    t.match(await first('/api/v1/watch/configmaps?labelSelector=!none'), { object: { kind: 'ConfigMap' } })
    t.match(await first('/api/v1/watch/namespaces/default'), { object: { kind: 'Namespace' } })
    t.match(await first('/apis/apps/v1/watch/deployments'), { object: { kind: 'Deployment' } })
    t.equal((await api.post('/api/v1/watch/configmaps', {})).code, 405)
    const one = await api.get(`${CONFIGMAPS}/one?watch=1`)
    t.match(one.body, { kind: 'ConfigMap' }, 'one object cannot be watched by a query parameter')
  })

  t.test('large answers are compressed for clients that take it', async t => {
    const text = 'some words that repeat. '.repeat(9000)
    for (const name of ['big-1', 'big-2', 'big-3', 'big-4', 'big-5', 'big-6']) {
      await api.ok(api.post(CONFIGMAPS, configMap(name, { text })))
    }
    const accept = { 'Accept-Encoding': 'gzip, deflate' }
    for (const path of [`${CONFIGMAPS}/big-1`, CONFIGMAPS, '/openapi/v2']) {
      const [plain, zipped] = [await api.get(path), await raw(api, path, accept)]
      t.equal(plain.headers['content-encoding'], undefined)
      t.equal(zipped.headers['content-encoding'], 'gzip', path)
      t.match(zipped.headers.vary, 'Accept-Encoding')
      t.ok(zipped.bytes.length < plain.text.length / 3)
      t.equal(gunzipSync(zipped.bytes).toString(), plain.text, 'the same answer')
    }
    const refused = await raw(api, `${CONFIGMAPS}/big-1`, { 'Accept-Encoding': 'gzip;q=0' })
    t.equal(refused.headers['content-encoding'], undefined)
    const small = await raw(api, `${CONFIGMAPS}/one`, accept)
    t.equal(small.headers['content-encoding'], undefined, 'small ones are not worth it')
    const { etag } = (await raw(api, '/openapi/v2', accept)).headers
    t.equal((await api.get('/openapi/v2', { ...accept, 'If-None-Match': etag! })).code, 304)
  })

  t.test('health, as a whole and by check, by the names of upstream', async t => {
    const hook = 'poststarthook/rbac/bootstrap-roles'
    const checks = {
      livez: ['ping', 'etcd', hook],
      healthz: ['etcd', hook],
      readyz: ['etcd', 'informer-sync', 'shutdown'],
    }
    const paths = Object.entries(checks).flatMap(([at, names]) => [`/${at}`, ...names.map(name => `/${at}/${name}`)])
    for (const path of paths) {
      const { code, text, headers } = await api.get(path)
      t.match({ code, text, type: headers['content-type'] }, { code: 200, text: 'ok', type: /^text\/plain/ }, path)
    }
    for (const path of [
      '/readyz/nothing',
      '/livez/shutdown',
      '/livez/informer-sync',
      '/livez/poststarthook',
      '/livez/x/y',
    ])
      t.match(await api.get(path), { code: 404, body: { reason: 'NotFound' } }, path)
    const { text } = await api.get('/readyz?verbose&exclude=etcd&exclude=nothing')
    t.match(text, '[+]ping ok\n[+]etcd excluded: ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n[+]poststarthook/')
    t.ok(
      text.endsWith(
        '[+]shutdown ok\nwarn: some health checks cannot be excluded: no matches for "nothing"\nreadyz check passed\n',
      ),
    )
    const listed = (await api.get('/livez?verbose')).text.matchAll(/^\[\+\](\S+) ok$/gm)
    for (const [, name] of listed) t.equal((await api.get(`/livez/${name}`)).code, 200, `${name}`)
    t.equal((await api.as(undefined).get('/readyz')).code, 200, 'probes need no credentials')
    t.equal((await api.as(undefined).get('/readyz/etcd')).code, 401)
  })

  t.test('the version tells all that tools look for', async t => {
    const { body } = await api.get('/version')
    t.match(body, {
      major: '1',
      minor: /^\d+$/,
      gitVersion: /^v1\.\d+\.\d+/,
      platform: /^\w+\/(amd64|arm64)$/,
      emulationMajor: '1',
      minCompatibilityMinor: /^\d+$/,
    })
    t.ok(Object.values(body).every(value => typeof value === 'string'))
  })

  t.test('metrics count by what upstream dashboards look for', async t => {
    const { text } = await api.get('/metrics')
    t.match(text, /apiserver_request_total\{verb="LIST",group="",resource="configmaps",code="200"\} \d+/)
    t.match(text, /apiserver_request_total\{verb="POST",group="",resource="configmaps",code="201"\} \d+/)
    t.match(text, /apiserver_current_inflight_requests\{request_kind="readOnly"\} 1/)
    t.match(text, /process_resident_memory_bytes \d+/)
  })

  t.test('whoever may see one object may list and watch it by its name', async t => {
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'], verbs: ['get', 'list', 'watch'] },
      { nonResourceURLs: ['/'], verbs: ['access'] },
    ]
    await api.ok(api.post(`${RBAC}/clusterroles`, clusterRole('one-only', rules)))
    await api.ok(api.post(`${RBAC}/clusterrolebindings`, binding('one-only', 'alice')))
    const alice = api.as('token-of-alice')
    t.equal((await alice.get(`${CONFIGMAPS}?fieldSelector=metadata.name=one`)).code, 200)
    t.equal((await alice.get(`${CONFIGMAPS}?fieldSelector=metadata.name%3D%3Done`)).code, 200)
    t.equal((await alice.get(`${CONFIGMAPS}?fieldSelector=metadata.name!=one`)).code, 403)
    t.equal((await alice.get(`${CONFIGMAPS}?fieldSelector=metadata.name=two`)).code, 403)
    t.equal((await alice.get(CONFIGMAPS)).code, 403)
  })

  t.test('headers that are too long are refused before anything else', async t => {
    t.equal((await api.get('/version', { 'X-Long': 'x'.repeat(40_000) })).code, 200)
    t.equal((await api.get('/version', { 'X-Long': 'x'.repeat(70_000) })).code, 431)
  })
})

t.test('a burst beyond the bound is told to come again; reading goes on', async t => {
  const server = await startApiServer({
    dataDir: temporaryDir(t),
    bindAddress: '127.0.0.1',
    securePort: 0,
    externalHostnames: [],
    spaces: true,
    tokenFile: 'token-of-alice,alice,u-1\n',
    inFlight: { reading: 1, mutating: 1, watching: 1 },
    log: { info() {}, warn() {}, error: (fields, text) => t.fail(text, fields) },
  })
  const access = accessOf(server.kubeconfigPath)
  const admin = new Api({ ...access, url: server.url })
  t.teardown(async () => {
    admin.close()
    await server.close()
  })
  await admin.ok(admin.post(`${RBAC}/clusterrolebindings`, binding('cluster-admin', 'alice')))
  const alice = admin.as('token-of-alice')

  // A body that does not end keeps its request running.
  const { hostname, port } = new URL(server.url)
  const slow = connect({ host: hostname, port: Number(port), ca: access.ca! })
  slow.write(
    `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-alice\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
  )
  const running = async (): Promise<string> => (await admin.get('/metrics')).text
  while (!(await running()).includes('inflight_requests{request_kind="mutating"} 1'));

  t.equal((await admin.post(CONFIGMAPS, configMap('x'))).code, 201, 'an administrator gets in')
  t.equal((await alice.get(CONFIGMAPS)).code, 200, 'who sends slowly has no seat for long')
  t.equal((await alice.post(CONFIGMAPS, configMap('z'))).code, 201)
  await closed(slow)
  while (!(await running()).includes('inflight_requests{request_kind="mutating"} 0'));
  t.equal((await alice.post(CONFIGMAPS, configMap('y'))).code, 201, 'a client that left made room')
})

t.test('a server that closes ends what runs, takes nothing new, and says so to probes', async t => {
  const { server, api, faults } = await startTestServer(t)
  const { ca, cert, key } = api.access
  const { hostname, port } = new URL(server.url)
  const line = (): TLSSocket => connect({ host: hostname, port: Number(port), ca: ca!, cert: cert!, key: key! })
  const slow = line()
  const body = JSON.stringify(configMap('late'))
  slow.write(`POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`)
  slow.write(`Content-Length: ${body.length}\r\n\r\n{`)
  while (!(await api.get('/metrics')).text.includes('{request_kind="mutating"} 1'));

  const closing = server.close()
  t.match(await api.get('/readyz'), { code: 500, text: /\[-\]shutdown failed/ })
  t.equal((await api.get('/livez')).code, 200)
  const refused = await api.get(CONFIGMAPS)
  t.match(refused, { code: 503, headers: { 'retry-after': '1' }, body: { reason: 'ServiceUnavailable' } })
  slow.write(body.slice(1))
  let answer = ''
  for await (const part of slow) answer += part
  t.match(answer, /^HTTP\/1\.1 201 /, 'what was under way is done and told')
  await closing
  t.same(faults, [])
})

function clusterRole(name: string, rules: object[]): object {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules }
}

function binding(role: string, user: string): object {
  const apiGroup = 'rbac.authorization.k8s.io'
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${role}-${user}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  }
}

function closed(socket: TLSSocket): Promise<void> {
  return new Promise(resolve => socket.on('close', () => resolve()).destroy())
}

/** An answer as it came over the wire. */
function raw(
  api: Api,
  path: string,
  headers: Record<string, string>,
): Promise<{ bytes: Buffer; headers: Record<string, string | undefined> }> {
  const { url, ca, cert, key } = api.access
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { ca, cert, key, headers, agent: false }, response => {
      const parts: Buffer[] = []
      response.on('data', part => parts.push(part))
      response.on('end', () =>
        resolve({ bytes: Buffer.concat(parts), headers: response.headers as Record<string, string> }),
      )
    })
    sent.on('error', reject).end()
  })
}
