/**
 * Asks a webhook over HTTPS: one POST, no redirects, bounded in time and size.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#contacting-the-webhook
 */
import { Agent, request } from 'node:https'
import { LruMap } from './lruMap.ts'

export interface WebhookTarget {
  url: string
  /** PEM; the system's roots when absent. */
  caPem?: string
  timeoutSeconds: number
  /** Of the answer. Default: 3 MiB. */
  limitBytes?: number
}

/** The webhook could not be asked, or did not answer as one; the message is for the user. */
export class WebhookCallError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WebhookCallError'
  }
}

const MAX_RESPONSE_BYTES = 3 * 1024 * 1024
const MAX_AGENTS = 256

export class WebhookClient {
  /** By certificate authority: connections are kept between calls. */
  readonly #agents = new LruMap<string, Agent>(MAX_AGENTS)

  /** The JSON that the webhook answered. @throws WebhookCallError */
  async post(target: WebhookTarget, body: unknown): Promise<unknown> {
    const url = new URL(target.url)
    url.searchParams.set('timeout', `${target.timeoutSeconds}s`)
    const signal = AbortSignal.timeout(target.timeoutSeconds * 1000)
    const text = Buffer.from(JSON.stringify(body))
    const { code, answer } = await this.#send(url, target, text, signal).catch(error => {
      if (error instanceof WebhookCallError) throw error
      const why = signal.aborted ? 'context deadline exceeded' : wording(error, url)
      throw new WebhookCallError(`Post ${JSON.stringify(url.href)}: ${why}`, { cause: error })
    })
    if (code < 200 || code > 299) throw new WebhookCallError(unexpected(code, answer))
    try {
      return JSON.parse(answer.toString())
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new WebhookCallError(`couldn't get version/kind; json parse error: ${why}`, { cause })
    }
  }

  #send(url: URL, target: WebhookTarget, text: Buffer, signal: AbortSignal): Promise<{ code: number; answer: Buffer }> {
    const { caPem = '', limitBytes = MAX_RESPONSE_BYTES } = target
    return new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', Accept: 'application/json', 'Content-Length': text.length }
      const sent = request(url, { method: 'POST', agent: this.#agent(caPem), headers, signal }, response => {
        const parts: Buffer[] = []
        let size = 0
        response.on('data', (part: Buffer) => {
          size += part.length
          if (size <= limitBytes) return void parts.push(part)
          reject(new WebhookCallError(`the webhook answered with more than ${limitBytes} bytes`))
          sent.destroy()
        })
        response.on('error', reject)
        response.on('end', () => resolve({ code: response.statusCode ?? 0, answer: Buffer.concat(parts) }))
      })
      sent.on('error', error => {
        // the peer has closed a kept connection while we wrote: nothing was asked yet
        const stale = sent.reusedSocket && (error as { code?: string }).code === 'ECONNRESET' && !signal.aborted
        if (stale) resolve(this.#send(url, target, text, signal))
        else reject(error)
      })
      sent.end(text)
    })
  }

  #agent(ca: string): Agent {
    let agent = this.#agents.get(ca)
    if (agent === undefined) {
      agent = new Agent({ keepAlive: true, timeout: 90_000, ...(ca !== '' && { ca }) })
      this.#agents.set(ca, agent)
    }
    return agent
  }
}

const TLS_FAILURES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate signed by unknown authority',
  CERT_SIGNATURE_FAILURE: 'certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
}

/** The failures that users know, as upstream's users know them. */
function wording(error: unknown, url: URL): string {
  const { code = '', message = String(error) } = error as { code?: string; message?: string }
  const address = `${url.hostname}:${url.port || 443}`
  if (code === 'ECONNREFUSED') return `dial tcp ${address}: connect: connection refused`
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${url.hostname}: no such host`
  if (code === 'ECONNRESET') return 'EOF'
  const tls = TLS_FAILURES[code]
  if (tls !== undefined) return `tls: failed to verify certificate: x509: ${tls}`
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? `tls: failed to verify certificate: x509: ${message}` : message
}

function unexpected(code: number, answer: Buffer): string {
  const text = answer.subarray(0, 1024).toString().trim()
  if (code >= 500) {
    return `an error on the server (${JSON.stringify(text || 'unknown')}) has prevented the request from succeeding`
  }
  if (code === 404) return 'the server could not find the requested resource'
  return text !== '' ? text : `the server responded with the status code ${code} but did not return more information`
}
