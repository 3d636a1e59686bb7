import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { StatusError, statusError } from '../../../src/apimachinery/errors.ts'
import type { Authentication, Authenticator, Credentials } from '../../../src/apiserver/auth/types.ts'
import { UnionAuthenticator } from '../../../src/apiserver/auth/union.ts'
import { issueCa } from '../../../src/apiserver/pki/issue.ts'

class Recorder implements Authenticator {
  readonly asked: string[] = []
  answer: (credentials: Credentials) => Authentication | undefined = () => undefined

  async authenticate(credentials: Credentials): Promise<Authentication | undefined> {
    this.asked.push(credentials.token ?? 'certificate')
    return this.answer(credentials)
  }
}
const user = (name: string): Authentication => ({ user: { name, groups: [] } })

t.test('a good token is asked about once in its time, also by requests at the same time', async t => {
  let now = 0
  const backend = new Recorder()
  backend.answer = () => user('ann')
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [backend], clock: () => now })
  await Promise.all([union.authenticate({ token: 'a' }), union.authenticate({ token: 'a' })])
  now = 9_999
  t.equal((await union.authenticate({ token: 'a' }))?.user.name, 'ann')
  t.same(backend.asked, ['a'])
  backend.answer = () => undefined
  now = 10_000
  await t.rejects(
    async () => union.authenticate({ token: 'a' }),
    { message: 'Unauthorized' },
    'a revoked token stops working',
  )
})

t.test('a bad token becomes good a second later at most', async t => {
  let now = 0
  const backend = new Recorder()
  const union = new UnionAuthenticator({
    now: Date.now,
    authenticators: [backend],
    clock: () => now,
    failureTtlMs: 60_000,
  })
  await t.rejects(async () => union.authenticate({ token: 'a' }), { message: 'Unauthorized' })
  backend.answer = () => user('ann')
  await t.rejects(async () => union.authenticate({ token: 'a' }))
  now = 1000
  t.equal((await union.authenticate({ token: 'a' }))?.user.name, 'ann')
})

t.test('setting the time of day changes nothing of how long tokens are remembered', async t => {
  const day = Date.now
  t.teardown(() => Object.assign(Date, { now: day }))
  const backend = new Recorder()
  backend.answer = () => user('ann')
  const union = new UnionAuthenticator({
    clock: () => performance.now(),
    now: Date.now,
    authenticators: [backend],
    ttlMs: 0,
  })
  await union.authenticate({ token: 'a' })
  Object.assign(Date, { now: () => day() - 3_600_000 })
  backend.answer = () => undefined
  await t.rejects(
    async () => union.authenticate({ token: 'a' }),
    { message: 'Unauthorized' },
    'back: it ends all the same',
  )
  const patient = new UnionAuthenticator({ clock: () => performance.now(), now: Date.now, authenticators: [backend] })
  backend.answer = () => user('ann')
  backend.asked.length = 0
  await patient.authenticate({ token: 'a' })
  Object.assign(Date, { now: () => day() + 3_600_000 })
  await patient.authenticate({ token: 'a' })
  t.same(backend.asked, ['a'], 'forward: it is still known')
})

t.test('nobody is remembered beyond the end of a credential', async t => {
  let now = 0
  const backend = new Recorder()
  backend.answer = () => ({ ...user('ann'), untilMs: 1_005_000 })
  const union = new UnionAuthenticator({ authenticators: [backend], clock: () => now, now: () => 1_000_000 })
  await union.authenticate({ token: 'a' })
  now = 4999
  await union.authenticate({ token: 'a' })
  t.equal(backend.asked.length, 1)
  now = 5000
  await union.authenticate({ token: 'a' })
  t.equal(backend.asked.length, 2)
})

t.test('each forgetting is reported, also that of all', async t => {
  const spaces: (string | undefined)[] = []
  const union = new UnionAuthenticator({
    clock: () => performance.now(),
    now: Date.now,
    authenticators: [],
    onForgotten: space => spaces.push(space),
  })
  union.forget('s1')
  union.clear()
  t.same(spaces, ['s1', undefined])
})

t.test('a failure to find out is not remembered', async t => {
  const backend = new Recorder()
  backend.answer = () => {
    throw new Error('store closed')
  }
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [backend], clock: () => 0 })
  await t.rejects(async () => union.authenticate({ token: 'a' }), { message: 'store closed' })
  backend.answer = () => user('ann')
  t.ok(await union.authenticate({ token: 'a' }))
})

t.test('memory is bounded and keeps what is in use', async t => {
  const backend = new Recorder()
  backend.answer = () => user('x')
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [backend], clock: () => 0, maxEntries: 2 })
  for (const token of ['a', 'b', 'a', 'c', 'a', 'b']) await union.authenticate({ token })
  t.same(backend.asked, ['a', 'b', 'c', 'b'])
})

t.test('the same token for another audience is another question', async t => {
  const backend = new Recorder()
  backend.answer = ({ audiences }) => (audiences ? undefined : user('x'))
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [backend], clock: () => 0 })
  t.ok(await union.authenticate({ token: 'a' }))
  await t.rejects(async () => union.authenticate({ token: 'a', audiences: ['vault'] }))
})

t.test('authenticators are asked in order; the first that refuses ends it', async t => {
  const [first, second] = [new Recorder(), new Recorder()]
  first.answer = ({ token }) => {
    if (token === 'mine-but-bad') throw statusError.unauthorized()
    return undefined
  }
  second.answer = () => user('second')
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [first, second], clock: () => 0 })
  t.equal((await union.authenticate({ token: 'other' }))?.user.name, 'second')
  await t.rejects(async () => union.authenticate({ token: 'mine-but-bad' }))
  t.same(second.asked, ['other'])
})

t.test('a certificate goes before a token; without either there is nobody', async t => {
  const { certPem } = await issueCa({ commonName: 'x', nowMs: Date.now(), days: 1 })
  const backend = new Recorder()
  backend.answer = ({ certificate }) => user(certificate ? 'by certificate' : 'by token')
  const union = new UnionAuthenticator({ clock: () => performance.now(), now: Date.now, authenticators: [backend] })
  const both = { certificate: new X509Certificate(certPem), token: 'a' }
  t.equal((await union.authenticate(both))?.user.name, 'by certificate')
  t.equal(await union.authenticate({}), undefined)
})

t.test('tokens of a space can be forgotten at once, also one that is just being looked at', async t => {
  const backend = new Recorder()
  backend.answer = ({ token = '' }) => ({ ...user(token), space: token.slice(0, 1) })
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [backend], clock: () => 0 })
  for (const token of ['a1', 'b1']) await union.authenticate({ token })
  const late = union.authenticate({ token: 'a2' })
  union.forget('a')
  t.equal((await late)?.user.name, 'a2')
  backend.asked.length = 0
  for (const token of ['a1', 'b1', 'a2']) await union.authenticate({ token })
  t.same(backend.asked, ['a1', 'a2'])
})

t.test('a token that was refused while its space was forgotten is asked about again', async t => {
  const backend = new Recorder()
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [backend], clock: () => 0 })
  const early = union.authenticate({ token: 'a1' })
  union.forget('a')
  await t.rejects(async () => early, { message: 'Unauthorized' })
  backend.answer = () => user('a1')
  t.equal((await union.authenticate({ token: 'a1' }))?.user.name, 'a1')
})

t.test('however many spaces are forgotten, none of their tokens is remembered', async t => {
  const backend = new Recorder()
  backend.answer = ({ token = '' }) => ({ ...user(token), space: token })
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [backend], clock: () => 0 })
  for (const token of ['first', 'last', 'other']) await union.authenticate({ token })
  union.forget('first')
  for (let i = 0; i < 20_000; i++) union.forget(`space${i}`)
  union.forget('last')
  backend.asked.length = 0
  for (const token of ['first', 'last']) await union.authenticate({ token })
  t.same(backend.asked, ['first', 'last'])
  for (const token of ['first', 'last']) await union.authenticate({ token })
  t.equal(backend.asked.length, 2, 'and what is asked afterwards is remembered again')
})

t.test('who shows the same again is known at once, and forgotten like everybody', async t => {
  let now = 0
  const backend = new Recorder()
  backend.answer = ({ token = '' }) => ({ ...user(token), space: 'a' })
  const union = new UnionAuthenticator({ now: Date.now, authenticators: [backend], clock: () => now })
  const shown = { token: 'a1' }
  await union.authenticate(shown)
  const isKnown = (): boolean => {
    const found = union.authenticate(shown)
    return !(found instanceof Promise)
  }
  t.ok(isKnown())
  const later = (): void => {
    now += 10_000
  }
  for (const forget of [() => union.forget('a'), () => union.clear(), later]) {
    forget()
    t.notOk(isKnown(), String(forget))
    await union.authenticate(shown)
    t.ok(isKnown())
  }
  t.same(backend.asked, ['a1', 'a1', 'a1', 'a1'])
})

t.test(
  'what an authenticator knows at once is answered at once, and remembered and forgotten like all else',
  async t => {
    let now = 0
    let asked = 0
    const quick = {
      authenticate: ({ token = '' }) => {
        asked++
        if (token === 'bad') throw new StatusError('Unauthorized', 'Unauthorized')
        return { ...user(token), space: 'a' }
      },
    }
    const union = new UnionAuthenticator({ now: Date.now, authenticators: [quick], clock: () => now })
    t.match(union.authenticate({ token: 'good' }), { user: { name: 'good' } })
    t.match(union.authenticate({ token: 'good' }), { user: { name: 'good' } })
    t.equal(asked, 1)
    union.forget('a')
    t.match(union.authenticate({ token: 'good' }), { user: { name: 'good' } })
    t.equal(asked, 2)
    now += 10_000
    await union.authenticate({ token: 'good' })
    t.equal(asked, 3)
    for (let i = 0; i < 2; i++) await t.rejects(async () => union.authenticate({ token: 'bad' }))
    t.equal(asked, 4, 'a refusal is remembered, too')
  },
)
