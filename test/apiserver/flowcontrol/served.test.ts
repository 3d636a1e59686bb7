/** Flow control as clients meet it: its objects in root, obeyed live; headers; who waits for what. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { ALICE, BOB, CONFIGMAPS, createSpace, startTestServer } from '../../support/server.ts'

const FLOWS = '/apis/flowcontrol.apiserver.k8s.io/v1'
const SCHEMAS = `${FLOWS}/flowschemas`
const LEVELS = `${FLOWS}/prioritylevelconfigurations`
const RBAC = 'rbac.authorization.k8s.io'
const named = (list: unknown): string[] =>
  (list as { items: KubeObject[] }).items.map(({ metadata }) => metadata.name ?? '')

const { api, faults } = await startTestServer(t, { more: { inFlight: { reading: 40, mutating: 20, watching: 40 } } })
const one = api.in(await createSpace(api, 'one'))
const alice = api.as(ALICE)
const binding = {
  metadata: { name: 'alice' },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: RBAC, kind: 'User', name: 'alice' }],
}
await api.ok(api.post(`/apis/${RBAC}/v1/clusterrolebindings`, binding))

/** Waits until an object is as it is to be. */
async function until(path: string, name: string, isRight: (object: KubeObject | undefined) => boolean): Promise<void> {
  const found = await api.ok(api.get(`${path}?fieldSelector=metadata.name=${name}`))
  const { items } = found as unknown as { items: KubeObject[] }
  if (isRight(items[0])) return
  const { resourceVersion } = found.metadata
  const watch = await api.watch(
    `${path}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=${resourceVersion}`,
  )
  await watch.until(({ object, type }) => isRight(type === 'DELETED' ? undefined : object))
  watch.close()
}

const condition = (object: KubeObject | undefined): string | undefined =>
  (object?.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions?.[0]?.status

t.test(
  'root has the objects of a kube-apiserver, and one more of each for syncers; other spaces show them',
  async t => {
    const schemas = named(await api.ok(api.get(SCHEMAS)))
    t.same(schemas, [
      ...['catch-all', 'exempt', 'global-default', 'kube-controller-manager', 'kube-scheduler'],
      ...['kube-system-service-accounts', 'orrery-syncers', 'probes', 'service-accounts', 'system-leader-election'],
      ...['system-node-high', 'system-nodes'],
    ])
    t.same(named(await one.ok(one.get(SCHEMAS))), schemas)
    const levels = named(await api.ok(api.get(LEVELS)))
    t.equal(levels.length, 9)
    t.same(named(await one.ok(one.get(LEVELS))), levels)
    await until(SCHEMAS, 'probes', schema => condition(schema) === 'False')
    const refused = await one.patch(`${SCHEMAS}/probes`, 'merge', { metadata: { labels: { a: 'b' } } })
    t.equal(refused.code, 403, 'there they say what the server does')
  },
)

t.test('each answer says which schema and level it was on', async t => {
  const answer = await alice.get(CONFIGMAPS)
  const schema = await api.ok(api.get(`${SCHEMAS}/global-default`))
  const level = await api.ok(api.get(`${LEVELS}/global-default`))
  t.equal(answer.headers['x-kubernetes-pf-flowschema-uid'], schema.metadata.uid)
  t.equal(answer.headers['x-kubernetes-pf-prioritylevel-uid'], level.metadata.uid)
  const missing = await alice.get(`${CONFIGMAPS}/none`)
  t.equal(missing.code, 404)
  t.equal(missing.headers['x-kubernetes-pf-flowschema-uid'], schema.metadata.uid)
})

t.test('so does one that refuses what somebody may not, but for a space that is closed to them', async t => {
  const bob = api.as(BOB)
  t.teardown(() => bob.close())
  const schema = await api.ok(api.get(`${SCHEMAS}/global-default`))
  const refused = await bob.get(CONFIGMAPS)
  t.match(refused, { code: 403, headers: { 'x-content-type-options': 'nosniff' } })
  t.equal(refused.headers['x-kubernetes-pf-flowschema-uid'], schema.metadata.uid)
  for (const space of ['root:one', 'root:nowhere']) {
    const closed = await bob.in(space).get(CONFIGMAPS)
    t.equal(closed.code, 403)
    t.equal(closed.headers['x-kubernetes-pf-flowschema-uid'], undefined, space)
  }
})

t.test('what an administrator of root writes counts with the next request', async t => {
  const limitResponse = { type: 'Reject' }
  const limited = { nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse }
  const rules = [
    {
      subjects: [{ kind: 'User', user: { name: 'alice' } }],
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'], namespaces: ['*'] }],
    },
  ]
  const spec = { priorityLevelConfiguration: { name: 'none' }, matchingPrecedence: 500, rules }
  await api.ok(api.post(SCHEMAS, { metadata: { name: 'no-secrets' }, spec }))
  await until(SCHEMAS, 'no-secrets', schema => condition(schema) === 'True')
  const secret = '/api/v1/namespaces/default/secrets/s'
  t.equal((await alice.get(secret)).code, 404, 'without its level it does not count')
  const level = await api.ok(api.post(LEVELS, { metadata: { name: 'none' }, spec: { type: 'Limited', limited } }))
  const refused = await alice.get(secret)
  t.equal(refused.code, 429)
  t.match(refused.body, {
    kind: 'Status',
    reason: 'TooManyRequests',
    message: 'Too many requests, please try again later.',
    details: { retryAfterSeconds: 1 },
  })
  t.match(refused.headers, { 'retry-after': '1', 'x-kubernetes-pf-prioritylevel-uid': level.metadata.uid })
  await until(SCHEMAS, 'no-secrets', schema => condition(schema) === 'False')
  t.equal((await alice.get(CONFIGMAPS)).code, 200)
  t.equal((await api.get(secret)).code, 404, 'administrators are exempt')
  const metrics = String((await api.get('/metrics')).text)
  t.match(
    metrics,
    /rejected_requests_total\{priority_level="none",flow_schema="no-secrets",reason="concurrency-limit"\} 1/,
  )
  await api.ok(api.delete(`${SCHEMAS}/no-secrets`))
  t.equal((await alice.get(secret)).code, 404)
})

t.test('elsewhere they are stored, and whoever writes one is told that it has no effect', async t => {
  const spec = {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 2,
    rules: [
      {
        subjects: [{ kind: 'Group', group: { name: 'system:authenticated' } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
      },
    ],
  }
  const made = await one.post(SCHEMAS, { metadata: { name: 'all' }, spec })
  t.equal(made.code, 201)
  t.match(made.headers.warning, 'only flow control of the root space counts')
  const level = await api.ok(api.get(`${LEVELS}/global-default`))
  t.equal((await alice.get(CONFIGMAPS)).headers['x-kubernetes-pf-prioritylevel-uid'], level.metadata.uid)
})

t.test('what the server brings along comes back, is kept as it suggests, and can be taken over', async t => {
  const shares = (object: KubeObject | undefined): unknown =>
    (object?.spec as { limited?: { nominalConcurrencyShares: number } } | undefined)?.limited?.nominalConcurrencyShares
  const patch = (spec: object, autoupdate?: string) =>
    api.ok(
      api.patch(`${LEVELS}/workload-low`, 'merge', {
        metadata: { annotations: { ...(autoupdate && { 'apf.kubernetes.io/autoupdate-spec': autoupdate }) } },
        spec,
      }),
    )
  const { metadata } = await api.ok(api.get(`${SCHEMAS}/service-accounts`))
  await api.ok(api.delete(`${SCHEMAS}/service-accounts`))
  await until(SCHEMAS, 'service-accounts', schema => schema !== undefined && schema.metadata.uid !== metadata.uid)
  await patch({ limited: { nominalConcurrencyShares: 7 } })
  await until(LEVELS, 'workload-low', level => shares(level) === 100)
  await patch({ limited: { nominalConcurrencyShares: 7 } }, 'false')
  const ours = { metadata: { name: 'old', annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } } }
  const limited = { limitResponse: { type: 'Reject' } }
  await api.ok(api.post(LEVELS, { ...ours, spec: { type: 'Limited', limited } }))
  await until(LEVELS, 'old', level => level === undefined)
  t.equal(shares(await api.ok(api.get(`${LEVELS}/workload-low`))), 7, 'an administrator has it now')
  const fixed = await api.patch(`${SCHEMAS}/catch-all`, 'merge', { spec: { matchingPrecedence: 5 } })
  t.equal(fixed.code, 422)
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
