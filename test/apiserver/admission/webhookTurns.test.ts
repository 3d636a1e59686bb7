/** Calls of webhooks take turns with all other long work: how they are begun, and how long answers are read. */
import { createServer, type Server } from 'node:https'
import type { AddressInfo, LookupFunction } from 'node:net'
import t, { type Test } from 'tap'
import { AllowedHosts } from '../../../src/apiserver/admission/allowedHosts.ts'
import { type AnswerLimits, WebhookClient } from '../../../src/apiserver/admission/webhookClient.ts'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { Abandoned, type WorkOptions } from '../../../src/program/workTurns.ts'

const lifetime = { nowMs: Date.now(), days: 1 }
const ca = await issueCa({ commonName: 'webhook-ca', ...lifetime })
const { certPem: cert, keyPem: key } = await issueServing({ ca, dnsNames: ['localhost'], ips: [], ...lifetime })

/** A webhook with the answer `answer`, called by a worker whose turn is over at each check. */
async function world(t: Test, answer: string) {
  const server: Server = createServer({ cert, key }, (request, response) => {
    request.resume().on('end', () => response.end(answer))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const owners: string[] = []
  let rests = 0
  /** Whether there is a turn yet; read once a turn of the loop. */
  const seen = { hasTurn: (_isAbandoned: boolean): boolean => true }
  const begin = ({ owner, isAbandoned = () => false }: WorkOptions) => {
    owners.push(owner)
    return {
      due: true,
      rest: async () => {
        rests++
        do await new Promise(resolve => setImmediate(resolve))
        while (!seen.hasTurn(isAbandoned()))
        if (isAbandoned()) throw new Abandoned()
      },
    }
  }
  const to = (): never => {
    throw new Error('no services here')
  }
  const allowed = new AllowedHosts(['localhost'])
  let connections = 0
  const hosts = Object.assign(Object.create(allowed) as AllowedHosts, {
    check: (host: string) => allowed.check(host),
    lookup: (): LookupFunction => {
      const lookup = allowed.lookup()
      return (...asked) => {
        connections++
        lookup(...asked)
      }
    },
  })
  const client = new WebhookClient({ routes: { to }, hosts, turns: { begin } })
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`
  const post = (timeoutSeconds = 20, at = { url }, body: object = {}, limits?: AnswerLimits) =>
    client.post({ client: at, space: 'one', caPem: ca.certPem, timeoutSeconds, ...(limits && { limits }) }, body)
  return { post, owners, seen, rests: () => rests, connections: () => connections }
}

t.test('a call is begun in a turn of its space, and a long answer is read in many', async t => {
  const short = await world(t, '{"a":"b"}')
  t.same(await short.post(), { a: 'b' })
  t.same(short.owners, ['one'])
  const first = short.rests()
  await short.post()
  t.equal(short.rests() - first, 1, 'its bundle is read once')
  const text = 'x'.repeat(2 * 1024 * 1024)
  const long = await world(t, JSON.stringify({ text }))
  t.same(await long.post(), { text })
  t.ok(long.rests() > 8, `${long.rests()}`)
})

t.test('of many calls that come at once few are begun in a turn of the loop', async t => {
  const { post, connections } = await world(t, '{}')
  let answered = 0
  const answers = Promise.all(Array.from({ length: 64 }, () => post().then(() => answered++)))
  let most = 0
  for (let before = 0; answered < 64; before = connections()) {
    await new Promise(resolve => setImmediate(resolve))
    most = Math.max(most, connections() - before)
  }
  await answers
  t.ok(most > 0 && most <= 16, `${most}`)
})

t.test('whoever gets no turn within the time of the call is told so', async t => {
  const { post, seen } = await world(t, '{}')
  seen.hasTurn = isAbandoned => isAbandoned
  await t.rejects(post(0.01), { message: /context deadline exceeded$/ })
})

t.test('an answer that does not end is broken off', async t => {
  const { post } = await world(t, ' '.repeat(4 * 1024 * 1024))
  await t.rejects(post(), { message: /more than 3145728 bytes$/ })
})

t.test('an answer may be no longer than what was sent allows, where that counts', async t => {
  const { post } = await world(t, JSON.stringify({ text: 'x'.repeat(3 * 1024 * 1024) }))
  const limits = { bytes: 16 * 1024 * 1024, values: 1000, timesSent: 4 }
  await t.rejects(post(20, undefined, {}, limits), { message: /^the webhook answered with more than 2097160 bytes$/ })
  await post(20, undefined, { text: 'x'.repeat(1024 * 1024) }, limits)
})

t.test('an answer of more fields and levels than a body may have is none', async t => {
  const wide = await world(t, `[${'{},'.repeat(200_000)}{}]`)
  await t.rejects(wide.post(), { message: 'the webhook answered with more than 100000 fields and elements' })
  const deep = await world(t, `${'['.repeat(50_000)}${']'.repeat(50_000)}`)
  await t.rejects(deep.post(), { message: "the webhook's answer is nested more than 500 levels deep" })
})

t.test("an answer with a key that others' could be mistaken for is none", async t => {
  const { post } = await world(t, JSON.stringify({ 'k:{\\"a': 1 }))
  await t.rejects(post(), { message: /^in the webhook's answer the key .* has a backslash/ })
})

t.test('nothing is written for a webhook that may not be called', async t => {
  const { post } = await world(t, '{}')
  const unwritten = {
    toJSON(): never {
      throw new Error('it was written')
    },
  }
  await t.rejects(post(20, { url: 'https://169.254.169.254/' }, unwritten), { message: /is not allowed/ })
})
