/**
 * The server's own certificate authority and everything that it signs, kept in one folder.
 *
 * The authority's key and the ServiceAccount key are made once and kept, so that kubeconfigs and tokens survive restarts. Leaf certificates
 * are renewed when they no longer fit or soon expire. The authority's certificate (of the same name and key) is renewed while it still
 * outlives any leaf.
 * @see https://kubernetes.io/docs/setup/best-practices/certificates/
 */
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { readIfExists, writePrivateFile } from '../../program/replacedFiles.ts'
import type { PemPair } from './issue.ts'

interface PkiOptions {
  /** External DNS names of the server; addresses among them are treated as `ips`. */
  hostnames: readonly string[]
  ips: readonly string[]
  /** Milliseconds since the epoch. */
  clock: () => number
}

export interface Pki {
  caPem: string
  caKeyPem: string
  serving: PemPair
  /** Client certificate of user `orrery-admin` in group system:masters. */
  admin: PemPair
  /** Signs ServiceAccount tokens: P-256, PKCS #8. */
  serviceAccountKeyPem: string
}

/** The server's certificate, and the authority that vouches for its clients. */
export function tlsOf({ serving, caPem }: Pki): { cert: string; key: string; ca: string } {
  return { cert: serving.certPem, key: serving.keyPem, ca: caPem }
}

const ALWAYS_DNS = ['localhost', 'kubernetes.default.svc']
const ALWAYS_IPS = ['127.0.0.1', '::1']
const CA_DAYS = 3650
const LEAF_DAYS = 365
const DAY_MS = 86_400_000
/** How long before its end a certificate is replaced. */
const RENEW_BEFORE_MS = 30 * DAY_MS
/** Clients that hold the authority's old certificate have this long to learn the new one, and no leaf outlives either. */
const RENEW_CA_BEFORE_MS = LEAF_DAYS * DAY_MS + RENEW_BEFORE_MS

const FILES = {
  ca: 'ca.crt',
  caKey: 'ca.key',
  serving: 'apiserver.crt',
  servingKey: 'apiserver.key',
  admin: 'admin.crt',
  adminKey: 'admin.key',
  serviceAccountKey: 'sa.key',
} as const
type FileName = keyof typeof FILES

/** All that the folder may hold. */
export const PKI_FILES: readonly string[] = Object.values(FILES)

/**
 * Loads the folder, making what is missing or outdated.
 * @throws Error when a host name is malformed, or when the authority's files do not belong together. Replacing it would cut off every
 *   client, so that is left to a person.
 */
export async function ensurePki(dir: string, options: PkiOptions): Promise<Pki> {
  const nowMs = options.clock()
  const names = servingNames(options)
  const files = await readAll(dir)
  const found = { ca: pairOf(files.ca, files.caKey), serving: pairOf(files.serving, files.servingKey) }
  const foundAdmin = pairOf(files.admin, files.adminKey)
  if (files.ca !== undefined && files.caKey === undefined) {
    throw new Error(
      `${dir} holds ${FILES.ca} without ${FILES.caKey}: restore the key, or remove the folder to start anew`,
    )
  }
  if (found.ca && !belongTogether(found.ca)) throw new Error(`${FILES.ca} and ${FILES.caKey} in ${dir} do not match`)

  const caFits =
    found.ca !== undefined && !expiresSoon(new X509Certificate(found.ca.certPem), nowMs, RENEW_CA_BEFORE_MS)
  // An expired or lost certificate is renewed with the same key and name: what it signed stays valid.
  const keyOfCa = files.caKey !== undefined && { keyPem: files.caKey }
  const ca = caFits
    ? found.ca!
    : await (await issuing()).issueCa({ commonName: 'orrery-ca', nowMs, days: CA_DAYS, ...keyOfCa })
  const servingFits = fits(found.serving, ca, nowMs, cert => coversExactly(cert, names))
  const adminFits = fits(foundAdmin, ca, nowMs)
  if (caFits && servingFits && adminFits && files.serviceAccountKey !== undefined) {
    return pki(ca, found.serving!, foundAdmin!, files.serviceAccountKey)
  }

  const issue = await issuing()
  const [serving, admin, serviceAccountKey] = await Promise.all([
    servingFits ? found.serving! : issue.issueServing({ ca, ...names, nowMs, days: LEAF_DAYS }),
    adminFits
      ? foundAdmin!
      : issue.issueClient({
          ca,
          commonName: 'orrery-admin',
          organizations: ['system:masters'],
          nowMs,
          days: LEAF_DAYS,
        }),
    files.serviceAccountKey ?? issue.newKeyPem(),
  ])
  const result = pki(ca, serving, admin, serviceAccountKey)
  await writeChanged(dir, files, result)
  return result
}

/** When (milliseconds since the epoch) {@link ensurePki} will have something to renew. */
export function renewalDueMs({ caPem, serving, admin }: Pki): number {
  return Math.min(
    endMs(new X509Certificate(caPem)) - RENEW_CA_BEFORE_MS,
    endMs(new X509Certificate(serving.certPem)) - RENEW_BEFORE_MS,
    endMs(new X509Certificate(admin.certPem)) - RENEW_BEFORE_MS,
  )
}

/** Loaded only by who has to make something. */
function issuing(): Promise<typeof import('./issue.ts')> {
  return import('./issue.ts')
}

function pki(ca: PemPair, serving: PemPair, admin: PemPair, serviceAccountKeyPem: string): Pki {
  return { caPem: ca.certPem, caKeyPem: ca.keyPem, serving, admin, serviceAccountKeyPem }
}

async function readAll(dir: string): Promise<Partial<Record<FileName, string>>> {
  const entries = Object.entries(FILES) as [FileName, string][]
  const texts = await Promise.all(entries.map(([, file]) => readIfExists(join(dir, file))))
  const files: Partial<Record<FileName, string>> = {}
  for (const [i, [name]] of entries.entries()) if (texts[i] !== undefined) files[name] = texts[i]
  return files
}

/** Keys go to disk before the certificates that need them, so that a crash between leaves a pair that is seen not to match. */
async function writeChanged(dir: string, old: Partial<Record<FileName, string>>, made: Pki): Promise<void> {
  const write = async (name: FileName, text: string): Promise<void> => {
    if (old[name] !== text) await writePrivateFile(join(dir, FILES[name]), text)
  }
  await write('caKey', made.caKeyPem)
  await write('ca', made.caPem)
  await Promise.all([
    write('serviceAccountKey', made.serviceAccountKeyPem),
    write('servingKey', made.serving.keyPem).then(() => write('serving', made.serving.certPem)),
    write('adminKey', made.admin.keyPem).then(() => write('admin', made.admin.certPem)),
  ])
}

function pairOf(certPem: string | undefined, keyPem: string | undefined): PemPair | undefined {
  return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem }
}

function belongTogether(pair: PemPair): boolean {
  const own = createPublicKey(createPrivateKey(pair.keyPem))
  return new X509Certificate(pair.certPem).publicKey.equals(own)
}

function expiresSoon(certificate: X509Certificate, nowMs: number, beforeMs: number): boolean {
  return nowMs >= endMs(certificate) - beforeMs
}

function endMs(certificate: X509Certificate): number {
  return certificate.validToDate.getTime()
}

/** False also for unreadable files: leaf certificates can always be made again. */
function fits(
  pair: PemPair | undefined,
  ca: PemPair,
  nowMs: number,
  accept: (certificate: X509Certificate) => boolean = () => true,
): boolean {
  if (!pair) return false
  try {
    const certificate = new X509Certificate(pair.certPem)
    return (
      belongTogether(pair) &&
      !expiresSoon(certificate, nowMs, RENEW_BEFORE_MS) &&
      certificate.verify(new X509Certificate(ca.certPem).publicKey) &&
      accept(certificate)
    )
  } catch {
    return false
  }
}

interface ServingNames {
  dnsNames: string[]
  ips: string[]
}

function servingNames(options: PkiOptions): ServingNames {
  const hosts = [...options.hostnames, ...options.ips].map(h => h.replace(/^\[(.*)\]$/, '$1').toLowerCase())
  for (const host of hosts) {
    if (isIP(host) === 0 && !/^(\*\.)?[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/.test(host)) {
      throw new Error(`not a host name or IP address: ${JSON.stringify(host)}`)
    }
  }
  return {
    dnsNames: unique([...ALWAYS_DNS, ...hosts.filter(h => isIP(h) === 0)]),
    ips: unique([...ALWAYS_IPS, ...hosts.filter(h => isIP(h) !== 0)]),
  }
}

function coversExactly(certificate: X509Certificate, names: ServingNames): boolean {
  const count = certificate.subjectAltName?.split(', ').length ?? 0
  return (
    count === names.dnsNames.length + names.ips.length &&
    names.dnsNames.every(name => certificate.subjectAltName?.split(', ').includes(`DNS:${name}`)) &&
    names.ips.every(ip => certificate.checkIP(ip) !== undefined)
  )
}

function unique(values: string[]): string[] {
  return [...new Set(values)]
}
