/** Requests whose answers are recorded, each as the bytes that a client sends. */
import { ALICE } from '../../support/server.ts'

export interface Scene {
  readonly name: string
  /** Bytes of a client, in latin1; each part leaves when the parts before are answered. */
  readonly sent: readonly string[]
  /** Methods of the requests that are answered, in their order. */
  readonly methods: readonly string[]
  /** Whether the connection shows the administrator's certificate. */
  readonly asAdmin: boolean
  /** Its head may be sent before, on the same connection, for something else. */
  readonly isPlain: boolean
  /** So many lines of a stream are read. */
  readonly lines?: number | undefined
  /** A document of thousands of lines: recorded is its head. */
  readonly isDocument?: boolean | undefined
  /** Whether the end of the connection is left open. */
  readonly isLeft?: boolean | undefined
}

export interface Theme {
  readonly name: string
  readonly scenes: readonly Scene[]
  /** Each plays behind all others of its theme. */
  readonly isStateful?: boolean
}

type Options = Partial<Omit<Scene, 'sent'>>

export const asAlice = `Authorization: Bearer ${ALICE}`
export const JSON_BODY = 'Content-Type: application/json'

export function get(path: string, headers: readonly string[] = [], options: Options = {}): Scene {
  return request('GET', path, headers, undefined, options)
}

/** A body that is no text is sent as JSON. */
export function send(
  method: string,
  path: string,
  body: unknown,
  headers: readonly string[] = [JSON_BODY],
  options: Options = {},
): Scene {
  return request(method, path, headers, typeof body === 'string' ? body : JSON.stringify(body), options)
}

export function request(
  method: string,
  path: string,
  headers: readonly string[] = [],
  body?: string,
  options: Options = {},
): Scene {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, ...length]
  const about = [...headers.filter(line => line !== JSON_BODY), ...(body === undefined ? [] : [body])].map(shown)
  return {
    name: [`${method} ${path}`, ...about].join(' | '),
    sent: [`${lines.join('\r\n')}\r\n\r\n${utf8(body ?? '')}`],
    methods: [method],
    asAdmin: !headers.some(line => /^authorization:/i.test(line)),
    // reads with a query are never read by a head that is known
    isPlain: method !== 'GET' || !path.includes('?'),
    ...options,
  }
}

/** One request behind the other's answer, on one connection. */
export function inTurn(name: string, ...scenes: readonly Scene[]): Scene {
  const [sent, methods] = [scenes.flatMap(scene => scene.sent), scenes.flatMap(scene => scene.methods)]
  return { ...scenes[0]!, name, sent, methods, isPlain: false }
}

/** As the bytes stand. */
export function raw(name: string, sent: string | readonly string[], options: Options = {}): Scene {
  const all = typeof sent === 'string' ? [sent] : sent
  return { name, sent: all, methods: ['GET'], asAdmin: true, isPlain: false, ...options }
}

/** The same under another name. */
export function named(name: string, scene: Scene): Scene {
  return { ...scene, name }
}

function shown(line: string): string {
  return line.length > 90 ? `${line.slice(0, 90)}…` : line
}

function utf8(text: string): string {
  return Buffer.from(text).toString('latin1')
}
