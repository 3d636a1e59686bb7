/** A server that answers as the API server does, without its road, and one client of it. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Answer } from '../../../src/apiserver/http/answer.ts'
import { Request } from '../../../src/apiserver/http/request.ts'

export interface Answered {
  statusCode: number
  headers: IncomingHttpHeaders
  body: Buffer
  text: string
}

type Ask = (path: string, more?: { method?: string; headers?: Record<string, string> }) => Promise<Answered>

/** @param handle false: there is no such path, as 404 */
export async function answering(
  t: { teardown(end: () => unknown): unknown },
  handle: (request: Request, answer: Answer) => Promise<boolean>,
): Promise<Ask> {
  const server = createServer({ IncomingMessage: Request, ServerResponse: Answer } as object, (message, response) => {
    const answer = response as Answer
    void handle(message as Request, answer).then(isThere => {
      if (!isThere) answer.code(404).send()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return async (path, more = {}) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false, ...more }).end()
    const [answer] = await once(sent, 'response')
    const body = await buffer(answer)
    return { statusCode: answer.statusCode, headers: answer.headers, body, text: body.toString() }
  }
}
