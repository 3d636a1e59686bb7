/** Upstream's warnings for Secrets: certificates and keys that do not go together, in words of Go's TLS package. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { DerError, DerReader, TAGS } from '../../apimachinery/certificates/der.ts'
import { firstPemBlock } from '../../apimachinery/certificates/pemBlock.ts'
import { str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'

/**
 * RSA, ECDSA, Ed25519, which are all that Go reads. OpenSSL computes the public half of DSA and Diffie-Hellman keys. A key of some
 * kilobytes takes minutes, without a way to stop it.
 */
const READ_KEYS: ReadonlySet<string> = new Set(['1.2.840.113549.1.1.1', '1.2.840.10045.2.1', '1.3.101.112'])
/** More than an RSA key of 16,384 bits has. */
const LONGEST_KEY_BYTES = 16 * 1024
const KEY_BEGINS = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/

export function tlsWarnings(secret: KubeObject): string[] {
  if (secret.type !== 'kubernetes.io/tls') return []
  const [certificate, key] = ['tls.crt', 'tls.key'].map(name =>
    Buffer.from(str(secret, 'data', name), 'base64').toString('latin1'),
  )
  if (!certificate!.includes('-----BEGIN ')) return ['tls: failed to find any PEM data in certificate input']
  if (!key!.includes('-----BEGIN ')) return ['tls: failed to find any PEM data in key input']
  return matches(certificate!, key!) === false ? ['tls: private key does not match public key'] : []
}

/** `undefined` for kinds of keys and certificates that this server cannot read; others may. */
function matches(certificate: string, key: string): boolean | undefined {
  try {
    const read = privateKey(key)
    return read && new X509Certificate(certificate).checkPrivateKey(read)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return undefined
  }
}

/** @throws Error for what is no key */
function privateKey(pem: string): KeyObject | undefined {
  const begin = pem.search(KEY_BEGINS)
  const block = begin < 0 ? undefined : firstPemBlock(pem.slice(begin))
  if (block === undefined || block.bytes.length > LONGEST_KEY_BYTES) return undefined
  return createPrivateKey({ key: block.bytes, format: 'der', type: formOf(block.bytes) })
}

/** By its content, whatever is written above it. @throws DerError when it is none of the forms, or of a key that is not read */
function formOf(der: Buffer): 'pkcs1' | 'pkcs8' | 'sec1' {
  const parts = new DerReader(der).sequence()
  parts.next({ tag: TAGS.integer })
  const { class: kind, tag, content } = parts.any()
  if (kind === 0 && tag === TAGS.integer) return 'pkcs1'
  if (kind === 0 && tag === TAGS.octetString) return 'sec1'
  if (kind === 0 && tag === TAGS.sequence && READ_KEYS.has(new DerReader(content).objectIdentifier())) return 'pkcs8'
  throw new DerError('the algorithm of the key is not read')
}
