/** Content of `/statusz` and `/configz`, and their readers. */
import t from 'tap'
import { type StatuszFacts, statusz } from '../../../src/apiserver/pages/zPages.ts'
import { ALICE, startTestServer } from '../../support/server.ts'

const FACTS: StatuszFacts = {
  startedMs: Date.UTC(2026, 0, 31, 10, 0, 0),
  nowMs: Date.UTC(2026, 1, 1, 12, 3, 9),
  version: {
    gitVersion: 'v1.36.0+orrery',
    gitCommit: 'abc',
    goVersion: 'node v26',
    emulationMajor: '1',
    emulationMinor: '36',
  },
  paths: ['/healthz', '/statusz'],
}

t.test('text for people', async t => {
  for (const accept of [undefined, '', '*/*', 'text/plain', 'application/json, */*']) {
    const { contentType, body } = statusz(accept, FACTS)
    t.equal(contentType, 'text/plain; charset=utf-8')
    t.match(body, /^\norrery statusz\nWarning: /)
    t.match(body, /\nUp: 26 hr 03 min 09 sec\n.*\nBinary version: v1\.36\.0\+orrery\nCommit: abc\n/)
    t.match(body, /\nEmulation version: 1\.36\nPaths: \/healthz \/statusz\n$/)
  }
})

t.test('an object for who asks for one by group, version and kind', async t => {
  const { contentType, body } = statusz('application/json;v=v1beta1;g=config.k8s.io;as=Statusz', FACTS)
  t.equal(contentType, 'application/json')
  t.match(JSON.parse(body), {
    kind: 'Statusz',
    apiVersion: 'config.k8s.io/v1beta1',
    startTime: '2026-01-31T10:00:00Z',
    uptimeSeconds: 93_789,
    paths: ['/healthz', '/statusz'],
  })
  for (const accept of ['application/json', 'application/json;v=v9;g=config.k8s.io;as=Statusz', 'application/yaml'])
    t.throws(() => statusz(accept, FACTS), { message: /^only the following media types are accepted/ }, accept)
})

t.test('who may get them in root gets them, and no other space has them', async t => {
  const { api } = await startTestServer(t, { more: { settings: { 'history-minutes': 10 } } })
  t.match((await api.get('/statusz')).text, /orrery statusz/)
  t.same((await api.get('/configz')).body, { orrery: { 'history-minutes': 10 } })
  t.match((await api.get('/')).text, /"\/configz",[^\]]*"\/statusz"/)
  const alice = api.as(ALICE)
  for (const path of ['/statusz', '/configz']) {
    t.equal((await alice.get(path)).code, 403, path)
    t.equal((await api.get(`/clusters/root:imw1${path}`)).code, 404, path)
    t.equal((await api.post(path, {})).code, 405, path)
  }
})
