/** Connections that cross are served by the listeners of the server that listens, and end with it. */
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { duplexPair } from 'node:stream'
import t from 'tap'
import { CrossedServer } from '../../../src/apiserver/threads/crossedServer.ts'

/** The client's side of a new connection. */
function connected(server: CrossedServer): Duplex {
  const [client, connection] = duplexPair()
  server.accept(connection)
  return client.setEncoding('latin1')
}

t.test('each sort of request reaches the listeners of the front', async t => {
  const front = new EventEmitter()
  const seen: string[] = []
  const answer = (event: string) => (request: IncomingMessage, response: ServerResponse) => {
    seen.push(`${event} ${request.method} ${request.url}`)
    response.end('here')
  }
  front.on('request', answer('request'))
  front.on('checkExpectation', answer('checkExpectation'))
  front.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    seen.push(`upgrade ${request.url}`)
    socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  })
  front.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    seen.push(`clientError ${error.code}`)
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  const server = new CrossedServer(front, { requireHostHeader: false })
  const sent: [head: string, answered: RegExp][] = [
    ['GET /a HTTP/1.1\r\n\r\n', /^HTTP\/1.1 200 [\s\S]*here$/],
    ['POST /b HTTP/1.1\r\nExpect: more\r\nContent-Length: 0\r\n\r\n', /^HTTP\/1.1 200 /],
    ['GET /c HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', /^HTTP\/1.1 101 /],
    ['no HTTP\r\n\r\n', /^HTTP\/1.1 400 /],
  ]
  for (const [head, answered] of sent) {
    const client = connected(server)
    client.write(head)
    const [text] = await once(client, 'data')
    t.match(text, answered, head)
    client.destroy()
  }
  t.strictSame(seen, ['request GET /a', 'checkExpectation POST /b', 'upgrade /c', 'clientError HPE_INVALID_METHOD'])
})

t.test('its end is the end of all connections, whatever is under way on them', async t => {
  const front = new EventEmitter()
  const begun = once(front, 'request')
  const server = new CrossedServer(front, { requireHostHeader: false })
  const [idle, asking] = [connected(server), connected(server)]
  asking.write('GET /a HTTP/1.1\r\n\r\n')
  const [, response] = (await begun) as [IncomingMessage, ServerResponse]
  const closed = [once(response, 'close'), once(idle.resume(), 'end'), once(asking.resume(), 'end')]
  server.close()
  await Promise.all(closed)
  t.pass('all of them')
})
