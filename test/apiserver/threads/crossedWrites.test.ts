/** Writes cross from API threads to the main thread; places that go, rights and versions count for them as for all others. */
import t from 'tap'
import { Api } from '../../support/api.ts'
import { ALICE, CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

/** Connections enough that the thread has some: the kernel deals them out. */
const CONNECTIONS = 16

const { api, faults } = await startTestServer(t, { more: { apiThreads: 1 } })

/** Clients with a connection each. */
function clients(token?: string): Api[] {
  const all = Array.from({ length: CONNECTIONS }, () => (token ? api.as(token) : new Api(api.access)))
  t.teardown(() => {
    for (const client of all) client.close()
  })
  return all
}

const codesOf = (answers: readonly { code: number }[]): number[] => [...new Set(answers.map(({ code }) => code))].sort()

t.test('nothing comes into a namespace after the answer that it goes', async t => {
  const all = clients()
  for (let round = 0; round < 4; round++) {
    const path = `/api/v1/namespaces/filled-${round}`
    await api.ok(api.post('/api/v1/namespaces', { metadata: { name: `filled-${round}` } }))
    const answered: { code: number }[] = []
    let isGoing = false
    const fill = async (client: Api, of: number): Promise<void> => {
      for (let i = 0; ; i++) {
        const wasGoing = isGoing
        const { code } = await client.post(`${path}/configmaps`, configMap(`c-${of}-${i}`))
        answered.push({ code })
        if (wasGoing && code === 201) t.fail(`${round}: it was made after the answer`)
        if (code !== 201) return
      }
    }
    const filling = all.map(fill)
    while (answered.length === 0) await new Promise(resolve => setImmediate(resolve))
    await api.ok(api.delete(path))
    isGoing = true
    await Promise.all(filling)
    t.strictSame(codesOf(answered), [201, 403])
  }
})

t.test('a counter that many raise by patches that test it counts each raise once', async t => {
  const path = `${CONFIGMAPS}/counter`
  await api.ok(api.post(CONFIGMAPS, configMap('counter', { n: '0' })))
  const counted = async (client: Api): Promise<number> => {
    const { body } = await client.get(path)
    return Number((body as unknown as { data: { n: string } }).data.n)
  }
  let raised = 0
  const raise = async (client: Api): Promise<void> => {
    for (let tries = 0; tries < 10; tries++) {
      const n = await counted(client)
      const { code, text } = await client.patch(path, 'json', [
        { op: 'test', path: '/data/n', value: `${n}` },
        { op: 'replace', path: '/data/n', value: `${n + 1}` },
      ])
      if (code === 200) raised++
      else if (code !== 422) t.fail(text)
    }
  }
  await Promise.all(clients().map(raise))
  t.ok(raised > 0)
  t.equal(await counted(api), raised)
})

t.test('of many who change one object at a time each change is stored', async t => {
  const path = `${CONFIGMAPS}/hot`
  await api.ok(api.post(CONFIGMAPS, configMap('hot', {})))
  const change = async (client: Api, of: number): Promise<void> => {
    for (let n = 1; n <= 10; n++) await api.ok(client.patch(path, 'merge', { data: { [`client-${of}`]: `${n}` } }))
  }
  await Promise.all(clients().map(change))
  const { body } = await api.get(path)
  const { data } = body as unknown as { data: Record<string, string> }
  t.strictSame(data, Object.fromEntries(Array.from({ length: CONNECTIONS }, (_, i) => [`client-${i}`, '10'])))
})

t.test('who lost the right to write by an answer of one thread writes nothing by another', async t => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }]
  const grants = { writers: rules, members: [{ verbs: ['access'], nonResourceURLs: ['/'] }] }
  for (const [name, of] of Object.entries(grants)) {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }]
    await api.ok(api.post(`${rbac}/clusterroles`, { metadata: { name }, rules: of }))
    await api.ok(api.post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }))
  }
  const all = clients(ALICE)
  for (let round = 0; round < 10; round++) {
    const write = (way: string) =>
      Promise.all(all.map((client, i) => client.post(CONFIGMAPS, configMap(`${way}-${round}-${i}`))))
    t.strictSame(codesOf(await write('may')), [201])
    await api.ok(api.patch(`${rbac}/clusterroles/writers`, 'merge', { rules: [] }))
    t.strictSame(codesOf(await write('may-not')), [403])
    await api.ok(api.patch(`${rbac}/clusterroles/writers`, 'merge', { rules }))
  }
})

t.test('nothing of it was a fault of the server', async t => {
  t.same(faults, [])
})
