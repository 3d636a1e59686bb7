/** Over HTTP/1.1 a swarm of requests keeps the connections that it opened, however many pause between two requests. */
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { HttpTransport } from '../../../src/client/http/transport.ts'
import { FakeClock, until } from '../support/fakeClock.ts'

const WORKERS = 8
const ROUNDS = 5

t.test('a swarm opens no more connections than it has requests at a time, and two stay when it is over', async t => {
  const opened: Socket[] = []
  // keeps what is free for as long as the client does
  const server = http.createServer({ keepAliveTimeout: 0 }, (_, response) => held.push(() => response.end('{}')))
  const held: (() => void)[] = []
  server.on('connection', socket => opened.push(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const clock = new FakeClock()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new HttpTransport({ server: url }, clock)
  t.teardown(() => {
    client.close()
    server.close()
  })
  const open = (): number => opened.filter(({ closed }) => !closed).length
  for (let round = 0; round < ROUNDS; round++) {
    const all = Array.from({ length: WORKERS }, () => client.json({ method: 'GET', path: '/' }))
    await until(() => held.length === WORKERS, 'all are asked at once')
    for (const answer of held.splice(0)) answer()
    await Promise.all(all)
    // all connections are free now
    await clock.advance(900)
  }
  t.same([opened.length, open()], [WORKERS, WORKERS])
  await clock.advance(1000)
  await until(() => open() === 2, 'the others are closed')
  t.equal(clock.pending, 0)
})
