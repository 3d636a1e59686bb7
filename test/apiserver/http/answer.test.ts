/** A connection on which nothing is asked is kept for as long as its answers name, over the next request too. */
import { Agent, createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { Answer } from '../../../src/apiserver/http/answer.ts'

t.test('it outlives what the server keeps for everybody', async t => {
  const sockets: Socket[] = []
  const server = createServer({ ServerResponse: Answer } as object, (request, response) => {
    const answer = response as Answer
    sockets.push(request.socket)
    if (request.url === '/kept') answer.keep(420_000)
    answer.send('here')
  })
  server.keepAliveTimeout = 90_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => {
    agent.destroy()
    server.close()
  })
  const ask = async (path: string): Promise<IncomingMessage> => {
    const { port } = server.address() as AddressInfo
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get({ host: '127.0.0.1', port, path, agent }, resolve).once('error', reject),
    )
    await text(answer)
    return answer
  }
  const others = (await ask('/')).headers['keep-alive']
  t.equal(others, 'timeout=90')
  for (let time = 0; time < 2; time++) {
    const { headers } = await ask('/kept')
    t.equal(headers['keep-alive'], 'timeout=420')
    t.equal(sockets.at(-1)?.timeout, 420_000)
  }
  t.equal(new Set(sockets).size, 1, 'one connection')
})
