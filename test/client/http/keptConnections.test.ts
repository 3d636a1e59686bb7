/** Over HTTP/1.1 a swarm of requests keeps the connections that it opened, however many pause between two requests. */
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { HttpTransport } from '../../../src/client/http/transport.ts'
import { FakeClock, until } from '../support/fakeClock.ts'

const WORKERS = 8
const ROUNDS = 5

/** With what runs directly behind the next alarm. */
class AlarmClock extends FakeClock {
  behindAlarm: (() => void) | undefined

  override after(delayMs: number, run: () => void): () => void {
    return super.after(delayMs, () => {
      run()
      this.behindAlarm?.()
    })
  }
}

async function begin(t: Test) {
  const opened: Socket[] = []
  // keeps what is free for as long as the client does
  const server = http.createServer({ keepAliveTimeout: 0 }, (_, response) => held.push(() => response.end('{}')))
  const held: (() => void)[] = []
  server.on('connection', socket => opened.push(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const clock = new AlarmClock()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new HttpTransport({ server: url }, clock)
  t.teardown(() => {
    client.close()
    server.close()
  })
  const round = async (): Promise<void> => {
    const all = Array.from({ length: WORKERS }, () => client.json({ method: 'GET', path: '/' }))
    await until(() => held.length === WORKERS, 'all are asked at once')
    for (const answer of held.splice(0)) answer()
    await Promise.all(all)
  }
  return { opened, held, clock, client, round }
}

t.test('a swarm opens no more connections than it has requests at a time, and two stay when it is over', async t => {
  const { opened, clock, round } = await begin(t)
  const open = (): number => opened.filter(({ closed }) => !closed).length
  for (let i = 0; i < ROUNDS; i++) {
    await round()
    // all connections are free now
    await clock.advance(900)
  }
  t.same([opened.length, open()], [WORKERS, WORKERS])
  await clock.advance(1000)
  await until(() => open() === 2, 'the others are closed')
  t.equal(clock.pending, 0)
})

t.test('no request takes a connection that has just been let go of', async t => {
  const { opened, held, clock, client, round } = await begin(t)
  await round()
  let answer: Promise<unknown> | undefined
  // in the moment in which those that nobody needs are closed, and not gone yet; a POST is never sent again
  clock.behindAlarm = () => {
    answer = client.json({ method: 'POST', path: '/', body: {} })
    clock.behindAlarm = undefined
  }
  await clock.advance(1000)
  await until(() => held.length === 1, 'it arrives')
  held.pop()!()
  t.same(await answer, {})
  t.equal(opened.length, WORKERS, 'on a connection that stays')
})
