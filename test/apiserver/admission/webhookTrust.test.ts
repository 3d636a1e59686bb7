/** Certificates that count for webhooks; any other server receives no request. */
import 'reflect-metadata'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509'
import t, { type Test } from 'tap'
import { AllowedHosts } from '../../../src/apiserver/admission/allowedHosts.ts'
import { WebhookClient } from '../../../src/apiserver/admission/webhookClient.ts'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { type Authority, namelessAuthority, newKeys, RSA, SERVES, type Shape } from './namelessAuthority.ts'

interface Credential {
  cert: string
  key: string
}

type Exchange = Pick<SecureContextOptions, 'ciphers' | 'dhparam' | 'maxVersion'>

interface Webhook {
  url: string
  /** Connections that were begun, whatever became of them. */
  connections: number
  /** Requests that came. */
  requests: number
  /** Certificate for the connection of this number, from 1. */
  shows: (connection: number) => Credential
  /** Closes what connections there are. */
  hangUp(): void
}

async function startWebhook(t: Test, credential: Credential & Exchange): Promise<Webhook> {
  const server = createServer(credential, (request, response) => {
    webhook.requests++
    request.resume().on('end', () => response.end('{"ok":true}'))
  })
  // before the handshake of this connection
  server.prependListener('connection', () => server.setSecureContext(webhook.shows(++webhook.connections)))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const webhook: Webhook = {
    url: `https://localhost:${port}/`,
    connections: 0,
    requests: 0,
    shows: () => credential,
    hangUp: () => server.closeAllConnections(),
  }
  return webhook
}

function client(now?: () => Date): WebhookClient {
  const to = (): never => {
    throw new Error('no services here')
  }
  return new WebhookClient({
    routes: { to },
    hosts: new AllowedHosts(['localhost']),
    turns: endlessTurns(),
    ...(now && { now }),
  })
}

/** The answer, or the reason why there is none. */
async function ask(webhook: Webhook, caPem: string, by = client()): Promise<unknown> {
  try {
    return await by.post({ client: { url: webhook.url }, space: 'root', caPem, timeoutSeconds: 5 }, {})
  } catch (error) {
    return (error as Error).message.replace(/^Post "[^"]*": /, '')
  }
}

const OK = { ok: true }
const refusal = (why: string): string => `tls: failed to verify certificate: x509: ${why}`
const UNKNOWN = refusal('certificate signed by unknown authority')
const EXPIRED = refusal('certificate has expired or is not yet valid')

t.test('a webhook of Pepr: neither it nor its authority has a name', async t => {
  const authority = await namelessAuthority({}, RSA)
  const webhook = await startWebhook(t, await authority.issue())
  const by = client()
  t.same(await ask(webhook, authority.pem, by), OK)
  const { connections } = webhook
  for (let n = 0; n < 3; n++) t.same(await ask(webhook, authority.pem, by), OK)
  t.equal(webhook.connections, connections, 'later calls go over the same connection')
  t.equal(webhook.requests, 4)
})

t.test('an authority whose own issuer has no name either; one among several', async t => {
  const authority = await namelessAuthority({ issuer: '' })
  const webhook = await startWebhook(t, await authority.issue())
  t.same(await ask(webhook, authority.pem), OK)
  const others = [
    (await namelessAuthority()).pem,
    (await issueCa({ nowMs: Date.now(), days: 1, commonName: 'x' })).certPem,
  ]
  t.same(await ask(webhook, [...others, authority.pem].join('\n')), OK)
  t.equal(await ask(webhook, others.join('\n')), UNKNOWN)
  t.equal(webhook.requests, 2)
})

t.test('of a bundle full of nameless authorities, only the first few are asked', async t => {
  const authority = await namelessAuthority()
  const webhook = await startWebhook(t, await authority.issue())
  const other = (await namelessAuthority()).pem
  const after = (count: number): string => [...Array.from({ length: count }, () => other), authority.pem].join('\n')
  t.same(await ask(webhook, after(10)), OK)
  t.equal(await ask(webhook, after(200)), UNKNOWN)
})

t.test('a bundle of more than is read for a call', async t => {
  const authority = await namelessAuthority()
  const webhook = await startWebhook(t, await authority.issue())
  t.equal(await ask(webhook, authority.pem.repeat(301)), 'caBundle has more than 300 certificates')
  const long = `${authority.pem}${'# comment\n'.repeat(60_000)}`
  t.equal(await ask(webhook, long), 'caBundle has more than 524288 characters')
  t.same([webhook.connections, webhook.requests], [0, 0])
})

t.test('a server that wants Diffie-Hellman over numbers of its own finds nothing in common', async t => {
  const authority = await namelessAuthority({ subject: 'CN=a', issuer: 'CN=a' }, RSA)
  const credential = await authority.issue({ subject: 'CN=b', issuer: 'CN=a' })
  const dear: Exchange = { ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto', maxVersion: 'TLSv1.2' }
  const webhook = await startWebhook(t, { ...credential, ...dear })
  t.match(await ask(webhook, authority.pem), /handshake failure/)
  t.equal(webhook.requests, 0)
  const usual = await startWebhook(t, { ...credential, ...dear, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' })
  t.same(await ask(usual, authority.pem), OK)
})

t.test('a webhook with a name, whose authority has none', async t => {
  const authority = await namelessAuthority()
  const webhook = await startWebhook(t, await authority.issue({ subject: 'CN=named' }))
  t.same(await ask(webhook, authority.pem), OK)
  t.equal(webhook.connections, 1, 'OpenSSL does that by itself')
})

t.test('a webhook that gets itself another certificate is judged anew', async t => {
  const authority = await namelessAuthority()
  const [first, second, named] = [
    await authority.issue(),
    await authority.issue(),
    await authority.issue({ subject: 'CN=named' }),
  ]
  const foreign = await (await namelessAuthority()).issue()
  const webhook = await startWebhook(t, first)
  const by = client()
  for (const [credential, answer] of [
    [first, OK],
    [second, OK],
    [foreign, UNKNOWN],
    [named, OK],
    [first, OK],
  ] as const) {
    webhook.shows = () => credential
    webhook.hangUp()
    t.same(await ask(webhook, authority.pem, by), answer)
  }
})

t.test('what somebody shows is no word for what another one shows', async t => {
  const authority = await namelessAuthority()
  const genuine = await authority.issue()
  const foreign = await (await namelessAuthority()).issue()
  const other = await authority.issue({ extensions: [] })
  for (const attacker of [foreign, other]) {
    const webhook = await startWebhook(t, genuine)
    // The first two connections find out whose certificate it is, the third one is the one that is used.
    webhook.shows = connection => (connection < 3 ? genuine : attacker)
    t.equal(await ask(webhook, authority.pem), UNKNOWN)
    t.equal(webhook.connections, 3)
    t.equal(webhook.requests, 0)
  }
})

t.test('who is vouched for cannot vouch for others', async t => {
  const authority = await namelessAuthority()
  const signs = new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature)
  const own = await namelessAuthority({ issuer: '', signer: authority.keys, extensions: [SERVES, signs] })
  const [genuine, another] = [await credentialOf(own), await own.issue({ subject: 'CN=another' })]
  const webhook = await startWebhook(t, genuine)
  t.same(await ask(webhook, authority.pem), OK)
  webhook.connections = 0
  webhook.shows = connection => (connection < 3 ? genuine : another)
  t.equal(await ask(webhook, authority.pem), UNKNOWN)
  t.equal(webhook.connections, 3)
  t.equal(webhook.requests, 1)
})

const basic = new BasicConstraintsExtension(true)
const keys = await newKeys()
const nameConstraints = new Extension('2.5.29.30', false, Buffer.from('300da00b3009820765782e6e6f6e65', 'hex'))
const uses = (...of: string[]): Extension => new ExtendedKeyUsageExtension(of)
const refused: { name: string; authority?: Shape; leaf?: Shape; why: string }[] = [
  { name: 'signed by another key', leaf: { signer: keys }, why: UNKNOWN },
  { name: 'expired', leaf: { from: -3, until: -1 }, why: EXPIRED },
  { name: 'not valid yet', leaf: { from: 0.5 }, why: EXPIRED },
  {
    name: 'for another host',
    leaf: { extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: 'other.example.com' }])] },
    why: refusal(
      "Hostname/IP does not match certificate's altnames: Host: localhost. is not in the cert's altnames: DNS:other.example.com",
    ),
  },
  { name: 'for nobody', leaf: { extensions: [] }, why: UNKNOWN },
  {
    name: 'for clients',
    leaf: { extensions: [SERVES, uses(ExtendedKeyUsage.clientAuth)] },
    why: refusal('certificate specifies an incompatible key usage'),
  },
  { name: 'an authority itself', leaf: { extensions: [SERVES, basic] }, why: UNKNOWN },
  { name: 'by an authority that is none', authority: { extensions: [] }, why: UNKNOWN },
  { name: 'by one that says so', authority: { extensions: [new BasicConstraintsExtension(false)] }, why: UNKNOWN },
  {
    name: 'by an authority that may not sign certificates',
    authority: { extensions: [basic, new KeyUsagesExtension(KeyUsageFlags.digitalSignature)] },
    why: UNKNOWN,
  },
  { name: 'by an expired authority', authority: { from: -3, until: -1 }, why: UNKNOWN },
  { name: 'by an authority with a name', authority: { subject: 'CN=named' }, why: UNKNOWN },
  {
    name: 'by an authority for clients',
    authority: { extensions: [basic, uses(ExtendedKeyUsage.clientAuth)] },
    why: UNKNOWN,
  },
  { name: 'by an authority for some names', authority: { extensions: [basic, nameConstraints] }, why: UNKNOWN },
  { name: 'with an issuer that is not the authority', leaf: { issuer: 'CN=Pepr Ephemeral CA' }, why: UNKNOWN },
]

for (const { name, authority: shape, leaf, why } of refused) {
  t.test(`refused: ${name}`, async t => {
    const authority = await namelessAuthority(shape)
    const webhook = await startWebhook(t, await authority.issue(leaf))
    t.equal(await ask(webhook, authority.pem), why)
    t.equal(webhook.requests, 0)
  })
}

t.test('refused: a signature that is too weak', async t => {
  for (const weak of [{ hash: 'SHA-1' }, { modulusLength: 1024 }]) {
    const authority = await namelessAuthority({}, { ...RSA, ...weak })
    const strong = await namelessAuthority({}, RSA)
    const webhook = await startWebhook(t, await strong.issue({ signer: authority.keys }))
    t.equal(await ask(webhook, authority.pem), UNKNOWN)
    t.equal(webhook.requests, 0)
  }
})

t.test('refused: signed by itself, when it is not in the bundle', async t => {
  const authority = await namelessAuthority()
  const own = await namelessAuthority({ issuer: '', extensions: [SERVES] })
  const credential = await credentialOf(own)
  const webhook = await startWebhook(t, credential)
  t.equal(await ask(webhook, authority.pem), UNKNOWN)
  t.same(await ask(webhook, credential.cert), OK, 'and when it is, trusted')
})

async function credentialOf({ pem, keys: { privateKey } }: Authority): Promise<Credential> {
  const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey)).toString('base64')
  return { cert: pem, key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` }
}

t.test('an authority that has expired since it vouched is asked no more', async t => {
  const authority = await namelessAuthority()
  const webhook = await startWebhook(t, await authority.issue({ until: 9 }))
  let now = Date.now()
  const by = client(() => new Date(now))
  t.same(await ask(webhook, authority.pem, by), OK)
  now += 2 * 86_400_000
  t.equal(await ask(webhook, authority.pem, by), UNKNOWN)
})

t.test('an authority counts that has not signed itself, as everywhere in Go', async t => {
  const life = { nowMs: Date.now(), days: 1 }
  const root = await issueCa({ ...life, commonName: 'root' })
  const authority = await namelessAuthority({ subject: 'CN=between', issuer: 'CN=root' })
  const webhook = await startWebhook(t, await authority.issue({ subject: 'CN=hook', issuer: 'CN=between' }))
  t.same(await ask(webhook, authority.pem), OK)
  t.equal(await ask(webhook, root.certPem), UNKNOWN)
  const ordinary = await issueServing({ ...life, ca: root, dnsNames: ['localhost'], ips: [] })
  const named = await startWebhook(t, { cert: ordinary.certPem, key: ordinary.keyPem })
  t.same(await ask(named, root.certPem), OK)
  t.equal(named.connections, 1)
})

t.test('a server that shows nothing', async t => {
  const authority = await namelessAuthority()
  const webhook = await startWebhook(t, await authority.issue())
  const { createServer: listen } = await import('node:net')
  const silent = listen(socket => void socket.destroy())
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => silent.close())
  webhook.url = `https://localhost:${(silent.address() as AddressInfo).port}/`
  t.match(await ask(webhook, authority.pem), /EOF|socket/)
})
