// Bootstrap credentials and claims over HTTP: who gets the credential of a syncer by them, and what a thief gets.
import t, { type Test } from 'tap'
import { CLAIMS_LIMIT, claimHash, claimName } from '../../../src/placement/spaces/syncerBootstrap.ts'
import { RENEWAL_AUDIENCE } from '../../../src/placement/spaces/syncerCredential.ts'
import { type Answer, Api } from '../../support/api.ts'
import { startCenter } from '../../support/center.ts'
import { accessOf } from '../../support/server.ts'

const BOOTSTRAP = '/api/v1/namespaces/default/serviceaccounts/default/token'
const TOKEN = '/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer/token'
const SECRETS = '/api/v1/namespaces/default/secrets'
const CONFIG = '/apis/edge.kubestellar.io/v2alpha1/syncerconfigs/the-one'
const EDGE = 'edge.kubestellar.io'
const TARGETS = `/apis/${EDGE}/v2alpha1/synctargets`
const DAY = 24 * 3600

const center = await startCenter(t)
const { world, server } = center
const admin = new Api({ ...accessOf(server.kubeconfigPath), url: server.url })
t.teardown(() => admin.close())
const core = admin.in('root:espw')

const request = (annotations: Record<string, string>, audience = 'orrery-syncer-bootstrap', seconds = DAY) => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  metadata: { annotations },
  spec: { audiences: [audience], expirationSeconds: seconds },
})
const keyOf = (name: string): string => Buffer.from(name.padEnd(32, '.')).toString('base64url')
const nameOf = (key: string): string => claimName(claimHash(keyOf(key)))
const tokenIn = ({ status }: { status?: unknown }): string => (status as { token: string }).token
const refusal = (answer: Promise<Answer>) => answer.then(({ code, body }) => ({ code, message: body.message }))

async function fleet(t: Test, tag: string, names: string[]) {
  const scene = await center.scene(tag, names)
  for (const name of names) {
    const box = await scene.mailbox(name)
    await world.present(box, 'serviceaccounts default/kubestellar-syncer')
    await world.present(box, 'syncerconfigs.edge.kubestellar.io the-one')
  }
  const as = (token: string, space: string): Api => {
    const api = admin.as(token).in(space)
    t.teardown(() => api.close())
    return api
  }
  const bootstrap = async (approves?: string) => {
    const annotations = { [`${EDGE}/inventory`]: scene.inventory, ...(approves && { [`${EDGE}/approves`]: approves }) }
    const body = await admin.ok(core.post(BOOTSTRAP, request(annotations)))
    const holder = as(tokenIn(body), 'root:espw')
    const claim = (name: string, key: string) =>
      holder.post(
        BOOTSTRAP,
        request({ [`${EDGE}/sync-target`]: name, [`${EDGE}/claim-key`]: keyOf(key) }, RENEWAL_AUDIENCE),
      )
    return { token: tokenIn(body), name: body.metadata.annotations![`${EDGE}/bootstrap`]!, holder, claim }
  }
  const space = (name: string) => scene.mailbox(name)
  const approve = async (name: string, key: string) =>
    await admin.ok(
      admin.in(await space(name)).patch(`${SECRETS}/kubestellar-syncer-claim-${nameOf(key)}`, 'merge', {
        metadata: { annotations: { [`${EDGE}/approved`]: '2026-01-01T00:00:00Z' } },
      }),
    )
  const claims = async (name: string) =>
    world.names(await space(name), 'secrets').filter(each => each.includes('kubestellar-syncer-claim-')).length
  /** Whether a credential works, by a token of a day. */
  const works = async (name: string, credential: string): Promise<number> => {
    const box = await space(name)
    const answer = await as(credential, box).post(TOKEN, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    })
    return answer.code === 201 ? (await as(tokenIn(answer.body), box).get(CONFIG)).code : answer.code
  }
  const revoke = async (name: string) => {
    const box = admin.in(await space(name))
    for (const each of ['credential-joined', 'session']) await box.delete(`${SECRETS}/kubestellar-syncer-${each}`)
  }
  return { scene, bootstrap, approve, claims, works, revoke, space }
}

t.test('a bootstrap credential claims, and is good for nothing else', async t => {
  const { scene, bootstrap, space } = await fleet(t, 'narrow', ['a', 'b'])
  const { token, holder, claim, name } = await bootstrap()
  const box = await space('a')
  for (const where of ['root', 'root:espw', scene.inventory, box])
    for (const path of ['/api', '/api/v1/namespaces', SECRETS, TARGETS, '/metrics', CONFIG]) {
      const api = admin.as(token).in(where)
      t.equal((await api.get(path)).code, 403, `${where} ${path}`)
      api.close()
    }
  t.match(await refusal(holder.post(BOOTSTRAP, request({ [`${EDGE}/inventory`]: scene.inventory }))), { code: 400 })
  t.equal((await holder.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'x' } })).code, 403)
  const inBox = admin.as(token).in(box)
  t.equal((await inBox.post(TOKEN, request({}, RENEWAL_AUDIENCE))).code, 403, 'nor a credential past the claim')
  inBox.close()
  t.match(await refusal(claim('none', 'k')), { code: 404, message: /no SyncTarget "none" in the inventory of this/ })
  t.match(await refusal(claim('../a', 'k')), { code: 404 })
  t.match(
    await refusal(holder.post(BOOTSTRAP, request({ [`${EDGE}/sync-target`]: 'a', [`${EDGE}/claim-key`]: 'short' }))),
    { code: 400, message: /claim-key\] is not 32 bytes in base64url/ },
  )
  await core.delete(`${SECRETS}/${name}`)
  t.match(await refusal(claim('a', 'k')), { code: 401, message: `the bootstrap credential "${name}" was revoked` })
})

t.test('administrators of the server alone make one, for a space, within bounds', async t => {
  const { scene } = await fleet(t, 'mint', ['a'])
  const inventory = { [`${EDGE}/inventory`]: scene.inventory }
  t.match(await refusal(core.post(BOOTSTRAP, request(inventory, undefined, 91 * DAY))), {
    code: 422,
    message: /lives for 90 days at most/,
  })
  t.match(await refusal(core.post(BOOTSTRAP, request({}))), { code: 400, message: /neither path nor id of a space/ })
  t.match(await refusal(core.post(BOOTSTRAP, request({ ...inventory, [`${EDGE}/approves`]: 'all' }))), {
    code: 400,
    message: /is not "listed"/,
  })
  await admin.ok(
    core.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'nearly' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'nearly' }],
    }),
  )
  const nearly = { headers: { 'impersonate-user': 'nearly' } }
  t.match(await refusal(core.post(BOOTSTRAP, request(inventory), nearly)), {
    code: 403,
    message: /only administrators of the server make one/,
  })
})

t.test('a claim waits for its approval, and its credential is issued until it is used', async t => {
  const { bootstrap, approve, claims, works } = await fleet(t, 'by-name', ['a', 'b'])
  const { claim } = await bootstrap()
  const first = await claim('a', 'shop')
  t.match(first, { code: 201, body: { metadata: { annotations: { [`${EDGE}/claim`]: nameOf('shop') } } } })
  t.equal(tokenIn(first.body), '')
  await claim('a', 'shop')
  t.equal(await claims('a'), 1)
  t.equal(tokenIn((await claim('b', 'shop')).body), '', 'each SyncTarget for itself')
  await approve('a', 'shop')
  t.equal(tokenIn((await claim('a', 'thief')).body), '', 'approved is one claim')
  const lost = tokenIn((await claim('a', 'shop')).body)
  t.match(await refusal(claim('a', 'thief')), { code: 409, message: /SyncTarget "a" is joined already/ })
  const credential = tokenIn((await claim('a', 'shop')).body)
  t.not(credential, lost)
  t.equal(await works('a', credential), 200)
  t.equal(await works('b', credential), 403)
  t.match(await refusal(claim('a', 'shop')), { code: 409, message: /joined already/ }, 'once it is used')
  t.equal(tokenIn((await claim('b', 'shop')).body), '')
})

t.test(
  'no approval lets somebody take a joined SyncTarget over; after a revocation each waits for a new one',
  async t => {
    const { scene, bootstrap, approve, works, revoke, space } = await fleet(t, 'takeover', ['a', 'b'])
    const { claim, name } = await bootstrap('listed')
    const credential = tokenIn((await claim('a', 'shop')).body)
    t.equal(await works('a', credential), 200, 'the first claim by rule')
    t.match(await refusal(claim('a', 'thief')), { code: 409 })
    await approve('a', 'thief')
    t.match(await refusal(claim('a', 'thief')), { code: 409 })
    t.equal(await works('a', credential), 200)
    const refused = await admin.ok(
      admin.in(await space('a')).get(`${SECRETS}/kubestellar-syncer-claim-${nameOf('thief')}`),
    )
    t.match(refused.metadata.annotations?.[`${EDGE}/refused`], /joined already/)
    const refusals = () =>
      world.names(scene.inventory, 'events').filter(each => each.startsWith('default/claimrefused.'))
    await world.until('the Event', () => refusals().length === 0 && 'no Event')
    t.match(world.get(scene.inventory, `events ${refusals()[0]}`), {
      involvedObject: { kind: 'SyncTarget', name: 'a' },
      reason: 'ClaimRefused',
      message: new RegExp(`^claim ${nameOf('thief')} by the bootstrap credential ${name}: SyncTarget "a" is joined`),
      count: 1,
    })
    t.equal(refusals().length, 1, 'once for a claim, and none for those that wait')
    await revoke('a')
    t.equal(await works('a', credential), 401)
    t.match(await refusal(claim('a', 'shop')), { code: 409, message: /was revoked or expired; claim anew/ })
    t.equal(tokenIn((await claim('a', 'new')).body), '', 'the rule is for the first claim alone')
    t.equal(tokenIn((await claim('a', 'thief')).body), '', 'an approval from before counts no more')
    // what another way made is joined, too
    await admin.ok(admin.in(await space('b')).post(TOKEN, request({}, RENEWAL_AUDIENCE)))
    t.match(await refusal(claim('b', 'shop')), { code: 409, message: /"b" is joined already/ })
  },
)

t.test('by rule the only claim is the first; of two in one moment one gets it, and claims are few', async t => {
  const { bootstrap, claims, works } = await fleet(t, 'rule', ['a', 'b'])
  const [byName, listed] = [await bootstrap(), await bootstrap('listed')]
  const many = await Promise.all(Array.from({ length: 20 }, (_, i) => byName.claim('a', `k${i}`)))
  t.equal(many.filter(({ code }) => code === 201).length, CLAIMS_LIMIT)
  t.match(many.find(({ code }) => code === 409)?.body.message, /4 other claims of SyncTarget "a" are there/)
  t.equal(await claims('a'), CLAIMS_LIMIT)
  t.match(await refusal(listed.claim('a', 'late')), { code: 409, message: /deny a/ })
  await core.delete(`${SECRETS}/${byName.name}`)
  t.equal(tokenIn((await listed.claim('a', 'late')).body), '', 'claims by what was revoked make room, and others wait')
  const two = await Promise.all(['x', 'y'].map(key => listed.claim('b', key)))
  t.same(two.map(({ code }) => code).toSorted(), [201, 409])
  t.equal(await works('b', tokenIn(two.find(({ code }) => code === 201)!.body)), 200)
})
