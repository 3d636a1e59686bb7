/** The order of steps for a request, its user, and the questions to its authorizer. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { Credentials } from '../../../src/apiserver/auth/types.ts'
import { effectiveUser } from '../../../src/apiserver/auth/users.ts'
import { ANN, fakeAccess, ROOT_USER } from './support.ts'

const CONFIGMAPS = '/api/v1/namespaces/n/configmaps'

t.test('what is asked, who asks, where, whether they may: in this order', async t => {
  const { authorize, steps } = await fakeAccess(t)
  const { info, user, space } = await authorize(`GET /clusters/root:one${CONFIGMAPS}/c`, 'ann')
  t.strictSame(steps, [
    `parsed ${CONFIGMAPS}/c`,
    'authenticate',
    'identified ann',
    'located id-one',
    'may enter id-one',
    'may get configmaps in id-one',
    'decided true a rule',
  ])
  t.strictSame([user, space], [ANN, 'id-one'])
  t.match(info, { verb: 'get', resource: { resource: 'configmaps', namespace: 'n', name: 'c' } })
})

t.test('who acts for another is asked for that before anything is asked for the other', async t => {
  const { authorize, steps } = await fakeAccess(t)
  const { user } = await authorize(`GET /clusters/root:one${CONFIGMAPS}`, 'ann', { 'impersonate-user': 'bob' })
  t.strictSame(steps.slice(2), [
    'identified ann',
    'located id-one',
    'may enter id-one',
    'may impersonate users in id-one',
    'impersonated bob',
    'may enter id-one',
    'may list configmaps in id-one',
    'decided true a rule',
  ])
  t.equal(user.name, 'bob')
})

t.test('who acts for another may do what the other may, and no more', async t => {
  const { authorize, asked } = await fakeAccess(t, {
    allow: ({ user, verb }) => (user.name === 'ann' ? verb === 'impersonate' : verb === 'get'),
  })
  const as = (method: string) => authorize(`${method} ${CONFIGMAPS}/c`, 'ann', { 'impersonate-user': 'bob' })
  t.equal((await as('GET')).user.name, 'bob')
  t.strictSame(
    asked.map(({ user, verb }) => `${user.name} ${verb}`),
    ['ann impersonate', 'bob get'],
  )
  await t.rejects(as('DELETE'), { reason: 'Forbidden', message: /User "bob" cannot delete resource "configmaps"/ })
  await t.rejects(authorize(`GET ${CONFIGMAPS}/c`, 'ann'), { reason: 'Forbidden', message: /User "ann" cannot get/ })
})

t.test('a refusal ends it: nobody behind it is asked', async t => {
  const last = async (request: string, token: string, options: Parameters<typeof fakeAccess>[1] = {}, headers = {}) => {
    const { authorize, steps } = await fakeAccess(t, options)
    const error = await authorize(request, token, headers).then(
      () => t.fail('it is let in'),
      (reason: unknown) => reason,
    )
    if (!(error instanceof StatusError)) return t.fail(`${error}`)
    return `${error.code} ${error.reason} after ${steps.at(-1)}`
  }
  const bad = {
    authenticate: () => {
      throw new StatusError('Unauthorized', 'Unauthorized')
    },
  }
  const none = { allow: () => false }
  t.equal(await last('GET /clusters/Not!a!space/api', 'ann'), '400 BadRequest after undefined')
  t.equal(await last('GET /api/v1/namespaces/%zz', 'ann'), '400 BadRequest after undefined')
  t.equal(await last(`GET ${CONFIGMAPS}`, 'x', bad), '401 Unauthorized after authenticate')
  t.equal(
    await last(`GET ${CONFIGMAPS}`, '', { more: { anonymousAuth: false } }),
    '401 Unauthorized after authenticate',
  )
  t.equal(await last('GET /clusters/nowhere/api', 'ann'), '403 Forbidden after identified ann')
  t.equal(
    await last(`GET ${CONFIGMAPS}`, 'ann', none, { 'impersonate-user': 'bob' }),
    '403 Forbidden after may impersonate users in root',
  )
  t.equal(
    await last(`GET ${CONFIGMAPS}`, 'ann', { open: [] }),
    '403 Forbidden after decided false workspace access not permitted',
  )
  t.equal(await last(`GET ${CONFIGMAPS}`, 'ann', none), '403 Forbidden after decided false no rule')
})

t.test('who may not is told what, in the words of upstream', async t => {
  const { authorize } = await fakeAccess(t, { allow: () => false })
  await t.rejects(authorize(`POST ${CONFIGMAPS}`, 'ann'), {
    reason: 'Forbidden',
    message:
      'configmaps is forbidden: User "ann" cannot create resource "configmaps" in API group "" in the namespace "n": no rule',
    details: { kind: 'configmaps' },
  })
  await t.rejects(authorize('GET /metrics', 'ann'), {
    message: 'forbidden: User "ann" cannot get path "/metrics": no rule',
  })
})

t.test('credentials', async t => {
  const asked: object[] = []
  const { authorize } = await fakeAccess(t, {
    authenticate: credentials => {
      asked.push(credentials)
      return undefined
    },
  })
  const certificate = { subject: 'CN=ann' }
  let looked = 0
  const peer = (authorized: boolean) => ({
    authorized,
    getPeerX509Certificate: () => {
      looked++
      return certificate
    },
  })
  const socket = peer(true)

  await t.test('a bearer token, however the scheme is written, and no other scheme', async t => {
    for (const authorization of ['Bearer abc', 'bearer abc', 'BEARER   abc  '])
      await authorize('GET /', '', { authorization })
    for (const authorization of ['Basic abc', 'abc', 'Bearer ', 'Bearerabc'])
      await authorize('GET /', '', { authorization })
    const tokens = [{ token: 'abc' }, { token: 'abc' }, { token: 'abc' }, {}, {}, {}, {}]
    t.strictSame(asked.splice(0), tokens)
  })

  await t.test('a token that a browser brings as a sub-protocol, unless there is a header', async t => {
    const offered = `base64url.bearer.authorization.k8s.io.${Buffer.from('abc').toString('base64url')}, v4`
    await authorize('GET /', '', { 'sec-websocket-protocol': offered })
    await authorize('GET /', 'header', { 'sec-websocket-protocol': offered })
    t.strictSame(asked.splice(0), [{ token: 'abc' }, { token: 'header' }])
  })

  await t.test('a certificate that was verified, worked out once for each connection', async t => {
    await authorize('GET /', '', {}, socket)
    await authorize('GET /', 'abc', {}, socket)
    t.strictSame(asked.splice(0), [{ certificate }, { certificate, token: 'abc' }])
    t.equal(looked, 1)
    await authorize('GET /', '', {}, peer(false))
    t.strictSame([asked.splice(0), looked], [[{}], 1], 'one that was not verified is none')
  })
})

t.test('who brings no credentials is anonymous, or nobody', async t => {
  const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
  const open = await fakeAccess(t)
  t.strictSame((await open.authorize(`GET ${CONFIGMAPS}`)).user, anonymous)
  const closed = await fakeAccess(t, { more: { anonymousAuth: false }, allow: () => false, open: [] })
  for (const path of ['/livez', '/readyz', '/healthz', '/version', '/version/']) {
    t.strictSame((await closed.authorize(`GET ${path}`)).user, anonymous, path)
    t.equal((await closed.authorize(`GET ${path}`, 'ann')).user, ANN, 'nobody is asked whether they may')
  }
  t.notOk(closed.steps.some(step => step.startsWith('may ')))
  for (const path of ['/clusters/root/livez', '/livez/etcd', '/api', '/metrics'])
    await t.rejects(closed.authorize(`GET ${path}`), { reason: 'Unauthorized', message: 'Unauthorized' }, path)
})

t.test('administrators are asked nothing, unless they are confined', async t => {
  const confined = { ...ROOT_USER, extra: { 'authentication.kcp.io/scopes': ['cluster:id-closed'] } }
  const { authorize, steps } = await fakeAccess(t, {
    authenticate: ({ token }) => ({ user: token === 'confined' ? confined : ROOT_USER }),
    allow: () => false,
    open: [],
  })
  await authorize(`DELETE /clusters/root:one${CONFIGMAPS}/c`, 'root')
  await authorize(`DELETE /clusters/root:closed${CONFIGMAPS}/c`, 'confined')
  t.notOk(steps.some(step => step.startsWith('may ')))
  await t.rejects(authorize(`DELETE /clusters/root:one${CONFIGMAPS}/c`, 'confined'), {
    reason: 'Forbidden',
    message: /not permitted/,
  })
})

t.test('what the authorizer is asked', async t => {
  const { authorize, asked } = await fakeAccess(t)
  const question = async (request: string) => {
    asked.splice(0)
    await authorize(request, 'ann')
    const [{ verb, resource, path } = t.fail('it is not asked') as never] = asked
    const { group = '', resource: kind, subresource, namespace, name } = resource ?? {}
    return resource
      ? `${verb} ${kind}${subresource && `/${subresource}`}${group && `.${group}`} ${namespace}/${name}`
      : `${verb} ${path}`
  }
  for (const [request, wanted] of [
    ['GET /api/v1/namespaces/n', 'get namespaces n/n'],
    ['PUT /api/v1/namespaces/n/finalize', 'update namespaces/finalize n/n'],
    ['GET /api/v1/namespaces', 'list namespaces /'],
    [`GET ${CONFIGMAPS}?watch=1`, 'watch configmaps n/'],
    [`GET ${CONFIGMAPS}?watch=1&fieldSelector=metadata.name%3Dc`, 'watch configmaps n/c'],
    [`GET ${CONFIGMAPS}?fieldSelector=a%3Db,metadata.name%3D%3Dc`, 'list configmaps n/c'],
    [`GET ${CONFIGMAPS}?fieldSelector=metadata.name!%3Dc`, 'list configmaps n/'],
    [`DELETE ${CONFIGMAPS}?fieldSelector=metadata.name%3Dc`, 'deletecollection configmaps n/'],
    ['PATCH /apis/apps/v1/namespaces/n/deployments/d/scale', 'patch deployments/scale.apps n/d'],
    ['HEAD /apis/apps/v1/deployments', 'list deployments.apps /'],
    ['GET /openapi/v3', 'get /openapi/v3'],
    ['POST /openapi/v3', 'post /openapi/v3'],
    ['GET /clusters/root:one/openapi/v3', 'get /openapi/v3'],
    ['GET /services/stream/clusters/root:one', 'watch *.* /'],
    ['GET /services/stream/clusters/root:one/', 'watch *.* /'],
    [`GET /services/stream/clusters/root:one${CONFIGMAPS}`, `get /services/stream${CONFIGMAPS}`],
  ] as const)
    t.equal(await question(request), wanted, request)
})

t.test('groups that are impersonated are apart, though their names hold commas', async t => {
  const { authorize, asked } = await fakeAccess(t)
  const { user } = await authorize(`GET ${CONFIGMAPS}`, 'root', {
    'impersonate-user': 'bob',
    'impersonate-group': ['a, b', 'c'] as never,
  })
  t.strictSame(user.groups, ['a, b', 'c', 'system:authenticated'])
  t.match(
    asked.map(({ resource }) => resource?.name),
    ['bob', 'a, b', 'c'],
  )
})

t.test('who is impersonated by an administrator of a space counts in it alone', async t => {
  const { authorize } = await fakeAccess(t)
  const act = (headers: object) =>
    authorize(`GET /clusters/root:one${CONFIGMAPS}`, 'ann', { 'impersonate-user': 'bob', ...headers })
  const { user } = await act({ 'impersonate-group': 'dev' })
  t.equal(effectiveUser(user, 'id-one'), user)
  for (const elsewhere of ['root', 'id-sub', 'id-closed', '*'])
    t.match(effectiveUser(user, elsewhere), { name: 'system:anonymous', groups: ['system:authenticated'] })
  for (const group of ['system:masters', 'system:kcp:admin', 'system:cluster:id-closed'])
    await t.rejects(act({ 'impersonate-group': group }), { reason: 'Forbidden', message: /reaches beyond this space/ })
  const wide = { 'impersonate-extra-authentication.kcp.io%2fscopes': 'cluster:id-one,cluster:root' }
  t.equal(effectiveUser((await act(wide)).user, 'root').name, 'system:anonymous')
  const master = await authorize(`GET /clusters/root:one${CONFIGMAPS}`, 'root', { 'impersonate-user': 'bob' })
  t.equal(effectiveUser(master.user, 'root').name, 'bob')
})

t.test('groups without a user are a mistake, whoever makes it', async t => {
  const { authorize } = await fakeAccess(t)
  for (const token of ['root', 'ann'])
    await t.rejects(authorize('GET /api', token, { 'impersonate-group': 'dev' }), {
      reason: 'BadRequest',
      message: /without impersonating a user$/,
    })
})

t.test('a connection that shows the same credential again is asked about by the same object', async t => {
  const seen: Credentials[] = []
  const { authorize } = await fakeAccess(t, {
    authenticate: credentials => {
      seen.push(credentials)
      return credentials.token === undefined ? undefined : { user: { ...ANN, name: credentials.token } }
    },
  })
  const socket = {}
  const names: string[] = []
  for (const [token, of] of [
    ['ann', socket],
    ['ann', socket],
    ['eve', socket],
    ['ann', socket],
    ['ann', {}],
  ] as const)
    names.push((await authorize(`GET ${CONFIGMAPS}`, token, {}, of)).user.name)
  t.same(names, ['ann', 'ann', 'eve', 'ann', 'ann'])
  t.equal(seen[1], seen[0])
  t.equal(new Set(seen).size, 4)
  const protocols = 'v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.Ym9i'
  t.equal((await authorize(`GET ${CONFIGMAPS}`, '', { 'sec-websocket-protocol': protocols }, socket)).user.name, 'bob')
})
