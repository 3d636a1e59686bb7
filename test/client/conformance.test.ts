/** Clients of a real server, in process and over HTTP, and the fakes: one contract. */
import t from 'tap'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { FakeServer as PlacementServer } from '../controllers/placement/fakeServer.ts'
import { accessOf, startTestServer } from '../support/server.ts'
import { clientConformance } from './conformance.ts'
import { FakeServer } from './support/fakeServer.ts'

t.test('clients of a real server', async t => {
  const { server, faults } = await startTestServer(t)
  const { ca, cert, key } = accessOf(server.kubeconfigPath)
  const remote = httpClient({
    server: server.url,
    ...(ca && { caPem: ca }),
    ...(cert && { certPem: cert }),
    ...(key && { keyPem: key }),
  })
  t.teardown(() => remote.close())
  const real = { space: 'root', forget: () => server.store.compact(server.store.revision) }
  await t.test('in process', async t => {
    clientConformance(t, { ...real, client: embeddedClient({ ...server, component: 'test' }), refuses: [] })
  })
  await t.test('over HTTP', async t => {
    clientConformance(t, { ...real, client: remote, refuses: ['withStatus'], refusal: /written by itself/ })
  })
  t.strictSame(faults, [])
})

const fake = { space: 'root', refuses: ['json', 'strategic', 'apply'], refusal: /does not offer/ } as const

t.test('the fake of clients and controllers', async t => {
  const client = new FakeServer()
  const deviations = { 'a creation needs its Namespace': 'tests of one controller make no Namespaces' }
  clientConformance(t, { ...fake, deviations, client, forget: async () => client.compact() })
})

t.test('the fake of the placement translator', async t => {
  const client = new PlacementServer()
  const deviations = {
    'a creation takes no uid from its author': 'tests name mailboxes after the uids of their SyncTargets',
  }
  clientConformance(t, {
    ...fake,
    refuses: [...fake.refuses, 'finalize'],
    deviations,
    client,
    forget: async () => client.compact(),
  })
})
