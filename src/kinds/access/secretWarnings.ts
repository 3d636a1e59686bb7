/** What upstream warns of in Secrets: certificates and keys that do not go together, in words of Go's TLS package. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'

export function tlsWarnings(secret: KubeObject): string[] {
  if (secret.type !== 'kubernetes.io/tls') return []
  const [certificate, key] = ['tls.crt', 'tls.key'].map(name =>
    Buffer.from(str(secret, 'data', name), 'base64').toString(),
  )
  if (!certificate!.includes('-----BEGIN ')) return ['tls: failed to find any PEM data in certificate input']
  if (!key!.includes('-----BEGIN ')) return ['tls: failed to find any PEM data in key input']
  return matches(certificate!, key!) === false ? ['tls: private key does not match public key'] : []
}

/** `undefined` for kinds of keys and certificates that this server cannot read; others may. */
function matches(certificate: string, key: string): boolean | undefined {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return undefined
  }
}
