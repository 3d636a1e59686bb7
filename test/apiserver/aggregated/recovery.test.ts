/** The port for a host's front proxy while the store is read, and after: documents from the beginning, everything else from then on. */
import t from 'tap'
import { AggregatedPort } from '../../../src/apiserver/aggregatedParts.ts'
import { ensurePki, tlsOf } from '../../../src/apiserver/pki/ensurePki.ts'
import { Api } from '../../support/api.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { freePort } from '../../support/freePort.ts'
import { Authority } from '../../support/frontProxy.ts'
import { temporaryDir } from '../../support/server.ts'
import { authenticationData, followedHost, Logged, startBehind } from './support.ts'

const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const SPACES = '/apis/tenancy.kcp.io/v1alpha1/spaces'
const DISCOVERY_V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const PROBE = { 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': 'system:masters' }

t.test('discovery and OpenAPI need no store, and nothing else is answered without one', async t => {
  const authority = await Authority.make()
  const logged = new Logged()
  const known = logged.next('the front proxy of the host is known')
  const note = (_fields: unknown, text: string): void => logged.note(text)
  const port = await freePort()
  const host = new AggregatedPort(
    {
      dataDir: '',
      bindAddress: '127.0.0.1',
      securePort: 0,
      externalHostnames: [],
      spaces: true,
      log: { info: note, warn: note, error: note } as never,
    },
    {
      host: followedHost(authenticationData(authority.ca.certPem)),
      port,
      space: 'root:wmw1',
      userPrefix: 'host:',
      namespaced: false,
    },
  )
  t.teardown(() => host.close())
  const pki = await ensurePki(temporaryDir(t), { hostnames: ['localhost'], ips: [], clock: Date.now })
  await host.recover(tlsOf(pki), endlessTurns())
  await known
  const { certPem: cert, keyPem: key } = await authority.client()
  const proxy = new Api({ url: `https://127.0.0.1:${port}`, cert, key })
  t.teardown(() => proxy.close())
  const edge = await proxy.get(EDGE, PROBE)
  t.match(edge, { code: 200, body: { kind: 'APIResourceList' } })
  t.match(edge.text, /"edgeplacements"/)
  t.match((await proxy.get('/apis', { ...PROBE, accept: DISCOVERY_V2 })).body, { kind: 'APIGroupDiscoveryList' })
  t.match((await proxy.get('/openapi/v2', PROBE)).text, /EdgePlacement/)
  t.match((await proxy.get('/openapi/v3', PROBE)).text, /apis\/edge.kubestellar.io\/v2alpha1/)
  t.equal((await proxy.get('/version', PROBE)).code, 200)
  for (const path of ['/readyz', SPACES, `${EDGE}/edgeplacements`, `${SPACES}/root:wmw1/proxy/apis`])
    t.match(
      await proxy.get(path, PROBE),
      {
        code: 503,
        headers: { 'retry-after': '1' },
        body: { message: /reads its store: until then it answers discovery/ },
      },
      path,
    )
  t.equal((await proxy.get(EDGE)).code, 401, 'a front proxy that names no user')
  const stranger = new Api({ url: `https://127.0.0.1:${port}` })
  t.teardown(() => stranger.close())
  t.equal((await stranger.get(EDGE, PROBE)).code, 401)
  t.equal((await stranger.get(EDGE, { authorization: 'Bearer of-the-host' })).code, 503, 'a token waits')
})

t.test('the server takes over the port, also when it starts again', async t => {
  const port = await freePort()
  const behind = await startBehind(t, { port })
  const probe = await behind.as('system:kube-aggregator')
  t.equal((await probe.get(EDGE)).code, 200)
  const known = behind.logged.next('the front proxy of the host is known')
  const orrery = await behind.orrery.restart()
  await known
  t.equal(orrery.server.aggregatedPort, port)
  const again = await behind.as('system:kube-aggregator')
  t.equal((await again.get(EDGE)).code, 200)
  t.match(await again.get(`${EDGE}/edgeplacements`), { code: 403 }, 'by the server')
})

t.test('a port that is taken ends the start with the name of its flag', async t => {
  const behind = await startBehind(t)
  const port = behind.orrery.server.aggregatedPort!
  await t.rejects(startBehind(t, { port }), {
    message: `--aggregated-port ${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}; stop what listens there, or give another port`,
  })
})
