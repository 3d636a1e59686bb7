/** A plain HTTPS client for tests: says exactly what is sent, shows exactly what came back, and follows watches line by line. */
import { Agent, type RequestOptions, request } from 'node:https'
import { createInterface } from 'node:readline'
import type { StatusDetails } from '../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'

export interface Answer {
  code: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** The body as an object, or as a Status: tests read the fields that they expect. */
  body: KubeObject & {
    items: KubeObject[]
    status?: unknown
    reason?: string
    message?: string
    code?: number
    details?: StatusDetails
  }
}

export interface WatchEvent {
  type: string
  object: KubeObject
  /** Lines of a space stream carry more than type and object. */
  [field: string]: unknown
}

export interface Watch {
  /** The next line; `undefined` once the server has ended the watch. */
  next(): Promise<WatchEvent | undefined>
  /** The next `count` lines. @throws Error when the watch ends before */
  take(count: number): Promise<WatchEvent[]>
  /** Everything up to and with the first line that `found` accepts. */
  until(found: (event: WatchEvent) => boolean): Promise<WatchEvent[]>
  /** All remaining lines until the server ends the watch. */
  rest(): Promise<WatchEvent[]>
  close(): void
}

export interface Access {
  /** `https://host:port` */
  url: string
  ca?: string
  cert?: string
  key?: string
  token?: string
}

export interface Send {
  body?: unknown
  type?: string
  headers?: Record<string, string>
}

/** Characters of an answer that is parsed only where its body is looked at. */
const PARSED_LATE = 500_000

/** One user's view of a server. */
export class Api {
  readonly access: Access
  readonly #agent: Agent
  readonly #prefix: string

  constructor(access: Access, prefix = '', agent?: Agent) {
    this.access = access
    this.#prefix = prefix
    const { ca, cert, key } = access
    this.#agent =
      agent ??
      new Agent({
        keepAlive: true,
        ...(ca ? { ca } : { rejectUnauthorized: false }),
        ...(cert && { cert }),
        ...(key && { key }),
      })
  }

  /** The same user in a space: every path gets `/clusters/<space>` in front. */
  in(space: string): Api {
    return new Api(this.access, `/clusters/${space}`, this.#agent)
  }

  /** Somebody else at the same server. */
  as(token: string | undefined): Api {
    const { url, ca } = this.access
    return new Api({ url, ...(ca && { ca }), ...(token && { token }) }, this.#prefix)
  }

  close(): void {
    this.#agent.destroy()
  }

  get = (path: string, headers?: Record<string, string>): Promise<Answer> =>
    this.send('GET', path, headers ? { headers } : {})
  post = (path: string, body: unknown, send: Send = {}): Promise<Answer> => this.send('POST', path, { ...send, body })
  put = (path: string, body: unknown, send: Send = {}): Promise<Answer> => this.send('PUT', path, { ...send, body })
  delete = (path: string, body?: unknown): Promise<Answer> =>
    this.send('DELETE', path, body === undefined ? {} : { body })
  /** `kind` is json, merge, strategic-merge or apply. */
  patch(path: string, kind: 'json' | 'merge' | 'strategic-merge' | 'apply', body: unknown): Promise<Answer> {
    const type = kind === 'apply' ? 'application/apply-patch+yaml' : `application/${kind}-patch+json`
    return this.send('PATCH', path, { body, type })
  }

  /** Like `send`, for tests that need the answer to be a success. @throws Error with the whole answer otherwise */
  async ok(answer: Promise<Answer>): Promise<Answer['body']> {
    const { code, body, text } = await answer
    if (code >= 300) throw new Error(`expected success, got ${code}: ${text}`)
    return body
  }

  send(method: string, path: string, { body, type, headers = {} }: Send = {}): Promise<Answer> {
    const data = body === undefined ? undefined : asText(body)
    const options: RequestOptions = this.#options(method, {
      ...(data !== undefined && { 'Content-Type': type ?? 'application/json' }),
      ...(data !== undefined && !headers['Transfer-Encoding'] && { 'Content-Length': `${data.length}` }),
      ...headers,
    })
    return new Promise((resolve, reject) => {
      const sent = request(this.access.url + this.#prefix + path, options, response => {
        const parts: Buffer[] = []
        response.on('data', part => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(parts).toString()
          const head = { code: response.statusCode ?? 0, headers: response.headers, text }
          resolve(text.length > PARSED_LATE ? late(head) : { ...head, body: parsed(text) })
        })
      })
      sent.on('error', reject)
      sent.end(data)
    })
  }

  /** Opens a watch or a space stream; the path brings its own query. @throws Error when it is refused */
  watch(path: string, headers: Record<string, string> = {}): Promise<Watch> {
    return new Promise((resolve, reject) => {
      const sent = request(this.access.url + this.#prefix + path, this.#options('GET', headers), response => {
        const lines = createInterface({ input: response })[Symbol.asyncIterator]()
        const watch = watchOf(lines, () => {
          sent.destroy()
          response.destroy()
        })
        if (response.statusCode === 200) return resolve(watch)
        void lines
          .next()
          .then(({ value }) => reject(new Error(`watch refused: ${response.statusCode} ${value}`)), reject)
      })
      sent.on('error', reject)
      sent.end()
    })
  }

  #options(method: string, headers: Record<string, string>): RequestOptions {
    const { token } = this.access
    return { method, agent: this.#agent, headers: { ...(token && { Authorization: `Bearer ${token}` }), ...headers } }
  }
}

function parsed(text: string): Answer['body'] {
  return text.startsWith('{') ? JSON.parse(text) : ({} as Answer['body'])
}

/** Documents of megabytes are often only counted, or compared as text. */
function late(head: Omit<Answer, 'body'>): Answer {
  let body: Answer['body'] | undefined
  return {
    ...head,
    get body() {
      body ??= parsed(head.text)
      return body
    },
  }
}

function asText(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function watchOf(lines: AsyncIterator<string>, close: () => void): Watch {
  const next = async (): Promise<WatchEvent | undefined> => {
    const { value, done } = await lines.next()
    return done ? undefined : (JSON.parse(value) as WatchEvent)
  }
  const must = async (before: readonly WatchEvent[]): Promise<WatchEvent> => {
    const event = await next()
    if (event === undefined) throw new Error(`the watch ended after ${JSON.stringify(before.map(e => e.type))}`)
    return event
  }
  return {
    next,
    async take(count) {
      const events: WatchEvent[] = []
      while (events.length < count) events.push(await must(events))
      return events
    },
    async until(found) {
      const events: WatchEvent[] = []
      for (;;) {
        const event = await must(events)
        events.push(event)
        if (found(event)) return events
      }
    },
    async rest() {
      const events: WatchEvent[] = []
      for (let event = await next(); event; event = await next()) events.push(event)
      return events
    },
    close,
  }
}
