/**
 * Makes certificates: X.509 v3, ECDSA P-256 with SHA-256.
 * @see https://www.rfc-editor.org/rfc/rfc5280
 * @see https://kubernetes.io/docs/setup/best-practices/certificates/
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import { certificateParts } from '../../apimachinery/certificates/certificateParts.ts'
import { DerReader } from '../../apimachinery/certificates/der.ts'
import { derWriter as der } from '../../apimachinery/certificates/derWriter.ts'
import { addressBytes } from '../../kinds/network/addresses.ts'
import { BACKDATE_MS } from './backdate.ts'
import { spaceMark } from './spaceMark.ts'

const CURVE = 'prime256v1'
const SIGNATURE = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'))
/** Parts of names. */
export const COMMON_NAME = '2.5.4.3'
export const ORGANIZATION = '2.5.4.10'
const EXTENSIONS = {
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKey: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const DAY_MS = 86_400_000

export interface PemPair {
  certPem: string
  /** PKCS #8. */
  keyPem: string
}

interface Lifetime {
  nowMs: number
  days: number
}

interface CaRequest extends Lifetime {
  commonName: string
  /** Renews the certificate of this key instead of making a new key. */
  keyPem?: string
}

interface ServingRequest extends Lifetime {
  ca: PemPair
  dnsNames: readonly string[]
  ips: readonly string[]
}

interface Subject {
  /** The user name. */
  commonName: string
  /** The user's groups. */
  organizations: readonly string[]
}

interface ClientRequest extends Lifetime, Subject {
  ca: PemPair
}

/** A client certificate for a key that somebody else holds; it counts in one space only. */
interface SpaceClientRequest extends ClientRequest {
  /** Logical-cluster id. */
  space: string
  publicKey: KeyObject
}

interface Validity {
  notBefore: Date
  notAfter: Date
}

/** A new PKCS #8 P-256 key. */
export function newKeyPem(): string {
  return keyPemOf(newKey())
}

/** A self-signed authority that may sign leaf certificates only. */
export function issueCa(request: CaRequest): PemPair {
  const key = request.keyPem === undefined ? newKey() : createPrivateKey(request.keyPem)
  const publicKey = createPublicKey(key)
  const name = nameOf({ commonName: request.commonName, organizations: [] })
  const certPem = certificatePem({
    subject: name,
    issuer: name,
    validity: validityOf(request),
    publicKey,
    key,
    extensions: [
      extension(EXTENSIONS.basicConstraints, der.sequence(der.true(), der.integer(Buffer.of(0))), true),
      // digitalSignature, keyCertSign and cRLSign
      extension(EXTENSIONS.keyUsage, der.bitString(Buffer.of(0x86), 1), true),
      extension(EXTENSIONS.subjectKey, der.octetString(keyIdentifier(publicKey))),
    ],
  })
  return { certPem, keyPem: request.keyPem ?? keyPemOf(key) }
}

export function issueServing(request: ServingRequest): PemPair {
  const names = [
    ...request.dnsNames.map(name => der.retagged(2, Buffer.from(name))),
    ...request.ips.map(ip => der.retagged(7, Buffer.from(addressBytes(ip, isIP(ip) as 4 | 6)))),
  ]
  return issueLeaf(request, { commonName: 'orrery', organizations: [] }, [
    usedFor(SERVER_AUTH),
    extension(EXTENSIONS.alternativeNames, der.sequence(...names)),
  ])
}

export function issueClient(request: ClientRequest): PemPair {
  return issueLeaf(request, request, [usedFor(CLIENT_AUTH)])
}

interface CertificateRequest {
  /** PKCS #10, PEM. */
  requestPem: string
  /** PKCS #8, of a new key. */
  keyPem: string
}

/** A request for a client certificate, signed with a key that is made for it. */
export function requestClient(subject: Subject): CertificateRequest {
  const key = newKey()
  const version = der.integer(Buffer.of(0))
  const parts = der.sequence(version, nameOf(subject), keyInfo(createPublicKey(key)), der.tagged(0))
  return { requestPem: pem('CERTIFICATE REQUEST', signed(parts, key)), keyPem: keyPemOf(key) }
}

/** The certificate, PEM. Only the name and the key of the request go into it; the rest is the authority's own. */
export function issueSpaceClient(request: SpaceClientRequest): string {
  const mark = der.retagged(6, Buffer.from(spaceMark(request.space)))
  return leafPem(request, request, request.publicKey, [
    usedFor(CLIENT_AUTH),
    extension(EXTENSIONS.alternativeNames, der.sequence(mark)),
  ])
}

type LeafRequest = Lifetime & { ca: PemPair }

function issueLeaf(request: LeafRequest, subject: Subject, extensions: readonly Buffer[]): PemPair {
  const key = newKey()
  return { certPem: leafPem(request, subject, createPublicKey(key), extensions), keyPem: keyPemOf(key) }
}

function leafPem(request: LeafRequest, subject: Subject, publicKey: KeyObject, extensions: readonly Buffer[]): string {
  const authority = new X509Certificate(request.ca.certPem)
  return certificatePem({
    subject: nameOf(subject),
    issuer: certificateParts(authority.raw).subject,
    validity: within(validityOf(request), authority),
    publicKey,
    key: createPrivateKey(request.ca.keyPem),
    extensions: [
      extension(EXTENSIONS.basicConstraints, der.sequence(), true),
      // digitalSignature
      extension(EXTENSIONS.keyUsage, der.bitString(Buffer.of(0x80), 7), true),
      extension(EXTENSIONS.authorityKey, der.sequence(der.retagged(0, keyIdentifier(authority.publicKey)))),
      ...extensions,
    ],
  })
}

interface CertificateParts {
  /** DER, as the issuer. */
  subject: Buffer
  issuer: Buffer
  validity: Validity
  publicKey: KeyObject
  /** The issuer's. */
  key: KeyObject
  extensions: readonly Buffer[]
}

function certificatePem({ subject, issuer, validity, publicKey, key, extensions }: CertificateParts): string {
  const parts = der.sequence(
    // version 3
    der.tagged(0, der.integer(Buffer.of(2))),
    der.integer(serialNumber()),
    SIGNATURE,
    issuer,
    der.sequence(der.time(validity.notBefore), der.time(validity.notAfter)),
    subject,
    keyInfo(publicKey),
    der.tagged(3, der.sequence(...extensions)),
  )
  return pem('CERTIFICATE', signed(parts, key))
}

/** @throws Error for another key than {@link newKeyPem} makes */
function signed(parts: Buffer, key: KeyObject): Buffer {
  if (key.asymmetricKeyDetails?.namedCurve !== CURVE)
    throw new Error('the key that signs certificates is no ECDSA key of the curve P-256')
  return der.sequence(parts, SIGNATURE, der.bitString(sign('sha256', parts, key)))
}

function nameOf({ commonName, organizations }: Subject): Buffer {
  const attribute = (type: string, text: string): Buffer =>
    der.set(der.sequence(der.objectIdentifier(type), der.text(text)))
  return der.sequence(...organizations.map(each => attribute(ORGANIZATION, each)), attribute(COMMON_NAME, commonName))
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return der.sequence(der.objectIdentifier(id), ...(critical ? [der.true()] : []), der.octetString(value))
}

function usedFor(purpose: string): Buffer {
  return extension(EXTENSIONS.extendedKeyUsage, der.sequence(der.objectIdentifier(purpose)))
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: CURVE }).privateKey
}

function keyPemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function keyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

/** SHA-1 of the key's bits: a name of the key, and no proof. */
function keyIdentifier(key: KeyObject): Buffer {
  const parts = new DerReader(keyInfo(key)).sequence()
  parts.any()
  return createHash('sha1').update(parts.bitString()).digest()
}

function validityOf({ nowMs, days }: Lifetime): Validity {
  return { notBefore: new Date(nowMs - BACKDATE_MS), notAfter: new Date(nowMs + days * DAY_MS) }
}

/** A certificate that outlives its authority would promise what nobody can check. */
function within(requested: Validity, authority: X509Certificate): Validity {
  const { validToDate } = authority
  return validToDate < requested.notAfter ? { ...requested, notAfter: validToDate } : requested
}

/** 127 random bits, positive and without leading zero bytes, as DER wants them. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

function pem(label: string, bytes: Buffer): string {
  const base64 = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`
}
