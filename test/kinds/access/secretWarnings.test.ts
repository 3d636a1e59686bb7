/** A certificate stored with another's key gives a warning; an object that is dear to read is not served at all. */
import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { issueCa } from '../../../src/apiserver/pki/issue.ts'
import { tlsWarnings } from '../../../src/kinds/access/secretWarnings.ts'
import { dsaKeyPem } from '../../support/dsaKey.ts'

const MISMATCH = ['tls: private key does not match public key']
const { certPem, keyPem } = await issueCa({ commonName: 'x', nowMs: Date.now(), days: 1 })
const warnings = (key: string, certificate = certPem): string[] => {
  const data = Object.fromEntries(
    Object.entries({ 'tls.crt': certificate, 'tls.key': key }).map(([name, text]) => [name, btoa(text)]),
  )
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    type: 'kubernetes.io/tls',
    data,
  }
  return tlsWarnings(secret)
}

t.test('keys in each form', async t => {
  t.same(warnings(keyPem), [])
  t.same(warnings(`a word before it\n${keyPem}`), [])
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const ed = generateKeyPairSync('ed25519').privateKey
  for (const key of [rsa, ec, ed]) t.same(warnings(`${key.export({ type: 'pkcs8', format: 'pem' })}`), MISMATCH)
  t.same(warnings(`${rsa.export({ type: 'pkcs1', format: 'pem' })}`), MISMATCH)
  const curve = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'
  t.same(warnings(`${curve}${ec.export({ type: 'sec1', format: 'pem' })}`), MISMATCH)
})

t.test('what is no key, or no certificate', async t => {
  t.same(warnings('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'), [])
  t.same(warnings('-----BEGIN '), [])
  t.same(warnings(keyPem, '-----BEGIN CERTIFICATE-----\n'), [])
  t.same(warnings('x'), ['tls: failed to find any PEM data in key input'])
})

t.test('a key that takes hours to read is not read, whatever it calls itself', async t => {
  const pem = dsaKeyPem(120_000)
  t.same(warnings(pem), [])
  for (const name of ['RSA', 'EC', 'DSA', 'ANY']) t.same(warnings(pem.replaceAll('PRIVATE', `${name} PRIVATE`)), [])
  t.same(warnings(dsaKeyPem(4_000_000)), [])
})
