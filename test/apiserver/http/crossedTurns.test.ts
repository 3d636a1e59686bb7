/** Requests that cross to another thread take the turns of their users, too. */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { Answer } from '../../../src/apiserver/http/answer.ts'
import { Request } from '../../../src/apiserver/http/request.ts'
import { RequestLines } from '../../../src/apiserver/http/requestLines.ts'
import { Road, type RoadDeps } from '../../../src/apiserver/http/road.ts'

/** A request that cannot be read is refused before its credential is looked at. */
const CODES: Readonly<Record<string, number>> = { 'Bearer wrong': 401, 'Bearer unread': 400 }

t.test('a credential that was good elsewhere is no stranger; one that was refused goes behind', async t => {
  const paths: string[] = []
  const lines = new RequestLines({
    enter(path, run) {
      paths.push(`${path[0]} ${path[2]}`)
      run()
    },
  })
  const road = new Road({ lines } as unknown as RoadDeps)
  road.forwardBy({
    forward({ headers }: Request, answer: Answer, answered: (code: number) => void) {
      const code = CODES[headers.authorization ?? ''] ?? 200
      answered(code)
      answer.writeHead(code).end()
      return true
    },
    upgrade() {},
  })
  const server = createServer({ IncomingMessage: Request, ServerResponse: Answer } as object, (message, answer) =>
    road.receive(message as Request, answer as Answer),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => {
    agent.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const ask = async (authorization?: string): Promise<void> => {
    const headers = authorization === undefined ? {} : { authorization }
    const sent = request({ host: '127.0.0.1', port, agent, headers }).end()
    const [answer] = await once(sent, 'response')
    answer.resume()
    await once(answer, 'end')
  }
  for (const credential of [undefined, undefined, 'a', 'a', 'b', 'wrong', 'wrong', 'a', 'unread', 'unread'])
    await ask(credential && `Bearer ${credential}`)
  t.strictSame(paths, [
    'stranger new',
    'stranger new',
    'stranger new',
    'admitted Bearer a',
    'stranger new',
    'stranger new',
    'stranger refused',
    'stranger refused',
    'stranger new',
    'stranger refused',
  ])
})
