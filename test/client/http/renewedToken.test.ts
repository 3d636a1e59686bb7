// The syncer's token: got once, renewed while it is good, got anew when it is refused, and given up to a newer session.
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { RenewedToken } from '../../../src/client/http/renewedToken.ts'

const SESSION = 'edge.kubestellar.io/session'
const HOUR = 3_600_000
const renewal = (id: string) =>
  `h.${Buffer.from(JSON.stringify({ iss: 'orrery-syncer-renewal', jti: id })).toString('base64url')}.s`

function world() {
  const state = { now: 0, credential: renewal('a') as string | undefined, failure: undefined as Error | undefined }
  const asked: (string | undefined)[] = []
  const renewed = new RenewedToken({
    credential: async () => state.credential,
    async ask(credential, request: KubeObject) {
      asked.push(request.metadata.annotations?.[SESSION])
      if (state.failure) throw state.failure
      return {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: { annotations: { [SESSION]: `session of ${credential.length}` } },
        spec: { expirationSeconds: 24 * 3600 },
        status: { token: `t${asked.length}` },
      }
    },
    clock: { now: () => state.now, after: () => () => {} },
    random: () => 0,
  })
  return { state, asked, renewed }
}
const turn = () => new Promise(resolve => setImmediate(resolve))

t.test('a plain token is used as it is', async t => {
  const { state, asked, renewed } = world()
  for (const credential of ['abc', 'a.b.c', undefined]) {
    state.credential = credential
    t.equal(await renewed.token(), credential)
  }
  t.same(asked, [])
})

t.test('one request for all who ask at once; renewed after half of its life, while nobody waits', async t => {
  const { state, asked, renewed } = world()
  t.same(await Promise.all([renewed.token(), renewed.token()]), ['t1', 't1'])
  state.now = 11 * HOUR
  t.equal(await renewed.token(), 't1')
  t.same(asked, [undefined])
  state.now = 13 * HOUR
  t.equal(await renewed.token(), 't1')
  await turn()
  t.equal(await renewed.token(), 't2')
  t.match(asked, [undefined, /^session of/])
})

t.test('a renewal that fails leaves the token in use until its end', async t => {
  const { state, asked, renewed } = world()
  await renewed.token()
  state.failure = new StatusError('ServiceUnavailable', 'away')
  state.now = 20 * HOUR
  t.equal(await renewed.token(), 't1')
  await turn()
  t.equal(await renewed.token(), 't1')
  t.equal(asked.length, 2, 'not asked again at once')
  state.now = 25 * HOUR
  await t.rejects(renewed.token(), { message: 'away' })
})

t.test('a refused token is got anew, seldom; another credential counts at once', async t => {
  const { state, asked, renewed } = world()
  const first = await renewed.token()
  renewed.refused('another one')
  t.equal(await renewed.token(), 't1')
  renewed.refused(first)
  t.equal(await renewed.token(), 't2')
  renewed.refused('t2')
  t.equal(await renewed.token(), 't2', 'so soon after the last')
  state.credential = renewal('longer')
  t.equal(await renewed.token(), 't3')
  t.same([asked[0], asked[2]], [undefined, undefined], 'which begins a session of its own')
})

t.test('a session that a newer one ended is told, and not begun again', async t => {
  const { state, renewed } = world()
  const first = await renewed.token()
  state.failure = new StatusError('Conflict', 'another one began')
  renewed.refused(first)
  await t.rejects(renewed.token(), { message: 'another one began' })
  t.equal(await renewed.ended, 'another one began')
})
