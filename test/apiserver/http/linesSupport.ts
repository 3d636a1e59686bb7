/** A server of which requests are begun in line, and the words of its clients. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { LoopGate } from '../../../src/apiserver/flowcontrol/loopGate.ts'
import { Answer } from '../../../src/apiserver/http/answer.ts'
import { faultOfHead, refuseHead } from '../../../src/apiserver/http/malformedHeads.ts'
import { Request } from '../../../src/apiserver/http/request.ts'
import { RequestLines } from '../../../src/apiserver/http/requestLines.ts'

export const UNREADABLE = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'

export interface Asked {
  request: Request
  answer: Answer
}

/** Without TLS. */
export async function serve(
  t: Test,
  handle: (asked: Asked) => void,
  gate: Pick<LoopGate, 'enter'> = new LoopGate({ limitMs: 4, clock: () => performance.now() }),
) {
  const lines = new RequestLines(gate)
  const connections: Socket[] = []
  const options = {
    IncomingMessage: Request,
    ServerResponse: Answer,
    requireHostHeader: false,
    maxHeaderSize: 65_536,
  } as object
  const server = createServer(options, (message, response) => {
    const [request, answer] = [message as Request, response as Answer]
    answer.on('close', () => lines.leave(answer))
    lines.enter(answer, () => {
      const fault = faultOfHead(request)
      if (fault === undefined) handle({ request, answer })
      else refuseHead(request, answer, fault)
    })
  })
  server.on('connection', (socket: Socket) => connections.push(socket))
  server.on('clientError', (_error, socket) => lines.unreadable(socket as Socket, () => socket.end(UNREADABLE)))
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
  return { lines, server, connections, open }
}

/** Answers with the path and the body of the request. */
export async function echo({ request, answer }: Asked): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString()
  answer.end(`<${request.url} ${body}>`)
}

export const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
export const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
export const LAST = get('/last', 'Connection: close\r\n')

export async function rest(socket: Socket): Promise<string> {
  const parts: string[] = []
  socket.on('data', part => parts.push(String(part)))
  await new Promise(resolve => socket.once('close', resolve))
  return parts.join('')
}

export const saidBy = (text: string): string[] => text.match(/<[^>]*>/g) ?? []

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setImmediate(resolve))
}
