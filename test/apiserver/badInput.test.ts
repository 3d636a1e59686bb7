/** Wrong requests get the status code, reason, words and details that users and tools know from Kubernetes. */
import t from 'tap'
import { ALICE, configMap, createSpace, startTestServer } from '../support/server.ts'
import { ask, type BadCase, CM, prepareBadCases, seen, wanted } from './badInput/badCase.ts'
import { bodyCases } from './badInput/bodies.ts'
import { patchCases } from './badInput/patches.ts'
import { queryCases } from './badInput/queries.ts'

const { api, faults } = await startTestServer(t)
await prepareBadCases(api)
const before = await api.ok(api.get(`${CM}/bad-a`))

const tables: Record<string, readonly BadCase[]> = { bodies: bodyCases, patches: patchCases, queries: queryCases }
for (const [title, rows] of Object.entries(tables)) {
  t.test(title, async t => {
    for (const row of rows) {
      const answer = await ask(api, row)
      t.strictSame(seen(answer, row), wanted(row), `${row.method} ${row.name}`)
      t.equal(answer.body.kind, 'Status', `${row.name}: the body is a Status`)
      t.equal(answer.body.code, answer.code, `${row.name}: its code is the HTTP code`)
    }
  })
}

t.test('unknown fields are refused, reported or dropped as the client asks', async t => {
  const body = { ...configMap('fields', { a: 'b' }), nonsense: 1 }
  const query = `${CM}?dryRun=All&fieldValidation=`
  const strict = await api.post(`${query}Strict`, body)
  t.equal(strict.code, 400)
  t.equal(
    strict.body.message,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nonsense"',
  )
  const warned = await api.post(`${query}Warn`, body)
  t.equal(warned.code, 201)
  t.match(warned.headers.warning, '299 - "unknown field \\"nonsense\\""')
  t.notOk('nonsense' in warned.body, 'what nobody knows is not stored')
  const ignored = await api.post(`${query}Ignore`, body)
  t.equal(ignored.headers.warning, undefined)
  t.equal((await api.post(`${CM}?dryRun=All`, body)).headers.warning, warned.headers.warning, 'Warn is the default')
  const patch = await api.send('PATCH', `${CM}/bad-a?fieldValidation=Strict`, {
    body: { nonsense: 1 },
    type: 'application/merge-patch+json',
  })
  t.equal(patch.code, 422)
  t.match(patch.body.message, 'strict decoding error: unknown field "nonsense"')
  for (const validation of ['Strict', 'Warn']) {
    const unreadable = await api.post(`${query}${validation}`, { ...body, data: { a: 5 } })
    t.match(unreadable.body.message, /: json: cannot unmarshal number into Go struct field/, 'a wrong type comes first')
    t.equal(unreadable.headers.warning, undefined)
  }
})

t.test('kind and version may be left out of bodies of built-in kinds', async t => {
  const made = await api.post(`${CM}?dryRun=All`, { metadata: { name: 'short' } })
  t.match(made, { code: 201, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'short' } } })
})

t.test('unknown spaces', async t => {
  await createSpace(api, 'known')
  const path = '/clusters/root:known:missing:deeper/api/v1/namespaces'
  const admin = await api.get(path)
  t.match(admin, { code: 404, body: { reason: 'NotFound', details: { kind: 'workspaces', group: 'tenancy.kcp.io' } } })
  t.match(admin.body.message, '"root:known:missing:deeper" not found: the nearest existing space is "root:known"')
  const alice = api.as(ALICE)
  const [unknown, closed] = [await alice.get(path), await alice.get('/clusters/root:known/api/v1/namespaces')]
  t.equal(unknown.code, 403)
  t.equal(
    unknown.body.message?.replace('root:known:missing:deeper', 'root:known'),
    closed.body.message,
    'a space that is not there looks as one that is closed',
  )
  t.strictSame({ ...unknown.body, message: '' }, { ...closed.body, message: '' })
  t.match(await api.get('/clusters/Root/api/v1/namespaces'), { code: 400, body: { reason: 'BadRequest' } })
  alice.close()
})

t.test('across all spaces one can list and watch, nothing else', async t => {
  const all = api.in('*')
  t.equal((await all.get('/api/v1/configmaps')).code, 200)
  t.equal((await all.get('/api/v1/namespaces/default/configmaps')).code, 200)
  const body = configMap('x')
  for (const [method, path] of [
    ['GET', `${CM}/bad-a`],
    ['POST', CM],
    ['PUT', `${CM}/bad-a`],
    ['PATCH', `${CM}/bad-a`],
    ['DELETE', `${CM}/bad-a`],
    ['DELETE', CM],
  ] as const) {
    const answer = await all.send(method, path, method === 'GET' ? {} : { body })
    t.match(answer, { code: 405, body: { reason: 'MethodNotAllowed' } }, `${method} ${path}`)
    t.match(answer.body.message, 'in the `*` logical cluster')
  }
  const alice = api.as(ALICE).in('*')
  t.equal((await alice.get('/api/v1/configmaps')).code, 403)
  alice.close()
})

t.test('credentials that are wrong', async t => {
  const stranger = api.as('nobody-knows-me')
  t.match(await stranger.get(CM), { code: 401, body: { reason: 'Unauthorized', message: 'Unauthorized' } })
  const nobody = api.as(undefined)
  t.equal((await nobody.get('/readyz')).text, 'ok', 'health is for everybody')
  t.match((await nobody.get(CM)).code, /^40[13]$/)
  stranger.close()
  nobody.close()
})

t.test('none of it changed anything or was a fault of the server', async t => {
  t.strictSame(await api.ok(api.get(`${CM}/bad-a`)), before)
  t.strictSame(faults, [])
})
