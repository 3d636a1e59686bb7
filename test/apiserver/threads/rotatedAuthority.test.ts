/** The authority of clients and the key of tokens become others: all threads go by the new ones, as one thread does. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { issueClient } from '../../../src/apiserver/pki/issue.ts'
import type { Access, Api } from '../../support/api.ts'
import { apiThreadsSeen } from '../../support/apiThreadsSeen.ts'
import { renewalClock } from '../../support/renewalClock.ts'
import { accessOf, startTestServer } from '../../support/server.ts'
import { answersOf, ask, askAll } from './tlsAsks.ts'

const DAY_MS = 86_400_000
const LET_IN = ['HTTP/1.1 200']
const REFUSED = ['HTTP/1.1 401']
const THREADS = { apiThreads: 2 }
/** Servers that start one after the other: each has a thread and the main one. */
const ONE = { apiThreads: 1 }
const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/view'

const seen = apiThreadsSeen(t)
const answersTo = async (access: Access): Promise<string[]> => answersOf(await askAll(() => ask(access)))

/** Token of an account that may read all of its space. */
async function tokenOf(api: Api): Promise<string> {
  const subject = { kind: 'ServiceAccount', name: 'robot', namespace: 'default' }
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const binding = { metadata: { name: 'robot' }, roleRef, subjects: [subject] }
  await api.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
  await api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding)
  const made = await api.ok(api.post('/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: {} }))
  return (made.status as unknown as { token: string }).token
}

t.test('an authority whose certificate is renewed while the server runs', async t => {
  const nowMs = Date.now()
  // of an age at which it is about to be renewed; what it signs next is good by the clock of everybody
  const more = { certificateClock: renewalClock(nowMs - 3300 * DAY_MS) }
  const { restart, dataDir } = await startTestServer(t, { more })
  const clock = renewalClock(nowMs - 100 * DAY_MS)
  const { api, server, faults } = await restart({ ...THREADS, certificateClock: clock })
  const before = accessOf(server.kubeconfigPath)
  const first = await askAll(() => ask(before))
  t.same(answersOf(first), LET_IN)
  const role = (await ask(before, { path: ROLE })).body

  const renewed = new Promise<string>(resolve => server.onAuthority(resolve))
  clock.leapTo(nowMs)
  const caPem = await renewed
  t.not(caPem, before.ca)
  const keyPem = readFileSync(join(dataDir, 'pki', 'ca.key'), 'utf8')
  const organizations = ['system:masters']
  const later = await issueClient({ ca: { certPem: caPem, keyPem }, commonName: 'late', organizations, nowMs, days: 1 })
  const after: Access = { url: before.url, ca: caPem, cert: later.certPem, key: later.keyPem }
  const letsAllIn = async (t: Test): Promise<void> => {
    t.same(await answersTo(before), LET_IN, 'who has the old one')
    t.same(await answersTo(after), LET_IN, 'who has the new one')
    t.same(await answersTo({ url: before.url, ca: caPem }), REFUSED, 'nobody')
    const resumed = await askAll(i => ask(before, first[i]!))
    t.same(answersOf(resumed), LET_IN, 'who comes with a session of before')
  }
  await t.test('threads that were there', letsAllIn)
  for (const thread of [...seen]) await thread.terminate()
  while (!/^orrery_api_threads 2$/m.test((await api.get('/metrics')).text)) await setTimeout(50)
  await t.test('threads that begin behind it', async t => {
    await letsAllIn(t)
    const bodies = await askAll(async () => (await ask(after, { path: ROLE })).body)
    t.same(new Set(bodies), new Set([role]), 'what is built in has its age')
  })
  t.match(new Set(faults), new Set(['an API thread has ended; another one is started']))
})

t.test('another key of tokens, and another authority, from one start to the next', async t => {
  const began = await startTestServer(t, { more: ONE })
  const { url, ...before } = accessOf(began.server.kubeconfigPath)
  const { ca } = before
  const token = await tokenOf(began.api)
  t.same(await answersTo({ url, ca: ca!, token }), LET_IN)

  rmSync(join(began.dataDir, 'pki', 'sa.key'))
  const again = await began.restart()
  const now = again.server.url
  t.same(await answersTo({ url: now, ca: ca!, token }), REFUSED, 'a token of the key of before')
  t.same(await answersTo({ url: now, ca: ca!, token: await tokenOf(again.api) }), LET_IN)
  t.same(await answersTo({ ...before, url: now }), LET_IN, 'certificates are as they were')

  rmSync(join(began.dataDir, 'pki'), { recursive: true })
  const last = await again.restart()
  const newest = accessOf(last.server.kubeconfigPath)
  t.same(await answersTo(newest), LET_IN)
  t.same(
    await answersTo({ ...before, ca: newest.ca!, url: newest.url }),
    REFUSED,
    'who was let in by another authority',
  )
})
