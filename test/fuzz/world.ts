/**
 * The server under attack, and what must hold of every answer: no fault of the server, every refusal a well-formed Status
 * whose code is the HTTP code, everything within a generous time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { type ApiServer, startApiServer } from '../../src/apiserver/apiServer.ts'
import { elsewhere } from '../../src/cli/elsewhere.ts'
import { type Access, Api } from '../support/api.ts'
import { checkStatus } from '../support/checkStatus.ts'
import { accessOf, createSpace } from '../support/server.ts'
import type { Watchdog } from './watchdog.ts'

export interface Ask {
  method: string
  path: string
  type?: string | undefined
  headers?: Record<string, string>
  body?: string | Buffer | undefined
  /** Take what has come after so long: for watches. */
  peekMs?: number
}

export interface Reply {
  code: number
  type: string
  text: string
  /** The body where it is a JSON object. */
  body: Record<string, unknown>
}

/** Longer than any honest answer takes on a busy machine, much shorter than what an attacker would like. */
const ANSWER_LIMIT_MS = 15_000

/** Both ends of what is in use at a time; more than that was never closed. */
const SOCKETS_LIMIT = 200

export interface WorldOptions {
  watchdog?: Watchdog
}

export class World {
  readonly server: ApiServer
  readonly access: Access
  /** What the server logged as errors, and what nobody caught. */
  readonly faults: string[]
  /** What `ask` threw, whatever became of it: an attack that was interrupted forgets what it had just found. */
  readonly wrongAnswers: string[] = []
  readonly api: Api
  /** Ids of spaces made for the fuzz, by name. */
  readonly spaces: Readonly<Record<'one' | 'two' | 'definitions' | 'queries', string>>
  asked = 0
  slowestMs = 0
  slowest = ''
  slowestBody: string | Buffer = ''
  /** How many answers had which code. */
  codes: Record<number, number> = {}
  readonly #agent: Agent
  readonly #dir: string
  readonly #watchdog: Watchdog | undefined

  private constructor(
    server: ApiServer,
    dir: string,
    faults: string[],
    api: Api,
    spaces: World['spaces'],
    watchdog: Watchdog | undefined,
  ) {
    this.server = server
    this.#dir = dir
    this.faults = faults
    this.api = api
    this.access = api.access
    this.spaces = spaces
    this.#watchdog = watchdog
    const { ca, cert, key } = this.access
    this.#agent = new Agent({ keepAlive: true, ca, cert, key, maxSockets: 32 })
  }

  static async start({ watchdog }: WorldOptions = {}): Promise<World> {
    const dir = mkdtempSync(join(tmpdir(), 'orrery-fuzz-'))
    const faults: string[] = []
    const quiet = (): void => {}
    const error = (fields: { err?: unknown }, text?: string): void => {
      faults.push(`${text ?? 'error'}: ${fields.err instanceof Error ? fields.err.stack : JSON.stringify(fields)}`)
    }
    const server = await startApiServer({
      dataDir: dir,
      bindAddress: '127.0.0.1',
      securePort: 0,
      externalHostnames: [],
      spaces: true,
      elsewhere,
      // The past would look like a leak.
      historyAgeMs: 5000,
      log: { error, warn: quiet, info: quiet, debug: quiet } as never,
    })
    const api = new Api({ ...accessOf(server.kubeconfigPath), url: server.url })
    const spaces = {
      one: await createSpace(api, 'one'),
      two: await createSpace(api, 'two'),
      definitions: await createSpace(api, 'definitions'),
      queries: await createSpace(api, 'queries'),
    }
    // Pods wait for it, and no controller makes it here.
    for (const space of Object.values(spaces)) {
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
      await api.ok(api.post(`/clusters/${space}/api/v1/namespaces/default/serviceaccounts`, account))
    }
    return new World(server, dir, faults, api, spaces, watchdog)
  }

  /** Asks, and checks what holds of every answer. @throws Error that says what did not hold */
  async ask(ask: Ask): Promise<Reply> {
    this.asked++
    const what = `${ask.method} ${ask.path.slice(0, 300)} ${ask.type ?? ''}`
    this.#watchdog?.note(`${what}\n${ask.body?.toString('latin1').slice(0, 4000) ?? ''}`)
    const started = performance.now()
    const reply = await this.#send(ask)
    const ms = performance.now() - started
    if (ms > this.slowestMs && ask.peekMs === undefined) {
      this.slowestMs = ms
      this.slowest = `${what} with ${ask.body?.length ?? 0} bytes`
      this.slowestBody = ask.body ?? ''
    }
    this.codes[reply.code] = (this.codes[reply.code] ?? 0) + 1
    const faults = this.faults.splice(0)
    try {
      checkReply(reply, what, faults)
    } catch (error) {
      this.wrongAnswers.push(String(error))
      throw error
    }
    return reply
  }

  /** @throws Error with what the server logged as its fault */
  checkFaults(after: string): void {
    if (this.faults.length > 0)
      throw new Error(`a fault of the server after ${after}:\n${this.faults.splice(0).join('\n')}`)
  }

  async checkReady(): Promise<void> {
    const { text } = await this.ask({ method: 'GET', path: '/readyz' })
    if (text !== 'ok') throw new Error(`/readyz says ${text}`)
    const sockets = process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
    if (sockets > SOCKETS_LIMIT) throw new Error(`${sockets} connections are still open`)
  }

  /** A TLS connection as the administrator. */
  connect(): Promise<TLSSocket> {
    const { hostname, port } = new URL(this.access.url)
    const { ca, cert, key } = this.access
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), ca, cert, key })
      socket.once('secureConnect', () => resolve(socket))
      socket.once('error', reject)
    })
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    this.api.close()
    await this.server.close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #send({ method, path, type, headers, body, peekMs }: Ask): Promise<Reply> {
    const data = typeof body === 'string' ? Buffer.from(body) : body
    const options: RequestOptions = {
      method,
      agent: this.#agent,
      headers: {
        ...(data && { 'Content-Length': data.length }),
        ...(type !== undefined && { 'Content-Type': type }),
        ...headers,
      },
    }
    return new Promise((resolve, reject) => {
      let answered = false
      const sent = request(this.access.url + path, options, response => {
        answered = true
        const parts: Buffer[] = []
        const done = (): void => {
          clearTimeout(timer)
          resolve(replyOf(response.statusCode ?? 0, response.headers['content-type'] ?? '', Buffer.concat(parts)))
        }
        response.on('data', part => parts.push(part))
        response.on('end', done)
        response.on('error', error => (peekMs === undefined ? reject(error) : done()))
        if (peekMs !== undefined && response.statusCode === 200) {
          setTimeout(() => {
            done()
            sent.destroy()
          }, peekMs)
        }
      })
      const timer = setTimeout(() => {
        reject(new Error(`no answer within ${ANSWER_LIMIT_MS} ms to ${method} ${path}`))
        sent.destroy()
      }, ANSWER_LIMIT_MS)
      sent.on('error', error => {
        if (answered) return
        clearTimeout(timer)
        reject(new Error(`no answer to ${method} ${path}: ${error.message}`, { cause: error }))
      })
      sent.end(data)
    })
  }
}

function replyOf(code: number, type: string, bytes: Buffer): Reply {
  const text = bytes.toString()
  const isJson = type.startsWith('application/json') && text.startsWith('{')
  let body: Record<string, unknown> = {}
  try {
    if (isJson) body = JSON.parse(text) as Record<string, unknown>
  } catch {
    // The lines of a watch; whoever asked for one looks at them.
  }
  return { code, type, text, body }
}

function checkReply({ code, type, text, body }: Reply, what: string, faults: readonly string[]): void {
  const fail = (why: string): never => {
    throw new Error([`${why}: ${what} was answered ${code} ${text.slice(0, 2000)}`, ...faults].join('\n'))
  }
  if (faults.length > 0) fail('the server logged a fault')
  if (code >= 500 && code !== 503 && code !== 504) fail('a fault of the server')
  if (code < 400 || !type.startsWith('application/json') || what.startsWith('HEAD ')) return
  checkStatus(body, code, fail)
}
