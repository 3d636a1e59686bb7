/** The answer to a request. Heads and bodies leave by it, but for refusals of what is no request: bareAnswer.ts. */
import type { Writable } from 'node:stream'
import type { Schema } from '../flowcontrol/flowControl.ts'
import type { Request } from './request.ts'

// Not imported, as in request.ts.
const { ServerResponse } = process.getBuiltinModule('node:http')

/**
 * The end of a longer body leaves once the connection has all before it. Node pauses its parser where a request comes while more than a connection's
 * buffer waits to be sent of the answer before. The parser then fails (`HPE_PAUSED`) on the rest of the same read.
 */
const WHOLE_BYTES = 48 * 1024
const END_BYTES = 8 * 1024

/** As upstream: each answer is about this moment. */
export const CACHE_CONTROL = 'no-cache, private'

/** Filters between a whole body and the connection. */
export interface BodyFilters {
  readonly compression: {
    /** Whether a body should leave compressed. */
    wants(request: Pick<Request, 'headers'>, answer: Answer, body: Buffer): boolean
    /** The compressed body; sets the headers that tell. */
    apply(answer: Answer, body: Buffer): Promise<Buffer>
  }
  /** Sees bodies before compression. Absent where nothing is recorded. */
  readonly audit?: { answered(request: Request, answer: Answer, body: Buffer | string): void } | undefined
  /** An answer that cannot be made. */
  fail(request: Request, answer: Answer, error: unknown): void
}

/**
 * Node makes one for each request.
 * @see https://nodejs.org/api/http.html#httpcreateserveroptions-requestlistener (`ServerResponse`)
 */
export class Answer extends ServerResponse<Request> {
  /** Its head has left, is about to, or belongs to who writes the body piece by piece. */
  sent = false
  filters: BodyFilters | undefined = undefined

  override destroy(error?: Error): this {
    return this.req.isSurplus ? this : super.destroy(error)
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  header(name: string, value: string | number | readonly string[]): this {
    this.setHeader(name, value)
    return this
  }

  type(contentType: string): this {
    this.setHeader('content-type', contentType)
    return this
  }

  /** Names the FlowSchema of its request and the priority level. */
  namesFlow({ spec, level }: Schema): void {
    if (spec.uid === '') return
    this.setHeader('x-kubernetes-pf-flowschema-uid', spec.uid)
    this.setHeader('x-kubernetes-pf-prioritylevel-uid', level.spec.uid)
  }

  redirect(url: string, code: number): void {
    this.code(code).header('location', url).send()
  }

  /** The answer as a whole. */
  send(body: Buffer | string = ''): void {
    this.sent = true
    const { filters, req } = this
    filters?.audit?.answered(req, this, body)
    if (typeof body === 'string') this.#finish(Buffer.from(body))
    else if (!filters?.compression.wants(req, this, body)) this.#finish(body)
    else
      filters.compression.apply(this, body).then(
        bytes => this.#finish(bytes),
        error => filters.fail(req, this, error),
      )
  }

  /**
   * Sends a body in pieces, and ends the answer; the rest of the body is dropped once the client has left.
   * @throws the error of its source
   */
  async writeAll(body: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of body) {
      if (this.destroyed) return
      if (hasRoom(this, piece)) this.write(piece)
      else if (!(await written(this, piece))) return
    }
    this.end()
  }

  /** Keeps its connection open for longer than other idle ones, and announces that to its client. */
  keep(idleMs: number): void {
    const { socket } = this
    this.setHeader('connection', 'keep-alive')
    this.setHeader('keep-alive', `timeout=${Math.floor(idleMs / 1000)}`)
    // the server sets its own time, which is for everybody, first
    this.once('finish', () => socket?.setTimeout(idleMs))
  }

  /** For an answer in pieces: the head leaves now. */
  sendHead(code: number, headers: Readonly<Record<string, string | number | readonly string[]>>): this {
    this.sent = true
    this.#reportStart(code)
    this.writeHead(code, headers as Record<string, string | number | string[]>)
    // With the first piece behind it the two would be copied together; and a watch may have nothing to send for a while.
    this.flushHeaders()
    return this
  }

  /** For an answer that lasts, chunk by chunk. From now on it waits more than it works, and gives its seat back. */
  stream(headers: Readonly<Record<string, string | readonly string[]>>): this {
    const { ticket } = this.req
    this.sendHead(200, { ...headers, 'transfer-encoding': 'chunked' })
    ticket?.releaseSeat()
    return this
  }

  /** Events of the audit log tell when a long-running request begins to be answered, also with an error. */
  #reportStart(code: number): void {
    const { audit, authorized } = this.req
    if (audit !== undefined && (authorized?.info.stream || authorized?.info.verb === 'watch')) audit.started(code)
  }

  #finish(body: Buffer): void {
    const { statusCode } = this
    this.#reportStart(statusCode)
    if (statusCode !== 204 && statusCode !== 304) this.setHeader('content-length', body.length)
    if (body.length === 0) this.end()
    else if (body.length <= WHOLE_BYTES) this.end(body)
    else
      void writtenWhole(this, body.subarray(0, -END_BYTES)).then(isWritten => {
        if (isWritten) this.end(body.subarray(-END_BYTES))
      })
  }
}

/** Aborts when nobody reads the answer any more; at once where its client has left already, which nothing tells again. */
export function goneSignal(out: Pick<Writable, 'destroyed' | 'once'>): AbortSignal {
  const gone = new AbortController()
  if (out.destroyed) gone.abort()
  else out.once('close', () => gone.abort())
  return gone.signal
}

/** Resolves when `out` reads the chunk no more; false when it never will. */
export async function written(out: Writable, chunk: Buffer): Promise<boolean> {
  if (hasRoom(out, chunk) || chunk.length <= END_BYTES) return await writtenWhole(out, chunk)
  return (
    (await writtenWhole(out, chunk.subarray(0, -END_BYTES))) && (await writtenWhole(out, chunk.subarray(-END_BYTES)))
  )
}

function hasRoom(out: Writable, chunk: Buffer): boolean {
  return out.writableLength + chunk.length <= WHOLE_BYTES
}

function writtenWhole(out: Writable, chunk: Buffer): Promise<boolean> {
  return new Promise(resolve => {
    const gone = (): void => resolve(false)
    out.on('close', gone)
    out.write(chunk, error => {
      out.off('close', gone)
      resolve(!error)
    })
  })
}
