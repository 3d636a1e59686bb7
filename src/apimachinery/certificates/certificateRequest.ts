/**
 * Whether a PKCS #10 request can be read and is signed with its own key.
 *
 * It runs for every CertificateSigningRequest, so it loads no library: it reads the parts of the request, and Node keys and signatures.
 * @see https://www.rfc-editor.org/rfc/rfc2986
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { checkInteger, DerError, DerReader, TAGS } from './der.ts'
import { firstPemBlock } from './pemBlock.ts'

interface Algorithm {
  id: string
  /** DER; empty when there are none. */
  parameters: Buffer
}

interface Request {
  /** Signed bytes. */
  signed: Buffer
  subject: Buffer
  keyInfo: Buffer
  keyAlgorithm: Algorithm
  key: Buffer
  algorithm: Algorithm
  signature: Buffer
}

interface SignatureScheme {
  keyType: 'RSA' | 'ECDSA' | 'Ed25519'
  /** As Node calls it; `null` where the scheme has its own. */
  hash: string | null
  /** RSASSA-PSS. */
  pss?: boolean
  /** Nobody may rely on it any more. */
  insecure?: string
}

const REQUEST_TYPE = 'CERTIFICATE REQUEST'
const RSA_KEY = '1.2.840.113549.1.1.1'
const EC_KEY = '1.2.840.10045.2.1'
const ED25519 = '1.3.101.112'
const PSS = '1.2.840.113549.1.1.10'
const NULL = '0500'
const UNSUPPORTED = 'the algorithm of its key or signature is not supported'
const BAD_KEY = 'its public key cannot be read'
const SHORTEST_RSA_BITS = 1024

const rsa = (hash: string): SignatureScheme => ({ keyType: 'RSA', hash })
const ecdsa = (hash: string): SignatureScheme => ({ keyType: 'ECDSA', hash })
const SCHEMES: Readonly<Record<string, SignatureScheme>> = {
  '1.2.840.113549.1.1.4': { keyType: 'RSA', hash: 'md5', insecure: 'MD5-RSA' },
  '1.2.840.113549.1.1.5': rsa('sha1'),
  '1.3.14.3.2.29': rsa('sha1'),
  '1.2.840.113549.1.1.11': rsa('sha256'),
  '1.2.840.113549.1.1.12': rsa('sha384'),
  '1.2.840.113549.1.1.13': rsa('sha512'),
  '1.2.840.10045.4.1': ecdsa('sha1'),
  '1.2.840.10045.4.3.2': ecdsa('sha256'),
  '1.2.840.10045.4.3.3': ecdsa('sha384'),
  '1.2.840.10045.4.3.4': ecdsa('sha512'),
  [ED25519]: { keyType: 'Ed25519', hash: null },
}

const CURVES: readonly string[] = ['1.3.132.0.33', '1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35']

/** Fault of a request; `undefined`: none. `pem` may hold anything. */
export function requestFault(pem: Buffer): string | undefined {
  const block = firstPemBlock(pem.toString('latin1'))
  if (block?.type !== REQUEST_TYPE) return `PEM block type must be ${REQUEST_TYPE}`
  try {
    const request = parse(block.bytes)
    const key = publicKey(request)
    checkName(request.subject)
    return signatureFault(request, key)
  } catch (error) {
    if (error instanceof DerError) return error.message
    throw error
  }
}

function parse(bytes: Buffer): Request {
  const file = new DerReader(bytes)
  const outer = file.sequence()
  const { whole: signed, content } = outer.next({ tag: TAGS.sequence, compound: true })
  const inner = new DerReader(content)
  checkInteger(inner.next({ tag: TAGS.integer }).content)
  const subject = inner.any().whole
  const { whole: keyInfo, content: keyParts } = inner.next({ tag: TAGS.sequence, compound: true })
  const ofKey = new DerReader(keyParts)
  const keyAlgorithm = algorithmOf(ofKey.sequence())
  const key = ofKey.bitString()
  const attributes = new DerReader(inner.next({ class: 2, tag: 0, compound: true }).content)
  while (!attributes.done) attributes.any()
  const algorithm = algorithmOf(outer.sequence())
  const signature = outer.bitString()
  if (!file.done) throw new DerError('malformed DER: more data behind the request')
  return { signed, subject, keyInfo, keyAlgorithm, key, algorithm, signature }
}

function algorithmOf(parts: DerReader): Algorithm {
  const id = parts.objectIdentifier()
  return { id, parameters: parts.done ? Buffer.alloc(0) : parts.any().whole }
}

/** `undefined` for a kind of key that nobody knows here. @throws DerError for a bad one of a known kind */
function publicKey({ keyAlgorithm, key, keyInfo }: Request): KeyObject | undefined {
  const { id, parameters } = keyAlgorithm
  const known = id === RSA_KEY || id === EC_KEY || id === ED25519
  if (!known) return undefined
  const fits =
    (id === RSA_KEY && parameters.toString('hex') === NULL) ||
    (id === EC_KEY && isKnownCurve(parameters) && key[0] === 4) ||
    (id === ED25519 && parameters.length === 0 && key.length === 32)
  if (!fits) throw new DerError(BAD_KEY)
  try {
    return createPublicKey({ key: keyInfo, format: 'der', type: 'spki' })
  } catch (cause) {
    throw new DerError(BAD_KEY, { cause })
  }
}

/** @throws DerError */
function isKnownCurve(parameters: Buffer): boolean {
  return CURVES.includes(new DerReader(parameters).objectIdentifier())
}

/** A sequence of sets of pairs of type and value. */
function checkName(der: Buffer): void {
  const name = new DerReader(der).sequence()
  while (!name.done) {
    const set = new DerReader(name.next({ tag: TAGS.set, compound: true }).content)
    while (!set.done) {
      const pair = set.sequence()
      pair.objectIdentifier()
      pair.any()
    }
  }
}

function signatureFault({ signed, algorithm, signature }: Request, key: KeyObject | undefined): string | undefined {
  const scheme = schemeOf(algorithm)
  if (scheme === undefined) return UNSUPPORTED
  if (scheme.insecure) return `the algorithm of its signature is insecure: ${scheme.insecure}`
  const keyType = key && keyTypeOf(key)
  if (key === undefined || keyType === undefined) return UNSUPPORTED
  if (keyType !== scheme.keyType) return `its key is ${keyType}, and its signature ${scheme.keyType}`
  const { modulusLength = SHORTEST_RSA_BITS } = key.asymmetricKeyDetails ?? {}
  if (modulusLength < SHORTEST_RSA_BITS)
    return `its RSA key has ${modulusLength} bits, fewer than ${SHORTEST_RSA_BITS}: it is insecure`
  const padding = scheme.pss ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {}
  const saltLength = scheme.pss ? { saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {}
  if (verify(scheme.hash, signed, { key, ...padding, ...saltLength }, signature)) return undefined
  return 'its signature is not of its key'
}

function keyTypeOf(key: KeyObject): SignatureScheme['keyType'] | undefined {
  if (key.asymmetricKeyType === 'rsa') return 'RSA'
  if (key.asymmetricKeyType === 'ec') return 'ECDSA'
  return key.asymmetricKeyType === 'ed25519' ? 'Ed25519' : undefined
}

function schemeOf({ id, parameters }: Algorithm): SignatureScheme | undefined {
  if (id === PSS) return pssScheme(parameters.toString('hex'))
  if (id === ED25519 && parameters.length > 0) return undefined
  return Object.hasOwn(SCHEMES, id) ? SCHEMES[id] : undefined
}

/** The last byte of the hash's identifier, and its length in bytes; both in hexadecimal. */
const PSS_HASHES = { sha256: ['01', '20'], sha384: ['02', '30'], sha512: ['03', '40'] } as const

/** Common choices among its many parameters: one hash for all, and a salt as long as the hash. */
function pssScheme(parameters: string): SignatureScheme | undefined {
  const found = Object.entries(PSS_HASHES).find(([, [own, length]]) => {
    const id = `06096086480165030402${own}`
    const mgf1 = '06092a864886f70d010108'
    const salt = `a2030201${length}`
    const full = `300d${id}${NULL}`
    const bare = `300b${id}`
    return (
      parameters === `3034a00f${full}a11c301a${mgf1}${full}${salt}` ||
      parameters === `3030a00d${bare}a11a3018${mgf1}${bare}${salt}`
    )
  })
  return found && { keyType: 'RSA', hash: found[0], pss: true }
}
