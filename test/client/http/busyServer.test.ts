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
  // Each of the four waits for its own repetition. The next two, for it is half as many now, wait for the named time. One more waits for
  // the time when fewer connections will do.
  await until(() => clock.pending === 7, 'four were told')
  t.equal(asked, 4)
  isBusy = false
  await clock.advance(2999)
  t.same([asked, answered], [4, 0])
  await clock.advance(1)
  await Promise.all(all)
  t.same([asked, answered], [16, 12])
})

const [LONG_AGO, FAR_AWAY] = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Fri, 31 Dec 2100 23:59:59 GMT']
for (const [header, waitMs] of [
  ['0', 0],
  ['2', 2000],
  ['1000000000', 10_000],
  ['-1', 1000],
  ['soon', 1000],
  ['1', 1000],
  [LONG_AGO, 0],
  [FAR_AWAY, 10_000],
] as const)
  t.test(`Retry-After: ${header} leaves it alone for ${waitMs} ms`, async t => {
    const server = http.createServer((_, response) =>
      response.writeHead(429, { 'retry-after': header }).end('too many'),
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const clock = new FakeClock()
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = new HttpTransport({ server: url, inFlight: 1 }, clock)
    t.teardown(() => {
      client.close()
      server.close()
    })
    const beganMs = clock.now()
    const failures: number[] = []
    const ask = async (): Promise<void> => {
      await t.rejects(client.json({ method: 'GET', path: '/' }), { name: 'StatusError', code: 429 })
      failures.push(clock.now() - beganMs)
    }
    void ask()
    // a long or unreadable wait fails at once; a short one is retried a few times
    while (failures.length === 0) await clock.advance(100)
    const [firstMs = 0] = failures
    void ask()
    while (failures.length === 1) await clock.advance(100)
    t.ok(failures[1]! - firstMs >= waitMs, `the next one was told after ${failures[1]! - firstMs} ms`)
    t.ok(failures[1]! - firstMs <= 5 * waitMs + 500)
  })
