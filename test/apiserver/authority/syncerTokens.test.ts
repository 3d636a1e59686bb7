// A syncer's credentials over HTTP: what the renewal credential is good for, how long, and how it ends.
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { RENEWAL_AUDIENCE } from '../../../src/placement/spaces/syncerCredential.ts'
import { type Answer, Api } from '../../support/api.ts'
import { startCenter } from '../../support/center.ts'
import { accessOf } from '../../support/server.ts'

const TOKEN = '/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer/token'
const SECRETS = '/api/v1/namespaces/default/secrets'
const SESSION = 'edge.kubestellar.io/session'
const CONFIG = '/apis/edge.kubestellar.io/v2alpha1/syncerconfigs/the-one'
const DAY = 24 * 3600

const center = await startCenter(t)
const { world, server } = center
const admin = new Api({ ...accessOf(server.kubeconfigPath), url: server.url })
t.teardown(() => admin.close())
/** Mailboxes that a syncer read. */
const heard = new Set<string>()
const hears = (space: string): void => void heard.add(space)
server.desks.outcomes.follow({ opened: hears, turnedAway: hears, seen: hears, closed() {} })

interface Asked {
  seconds?: number
  audience?: string
  session?: string
  replaces?: boolean
}
const request = ({ seconds, audience, session, replaces }: Asked = {}) => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  metadata: {
    annotations: {
      ...(session && { [SESSION]: session }),
      ...(replaces && { 'edge.kubestellar.io/replaces': 'true' }),
    },
  },
  spec: { ...(seconds && { expirationSeconds: seconds }), ...(audience && { audiences: [audience] }) },
})
const RENEWAL = { audience: RENEWAL_AUDIENCE, seconds: 90 * DAY }
const tokenOf = ({ status }: { status?: unknown }): string => (status as { token: string }).token
const sessionOf = ({ metadata }: Pick<KubeObject, 'metadata'>): string => metadata.annotations?.[SESSION] ?? ''

/** A mailbox, its administrator, and whoever holds a renewal credential for it. */
async function mailbox(t: Test, tag: string) {
  const scene = await center.scene(tag, ['a'])
  const space = await scene.mailbox('a')
  await world.present(space, 'serviceaccounts default/kubestellar-syncer')
  await world.present(space, 'syncerconfigs.edge.kubestellar.io the-one')
  const box = admin.in(space)
  const as = (token: string): Api => {
    const api = admin.as(token).in(space)
    t.teardown(() => api.close())
    return api
  }
  const credential = async (asked: Asked = {}): Promise<Api> =>
    as(tokenOf(await admin.ok(box.post(TOKEN, request({ ...RENEWAL, ...asked })))))
  const work = async (holder: Api, asked: Asked = {}) => {
    const body = await admin.ok(holder.post(TOKEN, request(asked)))
    return { api: as(tokenOf(body)), session: sessionOf(body), body }
  }
  return { space, box, credential, work }
}
const refusal = (answer: Promise<Answer>) => answer.then(({ code, body }) => ({ code, message: body.message }))

t.test('a renewal credential gets a token of a day, and is good for nothing else', async t => {
  const { space, credential, work } = await mailbox(t, 'renewal')
  const holder = await credential()
  for (const path of ['/api', '/api/v1/namespaces', CONFIG, SECRETS]) t.equal((await holder.get(path)).code, 403, path)
  const root = admin.as(holder.access.token)
  for (const path of ['/apis/tenancy.kcp.io/v1alpha1/workspaces', '/metrics', '/api'])
    t.equal((await root.in('root').get(path)).code, 403, path)
  root.close()
  const other = '/api/v1/namespaces/default/serviceaccounts/default/token'
  t.equal((await holder.post(other, request())).code, 403)
  t.match(await refusal(holder.post(TOKEN, request(RENEWAL))), { code: 403, message: /makes no other/ })
  const { api, body } = await work(holder, { seconds: 30 * DAY })
  t.equal((body.spec as { expirationSeconds: number }).expirationSeconds, DAY, 'shortened to a day')
  t.equal((await api.get(CONFIG)).code, 200)
  t.equal((await api.post(TOKEN, request())).code, 403, 'which makes no other')
  const review = await admin.ok(
    admin.in(space).post('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: holder.access.token, audiences: [RENEWAL_AUDIENCE] },
    }),
  )
  t.notMatch(review.status, { authenticated: true }, 'nobody takes it for an identity')
})

t.test('lifetimes have bounds, which say what to do instead', async t => {
  const { box } = await mailbox(t, 'bounds')
  t.match(await refusal(box.post(TOKEN, request({ seconds: 3650 * DAY }))), {
    code: 422,
    message: /spec\.expirationSeconds.*good for a day at most; for longer, ask for orrery-syncer-renewal/,
  })
  t.match(await refusal(box.post(TOKEN, request({ ...RENEWAL, seconds: 91 * DAY }))), {
    code: 422,
    message: /spec\.expirationSeconds.*unused for 90 days at most; each use renews it/,
  })
  t.equal((await box.post(TOKEN, request({ seconds: DAY }))).code, 201)
})

t.test('use moves its end; one that nobody used until then says so', async t => {
  const { space, box, credential, work } = await mailbox(t, 'slide')
  const holder = await credential({ seconds: 10 * DAY })
  const name = world
    .names(space, 'secrets')
    .find(each => each.includes('credential'))!
    .split('/')[1]!
  const expire = (when: string) =>
    box.ok(
      box.patch(`${SECRETS}/${name}`, 'merge', { metadata: { annotations: { 'edge.kubestellar.io/expires': when } } }),
    )
  await expire(new Date(Date.now() + 60_000).toISOString())
  await work(holder)
  const { annotations } = (await box.ok(box.get(`${SECRETS}/${name}`))).metadata
  t.ok(Date.parse(annotations!['edge.kubestellar.io/expires']!) > Date.now() + 9 * DAY * 1000)
  await expire('2026-01-01T00:00:00Z')
  t.match(await refusal(holder.post(TOKEN, request())), {
    code: 401,
    message: /went unused until it expired, at 2026-01-01T00:00:00Z; make another one with .*syncer rotate/,
  })
})

t.test('a new session ends the one before it, its tokens and its streams', async t => {
  const { space, box, credential, work } = await mailbox(t, 'session')
  const holder = await credential()
  const first = await work(holder)
  const plain = admin.as(first.api.access.token)
  const stream = await plain.watch(`/services/stream/clusters/${space}?protocol=2-2`)
  t.equal((await work(holder, { session: first.session })).session, first.session, 'which can be gone on with')
  t.equal((await first.api.get(CONFIG)).code, 200, 'with the earlier token, too')
  const second = await work(holder)
  t.not(second.session, first.session)
  await stream.rest()
  t.pass('the stream has ended')
  const beat = { status: { lastSyncerHeartbeatTime: '2026-01-01T00:00:00Z' } }
  t.equal((await first.api.patch(`${CONFIG}/status`, 'merge', beat)).code, 401)
  t.equal((await first.api.get(CONFIG)).code, 401)
  t.equal((await second.api.patch(`${CONFIG}/status`, 'merge', beat)).code, 200)
  t.match(await refusal(holder.post(TOKEN, request({ session: first.session }))), {
    code: 409,
    message: /this session of the syncer has ended: another one began at .* One syncer serves a mailbox/,
  })
  await box.ok(box.delete(`${SECRETS}/kubestellar-syncer-session`))
  const third = await work(holder, { session: second.session })
  t.equal((await third.api.get(CONFIG)).code, 200, 'where none is left, a new one displaces nobody')
  plain.close()
})

t.test(
  'a dry run gets a token that only looks: no session begins or ends, and nobody takes it for a syncer',
  async t => {
    const { space, box, credential, work } = await mailbox(t, 'look')
    const former = await credential()
    const holder = await credential({ replaces: true })
    const first = await work(former)
    const looking = await box.ok(holder.post(`${TOKEN}?dryRun=All`, request({ seconds: DAY })))
    t.match(looking, { spec: { expirationSeconds: 600 } })
    t.equal(sessionOf(looking), '')
    const onlooker = admin.as(tokenOf(looking))
    const inBox = onlooker.in(space)
    for (const path of [CONFIG, '/api/v1/configmaps', '/api', '/version'])
      t.equal((await inBox.get(path)).code, 200, path)
    const beat = { status: { lastSyncerHeartbeatTime: '2026-01-01T00:00:00Z' } }
    t.match(await refusal(inBox.patch(`${CONFIG}/status`, 'merge', beat)), { code: 403, message: /reads only/ })
    t.equal((await inBox.post(TOKEN, request())).code, 403)
    const stream = await onlooker.watch(`/services/stream/clusters/${space}?protocol=2-2`)
    await stream.next()
    t.notOk(heard.has(space), 'its stream is no syncer that is there')
    t.equal((await first.api.get(CONFIG)).code, 200, 'the session of the credential that it replaces goes on')
    t.equal((await work(former, { session: first.session })).session, first.session)

    const names = world.names(space, 'secrets').filter(each => each.includes('credential'))
    const secrets = await Promise.all(
      names.map(each => box.ok(box.get(`${SECRETS}/${each.slice(each.lastIndexOf('/') + 1)}`))),
    )
    const looked = secrets.filter(({ metadata }) => metadata.annotations?.['edge.kubestellar.io/last-looked'])
    t.equal(looked.length, 1, 'it is noted on the credential')
    t.notOk(looked[0]!.metadata.annotations?.['edge.kubestellar.io/last-used'])
    await box.ok(box.delete(`${SECRETS}/${looked[0]!.metadata.name}`))
    await stream.rest()
    t.equal((await inBox.get(CONFIG)).code, 401, 'it ends with its credential, stream and all')
    t.equal((await first.api.get(CONFIG)).code, 200, 'and nobody else does')
    inBox.close()
    onlooker.close()
  },
)

t.test('a revoked credential ends with all that came of it', async t => {
  const { space, box, credential, work } = await mailbox(t, 'revoke')
  const holder = await credential()
  const { api } = await work(holder)
  const name = world
    .names(space, 'secrets')
    .find(each => each.includes('credential'))!
    .split('/')[1]!
  await box.ok(box.delete(`${SECRETS}/${name}`))
  t.match(await refusal(holder.post(TOKEN, request())), { code: 401, message: /was revoked/ })
  await world.absent(space, 'secrets default/kubestellar-syncer-session')
  t.equal((await api.get(CONFIG)).code, 401)
  const account = '/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer'
  const another = await credential()
  await box.ok(box.delete(account))
  await world.present(space, 'serviceaccounts default/kubestellar-syncer')
  t.equal((await another.post(TOKEN, request())).code, 401, 'nor does one outlive the account')
})

t.test('a credential that replaces others ends them when it is used, not before', async t => {
  const { credential, work } = await mailbox(t, 'rotate')
  const old = await credential()
  const next = await credential({ replaces: true })
  await work(old)
  await work(next)
  t.equal((await old.post(TOKEN, request())).code, 401)
  t.equal((await work(next)).session.length > 0, true)
})

t.test('who holds a credential cannot change what is written about it', async t => {
  const { space, credential, work } = await mailbox(t, 'account')
  const { api } = await work(await credential())
  for (const name of world.names(space, 'secrets').map(each => each.split('/')[1]!)) {
    const forever = { metadata: { annotations: { 'edge.kubestellar.io/expires': '2999-01-01T00:00:00Z' } } }
    t.equal((await api.patch(`${SECRETS}/${name}`, 'merge', forever)).code, 403, name)
    t.equal((await api.delete(`${SECRETS}/${name}`)).code, 403, name)
  }
})
