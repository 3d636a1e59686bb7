/** Obstacles between a client and its server: proxies that tunnel, and certificates that change. */
import http from 'node:http'
import https from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import t, { type Test } from 'tap'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { type HttpClientOptions, httpSpaceClient } from '../../../src/client/http/httpClient.ts'
import type { TlsMaterial } from '../../../src/client/http/options.ts'

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const AT = { namespace: 'n', name: 'a' }
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } }

async function portOf(t: Test, server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    if ('closeAllConnections' in server) (server as http.Server).closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** An authority, and what a server of it proves itself with. */
async function authority() {
  const lifetime = { nowMs: Date.now(), days: 1 }
  const ca = await issueCa({ ...lifetime, commonName: 'test' })
  const { certPem: cert, keyPem: key } = await issueServing({
    ...lifetime,
    ca,
    dnsNames: ['localhost'],
    ips: ['127.0.0.1'],
  })
  return { caPem: ca.certPem, serving: { cert, key } }
}

/** A server that says the same to everybody, each time over a new connection. */
async function tlsServer(t: Test, serving: { cert: string; key: string }) {
  const server = https.createServer(serving, (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(object)),
  )
  return { server, port: await portOf(t, server) }
}

function clientOf(t: Test, options: HttpClientOptions) {
  const client = httpSpaceClient(options)
  t.teardown(() => client.close())
  return client
}

t.test('a proxy that is named is asked for a tunnel, whatever the environment says', async t => {
  const { caPem, serving } = await authority()
  const { port } = await tlsServer(t, serving)
  const asked: { to: string | undefined; as: string | undefined }[] = []
  const proxy = http.createServer()
  proxy.on('connect', (request, near) => {
    asked.push({ to: request.url, as: request.headers['proxy-authorization'] })
    const far = connect(port, '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n')
      near.pipe(far).pipe(near)
    })
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  const at = await portOf(t, proxy)
  t.intercept(process, 'env', { value: { ...process.env, NO_PROXY: '*', HTTPS_PROXY: 'http://127.0.0.1:1' } })
  // a name that only the proxy could resolve is not resolved here
  const server = 'https://center.invalid:6443'
  const proxyUrl = `http://us%65r:word@127.0.0.1:${at}`
  const client = clientOf(t, { server, caPem, tlsServerName: 'localhost', proxyUrl })
  t.same(await client.get(CONFIG_MAPS, AT), object)
  t.same(asked, [{ to: 'center.invalid:6443', as: `Basic ${Buffer.from('user:word').toString('base64')}` }])
})

t.test('a proxy that refuses is named in the error', async t => {
  const proxy = http.createServer()
  proxy.on('connect', (_, near) => near.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
  const proxyUrl = `http://127.0.0.1:${await portOf(t, proxy)}`
  const client = clientOf(t, { server: 'https://center.invalid:6443', proxyUrl })
  await t.rejects(client.get(CONFIG_MAPS, AT), { reason: 'ServiceUnavailable', message: /center\.invalid.*403/ })
})

t.test('the connection to a proxy that refuses, and would keep it, is given up', async t => {
  const proxy = http.createServer({ keepAliveTimeout: 0 })
  let ended = Promise.withResolvers<unknown>()
  proxy.on('connect', (_, near) => {
    near.resume().once('end', ended.resolve).once('error', ended.resolve)
    near.write('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 4\r\n\r\nwho?')
  })
  const proxyUrl = `http://127.0.0.1:${await portOf(t, proxy)}`
  for (const http2 of [false, true]) {
    ended = Promise.withResolvers()
    const client = clientOf(t, { server: 'https://center.invalid:6443', proxyUrl, http2 })
    await t.rejects(client.get(CONFIG_MAPS, AT), { reason: 'ServiceUnavailable', message: /407/ })
    await ended.promise
  }
})

t.test('new authorities and client certificates count for the next connection', async t => {
  const [first, second] = await Promise.all([authority(), authority()])
  const { server, port } = await tlsServer(t, first.serving)
  let tls: TlsMaterial = { caPem: first.caPem }
  const client = clientOf(t, { server: `https://127.0.0.1:${port}`, tls: () => tls })
  t.same(await client.get(CONFIG_MAPS, AT), object)
  server.setSecureContext(second.serving)
  await t.rejects(client.get(CONFIG_MAPS, AT), /certificate/)
  tls = { caPem: second.caPem }
  t.same(await client.get(CONFIG_MAPS, AT), object)
  tls = { caPem: first.caPem }
  await t.rejects(client.get(CONFIG_MAPS, AT), /certificate/)
})
