/**
 * An attacker: sends requests, drops answers, and checks that each refusal is a well-formed Status. Answers are counted.
 */
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, type AgentOptions, request } from 'node:https'
import { checkStatus } from '../support/checkStatus.ts'

export interface Blow {
  method?: string
  path: string
  body?: string | Buffer | object
  type?: string
  headers?: Record<string, string>
}

export interface Heard {
  code: number
  /** The beginning of the answer. */
  text: string
}

/** A credential. */
export interface Access {
  token: string
  /** With a certificate; absent: none is shown. */
  agent?: Agent
}

/** The rest of an accepted answer is thrown away. */
const KEPT = 64 * 1024
/** A call of a webhook that fails gives 500, from a kube-apiserver too. */
const WEBHOOK = /"message":"Internal error occurred: (failed calling webhook |conversion webhook for )/
/** Longer than the server lets any answer take. */
const LIMIT_MS = 150_000

/** Connections that verify no server, perhaps with a certificate. */
export function openAgent(options: AgentOptions): Agent {
  return new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 128, ...options })
}

export class Attacker {
  /** How many answers had which code; 0: the connection ended without one. */
  readonly codes: Record<number, number>
  /** Refusals that were none, and faults of the server. */
  readonly faults: string[]
  readonly #url: string
  readonly #agent: Agent
  readonly #token: string
  readonly #unread = new Set<ClientRequest>()
  readonly #others: Attacker[] = []

  constructor(url: string, token: string, agent?: Agent, counts?: Pick<Attacker, 'codes' | 'faults'>) {
    this.#url = url
    this.#token = token
    this.#agent = agent ?? openAgent({})
    this.codes = counts?.codes ?? {}
    this.faults = counts?.faults ?? []
  }

  /** The same attacker with something else to show, perhaps elsewhere: all answers count together. */
  as(url: string, { token, agent }: Access): Attacker {
    const other = new Attacker(url, token, agent, this)
    this.#others.push(other)
    return other
  }

  async send(blow: Blow): Promise<Heard> {
    const sent = this.#begin(blow)
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${LIMIT_MS / 1000} s`)), LIMIT_MS)
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const code = response.statusCode ?? 0
      let text = ''
      for await (const part of response)
        if (code >= 400 || text.length < KEPT) text += (part as Buffer).toString('latin1')
      return this.#hear(blow, { code, text })
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (text.startsWith('no answer within')) this.faults.push(`${text} to ${describe(blow)}`)
      return this.#hear(blow, { code: 0, text })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Like `send`. @throws Error when it is refused */
  async must(blow: Blow): Promise<Heard> {
    const heard = await this.send(blow)
    if (heard.code < 200 || heard.code > 299)
      throw new Error(`${describe(blow)} was answered ${heard.code}: ${heard.text.slice(0, 500)}`)
    return heard
  }

  /** Asks for something and never reads the answer. Resolves once its head is there, or it was refused, or left. */
  async unread(blow: Blow): Promise<void> {
    const sent = this.#begin(blow, false)
    this.#unread.add(sent)
    await new Promise<void>(resolve => {
      sent.once('response', (response: IncomingMessage) => {
        const code = response.statusCode ?? 0
        if (code >= 300) return resolve(this.#read(blow, response))
        this.codes[code] = (this.codes[code] ?? 0) + 1
        resolve()
      })
      sent.once('close', () => {
        this.#unread.delete(sent)
        resolve()
      })
    })
  }

  /** Ends what is not read. */
  leave(): void {
    for (const sent of this.#unread) sent.destroy()
  }

  /** Running requests end without an answer. */
  close(): void {
    for (const other of this.#others) other.close()
    this.leave()
    this.#agent.destroy()
  }

  async #read(blow: Blow, response: IncomingMessage): Promise<void> {
    const parts = await response.toArray().catch((): Buffer[] => [])
    this.#hear(blow, { code: response.statusCode ?? 0, text: Buffer.concat(parts as Buffer[]).toString('latin1') })
  }

  #begin({ method, path, body, type, headers }: Blow, pooled = true): ClientRequest {
    const data = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const sent = request(this.#url + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      ...(pooled ? { agent: this.#agent } : { agent: false, rejectUnauthorized: false }),
      headers: {
        ...(this.#token !== '' && { Authorization: `Bearer ${this.#token}` }),
        ...(data !== undefined && {
          'Content-Type': type ?? 'application/json',
          'Content-Length': `${Buffer.byteLength(data)}`,
        }),
        ...headers,
      },
    })
    sent.on('error', () => {})
    sent.end(data)
    return sent
  }

  #hear(blow: Blow, heard: Heard): Heard {
    const { code, text } = heard
    this.codes[code] = (this.codes[code] ?? 0) + 1
    try {
      checkRefusal(heard)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.faults.push(`${why}: ${describe(blow)} was answered ${code} ${text.slice(0, 500)}`)
    }
    return heard
  }
}

/** @throws Error when a refusal is no clear one */
export function checkRefusal({ code, text }: Heard): void {
  const fail = (why: string): never => {
    throw new Error(why)
  }
  if (code >= 500 && ![503, 504, 507].includes(code) && !WEBHOOK.test(text)) fail('a fault of the server')
  if (code < 400 || text === '') return
  if (!text.startsWith('{')) fail('a refusal that is no JSON')
  checkStatus(JSON.parse(text) as Record<string, unknown>, code, fail)
}

function describe({ method, path, body, type }: Blow): string {
  const length = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body).length : body?.length
  return `${method ?? (body === undefined ? 'GET' : 'POST')} ${path.slice(0, 200)} ${type ?? ''} (${length ?? 0} bytes)`
}
