/** Without priority and fairness: two numbers, and whoever comes beyond is refused. */
import t from 'tap'
import { FlowControl } from '../../../src/apiserver/flowcontrol/flowControl.ts'
import { countOnly } from '../../../src/apiserver/flowcontrol/maxInFlight.ts'
import { ONE_SEAT } from '../../../src/apiserver/flowcontrol/seats.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { ALICE, CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'
import { SteppedClock } from './steppedClock.ts'

t.test('reading and changing count apart; administrators always get in', async t => {
  const clock = new SteppedClock()
  const control = new FlowControl({
    clock,
    seats: 5,
    root: 'root',
    isSyncer: () => false,
    lineageOf: () => ['root'],
  })
  countOnly(control, { reading: 3, mutating: 2 })
  control.adjust()
  const enter = (groups: string[], method: string, url = '/api/v1/pods') =>
    control.enter(control.flowOf({ name: 'u', groups }, parseRequest(method, url), 'root'), ONE_SEAT).state
  for (let n = 0; n < 3; n++) t.equal(enter([], 'GET'), 'running')
  t.throws(() => enter([], 'GET', '/api'), { code: 429, details: { retryAfterSeconds: 1 } })
  for (let n = 0; n < 2; n++) t.equal(enter(['a'], 'DELETE', '/api/v1/namespaces/n/pods/p'), 'running')
  t.throws(() => enter(['a'], 'POST', '/api/v1/namespaces/n/pods'), { code: 429 })
  t.equal(enter(['system:masters'], 'GET'), 'running')
  clock.pass(10_000)
  control.adjust()
  t.throws(() => enter([], 'GET'), { code: 429 }, 'nothing is lent')
})

t.test('answers name no FlowSchema', async t => {
  const { api } = await startTestServer(t, { more: { fairness: false } })
  const answer = await api.get(CONFIGMAPS)
  t.equal(answer.code, 200)
  t.equal(answer.headers['x-kubernetes-pf-flowschema-uid'], undefined)
  t.equal((await api.as(ALICE).get('/api')).code, 200)
  t.equal((await api.post(CONFIGMAPS, configMap('a'))).code, 201)
})
