/** A notice gets the code of the answer and no more; a receiver that says nothing, or too much, holds nobody up. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { AllowedHosts } from '../../../src/apiserver/admission/allowedHosts.ts'
import { noticePosts } from '../../../src/apiserver/admission/noticePosts.ts'
import { WebhookCalls } from '../../../src/apiserver/admission/webhookCalls.ts'
import { WebhookClient } from '../../../src/apiserver/admission/webhookClient.ts'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

const life = { nowMs: Date.now(), days: 1 }
const ca = await issueCa({ ...life, commonName: 'receivers' })
const { certPem: cert, keyPem: key } = await issueServing({ ...life, ca, dnsNames: ['localhost'], ips: [] })
const CHUNK = Buffer.alloc(64 * 1024, 'x')
const isCut = Promise.withResolvers<void>()
let headsOnly = Promise.withResolvers<void>()
const open = { now: 0, most: 0 }

const server = createServer({ cert, key }, (request, response) => {
  request.resume().on('end', () => {
    if (request.url === '/silent') return
    open.now++
    open.most = Math.max(open.most, open.now)
    response.on('close', () => open.now--)
    response.writeHead(Number(request.url?.slice(1)), { 'Retry-After': '120' })
    const more = (): void => {
      while (!response.destroyed && response.write(CHUNK));
      response.once('drain', more)
    }
    if (request.url === '/202') {
      response.write('o')
      headsOnly.resolve()
      return
    }
    if (request.url !== '/201') return void response.end('ok')
    response.on('close', isCut.resolve)
    more()
  })
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
t.teardown(() => {
  server.closeAllConnections()
  server.close()
})
const { port } = server.address() as AddressInfo

const to = (): never => {
  throw new Error('no services here')
}
const deps = { routes: { to }, hosts: new AllowedHosts(['localhost']), turns: endlessTurns() }
const client = new WebhookClient(deps)
const postTo = (
  path: string,
  {
    timeoutSeconds = 60,
    signal = new AbortController().signal,
    through: { tell } = { tell: client.tell.bind(client) },
  } = {},
) => {
  const post = noticePosts({ tell: (target, ...rest) => tell({ ...target, timeoutSeconds }, ...rest) })
  const notice = { space: 'one', caPem: ca.certPem, headers: {}, body: '{}' }
  return post({ ...notice, url: `https://localhost:${port}${path}` }, signal)
}

t.test('the code comes with the wait that the receiver asks for', async t => {
  t.same(await postTo('/204'), { code: 204, afterMs: 120_000 })
  t.same(await postTo('/429'), { code: 429, afterMs: 120_000 })
})

t.test('an answer without end counts by its code, and its connection ends', async t => {
  t.same(await postTo('/201'), { code: 201, afterMs: 120_000 })
  await isCut.promise
})

t.test(
  'an answer that stops behind its head counts by its code, and its connection as long as it is there',
  async t => {
    const one = { calls: 1, bytes: 1024 * 1024 }
    const calls = new WebhookCalls(space => space, { tenant: one, server: one, kept: one })
    const narrow = new WebhookClient({ ...deps, calls })
    const through = { tell: narrow.tell.bind(narrow) }
    open.most = 0
    const gone = new AbortController()
    const first = postTo('/202', { timeoutSeconds: 2, through })
    await headsOnly.promise
    headsOnly = Promise.withResolvers()
    const second = postTo('/202', { signal: gone.signal, through })
    t.same(await first, { code: 202, afterMs: 120_000 })
    await headsOnly.promise
    t.equal(open.most, 1)
    gone.abort()
    await Promise.allSettled([second])
  },
)

t.test('silence ends by its time, or with who asks', async t => {
  t.same(await postTo('/silent', { timeoutSeconds: 0.01 }), { failure: 'TimedOut' })
  const gone = new AbortController()
  const posted = postTo('/silent', { signal: gone.signal })
  gone.abort(new Error('the sink is gone'))
  await t.rejects(posted, { message: 'the sink is gone' })
})

t.test('whoever is not there cannot be reached', async t => {
  const post = noticePosts(client)
  const { signal } = new AbortController()
  const notice = { space: 'one', headers: {}, body: '{}' }
  t.same(await post({ ...notice, url: 'https://receiver.invalid/' }, signal), { failure: 'Unreachable' })
  t.same(await post({ ...notice, url: 'https://10.0.0.1/' }, signal), { failure: 'AddressNotAllowed' })
  t.same(await post({ ...notice, url: `https://localhost:${port}/200` }, signal), { failure: 'CertificateNotTrusted' })
})
