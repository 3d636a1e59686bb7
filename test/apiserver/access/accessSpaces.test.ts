/** Which space a request is about, and what strangers learn of the spaces of others: nothing. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { UserInfo } from '../../../src/apiserver/auth/types.ts'
import { ANN, type FakeAccess, fakeAccess } from './support.ts'

const CONFIGMAPS = '/api/v1/namespaces/n/configmaps'

/** The refusal, or where the request is let in. */
async function outcome({ authorize }: FakeAccess, space: string, token = 'ann', headers = {}, request = 'GET /api') {
  const [method, path] = request.split(' ')
  try {
    return (await authorize(`${method} /clusters/${space}${path}`, token, headers)).space
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return JSON.stringify(error.toStatus()).replaceAll(space, 'SPACE')
  }
}

t.test('a space is called by its path, its id, or from an id on', async t => {
  const access = await fakeAccess(t)
  for (const [path, id] of [
    ['root', 'root'],
    ['root:one', 'id-one'],
    ['id-one', 'id-one'],
    ['root:one:sub', 'id-sub'],
    ['id-one:sub', 'id-sub'],
  ] as const)
    t.equal(await outcome(access, path), id, path)
})

t.test('who names none is in that of their credential, or in the root', async t => {
  const own = { user: ANN, space: 'id-one' }
  const { authorize } = await fakeAccess(t, { authenticate: ({ token }) => (token === 'own' ? own : { user: ANN }) })
  t.equal((await authorize('GET /api', 'own')).space, 'id-one')
  t.equal((await authorize('GET /clusters/id-sub/api', 'own')).space, 'id-sub')
  t.equal((await authorize('GET /api', 'ann')).space, 'root')
})

t.test('a plain cluster has no spaces', async t => {
  const own = { user: ANN, space: 'id-one' }
  const plain = await fakeAccess(t, { authenticate: () => own, more: { spaces: false } })
  t.equal((await plain.authorize('GET /api')).space, 'root')
  t.match(await outcome(plain, 'root'), /"code":404/)
  t.notOk(plain.steps.some(step => step.startsWith('may enter')))
})

const serviceAccount: UserInfo = {
  name: 'system:serviceaccount:n:robot',
  groups: ['system:serviceaccounts', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/cluster-name': ['id-sub'] },
}
const confined: UserInfo = { ...ANN, extra: { 'authentication.kcp.io/scopes': ['cluster:id-sub'] } }

for (const [who, user, headers] of [
  ['a user', ANN, {}],
  ['who acts for another', ANN, { 'impersonate-user': 'bob' }],
  ['who acts for half of another', ANN, { 'impersonate-group': 'dev' }],
  ['a ServiceAccount of another space', serviceAccount, {}],
  ['who is confined to another space', confined, {}],
] as const) {
  t.test(`spaces that are not there and spaces that are closed are one to ${who}`, async t => {
    const access = await fakeAccess(t, {
      authenticate: () => ({ user }),
      open: ['id-sub'],
      allow: ({ space }) => space === 'id-sub',
    })
    for (const request of ['GET /api', `GET ${CONFIGMAPS}`, `POST ${CONFIGMAPS}`, 'GET /livez']) {
      const unknown = await outcome(access, 'root:nowhere', '', headers, request)
      t.match(unknown, '"code":403')
      t.match(unknown, /User \\"(ann|system:serviceaccount:n:robot)\\" .*: workspace access not permitted"/)
      for (const space of [
        'root:closed',
        'id-closed',
        'nowhere',
        'root:ending',
        'id-ending:deep',
        'root:closed:x',
        'root:one:x',
      ])
        t.equal(await outcome(access, space, '', headers, request), unknown, `${request} of ${space}`)
    }
  })
}

t.test('who may list the Workspaces of a space is told which of them is not there', async t => {
  const { authorize, asked } = await fakeAccess(t, { open: ['id-one'] })
  await t.rejects(authorize('GET /clusters/root:one:x/api', 'ann'), {
    reason: 'NotFound',
    message: 'workspaces.tenancy.kcp.io "root:one:x" not found: the nearest existing space is "root:one"',
  })
  t.match(asked, [{ verb: 'list', space: 'id-one', resource: { resource: 'workspaces' }, user: ANN }])
  await t.rejects(authorize('GET /clusters/root:x/api', 'ann'), { reason: 'Forbidden', message: /not permitted/ })
  const blind = await fakeAccess(t, { open: ['id-one'], allow: ({ verb }) => verb !== 'list' })
  await t.rejects(blind.authorize('GET /clusters/root:one:x/api', 'ann'), {
    reason: 'Forbidden',
    message: /not permitted/,
  })
  for (const [path, hint] of [
    ['root:one:x', 'the nearest existing space is "root:one"'],
    ['x', 'no part of that path exists'],
  ] as const)
    await t.rejects(authorize(`GET /clusters/${path}/api`, 'root'), {
      reason: 'NotFound',
      message: RegExp(`: ${hint}$`),
    })
})

t.test('nothing new comes into a space that ends, and only administrators see what is left', async t => {
  const access = await fakeAccess(t)
  for (const [space, id] of [
    ['root:ending', 'id-ending'],
    ['id-deep', 'id-deep'],
  ] as const) {
    for (const request of [`GET ${CONFIGMAPS}`, `DELETE ${CONFIGMAPS}/c`, `GET ${CONFIGMAPS}?watch=1`]) {
      t.equal(await outcome(access, space, 'root', {}, request), id, request)
      t.match(await outcome(access, space, 'ann', {}, request), '"code":403')
    }
    for (const request of [`POST ${CONFIGMAPS}`, `PUT ${CONFIGMAPS}/c`, `PATCH ${CONFIGMAPS}/c`])
      for (const who of ['root', 'ann']) t.match(await outcome(access, space, who, {}, request), '"code":403', request)
  }
})

t.test('all spaces at once are for administrators, who can list and watch there', async t => {
  const access = await fakeAccess(t)
  const at = (request: string, token: string) => outcome(access, '*', token, {}, request)
  for (const request of [`GET ${CONFIGMAPS}`, `GET ${CONFIGMAPS}?watch=1`, 'GET /api']) {
    t.equal(await at(request, 'root'), '*', request)
    t.match(await at(request, 'ann'), /"code":403.*not permitted|not permitted.*"code":403/, request)
  }
  for (const request of [`GET ${CONFIGMAPS}/c`, `POST ${CONFIGMAPS}`, `DELETE ${CONFIGMAPS}`])
    t.match(await at(request, 'root'), '"reason":"MethodNotAllowed"', request)
  t.match(await at(`POST ${CONFIGMAPS}`, 'ann'), '"code":403')
  t.notOk(
    access.steps.some(step => step.startsWith('may ')),
    'and nobody is asked',
  )
})
