/** Readers of a webhook's answer, and the timeout of a slow one. */
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import t, { type Test } from 'tap'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { systemContext } from '../../../src/apiserver/registry/context.ts'
import type { Api } from '../../support/api.ts'
import { ALICE, CONFIGMAPS, configMap, createSpace, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from './webhookServer.ts'

const { api, server, faults } = await startTestServer(t, WEBHOOKS_HERE)
const hooks = await startWebhookServer(t)
const RBAC = 'rbac.authorization.k8s.io'
const id = await createSpace(api, 'tenant')
const space = api.in(id)
await space.ok(
  space.post(`/apis/${RBAC}/v1/clusterrolebindings`, {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'alice' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: 'alice' }],
  }),
)
const alice = space.as(ALICE)
t.teardown(() => alice.close())

/** Message of a create with a webhook at `client`; `who` makes the webhook, too. */
async function asked(who: Api, client: object, timeoutSeconds = 5): Promise<string> {
  const one = webhook('w.example.com', client, { timeoutSeconds })
  await who.ok(who.post(CONFIGURATIONS.Validating, configuration('Validating', 'test', [one])))
  try {
    const { code, body, text } = await who.post(CONFIGMAPS, configMap('x'))
    t.equal(code, 500, text)
    return body.message!.replace('Internal error occurred: failed calling webhook "w.example.com": ', '')
  } finally {
    await who.ok(who.delete(`${CONFIGURATIONS.Validating}/test`))
  }
}

/** A webhook of its own; how it is reached. */
async function serving(
  t: Test,
  names: { dnsNames: string[]; ips: string[] },
  handler?: RequestListener,
): Promise<{ port: number; caBundle: string }> {
  const life = { nowMs: Date.now(), days: 1 }
  const ca = await issueCa({ ...life, commonName: 'webhooks' })
  const { certPem, keyPem } = await issueServing({ ...life, ca, ...names })
  const port = await listening(t, createServer({ cert: certPem, key: keyPem }, handler))
  return { port, caBundle: Buffer.from(ca.certPem).toString('base64') }
}
const HERE = { dnsNames: [], ips: ['127.0.0.1'] }

async function listening(t: Test, server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('what was answered is for administrators of the server', async t => {
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
  hooks.raw('/broken', 503, {}, 'secret words')
  hooks.raw('/refuses', 401, {}, 'secret words')
  hooks.raw('/nothing', 404, {}, 'secret words')
  hooks.on('/text', () => 'secret words')
  hooks.on('/other', () => JSON.stringify({ apiVersion: 'secret/v1', kind: 'words', response: {} }))
  hooks.on('/uid', () => JSON.stringify({ ...review, response: { uid: 'secret words' } }))
  hooks.on('/patch', ({ request: { uid } }) => {
    const patch = Buffer.from('secret words').toString('base64')
    return JSON.stringify({ ...review, response: { uid, allowed: true, patchType: 'JSONPatch', patch } })
  })
  const failed = 'failed to call webhook: '
  const invalid = 'received invalid webhook response: '
  const status = (code: string) =>
    `the server responded with the status code ${code} but did not return more information`
  const broken = (what: string) => `an error on the server ("${what}") has prevented the request from succeeding`
  const json = "couldn't get version/kind; json parse error"
  const wanted = 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview'
  for (const [path, administrator, tenant] of [
    ['/broken', failed + broken('secret words'), failed + broken('unknown')],
    ['/refuses', `${failed}secret words`, failed + status('4xx')],
    ['/nothing', `${failed}the server could not find the requested resource`, failed + status('4xx')],
    ['/text', /json parse error: .*secret/, failed + json],
    ['/other', `${invalid}${wanted}, got secret/v1, Kind=words`, invalid + wanted],
    ['/uid', /expected response\.uid="[^"]+", got "secret words"$/, /: expected response\.uid="[^"]+"$/],
    ['/patch', /cannot decode response\.patch: .*secret/, `${invalid}cannot decode response.patch`],
  ] as const) {
    t.match(await asked(space, hooks.at(path)), administrator, path)
    const heard = await asked(alice, hooks.at(path))
    if (typeof tenant === 'string') t.equal(heard, tenant)
    else t.match(heard, tenant)
    t.notMatch(heard, 'secret')
  }
})

t.test('what a webhook refuses in its own words everybody hears', async t => {
  hooks.on('/deny', () => ({ allowed: false, status: { message: 'not on Sundays' } }))
  const one = webhook('w.example.com', hooks.at('/deny'))
  await alice.ok(alice.post(CONFIGURATIONS.Validating, configuration('Validating', 'test', [one])))
  const { body } = await alice.post(CONFIGMAPS, configMap('x'))
  t.equal(body.message, 'admission webhook "w.example.com" denied the request: not on Sundays')
  await alice.ok(alice.delete(`${CONFIGURATIONS.Validating}/test`))
})

t.test('whether a port is open, and who listens there, is not told to tenants', async t => {
  const greeting = createTcpServer(socket => socket.on('error', () => {}).end('SSH-2.0-x\r\n'))
  const silent = createTcpServer(socket => socket.on('error', () => {}).destroy())
  const ports = { greeting: await listening(t, greeting), silent: await listening(t, silent), closed: 1 }
  for (const [what, port] of Object.entries(ports)) {
    const url = `https://127.0.0.1:${port}/`
    const told = `failed to call webhook: Post "${url}?timeout=5s": the webhook could not be reached`
    t.equal(await asked(alice, { url }), told, what)
    t.not(await asked(space, { url }), told, what)
  }
  const wrong = { url: `https://127.0.0.2:${hooks.port}/`, caBundle: hooks.caBundle }
  t.match(await asked(alice, wrong), 'could not be reached', 'nobody listens at that address')
})

t.test('a certificate for others is told without the names in it', async t => {
  const { port, caBundle } = await serving(t, { dnsNames: ['vault.internal'], ips: [] })
  const at = { url: `https://localhost:${port}/`, caBundle }
  t.match(await asked(alice, at), /x509: certificate is not valid for localhost$/)
  t.match(await asked(space, at), 'vault.internal')
})

t.test('controllers do not hear it: they say what they hear in conditions', async t => {
  hooks.raw('/broken', 503, {}, 'secret words')
  const one = webhook('w.example.com', hooks.at('/broken'))
  await space.ok(space.post(CONFIGURATIONS.Validating, configuration('Validating', 'test', [one])))
  const type = server.services.types.in(id).find('', 'v1', 'configmaps')!
  const write = server.services.registry.create(
    systemContext(id, 'some-controller'),
    type,
    'default',
    configMap('c') as never,
  )
  await t.rejects(write, { message: /an error on the server \("unknown"\)/ })
  await space.ok(space.delete(`${CONFIGURATIONS.Validating}/test`))
})

t.test('an answer that drips is left when its time is over, and the connection with it', async t => {
  const ended: Promise<unknown>[] = []
  const { port, caBundle } = await serving(t, HERE, (request, response) => {
    ended.push(once(response, 'close'))
    if (request.url?.startsWith('/head')) request.socket.write('HTTP/1.1 200 OK\r\n')
    else response.writeHead(200)
    // Never silent for long, never done.
    const drip = setInterval(() => request.socket.writable && request.socket.write('1\r\n \r\n'), 20)
    const dripHead = setInterval(() => request.socket.writable && request.socket.write('a: b\r\n'), 20)
    clearInterval(request.url?.startsWith('/head') ? drip : dripHead)
    response.once('close', () => {
      clearInterval(drip)
      clearInterval(dripHead)
    })
    if (!request.url?.startsWith('/head')) response.flushHeaders()
  })
  for (const path of ['/head', '/body']) {
    const at = { url: `https://127.0.0.1:${port}${path}`, caBundle }
    t.match(await asked(alice, at, 1), /context deadline exceeded$/, path)
  }
  await Promise.all(ended)
  t.equal(ended.length, 2)
})

t.test('one that says again and again that it will answer is left; a few times are heard out', async t => {
  const ended: Promise<unknown>[] = []
  const { port, caBundle } = await serving(t, HERE, (request, response) => {
    request.resume()
    const hint = (): boolean => !response.destroyed && request.socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(3))
    hint()
    if (request.url?.startsWith('/some')) return void response.writeHead(503).end('busy')
    ended.push(once(response, 'close'))
    const again = (): void => {
      if (hint()) setImmediate(again)
    }
    request.socket.on('drain', again)
    again()
  })
  const at = (path: string) => ({
    url: `https://127.0.0.1:${port}${path}`,
    caBundle,
  })
  t.match(await asked(space, at('/endless')), 'too many 1xx informational responses')
  await Promise.all(ended)
  t.match(await asked(space, at('/some')), 'busy')
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
