/** Bounds on concurrent requests: who is let in, who is told to come again, and who is broken off. */
import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { InFlight } from '../../../src/apiserver/server/inFlight.ts'
import type { AuthorizedRequest } from '../../../src/apiserver/server/pipeline.ts'

const PODS = '/api/v1/namespaces/default/pods'
const request = (method: string, url: string, groups: string[] = []): AuthorizedRequest => ({
  info: parseRequest(method, url),
  user: { name: 'u', groups },
  space: 'root',
})
const nothing = (): void => {}
const TOO_MANY = {
  reason: 'TooManyRequests',
  code: 429,
  message: 'the server has received too many requests and has asked us to try again later',
  details: { retryAfterSeconds: 1 },
}

t.test('reading, mutating and watching have bounds of their own', async t => {
  const inFlight = new InFlight({ limits: { reading: 1, mutating: 1, watching: 1 }, clock: () => 0 })
  const cases: [string, string, string][] = [
    ['GET', `${PODS}/a`, 'reading'],
    ['GET', PODS, 'reading'],
    ['GET', '/apis', 'reading'],
    ['HEAD', '/healthz', 'reading'],
    ['POST', PODS, 'mutating'],
    ['PATCH', `${PODS}/a`, 'mutating'],
    ['DELETE', PODS, 'mutating'],
    ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'mutating'],
    ['GET', `${PODS}?watch=1`, 'watching'],
    ['GET', '/api/v1/watch/pods', 'watching'],
    ['GET', '/services/stream/clusters/root', 'watching'],
  ]
  for (const [method, url, kind] of cases) {
    const ticket = inFlight.enter(request(method, url), nothing)
    t.equal(ticket.kind, kind, `${method} ${url}`)
    t.throws(() => inFlight.enter(request(method, url), nothing), TOO_MANY)
    const admin = inFlight.enter(request(method, url, ['system:masters']), nothing)
    t.equal(inFlight.running(ticket.kind), 2)
    inFlight.leave(admin)
    inFlight.leave(ticket)
    t.equal(inFlight.running(ticket.kind), 0)
  }
})

t.test('a request that takes too long is broken off, a watch is not', async t => {
  let now = 0
  const inFlight = new InFlight({ clock: () => now })
  const ended: string[] = []
  const run = (name: string, url: string) => inFlight.enter(request('GET', url), () => ended.push(name))
  run('old', PODS)
  run('watch', `${PODS}?watch=1`)
  const done = run('done', PODS)
  now = 50
  run('young', PODS)
  inFlight.leave(done)
  now = 100
  inFlight.endOlderThan(100)
  t.same(ended, ['old'])
})

t.test('a closing server waits for what runs', async t => {
  const inFlight = new InFlight({ clock: () => 0 })
  await inFlight.idle(60_000)
  const one = inFlight.enter(request('GET', PODS), nothing)
  const two = inFlight.enter(request('GET', `${PODS}?watch=1`), nothing)
  const idle = inFlight.idle(60_000).then(() => 'idle')
  inFlight.leave(one)
  t.equal(await Promise.race([idle, Promise.resolve('waits')]), 'waits')
  inFlight.leave(two)
  t.equal(await idle, 'idle')
  inFlight.enter(request('GET', PODS), nothing)
  await inFlight.idle(1)
  t.pass('and not for ever')
})

t.test('a crowd of users keeps neither syncers nor nodes out, reading or changing', async t => {
  const inFlight = new InFlight({ clock: () => 0 })
  const users = ['system:authenticated']
  for (const [method, most] of [
    ['GET', 248],
    ['POST', 124],
  ] as const) {
    for (let n = 0; n < most; n++) inFlight.enter(request(method, PODS, users), nothing)
    t.throws(() => inFlight.enter(request(method, PODS, users), nothing), TOO_MANY, `${method} ${most}`)
    const syncer = inFlight.enter(request(method, PODS, ['system:serviceaccounts', ...users]), nothing)
    const node = inFlight.enter(request(method, PODS, ['system:nodes', ...users]), nothing)
    t.same([syncer.level, node.level], ['workload-low', 'system'])
  }
  t.equal(inFlight.runningAt('global-default'), 248 + 124)
  t.equal(inFlight.runningAt('workload-low'), 2, 'reading and changing together')
  t.equal(inFlight.running('reading'), 250)
})

t.test('watches are bounded apart, whoever asks', async t => {
  const inFlight = new InFlight({ limits: { reading: 1, mutating: 1, watching: 2 }, clock: () => 0 })
  const watch = request('GET', `${PODS}?watch=1`, ['system:authenticated'])
  inFlight.enter(watch, nothing)
  inFlight.enter(watch, nothing)
  t.throws(() => inFlight.enter(request('GET', `${PODS}?watch=1`, ['system:nodes']), nothing), TOO_MANY)
  t.equal(inFlight.runningAt('global-default'), 0, 'and take no seats')
  inFlight.enter(request('GET', PODS), nothing)
})

t.test('a request costs its ticket and nothing more', async t => {
  const inFlight = new InFlight({ clock: () => 0 })
  const asked = request('PUT', `${PODS}/a`, ['system:serviceaccounts', 'system:authenticated'])
  const pass = (times: number): void => {
    for (let n = 0; n < times; n++) inFlight.leave(inFlight.enter(asked, nothing))
  }
  pass(20_000)
  const before = getHeapStatistics().total_allocated_bytes
  pass(20_000)
  const bytes = (getHeapStatistics().total_allocated_bytes - before) / 20_000
  t.ok(bytes > 0 && bytes < 160, `${bytes} bytes; a Set, Map or closure for each would be more`)
})
