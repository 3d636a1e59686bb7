/** Changes of one resource, and of a whole space. */
import type { StreamBatch, StreamEvent, StreamOptions } from '../../../src/client/client.ts'
import { at, MAPS, map, refused, SETS, type Statement, said, set, take, type World } from './statement.ts'

const watched =
  ({ api, namespace }: World, resourceVersion: string, more: object = {}) =>
  (signal: AbortSignal) =>
    api.watch(MAPS, { namespace, resourceVersion, signal, ...more })

const shown = ({ type, object }: { type: string; object: { metadata: { name?: string } } }) =>
  `${type} ${object.metadata.name}`

/** A stream until as many of its events are of the world's Namespace. */
async function follow(
  world: World,
  count: number,
  { onSynced, ...options }: Omit<StreamOptions, 'space' | 'signal'> & { onSynced?: () => void } = {},
) {
  const end = new AbortController()
  const batches: StreamBatch[] = []
  const events: StreamEvent[] = []
  for await (const batch of world.client.stream({ space: world.space, signal: end.signal, ...options })) {
    batches.push(batch)
    events.push(...batch.events.filter(({ namespace }) => namespace === world.namespace))
    if (batch.synced) onSynced?.()
    if (events.length >= count && (options.after !== undefined || batches.some(({ synced }) => synced))) end.abort()
  }
  return { batches, events }
}

export const watches: Statement[] = [
  {
    says: 'a watch tells what came, changed and went behind its version, in order and once',
    needs: ['watch', 'list'],
    async run(t, world) {
      const { api, namespace } = world
      await api.create(MAPS, map(world, 'before'))
      const { resourceVersion } = await api.list(MAPS, { namespace })
      const a = await api.create(MAPS, map(world, 'a'))
      const changed = await api.update(MAPS, { ...a, data: { k: '1' } })
      await api.update(MAPS, changed)
      await api.delete(MAPS, at(world, 'a'))
      await api.create(SETS, set(world, 'other'))
      await api.create(MAPS, map(world, 'b'))
      const seen = await take(watched(world, resourceVersion), 4)
      t.strictSame(seen.map(shown), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b'])
      t.strictSame(seen[0]!.object, a)
      t.strictSame(seen[1]!.object, changed)
      const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion))
      t.strictSame(
        versions,
        versions.toSorted((x, y) => x - y),
      )
      t.equal(new Set(versions).size, 4, 'a deletion has a version of its own')
      t.match(seen[2]!.object, { data: { k: '1' } }, 'and the object as it was')
      const rest = await take(watched(world, String(versions[1])), 2)
      t.strictSame(rest.map(shown), ['DELETED a', 'ADDED b'])
    },
  },
  {
    says: 'a watch tells of an ending object that it changes first, and goes with its last finalizer',
    needs: ['watch'],
    async run(t, world) {
      const { api } = world
      const made = await api.create(MAPS, map(world, 'a', {}, { finalizers: ['example.com/hold'] }))
      await api.delete(MAPS, at(world, 'a'))
      await api.patch(MAPS, at(world, 'a'), 'merge', { metadata: { finalizers: null } })
      const seen = await take(watched(world, made.metadata.resourceVersion!), 2)
      t.strictSame(seen.map(shown), ['MODIFIED a', 'DELETED a'])
      t.match(seen[0]!.object.metadata, { deletionTimestamp: /./ })
    },
  },
  {
    says: 'a watch goes on live, and ends quietly when its signal aborts',
    needs: ['watch', 'list'],
    async run(t, world) {
      const { api, namespace } = world
      const { resourceVersion } = await api.list(MAPS, { namespace })
      const first = take(watched(world, resourceVersion), 1)
      await api.create(MAPS, map(world, 'a'))
      t.strictSame((await first).map(shown), ['ADDED a'])
      const aborted = () => watched(world, resourceVersion)(AbortSignal.abort())
      t.strictSame(await take(aborted, 1), [])
    },
  },
  {
    says: 'a watch from a version that is forgotten is Expired',
    needs: ['watch'],
    async run(t, world) {
      const { metadata } = await world.api.create(MAPS, map(world, 'a'))
      await world.api.create(MAPS, map(world, 'b'))
      await world.forget()
      await t.rejects(take(watched(world, metadata.resourceVersion!), 1), refused('Expired', { code: 410 }))
    },
  },
  {
    says: 'a watch of a selection tells what enters as added, and what leaves as deleted',
    needs: ['watch', 'list', 'selectors'],
    async run(t, world) {
      const { api, namespace } = world
      const { resourceVersion } = await api.list(MAPS, { namespace })
      await api.create(MAPS, map(world, 'a'))
      for (const x of ['1', '1', '2', null])
        await api.patch(MAPS, at(world, 'a'), 'merge', { metadata: { labels: { x } }, data: { x: String(x) } })
      const seen = await take(watched(world, resourceVersion, { labelSelector: 'x=1' }), 2)
      t.strictSame(seen.map(shown), ['ADDED a', 'DELETED a'])
    },
  },
  {
    says: 'a stream begins with what there is, says when that is all, and goes on with each change',
    async run(t, world) {
      const { api } = world
      const a = await api.create(MAPS, map(world, 'a', { word: 'needle' }))
      const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>()
      const following = follow(world, 4, { onSynced })
      await synced
      const changed = await api.update(MAPS, { ...a, data: { word: 'other' } })
      await api.create(SETS, set(world, 's'))
      await api.delete(MAPS, at(world, 'a'))
      const { batches, events } = await following
      t.equal(batches.filter(({ synced }) => synced).length, 1)
      t.strictSame(
        events.map(({ type, name }) => `${type} ${name}`),
        ['ADDED a', 'MODIFIED a', 'ADDED s', 'DELETED a'],
      )
      t.match([events[0]!.object, events[1]!.object], [said(a), said(changed)])
      t.match(events[3], { resource: MAPS, object: { data: changed.data as object } })
      t.match(
        events.find(({ name }) => name === 's'),
        { type: 'ADDED', resource: SETS, namespace: world.namespace },
      )
      for (const event of events) t.equal(event.mentions(`"${event.name}"`), true)
      t.equal(events[0]!.mentions('nowhere in it'), false)
      const revisions = batches.slice(batches.findIndex(({ synced }) => synced)).map(({ revision }) => revision)
      t.strictSame(
        revisions,
        revisions.toSorted((x, y) => x - y),
        'cursors rise behind the snapshot',
      )
    },
  },
  {
    says: 'a stream of some resources tells of no other',
    async run(t, world) {
      await world.api.create(MAPS, map(world, 'a'))
      await world.api.create(SETS, set(world, 's'))
      const { events } = await follow(world, 1, { resources: [{ group: 'apps', resource: 'replicasets' }] })
      t.strictSame(
        events.map(({ name }) => name),
        ['s'],
      )
    },
  },
  {
    says: 'a stream resumes behind its cursor, without a snapshot',
    needs: ['resume'],
    async run(t, world) {
      const { api } = world
      await api.create(MAPS, map(world, 'a'))
      const after = (await follow(world, 1)).batches.at(-1)!.revision
      await api.create(MAPS, map(world, 'b'))
      await api.delete(MAPS, at(world, 'a'))
      const { events } = await follow(world, 2, { after })
      t.strictSame(
        events.map(({ type, name }) => `${type} ${name}`),
        ['ADDED b', 'DELETED a'],
      )
    },
  },
  {
    says: 'a stream behind a cursor that is forgotten is Expired',
    needs: ['resume'],
    async run(t, world) {
      const { metadata } = await world.api.create(MAPS, map(world, 'a'))
      await world.api.create(MAPS, map(world, 'b'))
      await world.forget()
      await t.rejects(follow(world, 1, { after: Number(metadata.resourceVersion) }), refused('Expired'))
    },
  },
]
