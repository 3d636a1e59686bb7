/** Objects that end the process when a controller receives them at its beginning. Each `life` is a process. */
import t, { type Test } from 'tap'
import type { StreamEvent } from '../../../src/client/client.ts'
import { SetAside } from '../../../src/client/setAside/setAside.ts'
import { StreamSource } from '../../../src/client/streamSource.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { FakeClock, settle } from '../support/fakeClock.ts'
import { FakeServer, KINDS } from '../support/fakeServer.ts'

const map = (name: string, data = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })

async function world(t: Test) {
  const dataDir = t.testdir()
  const clock = new FakeClock()
  const server = new FakeServer()
  const api = server.in('x')
  for (const name of ['a', 'poison', 'z']) await api.create(KINDS.configmaps, map(name))
  let lives = 0
  const life = async (isDeadly = ({ name }: StreamEvent) => name === 'poison') => {
    const own = ++lives
    const log: string[] = []
    const note = (fields: object, message: string): void => void log.push(`${message} ${JSON.stringify(fields)}`)
    const logger = { debug() {}, info: note, warn: note, error: note }
    const after = (ms: number, run: () => void) => clock.after(ms, () => own === lives && run())
    const setAside = new SetAside({ dataDir, logger, clock: { now: () => clock.now(), after } })
    const guard = setAside.guardFor('q')
    const told: string[] = []
    const begun: string[] = []
    const stop = new AbortController()
    t.teardown(() => stop.abort())
    let isDead = false
    const source = new StreamSource({
      turns: endlessTurns(),
      client: server,
      space: '*',
      resources: [KINDS.configmaps],
      handler: {
        change: event => {
          if (isDead) return
          if (isDeadly(event)) {
            isDead = true
            stop.abort()
            return
          }
          told.push(`${event.type} ${event.name}`)
        },
        synced: () => told.push('all'),
      },
      guard: {
        ...guard,
        begin: id => {
          begun.push(id)
          return guard.begin(id)
        },
        // a process that has ended notes nothing
        end: (ticket, postponed) => isDead || guard.end(ticket, postponed),
      },
      clock,
      logger,
      random: () => 0.5,
    })
    const run = source.run(stop.signal)
    await settle()
    return { told, begun, log, source, setAside, run, isDead: () => isDead }
  }
  return { api, clock, life }
}

t.test('an object of which it dies is found, waits, and keeps only that controller from beginning', async t => {
  const { api, clock, life } = await world(t)
  const first = await life()
  t.ok(first.isDead())
  t.same(first.begun, [], 'while nothing is known objects are not noted one by one')
  t.ok((await life()).isDead(), 'once more, and now it is noted which one it was')

  const third = await life()
  t.match(third.log.join('\n'), /did not end in order.*q: intake of \*: x configmaps\. \/poison/)
  t.match(third.log.join('\n'), /the controller waits until it has.*"name":"poison"/)
  t.same(third.told, ['ADDED a', 'ADDED z'], 'others are told, and nobody takes it for deleted')
  await clock.advance(5000)
  t.ok(third.isDead(), 'it was to blame')

  const fourth = await life()
  t.match(fourth.log.join('\n'), /ended while it worked on this key alone.*poison.*"deaths":1/)
  t.same(fourth.told, ['ADDED a', 'ADDED z'])
  await clock.advance(20_000)
  t.same(fourth.told, ['ADDED a', 'ADDED z'])
  await api.delete(KINDS.configmaps, { name: 'poison' })
  await settle()
  t.same(fourth.told, ['ADDED a', 'ADDED z', 'all'], 'it begins when the object is gone')
  await api.create(KINDS.configmaps, map('b'))
  await settle()
  t.same(fourth.told.at(-1), 'ADDED b')
})

t.test('an object that was mended is told after a while', async t => {
  const { api, clock, life } = await world(t)
  const isDeadly = ({ name }: StreamEvent) => name === 'poison' && !mended
  let mended = false
  await life(isDeadly)
  await life(isDeadly)
  const third = await life(isDeadly)
  mended = true
  await clock.advance(5000)
  t.same(third.told, ['ADDED a', 'ADDED z', 'ADDED poison', 'all'])
  await third.source.synced
  t.same([...third.setAside.counts()], [])
  await api.create(KINDS.configmaps, map('b'))
  await settle()
  t.same(third.told.at(-1), 'ADDED b')
  third.setAside.close()
  const fourth = await life(isDeadly)
  t.same(fourth.begun, [], 'after an orderly end nothing is noted')
  t.same(fourth.told, ['ADDED a', 'ADDED poison', 'ADDED z', 'ADDED b', 'all'])
})
