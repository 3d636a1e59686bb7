/** Abandoned work stops, and none of that is a fault of the server. */
import t from 'tap'
import { CONFIGMAPS, configMap, startTestServer } from '../support/server.ts'

const { api, faults } = await startTestServer(t)
const COUNT = 15
const BIG = { text: 'a: b\n'.repeat(40_000) }
for (let i = 0; i < COUNT; i++) {
  await api.ok(api.post(CONFIGMAPS, configMap(`c${i}`, BIG, { labels: { some: 'thing' } })))
}
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const PARTIAL = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

for (const [what, path, accept] of [
  ['YAML', CONFIGMAPS, 'application/yaml'],
  ['a Table', `${CONFIGMAPS}?includeObject=Object`, TABLE],
  ['metadata', CONFIGMAPS, PARTIAL],
  ['protobuf', CONFIGMAPS, 'application/vnd.kubernetes.protobuf'],
  ['JSON', `${CONFIGMAPS}?labelSelector=some%3Dthing`, 'application/json'],
] as const) {
  t.test(`a list as ${what}: it comes whole, others are answered meanwhile, and leaving breaks nothing`, async t => {
    // Each resolves when its answer begins; nobody reads on.
    const begun = await Promise.all(Array.from({ length: 10 }, () => api.watch(path, { accept })))
    t.equal((await api.get('/livez')).code, 200)
    for (const answer of begun) answer.close()
    const whole = await api.get(path, { accept })
    t.equal(whole.code, 200)
  })
}

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
