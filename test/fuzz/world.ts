/**
 * The server under attack, and the rules for every answer. No fault of the server, every refusal a well-formed Status with the HTTP code,
 * everything within a generous time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { type Access, Api } from '../support/api.ts'
import { checkStatus } from '../support/checkStatus.ts'
import { NeighbourProcess } from '../support/neighbourProcess.ts'
import { accessOf, createSpace } from '../support/server.ts'
import type { State } from './server.ts'
import { ServerProcess } from './serverProcess.ts'

export interface Ask {
  method: string
  path: string
  type?: string | undefined
  headers?: Record<string, string>
  body?: string | Buffer | undefined
  /** User of the request; default: the administrator. */
  as?: Tenant
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
const ANSWER_LIMIT_MS = 60_000

/** Bound on sockets in use at a time; more were never closed. */
const SOCKETS_LIMIT = 100
const TENANTS = ['alice', 'bob'] as const
export type Tenant = (typeof TENANTS)[number]
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

const SPACES = ['one', 'two', 'definitions', 'queries', 'readers', 'places', 'alice', 'bob', 'neighbour'] as const
type SpaceName = (typeof SPACES)[number]

export class World {
  readonly access: Access
  /** Logged errors of the server, and uncaught ones. */
  readonly faults: string[]
  /** Errors of `ask`, whatever became of them: an attack that was interrupted forgets its latest findings. */
  readonly wrongAnswers: string[] = []
  readonly api: Api
  /** Ids of spaces made for the fuzz, by name. Alice administers hers and nothing else, and so does Bob. */
  readonly spaces: Readonly<Record<SpaceName, string>>
  /** Another tenant, of whom nobody else's requests should be felt. */
  readonly neighbour: NeighbourProcess
  asked = 0
  slowestMs = 0
  slowest = ''
  slowestBody: string | Buffer = ''
  /** How many answers had which code. */
  codes: Record<number, number> = {}
  readonly #agent: Agent
  readonly #tenants: Agent
  readonly #dir: string
  readonly #server: ServerProcess

  private constructor(o: {
    server: ServerProcess
    dir: string
    faults: string[]
    api: Api
    spaces: World['spaces']
    neighbour: NeighbourProcess
  }) {
    this.#server = o.server
    this.#dir = o.dir
    this.faults = o.faults
    this.api = o.api
    this.access = o.api.access
    this.spaces = o.spaces
    this.neighbour = o.neighbour
    const { ca, cert, key } = this.access
    this.#agent = new Agent({ keepAlive: true, ca, cert, key, maxSockets: 32 })
    this.#tenants = new Agent({ keepAlive: true, ca, maxSockets: 32 })
  }

  static async start(): Promise<World> {
    const dir = mkdtempSync(join(tmpdir(), 'orrery-fuzz-'))
    const faults: string[] = []
    const users = [...TENANTS, 'neighbour']
    const tokens = users.map((user, i) => `${tokenOf(user)},${user},u-${i}\n`).join('')
    const [server, { url, kubeconfigPath }] = await ServerProcess.start(dir, tokens, fault => void faults.push(fault))
    const api = new Api({ ...accessOf(kubeconfigPath), url })
    const spaces: Record<string, string> = {}
    for (const name of SPACES) {
      spaces[name] = await createSpace(api, name)
      if (!users.includes(name)) continue
      for (const role of ['cluster-admin', 'system:kcp:workspace:access']) {
        const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role }
        const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }]
        const metadata = { name: `tenant-${role.replaceAll(':', '-')}` }
        await api.ok(api.in(spaces[name]).post(`${RBAC}/clusterrolebindings`, { metadata, roleRef, subjects }))
      }
    }
    const prefix = `/clusters/${spaces.neighbour}`
    const neighbour = await NeighbourProcess.start({ url, token: tokenOf('neighbour'), prefix })
    return new World({ server, dir, faults, api, spaces: spaces as World['spaces'], neighbour })
  }

  /** Asks, and checks what holds of every answer. @throws Error that says what did not hold */
  async ask(ask: Ask): Promise<Reply> {
    this.asked++
    const what = `${ask.method} ${ask.path.slice(0, 300)} ${ask.type ?? ''}`
    this.#server.note(`${what}\n${ask.body?.toString('latin1').slice(0, 4000) ?? ''}`)
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
  async checkFaults(after: string): Promise<void> {
    await this.#server.faultsTold()
    if (this.faults.length > 0)
      throw new Error(`a fault of the server after ${after}:\n${this.faults.splice(0).join('\n')}`)
  }

  async checkReady(): Promise<void> {
    const { text } = await this.ask({ method: 'GET', path: '/readyz' })
    if (text !== 'ok') throw new Error(`/readyz says ${text}`)
    const { sockets } = await this.state()
    if (sockets > SOCKETS_LIMIT) throw new Error(`${sockets} connections are still open`)
  }

  /** State of the server's process, after a collection. @throws Error when it has ended */
  async state(): Promise<State> {
    const state = await this.#server.state()
    if (state === null) throw new Error(`the server has ended: ${this.faults.splice(0).join('\n')}`)
    return state
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
    this.#tenants.destroy()
    this.api.close()
    await this.neighbour.stop()
    await this.#server.close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #send({ method, path, type, headers, body, as, peekMs }: Ask): Promise<Reply> {
    const data = typeof body === 'string' ? Buffer.from(body) : body
    const options: RequestOptions = {
      method,
      agent: as === undefined ? this.#agent : this.#tenants,
      headers: {
        ...(as !== undefined && { Authorization: `Bearer ${tokenOf(as)}` }),
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

function tokenOf(user: string): string {
  return `token-of-${user}`
}

function replyOf(code: number, type: string, bytes: Buffer): Reply {
  const text = bytes.toString()
  const isJson = type.startsWith('application/json') && text.startsWith('{')
  let body: Record<string, unknown> = {}
  try {
    if (isJson) body = JSON.parse(text) as Record<string, unknown>
  } catch {
    // The lines of a watch; its caller looks at them.
  }
  return { code, type, text, body }
}

function checkReply({ code, type, text, body }: Reply, what: string, faults: readonly string[]): void {
  const fail = (why: string): never => {
    throw new Error([`${why}: ${what} was answered ${code} ${text.slice(0, 2000)}`, ...faults].join('\n'))
  }
  if (faults.length > 0) fail('the server logged a fault')
  if (code >= 500 && code !== 503 && code !== 504 && code !== 507) fail('a fault of the server')
  if (code < 400 || !type.startsWith('application/json') || what.startsWith('HEAD ')) return
  checkStatus(body, code, fail)
}
