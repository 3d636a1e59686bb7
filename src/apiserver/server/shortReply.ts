/** A request that came the short way and its answer, as endpoints see them: what Fastify would give them of it, and nothing besides. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ParsedJson } from '../../apimachinery/jsonInSteps.ts'
import type { RepeatedKey } from '../../apimachinery/repeatedKeys.ts'
import type { Answering } from '../endpoints/carriers.ts'
import type { Compression } from '../endpoints/compression.ts'
import type { Ticket } from '../http/inFlight.ts'
import type { AuthorizedRequest } from '../http/pipeline.ts'
import type { ShortRequest } from './oneByOne.ts'
import type { Refusable } from './refusals.ts'
import type { WholeAnswers } from './wholeAnswer.ts'

/** A request whose body is there. */
export class ShortAsked implements Refusable {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly authorized: AuthorizedRequest
  readonly inFlight: Ticket
  readonly raw: Refusable['raw']
  /** Where requests are recorded none comes this way. */
  readonly audit = undefined
  readonly isLarge = false
  repeatedKeys: RepeatedKey[] | undefined = undefined
  bodyText: string | undefined = undefined
  parsed: ParsedJson | undefined = undefined
  repeatsKeys: boolean | undefined = undefined

  constructor({ socket, method, url, headers, body }: ShortRequest, authorized: AuthorizedRequest, inFlight: Ticket) {
    this.method = method
    this.url = url
    this.headers = headers
    this.body = body
    this.authorized = authorized
    this.inFlight = inFlight
    this.raw = { socket, complete: true, destroyed: false }
  }
}

export interface ShortReplyDeps {
  socket: Socket
  request: ShortAsked
  answers: WholeAnswers
  compression: Pick<Compression, 'wants' | 'apply'>
  /** Its answer has left, or nobody waits for it any more. */
  over: (reply: ShortReply) => void
  /** It cannot be told. */
  failed: (error: unknown) => void
}

/** Its answer, which leaves in one piece. */
export class ShortReply implements Answering {
  readonly #deps: ShortReplyDeps
  readonly #headers = new Map<string, string | readonly string[]>()
  /** As of a response. */
  readonly raw: Answering['raw']
  statusCode = 200
  sent = false
  /** All of it was handed to the connection. */
  isWhole = false
  /** How long its connection is kept behind it; absent: as long as others. */
  keptMs: number | undefined
  #isOver = false

  constructor(deps: ShortReplyDeps) {
    this.#deps = deps
    this.raw = deps.socket
    deps.socket.once('close', this.#end)
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  header(name: string, value: string | readonly string[]): this {
    this.#headers.set(name.toLowerCase(), value)
    return this
  }

  headers(values: Readonly<Record<string, string | readonly string[]>>): this {
    for (const name in values) this.header(name, values[name]!)
    return this
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase())
  }

  getHeader(name: string): string | readonly string[] | undefined {
    return this.#headers.get(name.toLowerCase())
  }

  removeHeader(name: string): this {
    this.#headers.delete(name.toLowerCase())
    return this
  }

  keep(idleMs: number): void {
    this.keptMs = idleMs
  }

  type(contentType: string): this {
    return this.header('content-type', contentType)
  }

  /** Bytes are sent as they are. */
  serializer(): this {
    return this
  }

  getHeaders(): Record<string, string | readonly string[]> {
    return Object.fromEntries(this.#headers)
  }

  /** Who would be answered piece by piece does not come this way. */
  hijack(): { readonly raw: ServerResponse } {
    throw new Error('an answer in pieces does not go the short way')
  }

  send(body: Buffer): void {
    const { request, compression } = this.#deps
    this.sent = true
    if (!compression.wants(request, this, body)) this.#write(body)
    else compression.apply(this, body).then(this.#write, this.#deps.failed)
  }

  readonly #write = (body: Buffer): void => {
    const { socket, answers } = this.#deps
    // who has said that nothing more comes is answered no more on the long way either
    if (!socket.writable) socket.destroy()
    else {
      this.isWhole = true
      socket.write(answers.with(this.statusCode, this.#headers, body, this.keptMs), this.#end)
    }
  }

  readonly #end = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.#deps.socket.off('close', this.#end)
    this.#deps.over(this)
  }
}
