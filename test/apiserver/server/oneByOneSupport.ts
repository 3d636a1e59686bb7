/** A server of which what arrives is handed on request by request, and what its clients say. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { LoopGate } from '../../../src/apiserver/flowcontrol/loopGate.ts'
import { type FedServer, OneByOne, type ShortRequest, type ShortWay } from '../../../src/apiserver/server/oneByOne.ts'

export interface Asked {
  request: IncomingMessage
  response: ServerResponse
}

/** Without TLS: only what it names connections by is made up for. */
export async function serve(
  t: Test,
  handle: (asked: Asked) => void,
  gate: Pick<LoopGate, 'enter'> = new LoopGate({ limitMs: 4, clock: () => performance.now() }),
  shortWay?: ShortWay,
) {
  const server: Server = createServer((request, response) => handle({ request, response }))
  const connections: Socket[] = []
  server.on('connection', (socket: Socket) => {
    connections.push(socket)
    server.emit('secureConnection', socket)
  })
  const requests = new OneByOne(gate, shortWay)
  requests.serve(server as unknown as FedServer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const open = async (): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  return { server, connections, open, requests }
}

/** Answers with what was asked for and sent. */
export async function echo({ request, response }: Asked): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString()
  response.end(`<${request.url} ${body}>`)
}

/** Answers as `echo` does, some time or other. */
export function shortEcho(): ShortWay & { taken: ShortRequest[] } {
  const taken: ShortRequest[] = []
  return {
    taken,
    suits: ({ method, headers }) =>
      (method === 'GET' || method === 'POST') && headers['transfer-encoding'] === undefined,
    answer(request, left) {
      if (request.url === '/long') return undefined
      taken.push(request)
      const body = `<${request.url} ${request.body}>`
      const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      if (taken.length % 2 === 0) request.socket.write(answer, left)
      else setImmediate(() => request.socket.write(answer, left))
      return ['one', 'ann']
    },
  }
}

export const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
export const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
export const inChunks = (path: string, body: string): string => {
  const chunks = (body.match(/[\s\S]{1,7}/g) ?? []).map(chunk => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`
}
export const LAST = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

export async function rest(socket: Socket): Promise<string> {
  const parts: string[] = []
  socket.on('data', part => parts.push(String(part)))
  await new Promise(resolve => socket.once('close', resolve))
  return parts.join('')
}

export const saidBy = (text: string): string[] => text.match(/<[^>]*>/g) ?? []

/** Takes whatever suits, and answers nothing: `left` has what is to be called for each once its answer has left. */
export function heldShortWay(): { left: (() => void)[]; shortWay: ShortWay } {
  const left: (() => void)[] = []
  const answer = (_request: ShortRequest, done: () => void): readonly string[] => {
    left.push(done)
    return ['one', 'ann']
  }
  return { left, shortWay: { suits: () => true, answer } }
}
