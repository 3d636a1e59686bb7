/** What endpoints need of what carries a request and its answer: Fastify's objects have it, and so have those of the short way. */
import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'

/** What is asked of a request, whatever carries it. */
export type Asked = Pick<
  FastifyRequest,
  | 'method'
  | 'headers'
  | 'body'
  | 'inFlight'
  | 'audit'
  | 'authorized'
  | 'isLarge'
  | 'repeatedKeys'
  | 'bodyText'
  | 'parsed'
  | 'repeatsKeys'
>

/** What an answer is given by, whatever carries it. */
export interface Answering {
  readonly raw: {
    readonly destroyed: boolean
    readonly socket?: { setTimeout(timeoutMs: number): unknown } | null
    once(event: 'close' | 'finish', heard: () => void): unknown
    off(event: 'close', heard: () => void): unknown
  }
  readonly sent: boolean
  code(status: number): Answering
  header(name: string, value: string | readonly string[]): Answering
  headers(values: Readonly<Record<string, string | string[]>>): Answering
  hasHeader(name: string): boolean
  getHeader(name: string): unknown
  removeHeader(name: string): unknown
  type(contentType: string): Answering
  serializer(serialize: (body: unknown) => string): unknown
  /** Keeps its connection for so long, and tells the client. Absent: that is for the carrier's headers and socket to do. */
  keep?(idleMs: number): void
  /** For who writes the answer as it comes to be, and its head as well. */
  hijack(): { readonly raw: ServerResponse }
  getHeaders(): Record<string, unknown>
  /** The answer as a whole. */
  send(body?: unknown): unknown
}
