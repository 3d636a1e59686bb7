/** How often a syncer asks its cluster: no more than it takes. */
import t from 'tap'
import type { SpaceClient } from '../../src/client/client.ts'
import { systemClock } from '../../src/client/clock.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { startCenter } from '../support/center.ts'
import { MAPS, NAMESPACES, namespace } from './support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from './support/pair.ts'

const center = await startCenter(t)
const NAMES = Array.from({ length: 20 }, (_, i) => `m${i}`)
const AROUND = { group: '', resource: 'configmaps', apiVersion: 'v1' }
const WANTS = { namespacedObjects: [{ ...AROUND, objectsByNamespace: [{ namespace: 'app', names: NAMES }] }] }

/** The cluster, and the requests about ConfigMaps of the Namespace app. */
function counted(p: Pair) {
  const asked: string[] = []
  const client = p.toCluster.cluster(p.cluster)
  const note = (verb: string, resource: { resource: string }, namespace: string | undefined): void => {
    if (resource.resource === 'configmaps' && namespace === 'app') asked.push(verb)
  }
  const cluster: SpaceClient = {
    ...client,
    get(resource, ref) {
      note('get', resource, ref.namespace)
      return client.get(resource, ref)
    },
    create(resource, object, options) {
      note('create', resource, object.metadata.namespace)
      return client.create(resource, object, options)
    },
    patch(resource, ref, type, body, options) {
      note('patch', resource, ref.namespace)
      return client.patch(resource, ref, type, body, options)
    },
  }
  return { asked, cluster }
}

const of = (asked: readonly string[], verb: string): number => asked.filter(one => one === verb).length

t.test('what the cluster does not have costs one request each', async t => {
  const p = await pairIn(center, t, WANTS)
  for (const name of NAMES) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
  const { asked, cluster } = counted(p)
  p.start(silentLogger, systemClock, { cluster, quietMs: 60_000 })
  for (const name of NAMES) await center.world.present(p.clusterId, `configmaps app/${name}`)
  t.equal(of(asked, 'get'), 0)
  // the first one finds no Namespace
  t.ok(of(asked, 'create') <= 2 * NAMES.length, `${of(asked, 'create')} creates`)
  t.equal(of(asked, 'patch'), 0)
})

t.test('what somebody else made is looked at before it is tried again', async t => {
  const p = await pairIn(center, t, WANTS)
  await p.cluster.create(
    { group: '', version: 'v1', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'app' } },
  )
  const theirs = sent('m0', { x: 'theirs' })
  const { labels: _, ...metadata } = theirs.metadata
  await p.cluster.create(MAPS, { ...theirs, metadata })
  await p.mailbox.create(MAPS, sent('m0', { x: '1' }))
  const { asked, cluster } = counted(p)
  p.start(silentLogger, systemClock, { cluster, quietMs: 60_000 })
  const refused = (): boolean => of(asked, 'get') >= 3
  await p.mailbox.create(MAPS, sent('m1', { x: '1' }))
  await center.world.present(p.clusterId, 'configmaps app/m1')
  for (let turn = 1; !refused(); turn++)
    await p.mailbox.patch(MAPS, { namespace: 'app', name: 'm0' }, 'merge', { data: { turn: `${turn}` } })
  t.equal(of(asked, 'create'), 2, 'one for each that might be new')
  t.same((await p.cluster.get(MAPS, { namespace: 'app', name: 'm0' })).data, { x: 'theirs' })
})

t.test('a restart asks for nothing and writes nothing that stands there already, and still repairs', async t => {
  const p = await pairIn(center, t, WANTS)
  for (const name of NAMES) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
  const first = p.start(silentLogger, systemClock, { quietMs: 60_000 })
  for (const name of NAMES) await center.world.present(p.clusterId, `configmaps app/${name}`)
  await p.settled()
  await first.stop()
  await p.cluster.patch(MAPS, { namespace: 'app', name: 'm3' }, 'merge', { data: { x: 'drifted' } })
  const { asked, cluster } = counted(p)
  const second = p.start(silentLogger, systemClock, { cluster, quietMs: 60_000 })
  await second.synced
  const data = (name: string, x: string) =>
    center.world.present(p.clusterId, `configmaps app/${name}`, ({ data }) => (data as { x: string }).x === x)
  await data('m3', '1')
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'm5' }, 'merge', { data: { x: '2' } })
  await data('m5', '2')
  await p.settled()
  // taking over what was created is a patch of its own, as before
  t.ok(of(asked, 'patch') <= 4, `${asked}`)
  t.ok(of(asked, 'get') <= 1, `${asked}`)
  t.equal(of(asked, 'create'), 0)
})

t.test('the one object of a Namespace does not wait for the many of another', async t => {
  const many = Array.from({ length: 200 }, (_, i) => `m${i}`)
  const objectsByNamespace = [
    { namespace: 'app', names: many },
    { namespace: 'zoo', names: ['one'] },
  ]
  const p = await pairIn(center, t, { namespacedObjects: [{ ...AROUND, objectsByNamespace }] })
  await p.mailbox.create(NAMESPACES, namespace('zoo', PROJECTED))
  for (const name of many) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
  const { metadata, ...one } = sent('one', { x: '1' })
  await p.mailbox.create(MAPS, { ...one, metadata: { ...metadata, namespace: 'zoo' } })
  const made: (string | undefined)[] = []
  const client = p.toCluster.cluster(p.cluster)
  const cluster: SpaceClient = {
    ...client,
    create(resource, object, options) {
      if (resource.resource === 'configmaps') made.push(object.metadata.name)
      return client.create(resource, object, options)
    },
  }
  p.start(silentLogger, systemClock, { cluster, quietMs: 60_000 })
  await center.world.present(p.clusterId, 'configmaps zoo/one')
  t.ok(made.indexOf('one') < 100, `it was number ${made.indexOf('one')}`)
})
