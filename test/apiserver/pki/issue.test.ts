/** Parts of issued certificates, as OpenSSL reads them. */
import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { issueCa, issueClient } from '../../../src/apiserver/pki/issue.ts'

const nowMs = Date.UTC(2030, 0)

t.test('names are written as they are, whatever has a meaning where names are shown as text', async t => {
  const names = { commonName: 'jane "the, #1" <j@x.y>+\\ ü', organizations: ['a=b', '"', 'système', '*'] }
  const ca = await issueCa({ commonName: 'the "ü" authority', nowMs, days: 20 })
  const { certPem } = await issueClient({ ca, ...names, nowMs, days: 10 })
  const read = new X509Certificate(certPem)
  t.strictSame({ ...read.toLegacyObject().subject }, { CN: names.commonName, O: names.organizations })
  t.ok(read.checkIssued(new X509Certificate(ca.certPem)))
  t.strictSame({ ...new X509Certificate(ca.certPem).toLegacyObject().subject }, { CN: 'the "ü" authority' })
})

t.test('a renewed authority has the name of all versions, byte for byte: clients in Go compare bytes', async t => {
  const { certPem } = await issueCa({ commonName: 'orrery-ca', nowMs, days: 20 })
  const printable = Buffer.from('\x13\x09orrery-ca', 'latin1')
  t.ok(new X509Certificate(certPem).raw.includes(printable))
})
