/**
 * Writes that a thread prepares: which they are, that they are answered as where none does, and that what somebody was told meanwhile, that
 * a place goes, that a right is gone or that an object is another, counts for them as for all.
 */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { targetOf } from '../../../src/apiserver/server/dispatch.ts'
import { OwnWrites } from '../../../src/apiserver/threads/ownWrites.ts'
import type { Api } from '../../support/api.ts'
import { CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'
import { AS_ALICE, codeOf, grant, type Line, lineTo } from '../server/shortSupport.ts'

/** Connections enough that the thread has some: the kernel deals them out. */
const CONNECTIONS = 16
const JSON_BODY = 'Content-Type: application/json\r\n'

const { api, server, faults } = await startTestServer(t, { more: { apiThreads: 1 } })
let count = 0
const write = server.store.write.bind(server.store)
server.store.write = one => {
  if (new Error().stack?.includes('sharedLog')) count++
  return write(one)
}

/** How many objects came to the store prepared since then. */
function preparedSince(): () => number {
  const before = count
  return () => count - before
}

/** Connections on which the heads of such requests are known: they go the short way. */
async function lines(
  t: Test,
  api: Api,
  method: string,
  path: string,
  body: object,
  headers = JSON_BODY,
): Promise<Line[]> {
  const all = await Promise.all(Array.from({ length: CONNECTIONS }, () => lineTo(t, api)))
  await Promise.all(all.map(line => line.send(method, `${path}?dryRun=All`, JSON.stringify(body), headers)))
  return all
}

/**
 * Makes objects on all connections, again and again until one of them came prepared: on a machine that is busy a body may arrive behind
 * its head, and then it goes the long way. The code that all were answered with.
 */
async function untilPrepared(prepared: () => number, all: readonly Line[], path: string): Promise<number> {
  for (let turn = 0; ; turn++) {
    const answers = all.map((line, i) => post(line, path, configMap(`made-${turn}-${i}`)))
    const codes = new Set((await Promise.all(answers)).map(codeOf))
    if (codes.size !== 1) throw new Error(`they are answered differently: ${[...codes].join(', ')}`)
    if (prepared() > 0) return [...codes][0]!
  }
}

function patchText(path: string, patch: object, headers: string): string {
  const body = JSON.stringify(patch)
  return `PATCH ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
}

const post = (line: Line, path: string, object: object, headers = JSON_BODY): Promise<string> =>
  line.send('POST', path, JSON.stringify(object), headers)

t.test(
  'what every step judges by the replica is prepared; what asks somebody, or is kept account of, crosses',
  async t => {
    const writes = new OwnWrites({
      store: server.store,
      builtin: loadCatalog().types,
      admission: server.services.deps.admission,
    })
    const space = await createSpace(api, 'kinds')
    const user = { name: 'alice', uid: '', groups: [], extra: {} }
    const has = (method: string, path: string): boolean => {
      const info = parseRequest(method, `/clusters/${space}${path}`)
      return writes.has(targetOf(server.services, { info, user, space } as never, undefined))
    }
    const apps = '/apis/apps/v1/namespaces/default'
    for (const [method, path] of [
      ['POST', CONFIGMAPS],
      ['PUT', `${CONFIGMAPS}/a`],
      ['PATCH', `${apps}/deployments/a`],
      ['PATCH', `${apps}/deployments/a/status`],
      ['POST', '/api/v1/namespaces/default/secrets'],
      ['PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/a'],
    ] as const)
      t.ok(has(method, path), `${method} ${path}`)
    await api.ok(
      api.in(space).post('/api/v1/namespaces/kube-system/resourcequotas', {
        metadata: { name: 'q' },
        spec: { hard: { 'count/configmaps': '5' } },
      }),
    )
    await api.ok(api.in(space).post(CONFIGMAPS, configMap('large', { text: 'x'.repeat(40_000) })))
    for (const [method, path] of [
      ['PATCH', `${CONFIGMAPS}/large`],
      ['DELETE', `${CONFIGMAPS}/a`],
      ['POST', '/api/v1/namespaces/default/services'],
      ['POST', '/api/v1/namespaces/kube-system/configmaps'],
      ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles'],
      ['POST', '/apis/tenancy.kcp.io/v1alpha1/workspaces'],
      ['POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'],
      ['PATCH', `${apps}/deployments/a/scale`],
    ] as const)
      t.notOk(has(method, path), `${method} ${path}`)
  },
)

t.test('what is prepared is stored and answered as what is not, object by object', async t => {
  const prepared = preparedSince()
  const all = await lines(t, api, 'POST', CONFIGMAPS, configMap('known'))
  const shapes = new Set<string>()
  for (const [i, line] of all.entries()) {
    const answer = await post(line, CONFIGMAPS, configMap(`c${i}`, { n: 'x' }))
    t.equal(codeOf(answer), 201)
    const object = JSON.parse(answer.slice(answer.indexOf('{'))) as KubeObject
    t.same(object, (await api.get(`${CONFIGMAPS}/c${i}`)).body, 'it reads as it was answered')
    const { uid, creationTimestamp, resourceVersion, name, managedFields, ...rest } = object.metadata
    t.ok(uid && creationTimestamp && resourceVersion && name)
    shapes.add(
      JSON.stringify({
        ...object,
        metadata: { ...rest, managedFields: managedFields!.map(({ time, ...each }) => each) },
      }),
    )
    t.match(await post(line, CONFIGMAPS, configMap(`c${i}`)), /^HTTP\/1.1 409 /)
    t.match(await post(line, CONFIGMAPS, configMap('NO')), /^HTTP\/1.1 422 /)
  }
  t.equal(shapes.size, 1)
  t.ok(prepared() <= CONNECTIONS * 2, 'what is not valid never came')
  await untilPrepared(prepared, all, CONFIGMAPS)
  t.same(faults, [])
})

t.test(
  'what is prepared for a place that takes nothing more is judged by who knows, and answered in its words',
  async t => {
    const space = await createSpace(api, 'going')
    const path = `/clusters/${space}${CONFIGMAPS}`
    const prepared = preparedSince()
    const all = await lines(t, api, 'POST', path, configMap('known'))
    const { tree } = server
    const isDeleting = tree.isDeleting.bind(tree)
    // the thread has not heard of it
    tree.isDeleting = asked => asked === space || isDeleting(asked)
    for (const line of all) {
      const answer = await post(line, path, configMap('late'))
      t.equal(codeOf(answer), 403)
      t.match(answer, /workspace access not permitted/)
    }
    t.equal(prepared(), 0, 'none came to the store')
    tree.isDeleting = isDeleting
    t.equal(await untilPrepared(prepared, all, path), 201)
  },
)

t.test('nothing comes into a namespace behind the answer that it goes', async t => {
  const prepared = preparedSince()
  const at = (name: string): string => `/api/v1/namespaces/${name}/configmaps`
  const all = await lines(t, api, 'POST', CONFIGMAPS, configMap('known'))
  for (let round = 0; round < 4; round++) {
    const name = `filled-${round}`
    await api.ok(api.post('/api/v1/namespaces', { metadata: { name } }))
    const answered: number[] = []
    let isGoing = false
    const fill = async (line: Line, of: number): Promise<void> => {
      for (let i = 0; ; i++) {
        const wasGoing = isGoing
        const code = codeOf(await post(line, at(name), configMap(`c-${of}-${i}`)))
        answered.push(code)
        if (wasGoing && code !== 403) t.fail(`${round}: ${code} behind the answer that it goes`)
        if (code !== 201) return
      }
    }
    const filling = all.map(fill)
    while (!answered.includes(201)) await new Promise(resolve => setImmediate(resolve))
    await api.ok(api.delete(`/api/v1/namespaces/${name}`))
    isGoing = true
    await Promise.all(filling)
    t.same([...new Set(answered)].sort(), [201, 403])
  }
  t.ok(prepared() > 0)
  t.same(faults, [])
})

t.test('a counter that many raise by patches that test it, through all threads, counts each once', async t => {
  const prepared = preparedSince()
  await api.ok(api.post(CONFIGMAPS, configMap('counter', { n: '0' })))
  const path = `${CONFIGMAPS}/counter`
  const headers = 'Content-Type: application/json-patch+json\r\n'
  const patch = (from: number): object[] => [
    { op: 'test', path: '/data/n', value: String(from) },
    { op: 'replace', path: '/data/n', value: String(from + 1) },
  ]
  const all = await lines(t, api, 'PATCH', path, patch(0), headers)
  const counted = async (): Promise<number> => {
    const { data } = (await api.get(path)).body as unknown as { data: { n: string } }
    return Number(data.n)
  }
  let raised = 0
  const unforeseen: string[] = []
  const raise = async (line: Line): Promise<void> => {
    for (let tries = 0; tries < 10; tries++) {
      const now = await counted()
      const answer = await line.send('PATCH', path, JSON.stringify(patch(now)), headers)
      if (codeOf(answer) === 200) raised++
      else if (codeOf(answer) !== 422) unforeseen.push(answer)
    }
  }
  await Promise.all(all.map(raise))
  t.strictSame(unforeseen, [])
  t.ok(raised > 0)
  t.equal(await counted(), raised)
  t.ok(prepared() > 0)
  t.same(faults, [])
})

t.test(
  'of many who change one object at a time, through all threads, each is heard, and who left is no fault',
  async t => {
    const prepared = preparedSince()
    await api.ok(api.post(CONFIGMAPS, configMap('hot', { n: '0' })))
    const path = `${CONFIGMAPS}/hot`
    const headers = 'Content-Type: application/merge-patch+json\r\n'
    const all = await lines(t, api, 'PATCH', path, { data: { n: '1' } }, headers)
    const leaving = await lines(t, api, 'PATCH', path, { data: { n: '1' } }, headers)
    const change = async (line: Line, of: number): Promise<void> => {
      for (let n = 1; n <= 20; n++) {
        const answer = await line.send('PATCH', path, JSON.stringify({ data: { [`line-${of}`]: `${n}` } }), headers)
        if (codeOf(answer) !== 200) t.fail(answer)
      }
    }
    const changing = all.map(change)
    for (const line of leaving) {
      line.socket.write(patchText(path, { data: { n: 'left' } }, headers), () => line.socket.destroy())
      await new Promise(resolve => setImmediate(resolve))
    }
    await Promise.all(changing)
    const { data } = (await api.get(path)).body as unknown as { data: Record<string, string> }
    for (const i of all.keys()) t.equal(data[`line-${i}`], '20')
    t.ok(prepared() > 0)
    t.same(faults, [])
  },
)

t.test('who lost the right to write by an answer of one thread writes nothing by another', async t => {
  await grant(api, 'writers', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }])
  await grant(api, 'members', [{ verbs: ['access'], nonResourceURLs: ['/'] }])
  const headers = `${AS_ALICE}${JSON_BODY}`
  const all = await Promise.all(Array.from({ length: CONNECTIONS }, () => lineTo(t, api, false)))
  const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/writers'
  const codes = async (round: number): Promise<Set<number>> => {
    const answers = all.map((line, i) => post(line, CONFIGMAPS, configMap(`r-${round}-${i}`), headers))
    return new Set((await Promise.all(answers)).map(codeOf))
  }
  t.same(await codes(0), new Set([201]))
  for (let round = 1; round <= 15; round++) {
    await api.ok(api.patch(role, 'merge', { rules: [] }))
    const refused = await codes(round)
    if (refused.size !== 1 || !refused.has(403)) t.fail(`${round}: ${[...refused]}`)
    await api.ok(
      api.patch(role, 'merge', { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }] }),
    )
    const allowed = await codes(round)
    if (allowed.size !== 1 || !allowed.has(201)) t.fail(`${round}: ${[...allowed]}`)
  }
  t.same(faults, [])
})
