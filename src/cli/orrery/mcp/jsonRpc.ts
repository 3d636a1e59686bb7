/**
 * JSON-RPC 2.0 by lines, as the stdio transport of the Model Context Protocol has it: one message a line, on both ways. A message that
 * cannot be read gets an error, and the next line is read. Requests run beside each other, within bounds.
 * @see https://www.jsonrpc.org/specification
 */
import { StringDecoder } from 'node:string_decoder'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { isRecord } from '../../../apimachinery/object.ts'

const RPC_CODES = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** Not in the specification. */
  TooManyRequests: -32000,
} as const

/** An error that the request gets as its answer. */
export class RpcError extends Error {
  readonly code: number

  constructor(code: keyof typeof RPC_CODES, message: string) {
    super(message)
    this.name = 'RpcError'
    this.code = RPC_CODES[code]
  }
}

interface RpcServer {
  /** Messages of the client. */
  readonly input: AsyncIterable<Buffer>
  /** Gets each answer, without a line end. */
  send(line: string): void
  /** Resolves to the result. @throws RpcError */
  handle(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** Characters of one message. */
export const MAX_MESSAGE = 4 * 1024 * 1024
/** Requests under way. */
export const MAX_REQUESTS = 16

/** Resolves when the input has ended and all requests are answered. */
export async function serveRpc({ input, send, handle }: RpcServer): Promise<void> {
  const running = new Set<Promise<void>>()
  for await (const line of linesOf(input)) {
    const request = requestIn(line)
    if ('fault' in request) {
      send(errorOf(null, request.fault))
      continue
    }
    const { id, method, params } = request
    // a notification has no answer, and none of them asks for anything that we do
    if (id === undefined) continue
    if (running.size >= MAX_REQUESTS) {
      const why = `${running.size} requests are under way, of at most ${MAX_REQUESTS}; try again when one is answered`
      send(errorOf(id, new RpcError('TooManyRequests', why)))
      continue
    }
    const one = handle(method, params)
      .then(result => send(JSON.stringify({ jsonrpc: '2.0', id, result })))
      .catch((error: unknown) => send(errorOf(id, error)))
      .finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
}

type Id = string | number | null

function errorOf(id: Id, error: unknown): string {
  const code = error instanceof RpcError ? error.code : RPC_CODES.InternalError
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: messageOf(error) } })
}

interface Request {
  /** Absent: a notification. */
  readonly id?: Id
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

function requestIn(line: string | undefined): Request | { fault: RpcError } {
  const fault = (code: keyof typeof RPC_CODES, message: string) => ({ fault: new RpcError(code, message) })
  if (line === undefined) return fault('InvalidRequest', `a message has more than ${MAX_MESSAGE} characters`)
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return fault('ParseError', 'a line is no JSON: each line is one message')
  }
  if (!isRecord(message)) return fault('InvalidRequest', 'a message must be one object; lists of them are not taken')
  const { id, method, params } = message
  // an answer, to a question that we do not ask
  if (method === undefined && ('result' in message || 'error' in message)) return { method: '', params: {} }
  if (message.jsonrpc !== '2.0') return fault('InvalidRequest', 'jsonrpc: must be "2.0"')
  if (typeof method !== 'string') return fault('InvalidRequest', 'method: must be a string')
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number')
    return fault('InvalidRequest', 'id: must be a string or a number')
  if (params !== undefined && !isRecord(params)) return fault('InvalidRequest', 'params: must be an object')
  return { ...(id !== undefined && { id }), method, params: params ?? {} }
}

/** Without empty ones, the last with or without a line end; `undefined` stands for one that is too long. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let length = 0
  const add = (piece: string): void => {
    length += piece.length
    if (length > MAX_MESSAGE) parts = []
    else parts.push(piece)
  }
  function* line() {
    const whole = parts.join('').trim()
    if (length > MAX_MESSAGE) yield undefined
    else if (whole !== '') yield whole
    parts = []
    length = 0
  }
  for await (const chunk of input) {
    const [first = '', ...more] = decoder.write(chunk).split('\n')
    add(first)
    for (const piece of more) {
      yield* line()
      add(piece)
    }
  }
  yield* line()
}
