/** Parts of issued certificates, as OpenSSL and an independent library read them. */
import 'reflect-metadata'
import { createPublicKey, X509Certificate } from 'node:crypto'
import { X509Certificate as Parsed, Pkcs10CertificateRequest } from '@peculiar/x509'
import t from 'tap'
import { issueCa, issueClient, issueServing, newKeyPem, requestClient } from '../../../src/apiserver/pki/issue.ts'

const nowMs = Date.UTC(2030, 0)

t.test('names are written as they are, whatever has a meaning where names are shown as text', t => {
  const names = { commonName: 'jane "the, #1" <j@x.y>+\\ ü', organizations: ['a=b', '"', 'système', '*'] }
  const ca = issueCa({ commonName: 'the "ü" authority', nowMs, days: 20 })
  const { certPem } = issueClient({ ca, ...names, nowMs, days: 10 })
  const read = new X509Certificate(certPem)
  t.strictSame({ ...read.toLegacyObject().subject }, { CN: names.commonName, O: names.organizations })
  t.ok(read.checkIssued(new X509Certificate(ca.certPem)))
  const parsed = new Parsed(certPem)
  t.strictSame(parsed.subjectName.getField('CN'), [names.commonName])
  t.strictSame(parsed.subjectName.getField('O'), names.organizations)
  t.strictSame(new Parsed(ca.certPem).subjectName.getField('CN'), ['the "ü" authority'])
  t.end()
})

t.test('dates hold to the second, before 2050 and after', t => {
  for (const days of [1, 10_000]) {
    const ca = new X509Certificate(issueCa({ commonName: 'ca', nowMs: nowMs + 999, days }).certPem)
    t.equal(ca.validToDate.getTime(), nowMs + days * 86_400_000)
  }
  t.end()
})

t.test('a leaf says by its extensions what it is for, and an authority what it may', async t => {
  const ca = issueCa({ commonName: 'ca', nowMs, days: 20 })
  const dnsNames = Array.from({ length: 50 }, (_, i) => `host-${i}.example`)
  const serving = issueServing({ ca, dnsNames, ips: ['10.1.2.3', 'fd00::7', '::ffff:1.2.3.4'], nowMs, days: 10 })
  const shown = (certPem: string) =>
    Array.from(new Parsed(certPem).extensions, ({ type, critical, value }) => [
      type,
      critical,
      Buffer.from(value).toString('hex'),
    ])
  const key = (await new Parsed(ca.certPem).publicKey.getKeyIdentifier()) as ArrayBuffer
  const keyId = Buffer.from(key).toString('hex')
  t.strictSame(shown(ca.certPem), [
    ['2.5.29.19', true, '30060101ff020100'],
    ['2.5.29.15', true, '03020186'],
    ['2.5.29.14', false, `0414${keyId}`],
  ])
  t.strictSame(shown(serving.certPem).slice(0, -1), [
    ['2.5.29.19', true, '3000'],
    ['2.5.29.15', true, '03020780'],
    ['2.5.29.35', false, `30168014${keyId}`],
    ['2.5.29.37', false, '300a06082b06010505070301'],
  ])
  const addresses = ['10.1.2.3', 'FD00:0:0:0:0:0:0:7', '0:0:0:0:0:FFFF:102:304']
  t.equal(
    new X509Certificate(serving.certPem).subjectAltName,
    [...dnsNames.map(name => `DNS:${name}`), ...addresses.map(ip => `IP Address:${ip}`)].join(', '),
  )
})

t.test('a request is signed with the key that comes with it', async t => {
  const { requestPem, keyPem } = requestClient({ commonName: 'jane', organizations: ['devs', 'ops'] })
  const request = new Pkcs10CertificateRequest(requestPem)
  t.ok(await request.verify())
  t.strictSame(request.subjectName.getField('O'), ['devs', 'ops'])
  const own = createPublicKey(keyPem).export({ type: 'spki', format: 'der' })
  t.ok(own.equals(Buffer.from(request.publicKey.rawData)))
})

t.test('a key of another kind signs no certificate', t => {
  const ca = issueCa({ commonName: 'ca', nowMs, days: 20 })
  t.equal(issueCa({ commonName: 'ca', nowMs, days: 20, keyPem: ca.keyPem }).keyPem, ca.keyPem)
  t.not(newKeyPem(), newKeyPem())
  const edwards =
    '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n'
  t.throws(() => issueCa({ commonName: 'ca', nowMs, days: 20, keyPem: edwards }), /no ECDSA key of the curve P-256/)
  t.end()
})
