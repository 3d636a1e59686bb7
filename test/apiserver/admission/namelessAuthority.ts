/** Certificates as Pepr makes them: no subject, and no issuer of what serves, since it is the subject of the authority. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

type Algorithm = webcrypto.EcdsaParams & webcrypto.EcKeyGenParams & Partial<webcrypto.RsaHashedKeyGenParams>
export const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as Algorithm
/** Algorithm of Pepr. */
export const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
} as unknown as Algorithm

export interface Shape {
  /** `CN=…`; Pepr leaves subjects out. */
  subject?: string
  issuer?: string
  /** Days from now. */
  from?: number
  until?: number
  extensions?: Extension[]
  /** Signer in place of the right one. */
  signer?: webcrypto.CryptoKeyPair
}

export interface Authority {
  pem: string
  keys: webcrypto.CryptoKeyPair
  /** A certificate that it signs, with its key. */
  issue(shape?: Shape): Promise<{ cert: string; key: string }>
}

const DAY_MS = 86_400_000
export const SERVES = new SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])
const SIGNS = [
  new BasicConstraintsExtension(true),
  new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature),
]

export async function namelessAuthority(shape: Shape = {}, algorithm: Algorithm = EC): Promise<Authority> {
  const keys = await newKeys(algorithm)
  const own = { issuer: 'CN=Pepr Ephemeral CA', extensions: SIGNS, ...shape }
  return {
    pem: await certificate(own, keys, keys, algorithm),
    keys,
    async issue(leaf = {}) {
      const leafKeys = await newKeys(algorithm)
      const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', leafKeys.privateKey)).toString('base64')
      return {
        cert: await certificate({ extensions: [SERVES], ...leaf }, leafKeys, keys, algorithm),
        key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
      }
    },
  }
}

export function newKeys(algorithm: Algorithm = EC): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>
}

async function certificate(
  { subject, issuer, from = -1, until = 1, extensions = [], signer }: Shape,
  { publicKey }: webcrypto.CryptoKeyPair,
  authority: webcrypto.CryptoKeyPair,
  algorithm: Algorithm,
): Promise<string> {
  const made = await X509CertificateGenerator.create({
    serialNumber: '01',
    ...(subject && { subject }),
    ...(issuer && { issuer }),
    notBefore: new Date(Date.now() + from * DAY_MS),
    notAfter: new Date(Date.now() + until * DAY_MS),
    publicKey,
    signingKey: (signer ?? authority).privateKey,
    signingAlgorithm: algorithm,
    extensions,
  })
  return made.toString('pem')
}
