/** Knowledge of a kind before its first list is there, and listeners for objects that the list lacks. */
import t, { type Test } from 'tap'
import type { SpaceClient } from '../../../src/client/client.ts'
import type { Clock } from '../../../src/client/clock.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { keyText } from '../../../src/syncer/mailbox/mirror.ts'
import { ClusterWatches } from '../../../src/syncer/sees/clusterWatches.ts'
import { FakeClock, hastyClock, until } from '../../client/support/fakeClock.ts'
import { FakeServer, KINDS } from '../../client/support/fakeServer.ts'
import { configMap } from '../support/kinds.ts'

const MAPS = KINDS.configmaps
const keyOf = (name: string) => ({ group: '', resource: 'configmaps', namespace: 'app', name })

/** Watches of a cluster whose lists wait until they are let through; by default every patience with them is over at once. */
function watching(t: Test, clock: Clock = hastyClock) {
  const cluster = new FakeServer().in('s')
  const told: string[] = []
  const listing = Promise.withResolvers<void>()
  const client: SpaceClient = {
    ...cluster,
    async list(...args) {
      await listing.promise
      return await cluster.list(...args)
    },
  }
  const watches = new ClusterWatches({
    client,
    logger: silentLogger,
    clock,
    onChange: (_resource, { type, object }) => told.push(`${type} ${object.metadata.name}`),
    onMissing: key => told.push(`missing ${keyText(key)}`),
    random: () => 0.5,
  })
  t.teardown(async () => {
    listing.resolve()
    await watches.stop()
  })
  return { cluster, watches, told, letThrough: () => listing.resolve() }
}

t.test('whoever did not wait for the first list hears what it does not hold', async t => {
  const { cluster, watches, told, letThrough } = watching(t)
  await cluster.create(MAPS, configMap('a'))
  await cluster.create(MAPS, configMap('b'))
  watches.want([MAPS])
  await watches.firstList(keyOf('a'))
  await watches.firstList(keyOf('b'))
  t.notOk(watches.hasSynced(MAPS))
  await cluster.delete(MAPS, { namespace: 'app', name: 'a' })
  letThrough()
  await until(() => told.length === 2, 'both are told')
  t.strictSame(told, ['apply b', `missing ${keyText(keyOf('a'))}`])
})

t.test('whoever waited for it knows, and hears nothing more', async t => {
  // its patience does not end
  const { cluster, watches, told, letThrough } = watching(t, new FakeClock())
  watches.want([MAPS])
  const waited = watches.firstList(keyOf('a'))
  letThrough()
  await waited
  t.ok(watches.hasSynced(MAPS))
  await cluster.create(MAPS, configMap('b'))
  await until(() => told.length > 0, 'b is told')
  t.strictSame(told, ['apply b'])
})

t.test('what goes while a kind is watched in another version is told', async t => {
  const { cluster, watches, told, letThrough } = watching(t)
  letThrough()
  await cluster.create(MAPS, configMap('a'))
  await cluster.create(MAPS, configMap('b'))
  watches.want([MAPS])
  await until(() => watches.hasSynced(MAPS), 'the first list')
  watches.want([{ ...MAPS, version: 'v2' }])
  await cluster.delete(MAPS, { namespace: 'app', name: 'a' })
  await until(() => watches.hasSynced(MAPS), 'the list in the other version')
  await until(() => told.includes('delete a'), 'the end of a')
  t.strictSame(told, ['apply a', 'apply b', 'apply b', 'delete a'])
})

t.test('what was asked about early is not forgotten when another version is watched before the first list', async t => {
  const { cluster, watches, told, letThrough } = watching(t)
  await cluster.create(MAPS, configMap('a'))
  watches.want([MAPS])
  await watches.firstList(keyOf('a'))
  watches.want([{ ...MAPS, version: 'v2' }])
  await cluster.delete(MAPS, { namespace: 'app', name: 'a' })
  letThrough()
  await until(() => told.length > 0, 'the missing one is told')
  t.strictSame(told, [`missing ${keyText(keyOf('a'))}`])
})
