/**
 * A certificate of another authority, for the names in it: clients that name one of them (SNI) get it, all others the server's own. Its
 * files are looked at once a minute, because their owner renews it there.
 * @see https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ for --tls-sni-cert-key
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../request/logger.ts'

export interface CertificateFiles {
  certFile: string
  keyFile: string
}

export interface NamedCertificate {
  /** DNS names, small; the first label may be `*`. */
  readonly names: readonly string[]
  readonly certPem: string
  readonly keyPem: string
  covers(host: string): boolean
}

const LOOK_MS = 60_000

/** @throws Error naming the file that cannot be used */
export async function readNamedCertificate({ certFile, keyFile }: CertificateFiles): Promise<NamedCertificate> {
  const [certPem, keyPem] = await Promise.all([textOf(certFile), textOf(keyFile)])
  const leaf = parsed(certFile, 'certificate', () => new X509Certificate(certPem))
  const key = parsed(keyFile, 'private key', () => createPrivateKey(keyPem))
  if (!leaf.checkPrivateKey(key)) throw new Error(`${keyFile} is not the key of the certificate in ${certFile}`)
  const names = (leaf.subjectAltName ?? '')
    .split(', ')
    .filter(name => name.startsWith('DNS:'))
    .map(name => name.slice('DNS:'.length).toLowerCase())
  if (names.length === 0)
    throw new Error(`${certFile}: its certificate has no DNS name, so no client would be shown it`)
  return { names, certPem, keyPem, covers: host => leaf.checkHost(host) !== undefined }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new Error(`${file} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

function parsed<T>(file: string, what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new Error(`${file} holds no ${what} in PEM: ${messageOf(error)}`, { cause: error })
  }
}

interface CertificateFollowerDeps {
  files: CertificateFiles
  /** In use. */
  first: NamedCertificate
  use(certificate: NamedCertificate): void
  clock: Clock
  log: Logger
}

/** Follows the content of the files; an unusable one is logged once, and the former stays in use. */
export class CertificateFollower {
  readonly #deps: CertificateFollowerDeps
  #current: NamedCertificate
  #fault = ''
  #cancel: (() => void) | undefined
  #looking: Promise<void> | undefined
  #stopped = false

  constructor(deps: CertificateFollowerDeps) {
    this.#deps = deps
    this.#current = deps.first
  }

  start(): void {
    if (this.#stopped) return
    this.#cancel = this.#deps.clock.after(LOOK_MS, () => {
      this.#looking = this.#look().finally(() => this.start())
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { files, use, log } = this.#deps
    try {
      const now = await readNamedCertificate(files)
      this.#fault = ''
      if (now.certPem === this.#current.certPem && now.keyPem === this.#current.keyPem) return
      this.#current = now
      use(now)
      log.info({ names: now.names }, 'another certificate is shown for these names from now on')
    } catch (error) {
      const fault = messageOf(error)
      if (fault !== this.#fault)
        log.error({ err: error }, 'the changed certificate cannot be used; the former stays in use')
      this.#fault = fault
    }
  }
}
