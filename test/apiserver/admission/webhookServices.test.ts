/** Webhooks behind Services of the space: how the server finds its way to them, and what it says when there is none. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { CONFIGMAPS, configMap, createSpace, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from './webhookServer.ts'

const { api, server, faults } = await startTestServer(t, WEBHOOKS_HERE)
const hooks = await startWebhookServer(t)
hooks.on('/deny', () => ({ allowed: false, status: { message: 'asked' } }))

const SERVICES = '/api/v1/namespaces/default/services'
const ASKED = 'admission webhook "deny.example.com" denied the request: asked'

const service = (spec: object, name = 'hooks'): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec,
})
/** Straight into the store: the API takes no endpoints on loopback, where the webhook of this test is. */
async function put(group: string, resource: string, object: KubeObject): Promise<void> {
  const key = { space: 'root', group, resource, namespace: 'default', name: object.metadata.name! }
  await server.store.update(key, () => ({ type: 'put', text: encodeObject(object) }))
}
const slice = (name: string, more: object): Promise<void> =>
  put('discovery.k8s.io', 'endpointslices', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': 'hooks' } },
    addressType: 'IPv4',
    ...more,
  })
const endpoints = (subset: object): Promise<void> =>
  put('', 'endpoints', {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'hooks', namespace: 'default' },
    subsets: [subset],
  })
const at = (more: object = {}): object => ({
  service: { namespace: 'default', name: 'hooks', path: '/deny', ...more },
  caBundle: hooks.caBundle,
})

/** Message of a create with a webhook at `client`. */
async function asked(client: object, where = api): Promise<string> {
  const denying = webhook('deny.example.com', client, { timeoutSeconds: 5 })
  await where.ok(where.post(CONFIGURATIONS.Validating, configuration('Validating', 'test', [denying])))
  try {
    return (await where.post(CONFIGMAPS, configMap('x'))).body.message ?? 'created'
  } finally {
    await where.ok(where.delete(`${CONFIGURATIONS.Validating}/test`))
  }
}
const unreached = (why: string, port = 443): string =>
  'Internal error occurred: failed calling webhook "deny.example.com": failed to call webhook: ' +
  `Post "https://hooks.default.svc:${port}/deny?timeout=5s": ${why}`

t.test('without a way there the error says what is missing', async t => {
  t.equal(await asked(at()), unreached('service "hooks" not found'))
  await api.ok(api.post(SERVICES, service({ ports: [{ name: 'https', port: 443, targetPort: 'hook' }] })))
  t.equal(await asked(at({ port: 444 })), unreached('no service port 444 found for service "hooks"', 444))
  t.equal(await asked(at()), unreached('no endpoints available for service "hooks"'))
  const unready = [{ addresses: ['127.0.0.1'], conditions: { ready: false } }]
  const ports = [{ name: 'https', port: hooks.port }]
  await slice('unready', { endpoints: unready, ports })
  t.equal(await asked(at()), unreached('no endpoints available for service "hooks"'), 'nor to what is not ready')
})

t.test('a ready endpoint of its slices is asked, at the port with the name of the service port', async t => {
  const ready = [{ addresses: ['127.0.0.1'], conditions: { ready: true } }]
  const ports = [
    { name: 'metrics', port: 1 },
    { name: 'https', port: hooks.port },
  ]
  await slice('ready', { endpoints: ready, ports })
  t.equal(await asked(at()), ASKED)
  t.equal(await asked(at({ path: '/elsewhere' })), 'created', 'the path is the one of the reference')
  t.match(hooks.seen.at(-1), { path: '/elsewhere' })
  await slice('ready', { endpoints: [], ports })
  t.match(await asked(at()), 'no endpoints available', 'what is gone is asked no more, open connection or not')
  for (const name of ['ready', 'unready']) {
    await api.ok(api.delete(`/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/${name}`))
  }
})

t.test('Endpoints serve where there are no slices', async t => {
  const ports = [{ name: 'https', port: hooks.port }]
  await endpoints({ addresses: [{ ip: '127.0.0.1' }], ports })
  t.equal(await asked(at()), ASKED)
  await endpoints({ notReadyAddresses: [{ ip: '127.0.0.1' }], ports })
  t.match(await asked(at()), 'no endpoints available')
  await api.ok(api.delete(`${SERVICES}/hooks`))
})

t.test('ExternalName leads outside; the certificate has to be for the service', async t => {
  const external = service({ type: 'ExternalName', externalName: 'localhost' })
  await api.ok(api.post(SERVICES, external))
  t.equal(await asked(at({ port: hooks.port })), ASKED)
  await api.ok(api.post(SERVICES, service({ type: 'ExternalName', externalName: 'localhost' }, 'impostor')))
  const impostor = await asked(at({ name: 'impostor', port: hooks.port }))
  t.match(impostor, /tls: failed to verify certificate: x509: .*impostor\.default\.svc/)
})

t.test('services are those of the space', async t => {
  await createSpace(api, 'lonely')
  const message = await asked(at({ port: hooks.port }), api.in('root:lonely'))
  t.equal(message, unreached('service "hooks" not found', hooks.port))
})

t.test('with a list of allowed hosts webhooks are nowhere else', async t => {
  const strict = await startTestServer(t, { more: { webhookAllowedHosts: ['hooks.example.com', '192.0.2.0/24'] } })
  const why = (address: string): string =>
    `connecting to ${address} is not allowed by the server's --webhook-allowed-hosts`
  t.match(await asked(hooks.at('/deny'), strict.api), why('127.0.0.1'))
  const named = { url: `https://localhost:${hooks.port}/deny`, caBundle: hooks.caBundle }
  t.match(await asked(named, strict.api), /connecting to \S+ \(localhost\) is not allowed by the server's/)
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  await strict.api.ok(strict.api.post(SERVICES, service(spec)))
  t.match(await asked(at({ port: hooks.port }), strict.api), /connecting to \S+ \(localhost\) is not allowed/)
  const loose = await startTestServer(t, { more: { webhookAllowedHosts: ['localhost'] } })
  t.equal(await asked(named, loose.api), ASKED)
  t.match(await asked({ url: 'https://169.254.169.254/deny' }), why('169.254.169.254'), 'link-local: never unasked')
})

t.test('without a list none is on the own host, by whatever name or spelling', async t => {
  const { api } = await startTestServer(t)
  const refused = /connecting to \S+( \(localhost\))? is not allowed by the server's --webhook-allowed-hosts$/
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:7f00:1]', '[::ffff:127.0.0.1]', '0x7f.1', '0', '2130706433']) {
    const at = { url: `https://${host}:${hooks.port}/deny`, caBundle: hooks.caBundle }
    t.match(await asked(at, api), refused, host)
  }
  await api.ok(api.post(SERVICES, service({ type: 'ExternalName', externalName: 'localhost' })))
  t.match(await asked(at({ port: hooks.port }), api), refused, 'nor behind a Service')
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
