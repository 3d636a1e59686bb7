import t from 'tap'
import { StatusError, statusError } from '../../src/apimachinery/errors.ts'
import { systemClock } from '../../src/client/clock.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { type StreamHandler, StreamSource } from '../../src/client/streamSource.ts'
import { WorkTurns } from '../../src/program/workTurns.ts'
import { endlessTurns } from '../support/endlessTurns.ts'
import * as fc from '../support/fastCheck.ts'
import { hastyClock, until } from './support/fakeClock.ts'
import { brokenConnection, FakeServer, KINDS } from './support/fakeServer.ts'

const object = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'n' } })

function follow(server: FakeServer, handler: StreamHandler, logger = silentLogger) {
  const stop = new AbortController()
  const common = { clock: hastyClock, random: () => 0, logger }
  const source = new StreamSource({
    turns: endlessTurns(),
    client: server,
    space: '*',
    resources: [KINDS.configmaps],
    handler,
    ...common,
  })
  const run = source.run(stop.signal)
  const end = async () => {
    stop.abort()
    await run
  }
  return { source, stop: end }
}

t.test('starts with a snapshot, then follows, over all spaces and only the resources asked for', async t => {
  const server = new FakeServer()
  await server.in('x').create(KINDS.configmaps, object('a'))
  await server.in('x').create(KINDS.deployments, object('other'))
  const told: string[] = []
  const handler: StreamHandler = {
    begin: () => told.push('begin'),
    change: event => told.push(`${event.type} ${event.space} ${event.namespace}/${event.name}`),
    synced: () => told.push('synced'),
  }
  const { source, stop } = follow(server, handler)
  await source.synced
  await server.in('y').create(KINDS.configmaps, object('b'))
  await until(() => told.length === 4, 'b')
  t.strictSame(told, ['begin', 'ADDED x n/a', 'synced', 'ADDED y n/b'])
  t.equal(source.cursor, server.revision)
  await stop()
})

t.test('resumes from its cursor, and starts over when that is too old', async t => {
  const server = new FakeServer()
  await server.in('x').create(KINDS.configmaps, object('a'))
  await server.in('x').create(KINDS.configmaps, object('b'))
  const told: string[] = []
  const handler: StreamHandler = {
    begin: () => told.push('begin'),
    change: event => told.push(`${event.type} ${event.name}`),
    vanished: ref => told.push(`vanished ${ref.space} ${ref.namespace}/${ref.name}`),
    synced: () => told.push('synced'),
  }
  const { source, stop } = follow(server, handler)
  await source.synced
  let breaks = 1
  server.hook = verb => {
    if (verb === 'deliver' && breaks-- > 0) throw brokenConnection()
  }
  await server.in('x').create(KINDS.configmaps, object('c'))
  await until(() => told.length === 5, 'c after the break')
  t.equal(told[4], 'ADDED c', 'no second snapshot')

  breaks = Number.POSITIVE_INFINITY
  await server.in('x').delete(KINDS.configmaps, { namespace: 'n', name: 'a' })
  server.compact()
  breaks = 0
  await until(() => told.length === 10, 'a new snapshot')
  t.strictSame(told.slice(5), ['begin', 'ADDED b', 'ADDED c', 'vanished x n/a', 'synced'])
  await stop()
})

t.test('starts over when its cursor lies in the future of a server that was restored', async t => {
  const reason = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] }
  const words = 'Timeout: Too large resource version: 9, current: 3'
  for (const refusal of [
    new StatusError('Timeout', 'Timeout', reason),
    new StatusError('Timeout', words),
    new StatusError('BadRequest', words),
  ]) {
    const server = new FakeServer()
    for (const name of ['a', 'b']) await server.in('x').create(KINDS.configmaps, object(name))
    const told: string[] = []
    const { source, stop } = follow(server, {
      begin: () => told.push('begin'),
      change: event => told.push(`${event.type} ${event.name}`),
      vanished: ref => told.push(`vanished ${ref.name}`),
      synced: () => told.push('synced'),
    })
    await source.synced
    told.length = 0
    const faults: Error[] = [brokenConnection(), refusal]
    server.hook = verb => {
      const fault = verb === 'deliver' || verb === 'stream' ? faults.shift() : undefined
      if (fault === refusal) void server.in('x').delete(KINDS.configmaps, { namespace: 'n', name: 'b' })
      if (fault) throw fault
    }
    server.poke()
    await until(() => told.includes('synced'), 'a new snapshot')
    t.strictSame(told, ['begin', 'ADDED a', 'vanished b', 'synced'], refusal.message)
    await stop()
  }
})

t.test('an object that only an unfinished snapshot told is told as vanished by the next', async t => {
  const server = new FakeServer()
  for (const name of ['a', 'b']) await server.in('x').create(KINDS.configmaps, object(name))
  const told: string[] = []
  let broken = false
  server.hook = (verb, _space, _resource, name) => {
    if (verb !== 'deliver' || name !== 'b' || broken) return
    broken = true
    void server.in('x').delete(KINDS.configmaps, { namespace: 'n', name: 'a' })
    throw brokenConnection()
  }
  const { source, stop } = follow(server, {
    change: event => void told.push(event.name),
    vanished: ref => void told.push(`vanished ${ref.name}`),
  })
  await source.synced
  t.strictSame(told, ['a', 'b', 'vanished a'])
  await stop()
})

t.test('a handler that fails on one object still hears of the others', async t => {
  const server = new FakeServer()
  for (const name of ['bad', 'good']) await server.in('x').create(KINDS.configmaps, object(name))
  const seen: string[] = []
  const errors: object[] = []
  const handler: StreamHandler = {
    change(event) {
      if (event.name === 'bad') throw new Error('what is this?')
      seen.push(event.name)
    },
  }
  const { source, stop } = follow(server, handler, { ...silentLogger, error: fields => void errors.push(fields) })
  await source.synced
  t.strictSame(seen, ['good'])
  t.match(errors, [{ space: 'x', name: 'bad', err: Error('what is this?') }])
  await stop()
})

t.test('that its space is gone is news only after several tries: who ends the stream may hear of it later', async t => {
  const told: string[] = []
  const note = (level: string) => (fields: object) => told.push(`${level} ${(fields as { failures: number }).failures}`)
  const logger = { ...silentLogger, info: note('info'), warn: note('warn') }
  const gone = (name: string) => statusError.notFound({ group: 'tenancy.kcp.io', resource: 'workspaces' }, name)
  const follows = async (error: Error) => {
    told.length = 0
    const stop = new AbortController()
    const broken = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
    const client = { stream: () => broken } as never
    const common = { clock: hastyClock, random: () => 0, logger, handler: { change() {} } }
    const run = new StreamSource({ turns: endlessTurns(), client, space: 'x', ...common }).run(stop.signal)
    await until(() => told.length >= 6, 'six tries')
    stop.abort()
    await run
    return told.slice(0, 6)
  }
  t.same(await follows(gone('x')), ['info 1', 'info 2', 'info 3', 'info 4', 'warn 5', 'warn 6'])
  t.same((await follows(gone('y')))[0], 'warn 1')
  t.same((await follows(brokenConnection()))[0], 'warn 1')
})

t.test('streams may break at any point: a handler ends up knowing what exists', async t => {
  const names = fc.constantFrom('a', 'b', 'c')
  const step = fc.record({ do: fc.constantFrom('put', 'delete', 'compact', 'poke'), name: names })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 25 }),
      fc.array(fc.nat(3), { maxLength: 40 }),
      async (steps, faults) => {
        const server = new FakeServer()
        const client = server.in('x')
        for (const name of ['a', 'b', 'e']) await client.create(KINDS.configmaps, object(name))
        const script = [...faults]
        server.hook = verb => {
          if ((verb === 'deliver' || verb === 'stream') && script.shift() === 1) throw brokenConnection()
        }
        const known = new Set<string>()
        const { stop } = follow(server, {
          change: event => void (event.type === 'DELETED' ? known.delete(event.name) : known.add(event.name)),
          vanished: ref => void known.delete(ref.name),
        })
        for (const { do: what, name } of steps) {
          const exists = server.names('x', KINDS.configmaps).includes(name)
          if (what === 'put' && !exists) await client.create(KINDS.configmaps, object(name))
          else if (what === 'delete' && exists) await client.delete(KINDS.configmaps, { namespace: 'n', name })
          else if (what === 'compact') server.compact()
          else server.poke()
          await new Promise(resolve => setImmediate(resolve))
        }
        server.hook = () => {}
        server.poke()
        await client.create(KINDS.configmaps, object('last'))
        await until(() => known.has('last'), 'the last object')
        await stop()
        t.strictSame([...known].sort(), server.names('x', KINDS.configmaps))
      },
    ),
    { numRuns: 60 },
  )
})

t.test('a batch of many events is told in several turns of the loop, in order, before its end is', async t => {
  const server = new FakeServer()
  const names = Array.from({ length: 100 }, (_, i) => `c${i}`)
  for (const name of names) await server.in('x').create(KINDS.configmaps, object(name))
  const told: string[] = []
  const handler: StreamHandler = { change: event => told.push(event.name), synced: () => told.push('synced') }
  let ms = 0
  const turns = new WorkTurns({ sliceMs: 5, clock: () => ms++ })
  const source = new StreamSource({
    client: server,
    space: '*',
    handler,
    clock: hastyClock,
    logger: silentLogger,
    turns,
    random: () => 0.5,
  })
  const stop = new AbortController()
  const run = source.run(stop.signal)
  let most = 0
  for (let before = 0; told.length <= names.length; before = told.length) {
    await new Promise(resolve => setImmediate(resolve))
    most = Math.max(most, told.length - before)
  }
  t.strictSame(told, [...names, 'synced'])
  t.ok(most <= 10, `${most} in a turn`)
  stop.abort()
  await run
})

t.test('what many streams of one owner are told does not keep that of another waiting', async t => {
  const server = new FakeServer()
  for (let i = 0; i < 100; i++) await server.in('x').create(KINDS.configmaps, object(`n${i}`))
  let ms = 0
  const turns = new WorkTurns({ sliceMs: 5, clock: () => ms++ })
  const stop = new AbortController()
  const order: string[] = []
  const runs = ['many', 'many', 'many', 'many', 'many', 'many', 'one'].map(owner => {
    const handler: StreamHandler = { change: () => {}, synced: () => void order.push(owner) }
    const common = { client: server, space: 'x', logger: silentLogger, turns, owner }
    return new StreamSource({ ...common, handler, clock: systemClock, random: () => 0.5 }).run(stop.signal)
  })
  await until(() => order.length === runs.length, 'all')
  t.equal(order[0], 'one')
  stop.abort()
  await Promise.all(runs)
})
