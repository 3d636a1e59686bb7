import t from 'tap'
import { StatusError } from '../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { type CacheChange, Informer } from '../../src/client/informer.ts'
import { listAll } from '../../src/client/listWatch.ts'
import * as fc from '../support/fastCheck.ts'
import { FakeClock, hastyClock, settle, until } from './support/fakeClock.ts'
import { brokenConnection, FakeServer, KINDS } from './support/fakeServer.ts'

const configMap = (name: string, value = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n' },
  data: { value },
})

function follow(server: FakeServer, pageSize = 2) {
  const stop = new AbortController()
  const client = server.in('s')
  const informer = new Informer({ client, resource: KINDS.configmaps, pageSize, clock: hastyClock, random: () => 0 })
  const changes: CacheChange[] = []
  informer.subscribe(change => changes.push(change))
  const run = informer.run(stop.signal)
  const told = () => changes.map(c => `${c.type} ${c.object.metadata.name}`)
  const end = async () => {
    stop.abort()
    await run
  }
  return { informer, told, stop: end }
}

t.test('the cache holds what exists and follows what happens', async t => {
  const server = new FakeServer()
  const client = server.in('s')
  for (const name of ['a', 'b', 'c']) await client.create(KINDS.configmaps, configMap(name))
  const { informer, told, stop } = follow(server)
  await informer.synced
  t.equal(informer.size, 3, 'all pages of the list')
  const a = await client.get(KINDS.configmaps, { namespace: 'n', name: 'a' })
  await client.update(KINDS.configmaps, { ...a, data: { value: 'new' } })
  await client.delete(KINDS.configmaps, { namespace: 'n', name: 'b' })
  await until(() => told().length === 5, 'update and delete')
  t.strictSame(told(), ['apply a', 'apply b', 'apply c', 'apply a', 'delete b'])
  t.strictSame(informer.get({ namespace: 'n', name: 'a' })?.data, { value: 'new' })
  t.equal(informer.get({ namespace: 'n', name: 'b' }), undefined)
  t.equal(informer.list('n').length, 2)
  await stop()
})

t.test('a broken watch resumes behind what it has told, without a new list', async t => {
  const server = new FakeServer()
  const client = server.in('s')
  await client.create(KINDS.configmaps, configMap('a'))
  const { informer, told, stop } = follow(server)
  await informer.synced
  let breaks = 0
  server.hook = (verb, _space, _resource, name) => {
    if (verb !== 'deliver' || name !== 'c' || breaks++ > 0) return
    throw brokenConnection()
  }
  await client.create(KINDS.configmaps, configMap('b'))
  await until(() => told().length === 2, 'b arrives')
  await client.create(KINDS.configmaps, configMap('c'))
  await until(() => told().length >= 3, 'c arrives')
  t.strictSame(told(), ['apply a', 'apply b', 'apply c'], 'nothing twice')
  t.equal(server.requests.filter(r => r.startsWith('list')).length, 1)
  await stop()
})

t.test('a bookmark is where the next watch starts', async t => {
  const asked: string[] = []
  const client: SpaceClient = {
    ...new FakeServer().in('s'),
    list: async () => ({ items: [], resourceVersion: '5' }),
    async *watch(_resource, { resourceVersion }) {
      asked.push(resourceVersion)
      yield [{ type: 'BOOKMARK', resourceVersion: '9' }]
    },
  }
  const stop = new AbortController()
  const informer = new Informer({ client, resource: KINDS.configmaps, clock: hastyClock, random: () => 0.5 })
  const run = informer.run(stop.signal)
  await until(() => asked.length > 1, 'a second watch')
  stop.abort()
  await run
  t.strictSame(asked.slice(0, 2), ['5', '9'])
})

t.test('bookmarks are wanted once a version was too old to resume from', async t => {
  const asked: (boolean | undefined)[] = []
  const client: SpaceClient = {
    ...new FakeServer().in('s'),
    list: async () => ({ items: [], resourceVersion: '5' }),
    async *watch(_resource, { bookmarks }) {
      asked.push(bookmarks)
      yield []
      if (asked.length === 2) throw new StatusError('Expired', 'too old')
    },
  }
  const stop = new AbortController()
  const run = new Informer({ client, resource: KINDS.configmaps, clock: hastyClock, random: () => 0.5 }).run(
    stop.signal,
  )
  await until(() => asked.length > 3, 'a fourth watch')
  stop.abort()
  await run
  t.strictSame(asked.slice(0, 4), [false, false, true, true])
})

t.test('after Expired the cache is replaced in one step and what vanished meanwhile is told', async t => {
  const server = new FakeServer()
  const client = server.in('s')
  for (const name of ['a', 'b']) await client.create(KINDS.configmaps, configMap(name))
  const { informer, told, stop } = follow(server)
  await informer.synced
  let down = true
  server.hook = verb => {
    if (down && (verb === 'deliver' || verb === 'watch' || verb === 'list')) throw brokenConnection()
  }
  await client.delete(KINDS.configmaps, { namespace: 'n', name: 'a' })
  await client.create(KINDS.configmaps, configMap('c'))
  server.compact()
  down = false
  await until(() => told().length === 4, 'the new list')
  t.strictSame(told(), ['apply a', 'apply b', 'delete a', 'apply c'], 'b did not change and is not told again')
  t.strictSame(
    informer
      .list()
      .map(o => o.metadata.name)
      .sort(),
    ['b', 'c'],
  )
  await stop()
})

t.test(
  'a server that calls each version too old is asked ever less often, and soon again once it was well',
  async t => {
    const clock = new FakeClock()
    const stop = new AbortController()
    let lists = 0
    let isStorm = true
    const client: SpaceClient = {
      ...new FakeServer().in('s'),
      list: async () => {
        // without a wait it would never end
        if (++lists > 100) stop.abort()
        return { items: [], resourceVersion: '5' }
      },
      async *watch(_resource, { signal }) {
        if (!isStorm) await new Promise<void>(resolve => clock.after(20_000, resolve))
        if (!signal.aborted) throw new StatusError('Expired', 'too old resource version')
      },
    }
    const informer = new Informer({ client, resource: KINDS.configmaps, clock, random: () => 1 })
    const run = informer.run(stop.signal)
    await settle()
    t.ok(lists <= 2, `${lists} lists at once`)
    await clock.advance(120_000)
    t.ok(lists < 15, `${lists} lists in two minutes`)
    isStorm = false
    await clock.advance(60_000)
    const before = lists
    await clock.advance(20_000)
    t.ok(lists > before, 'it was well for a while')
    stop.abort()
    await clock.advance(40_000)
    await run
  },
)

t.test('a version from the future of a restored server leads to a new list at once', async t => {
  const server = new FakeServer()
  const client = server.in('s')
  for (const name of ['a', 'b']) await client.create(KINDS.configmaps, configMap(name))
  const { informer, told, stop } = follow(server)
  await informer.synced
  const faults = [brokenConnection(), new StatusError('Timeout', 'Timeout: Too large resource version: 9, current: 3')]
  server.hook = verb => {
    const fault = verb === 'deliver' || verb === 'watch' ? faults.shift() : undefined
    if (fault) throw fault
  }
  await client.delete(KINDS.configmaps, { namespace: 'n', name: 'a' })
  await until(() => told().includes('delete a'), 'the new list')
  t.equal(server.requests.filter(request => request.startsWith('list')).length, 2)
  await stop()
})

t.test('failed lists, whatever the error, delete nothing', async t => {
  for (const reason of ['NotFound', 'Forbidden', 'ServiceUnavailable', 'Expired', 'InternalError'] as const) {
    const server = new FakeServer()
    const client = server.in('s')
    for (const name of ['a', 'b', 'c']) await client.create(KINDS.configmaps, configMap(name))
    const { informer, told, stop } = follow(server)
    await informer.synced
    let failures = 0
    server.hook = (verb, _space, _resource, name) => {
      if (verb === 'deliver' || verb === 'watch') throw new StatusError('Expired', 'too old')
      // the first page arrives, the second and the fall-back list do not
      if (verb === 'list' && (name !== '' || reason !== 'ServiceUnavailable' || failures > 3)) {
        failures++
        throw new StatusError(reason, 'no list')
      }
    }
    server.poke()
    await until(() => failures > 5, 'several failed lists')
    t.equal(informer.size, 3, reason)
    t.equal(told().length, 3)
    await stop()
  }
})

t.test('pages that are too long get half as many items', async t => {
  const server = new FakeServer()
  const client = server.in('s')
  for (let i = 0; i < 9; i++) await client.create(KINDS.configmaps, configMap(`c${i}`))
  const asked: (number | undefined)[] = []
  const tooLong = (most: number): SpaceClient => ({
    ...client,
    list: async (resource, options) => {
      asked.push(options?.limit)
      const page = await client.list(resource, options)
      if (page.items.length > most) throw new StatusError('RequestEntityTooLarge', 'too long')
      return page
    },
  })
  const { items } = await listAll(tooLong(2), KINDS.configmaps, { limit: 8 })
  t.equal(items.length, 9)
  t.same(asked, [8, 4, 2, 2, 2, 2, 2])
  await t.rejects(listAll(tooLong(0), KINDS.configmaps, { limit: 2 }), 'one object may be too long')
})

t.test('a list that does not end is given up', async t => {
  const page = (items: KubeObject[], more: object = {}) => ({ items, resourceVersion: '1', ...more })
  let pages = 0
  const listing = (answer: () => object): SpaceClient =>
    ({
      ...new FakeServer().in('s'),
      list: async () => {
        if (++pages > 100_000) throw new Error('it was read without bound')
        return answer()
      },
    }) as unknown as SpaceClient
  const named = (count: number): KubeObject[] => Array.from({ length: count }, (_, i) => configMap(`${pages}-${i}`))
  const chunk = named(2000)
  for (const [what, answer, most] of [
    ['the same token again', () => page(named(1), { continue: 'same' }), 2],
    ['pages without anything', () => page([], { continue: `${pages}` }), 100],
    ['ever more objects', () => page(chunk, { continue: `${pages}` }), 500],
    ['ever more bytes', () => page(named(1), { continue: `${pages}`, bytes: 2 ** 28 }), 4],
  ] as const) {
    pages = 0
    const list = listAll(listing(answer), KINDS.configmaps, { limit: 500 })
    await t.rejects(list, /^the list of configmaps does not end: after \d+ pages with \d+ objects there is more$/, what)
    t.equal(pages, most, what)
  }
})

t.test('connections may break at any point: the cache ends up as the server is', async t => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('put' as const), name: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ do: fc.constant('delete' as const), name: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ do: fc.constantFrom('turn' as const, 'compact' as const, 'poke' as const), name: fc.constant('') }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.array(fc.nat(3), { maxLength: 40 }),
      async (steps, faults) => {
        const server = new FakeServer()
        const client = server.in('s')
        for (const name of ['a', 'b', 'e']) await client.create(KINDS.configmaps, configMap(name))
        const script = [...faults]
        server.hook = verb => {
          if (!['deliver', 'watch', 'list'].includes(verb)) return
          if (script.shift() === 1) throw brokenConnection()
        }
        const { informer, stop } = follow(server, 1)
        const mirror = new Map<string, unknown>()
        informer.subscribe(change => {
          if (change.type === 'delete') mirror.delete(change.object.metadata.name!)
          else mirror.set(change.object.metadata.name!, change.object.metadata.resourceVersion)
        })
        for (const [index, { do: what, name }] of steps.entries()) {
          const exists = server.names('s', KINDS.configmaps).includes(name)
          if (what === 'put' && exists) {
            const body = { data: { value: String(index) } }
            await client.patch(KINDS.configmaps, { namespace: 'n', name }, 'merge', body)
          } else if (what === 'put') await client.create(KINDS.configmaps, configMap(name))
          else if (what === 'delete' && exists) await client.delete(KINDS.configmaps, { namespace: 'n', name })
          else if (what === 'compact') server.compact()
          else if (what === 'poke') server.poke()
          await new Promise(resolve => setImmediate(resolve))
        }
        server.hook = () => {}
        await client.create(KINDS.configmaps, configMap('last'))
        await until(() => informer.get({ namespace: 'n', name: 'last' }) !== undefined, 'the last object arrives')
        const { items } = await client.list(KINDS.configmaps)
        const truth = items.map(o => [o.metadata.name, o.metadata.resourceVersion]).sort()
        const cached = informer.list().map(o => [o.metadata.name, o.metadata.resourceVersion])
        await stop()
        t.strictSame(cached.sort(), truth)
        t.strictSame([...mirror].sort(), truth, 'and so does who only listened')
      },
    ),
    { numRuns: 60 },
  )
})

t.test(
  'the pages of a list are read in turns of the loop, and only what is asked for is held of each object',
  async t => {
    const server = new FakeServer()
    const client = server.in('s')
    for (let i = 0; i < 10; i++) await client.create(KINDS.configmaps, configMap(`c${i}`))
    const before = server.requests.length
    let most = 0
    let seen = before
    let done = false
    const list = listAll(client, KINDS.configmaps, { limit: 2 }, ({ metadata }) => metadata.name).finally(() => {
      done = true
    })
    while (!done) {
      await new Promise(resolve => setImmediate(resolve))
      most = Math.max(most, server.requests.length - seen)
      seen = server.requests.length
    }
    t.strictSame((await list).items, ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9'])
    t.ok(most <= 2, `${most} pages in a turn`)
  },
)
