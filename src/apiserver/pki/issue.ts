/**
 * Makes certificates: X.509 v3, ECDSA P-256 with SHA-256. Import this file dynamically: its libraries take longer to load
 * than a restart with existing certificates may last.
 * @see https://kubernetes.io/docs/setup/best-practices/certificates/
 */
import 'reflect-metadata'
import { createPrivateKey, createPublicKey, randomBytes, webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  Pkcs10CertificateRequestGenerator,
  type PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { BACKDATE_MS } from './backdate.ts'
import { spaceMark } from './spaceMark.ts'

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
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
  publicKey: PublicKey
}

/** A new PKCS #8 P-256 key. */
export async function newKeyPem(): Promise<string> {
  return pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', (await newKeys()).privateKey))
}

/** A self-signed authority that may sign leaf certificates only. */
export async function issueCa(request: CaRequest): Promise<PemPair> {
  const keyPem = request.keyPem ?? (await newKeyPem())
  const keys = await importKeys(keyPem)
  const name = nameOf({ commonName: request.commonName, organizations: [] })
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: name,
    issuer: name,
    ...validity(request),
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: EC,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certPem: `${certificate.toString('pem')}\n`, keyPem }
}

export async function issueServing(request: ServingRequest): Promise<PemPair> {
  return issueLeaf(request, nameOf({ commonName: 'orrery', organizations: [] }), [
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension([
      ...request.dnsNames.map(value => ({ type: 'dns' as const, value })),
      ...request.ips.map(value => ({ type: 'ip' as const, value })),
    ]),
  ])
}

export async function issueClient(request: ClientRequest): Promise<PemPair> {
  return issueLeaf(request, nameOf(request), [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])])
}

interface CertificateRequest {
  /** PKCS #10, PEM. */
  requestPem: string
  /** PKCS #8, of a new key. */
  keyPem: string
}

/** A request for a client certificate, signed with a key that is made for it. */
export async function requestClient(subject: Subject): Promise<CertificateRequest> {
  const keys = await newKeys()
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: nameOf(subject),
    keys,
    signingAlgorithm: EC,
  })
  const keyPem = pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  return { requestPem: `${request.toString('pem')}\n`, keyPem }
}

/** The certificate, PEM. Only the name and the key of the request go into it; the rest is the authority's own. */
export async function issueSpaceClient(request: SpaceClientRequest): Promise<string> {
  return signLeaf(request, nameOf(request), request.publicKey, [
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
    new SubjectAlternativeNameExtension([{ type: 'url', value: spaceMark(request.space) }]),
  ])
}

/**
 * Values with their type: a plain one would be read as escaped text, so that `x "y"` became `y`. Go compares names byte for byte, so an
 * authority that is renewed keeps the type that its name always had.
 */
function nameOf({ commonName, organizations }: Subject): Name {
  const typed = (value: string) => (Name.isPrintableString(value) ? { printableString: value } : { utf8String: value })
  return new Name([...organizations.map(each => ({ O: [typed(each)] })), { CN: [typed(commonName)] }])
}

async function issueLeaf(
  request: Lifetime & { ca: PemPair },
  subject: Name,
  extensions: Extension[],
): Promise<PemPair> {
  const keys = await newKeys()
  const certPem = await signLeaf(request, subject, keys.publicKey, extensions)
  return { certPem, keyPem: pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)) }
}

async function signLeaf(
  request: Lifetime & { ca: PemPair },
  subject: Name,
  publicKey: PublicKey | webcrypto.CryptoKey,
  extensions: Extension[],
): Promise<string> {
  const authority = new X509Certificate(request.ca.certPem)
  const signing = await importKeys(request.ca.keyPem)
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: authority.subjectName,
    ...within(validity(request), authority),
    publicKey,
    signingKey: signing.privateKey,
    signingAlgorithm: EC,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      await AuthorityKeyIdentifierExtension.create(signing.publicKey),
      ...extensions,
    ],
  })
  return `${certificate.toString('pem')}\n`
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(EC, true, ['sign', 'verify'])
}

async function importKeys(keyPem: string): Promise<webcrypto.CryptoKeyPair> {
  const pkcs8 = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' })
  const spki = createPublicKey(keyPem).export({ type: 'spki', format: 'der' })
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('pkcs8', pkcs8, EC, false, ['sign']),
    webcrypto.subtle.importKey('spki', spki, EC, true, ['verify']),
  ])
  return { privateKey, publicKey }
}

function validity(request: Lifetime): { notBefore: Date; notAfter: Date } {
  const { nowMs, days } = request
  return { notBefore: new Date(nowMs - BACKDATE_MS), notAfter: new Date(nowMs + days * DAY_MS) }
}

/** A certificate that outlives its authority would promise what nobody can check. */
function within(requested: { notBefore: Date; notAfter: Date }, authority: X509Certificate): typeof requested {
  return authority.notAfter < requested.notAfter ? { ...requested, notAfter: authority.notAfter } : requested
}

/** 127 random bits, positive and without leading zero bytes, as DER wants them. */
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes.toString('hex')
}

function pem(label: string, der: ArrayBuffer): string {
  const base64 = Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`
}
