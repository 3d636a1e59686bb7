/** A server that answers 429 is left alone by all requests of a client, for as long as it says, and none is lost. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { HttpTransport } from '../../../src/client/http/transport.ts'
import { FakeClock, until } from '../support/fakeClock.ts'

t.test('what one request is told holds for those behind it', async t => {
  let isBusy = true
  let asked = 0
  const server = http.createServer((_, response) => {
    asked++
    if (isBusy) response.writeHead(429, { 'retry-after': '3' }).end('too many')
    else response.writeHead(200).end('{}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const clock = new FakeClock()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new HttpTransport({ server: url, inFlight: 4 }, clock)
  t.teardown(() => {
    client.close()
    server.close()
  })
  let answered = 0
  const all = Array.from({ length: 12 }, async () => {
    await client.json({ method: 'POST', path: '/', body: {} })
    answered++
  })
  // Each of the four waits for its own repetition, and the next two, for it is half as many now, for the time that was named;
  // and somebody for the time when fewer connections will do.
  await until(() => clock.pending === 7, 'four were told')
  t.equal(asked, 4)
  isBusy = false
  await clock.advance(2999)
  t.same([asked, answered], [4, 0])
  await clock.advance(1)
  await Promise.all(all)
  t.same([asked, answered], [16, 12])
})
