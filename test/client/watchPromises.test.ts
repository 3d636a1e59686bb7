/**
 * Streams and informers of a real server, over HTTP and in process, while writers write and connections break at random. Every promise of a
 * watch is kept, and copies end up as the present content.
 */
import t from 'tap'
import { StatusError } from '../../src/apimachinery/errors.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import type { Client } from '../../src/client/client.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { Informer } from '../../src/client/informer.ts'
import { Api } from '../support/api.ts'
import * as fc from '../support/fastCheck.ts'
import { FaultPoints } from '../support/faultPoints.ts'
import { faultyLink } from '../support/faultyLink.ts'
import { accessOf, configMap, startTestServer } from '../support/server.ts'
import { brokenPromises, type History, type Seen } from '../support/watchHistory.ts'
import { followerOf, followStream, logOf, splitInitial } from '../support/watchRecords.ts'
import { anyWriters, CONFIG_MAPS, isIn, Scenario, type Writers } from '../support/watchScenario.ts'
import { hastyClock } from './support/fakeClock.ts'

const { api, server, faults } = await startTestServer(t)
const access = accessOf(server.kubeconfigPath)
const points = new FaultPoints()
const link = await faultyLink(t, server.url, points)
const remote = httpClient({
  server: link,
  ...(access.ca && { caPem: access.ca }),
  ...(access.cert && { certPem: access.cert }),
  ...(access.key && { keyPem: access.key }),
})
t.teardown(() => remote.close())
const clients: Record<string, Client> = { remote, local: embeddedClient({ ...server, component: 'test' }) }

const isEndOf =
  ({ namespace }: Scenario) =>
  (event: Seen): boolean =>
    event.type !== 'BOOKMARK' && event.key.endsWith(`/${namespace}/end`)

/** A space stream that is resumed whenever its connection breaks. */
async function stream(name: string, client: Client, scenario: Scenario) {
  const seen: Seen[] = []
  const isEnd = isEndOf(scenario)
  const { group, resource } = CONFIG_MAPS
  while (!seen.some(isEnd)) {
    const open = (after: number | undefined, signal: AbortSignal) =>
      client.stream({ space: 'root', resources: [{ group, resource }], ...(after !== undefined && { after }), signal })
    try {
      await followStream(open, seen, isEnd)
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'ServiceUnavailable')) throw error
    }
  }
  return splitInitial(name, seen)
}

/** An informer, until it holds the last object. */
async function informer(name: string, client: Client, scenario: Scenario, labelSelector?: string) {
  const { namespace, naming } = scenario
  const copy = new Informer({
    client: client.in('root'),
    resource: CONFIG_MAPS,
    namespace,
    pageSize: 2,
    ...(labelSelector && { labelSelector }),
    clock: hastyClock,
    random: () => 0,
  })
  const record = followerOf(name, naming, copy)
  const stop = new AbortController()
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  copy.subscribe(({ type, object }) => {
    if (type === 'apply' && object.metadata.name === 'end') resolve()
  })
  const run = copy.run(stop.signal)
  await ended
  stop.abort()
  await run
  return { ...record.end(), ...(labelSelector && { selects: isIn }) }
}

let runs = 0
async function play(before: Writers, writers: Writers): Promise<History> {
  const scenario = new Scenario(`n${runs++}`)
  await scenario.begin(api)
  await scenario.write(api, before)
  const streams = Object.entries(clients).map(([name, client]) => stream(`${name} stream`, client, scenario))
  const followers = Object.entries(clients).flatMap(([name, client]) => [
    informer(`${name} informer`, client, scenario),
    informer(`${name} informer of a selection`, client, scenario, 'in=yes'),
  ])
  await scenario.write(api, writers)
  const through = await scenario.end(api)
  const followed = await Promise.all(followers)
  const streamed = await Promise.all(streams)
  const log = await logOf(server.store, { space: 'root', group: '', resource: 'configmaps' })
  const { acknowledged, range } = scenario
  const ofNamespace = log.filter(({ key }) => key.includes(`/${range.namespace}/`))
  const history: History = {
    log,
    acknowledged,
    snapshots: streamed.map(({ snapshot }) => snapshot),
    streams: streamed.map(({ snapshot: { name }, after, seen }) => ({ name, after, seen, through })),
  }
  // informers hold one namespace
  const broken = brokenPromises({ log: ofNamespace, followers: followed })
  if (broken.length > 0) throw new Error(JSON.stringify(broken, undefined, 1))
  return history
}

async function keep(history: Promise<History>): Promise<void> {
  const broken = brokenPromises(await history)
  if (broken.length > 0) throw new Error(JSON.stringify(broken, undefined, 1))
}

t.test('streams and informers, over HTTP and in process', async t => {
  const promises = fc.asyncProperty(anyWriters, anyWriters, (...plan) => keep(play(...plan)))
  await fc.assert(promises, { numRuns: 2, endOnFailure: true })
  t.strictSame(faults, [])
})

t.test('the same when connections break in the middle of what the server sends', async t => {
  const breaks = fc.array(fc.nat(12), { minLength: 4, maxLength: 12 })
  const promises = fc.asyncProperty(breaks, anyWriters, anyWriters, async (skips, ...plan) => {
    for (const skip of skips) points.arm('watch write broken', skip)
    await keep(play(...plan))
    points.clear()
  })
  await fc.assert(promises, { numRuns: 2, endOnFailure: true })
  t.ok(points.happened.includes('watch write broken'))
  t.strictSame(faults, [])
})

t.test('a write whose answer is lost was made once, and everybody is told of it', async t => {
  const scenario = new Scenario('lost')
  await scenario.begin(api)
  const unsure = new Api({ ...access, url: link })
  t.teardown(() => unsure.close())
  const watch = await api.watch(`${scenario.path}?watch=1&resourceVersion=${server.store.revision}`)
  // the connection is open, so that the next piece that comes is the answer
  await unsure.ok(unsure.get(scenario.path))
  points.arm('answer lost')
  await t.rejects(unsure.post(scenario.path, configMap('a')))
  t.match(await watch.take(1), [{ type: 'ADDED', object: { metadata: { name: 'a' } } }])
  t.match(await unsure.post(scenario.path, configMap('a')), { code: 409, body: { reason: 'AlreadyExists' } })
  watch.close()

  const losses = fc.array(fc.nat(6), { minLength: 1, maxLength: 5 })
  const promises = fc.asyncProperty(losses, anyWriters, async (skips, writers) => {
    const scenario = new Scenario(`n${runs++}`)
    await scenario.begin(api)
    const following = stream('stream', clients.local!, scenario)
    for (const skip of skips) points.arm('answer lost', skip)
    await scenario.write(unsure, writers)
    points.clear()
    const through = await scenario.end(api)
    const { snapshot, after, seen } = await following
    const log = await logOf(server.store, { space: 'root', group: '', resource: 'configmaps' })
    const { acknowledged } = scenario
    await keep(
      Promise.resolve({ log, acknowledged, snapshots: [snapshot], streams: [{ name: 's', after, seen, through }] }),
    )
  })
  await fc.assert(promises, { numRuns: 2, endOnFailure: true })
  t.strictSame(faults, [])
})
