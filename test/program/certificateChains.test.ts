/** Chains of certificates that others show are verified up to a length, by servers and by clients. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { AuthorityKeyIdentifierExtension, BasicConstraintsExtension, X509CertificateGenerator } from '@peculiar/x509'
import t, { type Test } from 'tap'
import { boundCertificateChains, MAX_INTERMEDIATES } from '../../src/program/certificateChains.ts'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY_MS = 86_400_000

interface Chain {
  ca: string
  cert: string
  key: string
}

/** One's own certificate, so many between, and a root. */
async function chain(intermediates: number): Promise<Chain> {
  const made = []
  let issuer: { name: string; keys: webcrypto.CryptoKeyPair } | undefined
  for (let level = 0; level < intermediates + 2; level++) {
    const keys = (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
    const isAuthority = level <= intermediates
    const name = `CN=level ${level}`
    const certificate = await X509CertificateGenerator.create({
      serialNumber: String(level + 1),
      subject: name,
      issuer: issuer?.name ?? name,
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + DAY_MS),
      publicKey: keys.publicKey,
      signingKey: (issuer?.keys ?? keys).privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(isAuthority, undefined, true),
        await AuthorityKeyIdentifierExtension.create((issuer?.keys ?? keys).publicKey),
      ],
    })
    made.push(certificate.toString('pem'))
    issuer = { name, keys }
  }
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', issuer!.keys.privateKey))
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`
  const [ca, ...shown] = made
  return { ca: ca!, cert: shown.reverse().join('\n'), key }
}

/** Each end's finding about the other, who shows this chain; `null`: it is trusted. */
async function judged(t: Test, { ca, cert, key }: Chain): Promise<{ client: unknown; server: unknown }> {
  const server = createServer({ ca, cert, key, requestCert: true, rejectUnauthorized: false })
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>
  const options = {
    ca,
    cert,
    key,
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  }
  const client = connect(options)
  await once(client, 'secureConnect')
  const [other] = await accepted
  client.destroy()
  return { client: client.authorizationError, server: other.authorizationError }
}

t.test('a new release of Node.js shows whether it can say this itself', async t => {
  const remedy =
    'look for an option of node:tls that bounds chains: then certificateChains.ts goes; else name this release here'
  t.match(process.version, /^v26\./, remedy)
})

t.test('a chain as long as any in use is believed, and a longer one is not', async t => {
  const [usual, most, more] = await Promise.all([2, MAX_INTERMEDIATES, MAX_INTERMEDIATES + 1].map(chain))
  const believed = { client: null, server: null }
  t.same(await judged(t, more!), believed, 'OpenSSL has another bound')
  if (!boundCertificateChains()) {
    t.notOk(process.getBuiltinModule('node:ffi'), 'this Node.js has no way to OpenSSL')
    return
  }
  t.same(await judged(t, usual!), believed)
  t.same(await judged(t, most!), believed)
  const { client, server } = await judged(t, more!)
  t.ok(client, String(client))
  t.equal(server, client)
})
