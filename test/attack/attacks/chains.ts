/**
 * Certificates that strangers show: the handshake verifies their signatures, on whatever curve, whoever issued them.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { connect as reach } from 'node:net'
import { connect } from 'node:tls'
import { type Attack, attack } from '../attack.ts'
import { crowd } from '../ground.ts'

/** Another address of this host than the administrator's. */
const STRANGERS = '127.0.0.9'

interface Shown {
  cert: string
  key: string
}

function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const bytes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...bytes]), content])
}
const sequence = (...parts: Buffer[]): Buffer => tlv(0x30, ...parts)
const identifier = (hex: string): Buffer => tlv(6, Buffer.from(hex, 'hex'))
const bits = (content: Buffer): Buffer => tlv(3, Buffer.from([0]), content)
const named = (name: string): Buffer =>
  sequence(tlv(0x31, sequence(identifier('550403'), tlv(0x0c, Buffer.from(name)))))
const time = (text: string): Buffer => tlv(0x17, Buffer.from(text))
const ECDSA_SHA256 = sequence(identifier('2a8648ce3d040302'))
const VALIDITY = sequence(time('200101000000Z'), time('490101000000Z'))
const number = (bytes: number): Buffer => tlv(2, Buffer.from([1]), randomBytes(bytes))

/** Its signature is none, which takes as long to find out as that it is one. */
function certificate(level: number, publicKey: Buffer): string {
  const [subject, issuer] = [named(`c${level}`), named(`c${level + 1}`)]
  const version = tlv(0xa0, tlv(2, Buffer.from([2])))
  const body = sequence(version, number(8), ECDSA_SHA256, issuer, VALIDITY, subject, publicKey)
  const der = sequence(body, ECDSA_SHA256, bits(sequence(number(30), number(30))))
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
}

/** A certificate with so many above it. */
function chain(length: number): Shown {
  const type = { type: 'spki', format: 'der' } as const
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const dear = generateKeyPairSync('ec', { namedCurve: 'sect571r1' }).publicKey.export(type)
  const above = Array.from({ length }, (_, i) => certificate(i + 1, dear))
  const cert = certificate(0, own.publicKey.export(type)) + above.join('')
  return { cert, key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}

/** Resolves when the connection is over, whoever ended it. */
function handshake(port: number, shown: Shown): Promise<void> {
  return new Promise(resolve => {
    const raw = reach({ host: '127.0.0.1', localAddress: STRANGERS, port })
    const socket = connect({ socket: raw, rejectUnauthorized: false, ...shown })
    socket.once('secureConnect', () => socket.end())
    socket.on('error', () => {})
    socket.once('close', () => resolve())
    socket.resume()
  })
}

export const chains: readonly Attack[] = [
  attack('certificate-chains', {
    does: '98 certificates on a dear curve, shown by strangers, two at a time',
    run: async ({ port, size }) => {
      const shown = chain(size(98, 3))
      await crowd(size(6, 1), 2, () => handshake(port, shown))
    },
  }),
]
