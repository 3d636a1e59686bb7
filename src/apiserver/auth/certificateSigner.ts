/**
 * Signs what CertificateSigningRequests ask for: client certificates of the two signers that every cluster has.
 *
 * An issued certificate counts only in the space where it was approved, and never holds a group that means something across spaces. Serving
 * certificates are not signed: the clients of this server trust its authority for the server's own name.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
 */
import { X509Certificate } from 'node:crypto'
import type { Pkcs10CertificateRequest } from '@peculiar/x509'
import type { PemPair } from '../pki/issue.ts'
import { crossesSpaces, GROUPS } from './users.ts'
import { identityOf } from './x509.ts'

export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client'
export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet'

export interface CertificateOrder {
  /** Logical-cluster id of the space that approved it. */
  space: string
  signerName: string
  /** PKCS #10, PEM. */
  requestPem: string
  /** As in `spec.usages`. */
  usages: readonly string[]
  /** As in `spec.expirationSeconds`. Default and limit: a year. */
  expirationSeconds?: number | undefined
}

/** `undefined`: a signer that somebody else is. `refused` says why the request can never be signed. */
export type SignatureOutcome = { certificatePem: string } | { refused: string } | undefined

export interface RequestedSubject {
  commonName: string
  organizations: readonly string[]
}

export const YEAR_SECONDS = 365 * 86_400
export const MIN_SECONDS = 600
const SIGNATURE = 'digital signature'
const ENCIPHERMENT = 'key encipherment'
const CLIENT_AUTH = 'client auth'

export class CertificateSigner {
  #ca: PemPair
  readonly #clock: () => number

  /** `clock`: milliseconds since the epoch. */
  constructor(options: { ca: PemPair; clock: () => number }) {
    this.#ca = options.ca
    this.#clock = options.clock
  }

  /** From now on signs with this authority: the old one's key with a newer certificate. */
  useAuthority(ca: PemPair): void {
    this.#ca = ca
  }

  async sign(order: CertificateOrder): Promise<SignatureOutcome> {
    const refusals = CHECKS[order.signerName]
    if (refusals === undefined) return undefined
    const request = await parseRequest(order.requestPem)
    if (request === undefined) return { refused: 'unable to parse csr' }
    if (!(await verifies(request))) return { refused: 'unable to verify the signature of the csr' }
    const subject = subjectOf(request)
    if (subject === undefined) return { refused: 'the subject must hold one common name and readable organizations' }
    const refused = refusals(subject, order.usages) ?? crossing(subject)
    if (refused !== undefined) return { refused }
    const { issueSpaceClient } = await import('../pki/issue.ts')
    const nowMs = this.#clock()
    const wanted = Math.max(MIN_SECONDS, Math.min(order.expirationSeconds ?? YEAR_SECONDS, YEAR_SECONDS))
    const certificatePem = await issueSpaceClient({
      ca: this.#ca,
      ...subject,
      space: order.space,
      publicKey: request.publicKey,
      nowMs,
      days: wanted / 86_400,
    })
    // The checked identity must be the one that the server will read.
    const issued = identityOf(new X509Certificate(certificatePem))
    const groups = new Set(subject.organizations).add(GROUPS.authenticated)
    const same =
      issued?.space === order.space &&
      issued.user.name === subject.commonName &&
      issued.user.groups.every(group => groups.has(group))
    return same ? { certificatePem } : { refused: 'the subject cannot be written into a certificate' }
  }
}

/** The names that a PEM request asks for; `undefined` when it cannot be read. */
export async function requestedSubject(requestPem: string): Promise<RequestedSubject | undefined> {
  const request = await parseRequest(requestPem)
  return request && subjectOf(request)
}

/** Why a request can never be signed. */
type Refusal = (subject: RequestedSubject, usages: readonly string[]) => string | undefined

const CHECKS: Readonly<Record<string, Refusal>> = {
  [CLIENT_SIGNER]: (_subject, usages) => usageRefusal(usages),
  [KUBELET_CLIENT_SIGNER]({ commonName, organizations }, usages) {
    if (organizations.length !== 1 || organizations[0] !== 'system:nodes')
      return 'subject organization is not system:nodes'
    if (!commonName.startsWith('system:node:')) return 'subject common name does not begin with system:node: '
    if (!usages.includes(SIGNATURE)) return usageText(usages)
    return usageRefusal(usages)
  },
}

function usageRefusal(usages: readonly string[]): string | undefined {
  const known = usages.every(usage => usage === SIGNATURE || usage === ENCIPHERMENT || usage === CLIENT_AUTH)
  return known && usages.includes(CLIENT_AUTH) ? undefined : usageText(usages)
}

function usageText(usages: readonly string[]): string {
  return `usages did not match: need ${CLIENT_AUTH}, may have ${SIGNATURE} and ${ENCIPHERMENT}, found ${usages.join(', ')}`
}

function crossing({ organizations }: RequestedSubject): string | undefined {
  const group = organizations.find(crossesSpaces)
  return group && `the group ${JSON.stringify(group)} reaches beyond this space`
}

async function parseRequest(requestPem: string): Promise<Pkcs10CertificateRequest | undefined> {
  await import('reflect-metadata')
  const { Pkcs10CertificateRequest } = await import('@peculiar/x509')
  try {
    const request = new Pkcs10CertificateRequest(requestPem)
    // Names are read late, and may be what cannot be read.
    subjectOf(request)
    return request
  } catch {
    return undefined
  }
}

async function verifies(request: Pkcs10CertificateRequest): Promise<boolean> {
  try {
    return await request.verify()
  } catch {
    return false
  }
}

/** A leading `#` would be read as raw bytes when the name is written, so it has no place in one. */
function subjectOf(request: Pkcs10CertificateRequest): RequestedSubject | undefined {
  const names = request.subjectName.getField('CN')
  const organizations = request.subjectName.getField('O')
  const [commonName] = names
  const readable = [...names, ...organizations].every(text => text !== '' && !text.startsWith('#'))
  return commonName !== undefined && names.length === 1 && readable ? { commonName, organizations } : undefined
}
