/** A receiver of notices in the test's process: a real HTTPS server, whose answers the test decides path by path. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'

export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: what a client sent
  readonly body: any
}

export interface Reply {
  readonly code: number
  readonly headers?: Record<string, string>
  readonly text?: string
}

export class Receiver {
  readonly url: string
  readonly caBundle: string
  readonly received: Received[] = []
  readonly #replies = new Map<string, Reply | 'hang'>()
  #heard: (() => void)[] = []
  /** Requests that broke off without an answer. */
  brokenOff = 0
  readonly close: () => void

  constructor(o: { url: string; caBundle: string; close: () => void }) {
    this.url = o.url
    this.caBundle = o.caBundle
    this.close = o.close
  }

  reply(path: string, reply: Reply | 'hang'): void {
    this.#replies.set(path, reply)
  }

  replyTo(path: string): Reply | 'hang' {
    return this.#replies.get(path) ?? { code: 200 }
  }

  take(received: Received): void {
    this.received.push(received)
    this.wake()
  }

  wake(): void {
    for (const wake of this.#heard.splice(0)) wake()
  }

  at(path: string): Received[] {
    return this.received.filter(one => one.path === path)
  }

  /** Reasons of what came to a path, in CloudEvents. */
  reasonsAt(path: string): string[] {
    return this.at(path).map(({ body }) => body.data.reason)
  }

  /** Resolves once it holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>(resolve => this.#heard.push(resolve))
  }
}

export async function startReceiver(t: Test): Promise<Receiver> {
  const life = { nowMs: Date.now(), days: 1 }
  const ca = await issueCa({ ...life, commonName: 'receivers' })
  const credential = await issueServing({ ...life, ca, dnsNames: ['localhost'], ips: ['127.0.0.1'] })
  const server = createServer({ cert: credential.certPem, key: credential.keyPem }, (request, response) => {
    const parts: Buffer[] = []
    const { url: path = '/', headers } = request
    let isAnswered = false
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      receiver.take({ path, headers, body: JSON.parse(Buffer.concat(parts).toString()) })
      const reply = receiver.replyTo(path)
      if (reply === 'hang') return
      isAnswered = true
      response.writeHead(reply.code, reply.headers).end(reply.text ?? 'ok')
    })
    response.on('close', () => {
      if (isAnswered) return
      receiver.brokenOff++
      receiver.wake()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  t.teardown(close)
  const { port } = server.address() as AddressInfo
  const receiver = new Receiver({
    url: `https://localhost:${port}`,
    caBundle: Buffer.from(ca.certPem).toString('base64'),
    close,
  })
  return receiver
}
