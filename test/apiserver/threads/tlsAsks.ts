/** Requests over connections of their own, enough of them that all threads of a server answer, and their view of TLS. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Access } from '../../support/api.ts'
import { CONFIGMAPS } from '../../support/server.ts'

/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12

export interface Seen {
  /** Certificate of the server. */
  certificate: string
  /** `HTTP/1.1 200` and such. */
  answer: string
  body: string
  /** Not of each that was resumed. */
  session: Buffer | undefined
  isReused: boolean
}

/** Asks over a connection of its own, with a session of before if one is given. */
export async function ask(
  { url, ca, cert, key, token }: Access,
  { session, path = `${CONFIGMAPS}?limit=1` }: { session?: Buffer | undefined; path?: string } = {},
): Promise<Seen> {
  const { hostname, port } = new URL(url)
  const keys = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), ...(session && { session }) }
  const socket = connect({ host: hostname, port: Number(port), ...keys })
  let next: Buffer | undefined
  socket.on('session', given => {
    next = given
  })
  await once(socket, 'secureConnect')
  const certificate = socket.getPeerX509Certificate()?.fingerprint256 ?? ''
  const isReused = socket.isSessionReused()
  const credential = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${credential}Connection: close\r\n\r\n`)
  const text = await textOf(socket)
  const answer = text.slice(0, 'HTTP/1.1 200'.length)
  return { certificate, answer, body: text.slice(text.indexOf('\r\n\r\n')), session: next, isReused }
}

export const askAll = <T>(run: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => run(i)))

/** Which answers they got, each once. */
export const answersOf = (seen: readonly Seen[]): string[] => [...new Set(seen.map(({ answer }) => answer))]

async function textOf(socket: TLSSocket): Promise<string> {
  let text = ''
  for await (const part of socket) text += part
  return text
}
