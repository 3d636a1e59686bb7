/** Certificate requests that can be used, and why others cannot. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import t from 'tap'
import { requestFault } from '../../../src/apimachinery/certificates/certificateRequest.ts'
import * as fc from '../../support/fastCheck.ts'

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2048,
}

async function request(algorithm: object & { name: string }): Promise<Buffer> {
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
  const made = await Pkcs10CertificateRequestGenerator.create({
    name: 'CN=carol, O=devs',
    keys,
    signingAlgorithm: algorithm as never,
  })
  return Buffer.from(made.rawData)
}

const [ec, rsa, edwards] = await Promise.all([request(EC), request(RSA), request({ name: 'Ed25519' })])
const pem = (der: Buffer, type = 'CERTIFICATE REQUEST'): string =>
  `-----BEGIN ${type}-----\n${der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${type}-----\n`
const faultOf = (text: string): string | undefined => requestFault(Buffer.from(text))
/** With a byte of some place in `of` changed. */
const spoilt = (of: Buffer, at: number, bits = 1): Buffer => {
  const copy = Buffer.from(of)
  copy.writeUInt8(copy.at(at)! ^ bits, at < 0 ? copy.length + at : at)
  return copy
}
const after = (of: Buffer, hex: string): number => of.indexOf(Buffer.from(hex, 'hex')) + hex.length / 2

t.test('requests of the usual keys are good', async t => {
  for (const der of [ec, rsa, edwards]) t.equal(faultOf(pem(der)), undefined)
})

t.test('the first PEM block counts, whatever stands around it', async t => {
  const good = pem(ec)
  const type = 'PEM block type must be CERTIFICATE REQUEST'
  t.equal(faultOf(`Subject: carol\n${good}bye\n`), undefined)
  t.equal(faultOf(good.replaceAll('\n', '\r\n')), undefined)
  t.equal(faultOf(good.replace('\n', '\nOwner: carol\n\n')), undefined, 'headers are passed over')
  t.equal(faultOf(good.trimEnd()), undefined)
  t.equal(faultOf(good + pem(ec, 'CERTIFICATE')), undefined)
  t.equal(faultOf(`${pem(ec).replace(/\n.*/, '\n!')}\n-----END CERTIFICATE REQUEST-----\n${good}`), undefined)
  for (const text of ['', 'YQ==', pem(ec, 'CERTIFICATE'), pem(ec, 'NEW CERTIFICATE REQUEST')])
    t.equal(faultOf(text), type)
  t.equal(faultOf(pem(ec, 'CERTIFICATE') + good), type)
  t.equal(faultOf(good.replace(/^/gm, ' ')), type)
  t.equal(faultOf(good.replace(/-----END.*/, '')), type)
  t.equal(faultOf(good.replace('END CERTIFICATE REQUEST', 'END CERTIFICATE')), type)
})

t.test('what cannot be read is told', async t => {
  const read = (hex: string): string | undefined => faultOf(pem(Buffer.from(hex, 'hex')))
  const early = 'malformed DER: the data ends too early'
  t.equal(read(''), early)
  t.equal(read('3000'), early)
  t.equal(faultOf(pem(ec.subarray(0, -3))), early)
  t.equal(faultOf(pem(Buffer.concat([ec, Buffer.alloc(1)]))), 'malformed DER: more data behind the request')
  const integer = 'malformed DER: tag 2 of class 0 at byte 0, not 16 of class 0'
  t.equal(read('020101'), integer)
  t.equal(read('3003020101'), integer)
  t.equal(read('3080'), 'malformed DER: an indefinite length')
  t.equal(read('308101'), 'malformed DER: a length that is longer than needed')
})

t.test('the key and its signature must fit', async t => {
  for (const der of [ec, rsa, edwards]) t.equal(faultOf(pem(spoilt(der, -1))), 'its signature is not of its key')
  const unknown = 'the algorithm of its key or signature is not supported'
  t.equal(faultOf(pem(spoilt(ec, after(ec, '2a8648ce3d0403'), 8))), unknown, 'a signature of another kind')
  t.equal(faultOf(pem(spoilt(ec, after(ec, '2a8648ce3d02'), 8))), unknown, 'a key of another kind')
  t.equal(
    faultOf(pem(spoilt(rsa, rsa.lastIndexOf(Buffer.from('01010b', 'hex')) + 2, 0xf))),
    'the algorithm of its signature is insecure: MD5-RSA',
  )
  const key = 'its public key cannot be read'
  t.equal(faultOf(pem(spoilt(ec, after(ec, '2a8648ce3d0301'), 9))), key, 'an unknown curve')
  t.equal(faultOf(pem(spoilt(ec, after(ec, '03420004')))), key, 'no point of the curve')
})

t.test('no change of a request goes unnoticed, and none is a fault of the server', async t => {
  const place = fc.tuple(fc.constantFrom(ec, edwards), fc.nat(), fc.integer({ min: 1, max: 255 }))
  const told = fc.property(place, ([der, at, bits]) => faultOf(pem(spoilt(der, at % der.length, bits))) !== undefined)
  t.doesNotThrow(() => fc.assert(told, { numRuns: 300 }))
})

t.test('a text of many beginnings or ends does not stop the server', async t => {
  const many = '-----BEGIN CERTIFICATE REQUEST-----\n'.repeat(50_000)
  t.ok(faultOf(`${many}-----END CERTIFICATE-----\n`))
  t.ok(faultOf(many.replaceAll('BEGIN', 'END')))
  t.equal(faultOf(many + pem(ec)), undefined)
})
