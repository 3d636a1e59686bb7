/**
 * A gateway in front of a cluster's API, over HTTP/2 and TLS, that passes everything on until a test has it do worse. It answers in the
 * cluster's stead, or lets the cluster do the request and loses the answer.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { parse } from 'yaml'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import type { Ends } from './processes.ts'

/** Action of a gateway in place of an answer. */
export interface Mischief {
  /** Instead of asking the cluster. */
  before?: (stream: http2.ServerHttp2Stream) => void
  /** After the cluster has done the request, instead of its answer. */
  after?: (stream: http2.ServerHttp2Stream, answer: Buffer) => void
}

export class Gateway {
  /** Mischief for requests that are no watches; discovery goes through. */
  mischief: Mischief | undefined
  /** How many met with it since it was set last. */
  met = 0
  readonly #waiting: { count: number; resolve: () => void }[] = []

  /** Writes the kubeconfig of a cluster, with the gateway's address, to `path`. */
  static async before(t: Ends, cluster: string, path: string): Promise<Gateway> {
    const gateway = new Gateway()
    const lifetime = { nowMs: Date.now(), days: 1 }
    const ca = await issueCa({ ...lifetime, commonName: 'gateway' })
    const { certPem, keyPem } = await issueServing({ ...lifetime, ca, dnsNames: ['localhost'], ips: ['127.0.0.1'] })
    const server = http2.createSecureServer({ cert: certPem, key: keyPem })
    const { options, base } = await loadKubeconfig(cluster)
    const { caPem, certPem: cert, keyPem: key, insecure, token } = options
    const bearer = typeof token === 'function' ? await token() : token
    const agent = new https.Agent({ ca: caPem, cert, key, keepAlive: true, rejectUnauthorized: insecure !== true })
    const sessions = new Set<http2.ServerHttp2Session>()
    server.on('session', session => {
      sessions.add(session)
      session.on('error', () => {})
      session.once('close', () => sessions.delete(session))
    })
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      const asked: Record<string, string | string[] | undefined> = {
        ...(headers as object),
        ...(bearer && { authorization: `Bearer ${bearer}` }),
      }
      void gateway.#serve(stream as http2.ServerHttp2Stream, asked, { base, agent })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      for (const session of sessions) session.destroy()
      agent.destroy()
      server.close()
    })
    const config = parse(readFileSync(cluster, 'utf8')) as { clusters: { cluster: unknown }[] }
    const { port } = server.address() as AddressInfo
    config.clusters[0]!.cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
    return gateway
  }

  /** From now on, until the next call. */
  turn(mischief: Mischief | undefined): void {
    this.mischief = mischief
    this.met = 0
  }

  /** Resolves when so many requests met with the mischief of now. */
  async hasMet(count: number): Promise<void> {
    if (this.met >= count) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ count, resolve })
    await promise
  }

  async #serve(
    stream: http2.ServerHttp2Stream,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    { base, agent }: { base: string; agent: https.Agent },
  ): Promise<void> {
    const [method, path] = [String(headers[':method']), String(headers[':path'])]
    const plain = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')))
    const isWatch = path.includes('watch=')
    const mischief =
      isWatch || /^\/(api|apis|openapi|version)(\/[^/?]+){0,2}(\?|$)/.test(path) ? undefined : this.mischief
    if (mischief) this.#count()
    if (mischief?.before) {
      mischief.before(stream)
      return
    }
    const call = https.request(base + path, { method, headers: plain, agent })
    call.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR))
    stream.once('close', () => call.destroy())
    call.on('response', answer => {
      if (stream.destroyed) return
      if (mischief?.after) {
        const { after } = mischief
        void buffer(answer).then(body => after(stream, body))
        return
      }
      const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...headers } = answer.headers
      stream.respond({ ':status': answer.statusCode, ...headers })
      answer.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR))
      answer.pipe(stream)
    })
    stream.pipe(call)
  }

  #count(): void {
    this.met++
    for (const waiting of this.#waiting.filter(({ count }) => this.met >= count)) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      waiting.resolve()
    }
  }
}
