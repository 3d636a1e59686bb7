/** A server that answers as the API server does, without its road, and one client of it. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { StatusError } from '../../../src/apimachinery/errors.ts'
import { Answer } from '../../../src/apiserver/http/answer.ts'
import type { PathEntry } from '../../../src/apiserver/http/paths.ts'
import { Paths } from '../../../src/apiserver/http/paths.ts'
import { Request } from '../../../src/apiserver/http/request.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'

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

/** Such a server of paths alone, for a user who may all; errors are their codes. */
export function serving(t: Parameters<typeof answering>[0], entries: readonly PathEntry[]): Promise<Ask> {
  const paths = new Paths(entries)
  return answering(t, async (request, answer) => {
    const info = parseRequest(request.method, request.url)
    try {
      await paths.serve(request, answer, { info, space: info.space ?? 'root', user: { name: 'ann', groups: [] } })
    } catch (error) {
      answer.code((error as StatusError).code).send((error as StatusError).message)
    }
    return true
  })
}
