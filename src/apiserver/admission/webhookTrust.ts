/**
 * Connections to webhooks whose certificates are verified. Every connection that anything is sent over has been verified by
 * OpenSSL, with names and dates, before the first byte.
 *
 * A certificate in the bundle is trusted whether or not it signed itself, as Go does. Certificates without names are beyond OpenSSL ({@link
 * namelessSigner}). Where it refuses a server for that, the client looks at the server's certificate, over a connection without any
 * request. If an authority of the bundle has signed that, OpenSSL verifies it as a trusted one. Connections to this server may then show
 * exactly that certificate.
 */
import type { X509Certificate } from 'node:crypto'
import { Agent, type AgentOptions } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  type PeerCertificate,
  type SecureContextOptions,
} from 'node:tls'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'

export interface WebhookPeer {
  host: string
  port: number
  /** Whom the certificate has to name. */
  serverName: string
}

/** By the code of the refusal, the reason that users know. */
export const TLS_REFUSALS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate signed by unknown authority',
  CERT_SIGNATURE_FAILURE: 'certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
  INVALID_PURPOSE: 'certificate specifies an incompatible key usage',
}
/** OpenSSL's error for a certificate without names outside its trust. */
const LOOKS_SELF_SIGNED = 'DEPTH_ZERO_SELF_SIGNED_CERT'
const OTHER_CERTIFICATE = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
const MAX_AGENTS = 256
/** As PEM; what OpenSSL makes of all that is kept is some ten times that. */
const MAX_KEPT_CHARS = 4 * 1024 * 1024
export const MAX_BUNDLE_CHARS = 512 * 1024
/** Twice what systems bring along: 20 ms of the loop, which nothing cuts short. */
export const MAX_BUNDLE_CERTIFICATES = 300
/**
 * Key exchanges of Go's clients. Above all no Diffie-Hellman over numbers that the server chooses: 8,192 bits take over a third of a second
 * of the loop.
 */
const EXCHANGES = {
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE+AESGCM',
    'ECDHE+CHACHA20',
    'ECDHE+AES',
  ].join(':'),
  ecdhCurve: 'X25519:P-256:P-384:P-521',
}

const CERTIFICATE_BEGINS = '-----BEGIN '

/** There is more in a `caBundle` than is read for a call. The message is for users. */
export class BundleTooLarge extends Error {}

/** A certificate without names that was vouched for. */
interface Pinned {
  agent: Agent
  /** When who vouched for it no longer may. */
  until: Date
}

export class WebhookTrust {
  readonly #lookup: () => LookupFunction
  readonly #now: () => Date
  /** By certificate authority: connections are kept between calls. */
  readonly #agents = new BoundedCache<string, Agent>({
    entries: MAX_AGENTS,
    weight: { limit: MAX_KEPT_CHARS, of: (_, ca) => ca.length },
  })
  /** By certificate authority and peer. */
  readonly #pinned = new BoundedCache<string, Pinned>(MAX_AGENTS)

  /** @param lookup resolves names to addresses that may be connected to */
  constructor(lookup: () => LookupFunction, now: () => Date = () => new Date()) {
    this.#lookup = lookup
    this.#now = now
  }

  /** Whether connections that `ca` vouches for cost no more than what is sent: else it is read first, at some length. */
  knows(ca: string): boolean {
    return this.#agents.has(ca)
  }

  /**
   * Result of `send`, over connections to `peer` that `ca` (PEM; empty: the system's roots) vouches for. `send` is called again only when a
   * certificate was refused, which is before anything is sent.
   * @throws what `send` throws, Error of the connection, BundleTooLarge
   */
  async through<T>(
    { ca, peer, signal }: { ca: string; peer: WebhookPeer; signal: AbortSignal },
    send: (agent: Agent) => Promise<T>,
  ): Promise<T> {
    if (ca.length > MAX_BUNDLE_CHARS) throw new BundleTooLarge(`caBundle has more than ${MAX_BUNDLE_CHARS} characters`)
    const key = JSON.stringify([ca, peer.host, peer.port, peer.serverName])
    const pinned = this.#pinned.get(key)
    if (pinned !== undefined && this.#now() <= pinned.until) {
      try {
        return await send(pinned.agent)
      } catch (error) {
        // Most likely the webhook has got itself another certificate: all is judged anew.
        if (!(codeOf(error) in TLS_REFUSALS)) throw error
      }
    }
    try {
      return await send(this.#agent(ca))
    } catch (error) {
      if (ca === '' || codeOf(error) !== LOOKS_SELF_SIGNED) throw error
      const vouched = await this.#vouchFor(ca, peer, signal)
      if (vouched === undefined) throw error
      this.#pinned.set(key, vouched)
      return await send(vouched.agent)
    }
  }

  #agent(ca: string): Agent {
    return getOrInsert(this.#agents, ca, () => {
      if (ca.split(CERTIFICATE_BEGINS, MAX_BUNDLE_CERTIFICATES + 2).length > MAX_BUNDLE_CERTIFICATES + 1) {
        throw new BundleTooLarge(`caBundle has more than ${MAX_BUNDLE_CERTIFICATES} certificates`)
      }
      return this.#newAgent(ca === '' ? {} : { ca, allowPartialTrustChain: true })
    })
  }

  /** Its connections share what is trusted: to read that for each, when many are made at once, holds everybody up. */
  #newAgent(trust: SecureContextOptions, checks: Pick<AgentOptions, 'checkServerIdentity'> = {}): Agent {
    const secureContext = createSecureContext({ ...EXCHANGES, ...trust })
    return new Agent({ keepAlive: true, timeout: 90_000, lookup: this.#lookup(), secureContext, ...checks })
  }

  async #vouchFor(ca: string, peer: WebhookPeer, signal: AbortSignal): Promise<Pinned | undefined> {
    const shown = await this.#shownBy(peer, signal)
    // Loaded late: its library takes long to load, and few webhooks need it.
    const { namelessSigner } = await import('./namelessCertificates.ts')
    const signer = namelessSigner(shown, ca, this.#now())
    if (signer === undefined) return undefined
    // Whatever it might sign itself is not trusted.
    const isShown = (name: string, certificate: PeerCertificate): Error | undefined =>
      certificate.raw.equals(shown.raw) ? checkServerIdentity(name, certificate) : otherCertificate()
    const trust = { ca: shown.toString(), allowPartialTrustChain: true }
    const agent = this.#newAgent(trust, { checkServerIdentity: isShown })
    return { agent, until: signer.validToDate }
  }

  /** The certificate that a server shows to anybody. It proves nothing about who shows it. */
  #shownBy({ host, port, serverName }: WebhookPeer, signal: AbortSignal): Promise<X509Certificate> {
    return new Promise((resolve, reject) => {
      const named = isIP(serverName) === 0 && { servername: serverName }
      // Closed without a word as soon as the certificate is known.
      const options = { ...EXCHANGES, host, port, lookup: this.#lookup(), rejectUnauthorized: false, ...named }
      const socket = connect(options, () => {
        const shown = socket.getPeerX509Certificate()
        socket.destroy()
        if (shown) resolve(shown)
      })
      const abort = (): void => void socket.destroy(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      socket.once('error', reject)
      socket.once('close', () => {
        signal.removeEventListener('abort', abort)
        reject(new Error('the connection was closed before a certificate was shown'))
      })
      if (signal.aborted) abort()
    })
  }
}

function otherCertificate(): Error {
  return Object.assign(new Error('not the certificate that was vouched for'), { code: OTHER_CERTIFICATE })
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? ''
}
