/** Objects that are there, changed as a whole. */
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { at, MAPS, map, NAMESPACES, refused, SETS, type Statement, set } from './statement.ts'

const stale = refused('Conflict', { code: 409, details: { name: 'a' } })

export const updates: Statement[] = [
  {
    says: 'an update replaces the object, and gives it a new version',
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a', { k: '1' }, { labels: { x: 'y' } }))
      const { labels: _, ...metadata } = made.metadata
      const updated = await world.api.update(MAPS, { ...made, metadata, data: { other: '2' } })
      t.strictSame(updated.data, { other: '2' })
      t.notOk(updated.metadata.labels)
      t.ok(Number(updated.metadata.resourceVersion) > Number(made.metadata.resourceVersion))
      t.strictSame(await world.api.get(MAPS, at(world, 'a')), updated)
    },
  },
  {
    says: 'an update of an earlier version is a conflict; without a version it is taken',
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a'))
      const { resourceVersion } = await world.api.update(MAPS, map(world, 'a', { k: '1' })).then(o => o.metadata)
      await t.rejects(world.api.update(MAPS, { ...made, data: { k: '2' } }), stale)
      const current = map(world, 'a', { k: '3' }, { resourceVersion })
      t.match(await world.api.update(MAPS, current), { data: { k: '3' } })
      await t.rejects(world.api.update(MAPS, current), stale)
    },
  },
  {
    says: 'an update of another object of the same name is a conflict',
    async run(t, world) {
      await world.api.create(MAPS, map(world, 'a'))
      await t.rejects(world.api.update(MAPS, map(world, 'a', { k: '1' }, { uid: 'other' })), stale)
    },
  },
  {
    says: 'an update of a missing object is NotFound',
    async run(t, world) {
      await t.rejects(world.api.update(MAPS, map(world, 'a')), refused('NotFound'))
      const versioned = map(world, 'a', {}, { resourceVersion: '1' })
      await t.rejects(world.api.update(MAPS, versioned), refused('NotFound'))
    },
  },
  {
    says: 'an update that changes nothing keeps the version',
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a', { k: '1' }))
      t.strictSame(await world.api.update(MAPS, made), made)
      t.equal((await world.api.get(MAPS, at(world, 'a'))).metadata.resourceVersion, made.metadata.resourceVersion)
    },
  },
  {
    says: 'the generation rises with the spec, and with nothing else',
    async run(t, world) {
      const { api } = world
      const made = await api.create(SETS, set(world, 'a'))
      t.equal(made.metadata.generation, 1)
      const labelled = await api.update(SETS, { ...made, metadata: { ...made.metadata, labels: { x: 'y' } } })
      t.equal(labelled.metadata.generation, 1)
      const reported = await api.update(SETS, { ...labelled, status: { replicas: 1 } }, { subresource: 'status' })
      t.equal(reported.metadata.generation, 1)
      const scaled = await api.update(SETS, { ...reported, spec: { ...(reported.spec as object), replicas: 2 } })
      t.equal(scaled.metadata.generation, 2)
    },
  },
  {
    says: 'an update leaves the status of a kind whose status is a sub-resource, and its sub-resource the rest',
    async run(t, world) {
      const { api } = world
      const made = await api.create(SETS, set(world, 'a'))
      const reported = await api.update(
        SETS,
        { ...made, spec: { ...(made.spec as object), replicas: 9 }, status: { replicas: 3 } },
        { subresource: 'status' },
      )
      t.match(reported, { spec: { replicas: 1 }, status: { replicas: 3 } })
      const { resourceVersion: _, ...metadata } = made.metadata
      const labelled = await api.update(SETS, {
        ...made,
        metadata: { ...metadata, labels: { x: 'y' } },
        status: { replicas: 5 },
      })
      t.match(labelled, { metadata: { labels: { x: 'y' } }, spec: { replicas: 1 }, status: { replicas: 3 } })
      await t.rejects(api.update(SETS, { ...made, status: { replicas: 4 } }, { subresource: 'status' }), stale)
    },
  },
  {
    says: 'a kind without that sub-resource refuses it',
    async run(t, world) {
      await world.api.create(MAPS, map(world, 'a'))
      const status = { subresource: 'status' }
      await t.rejects(world.api.update(MAPS, map(world, 'a'), status), refused('NotFound'))
      await t.rejects(world.api.patch(MAPS, at(world, 'a'), 'merge', {}, status), refused('NotFound'))
    },
  },
  {
    says: 'the time of creation, and the time of deletion, cannot be changed',
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a', {}, { finalizers: ['example.com/hold'] }))
      await world.api.delete(MAPS, at(world, 'a'))
      const ending = await world.api.get(MAPS, at(world, 'a'))
      const { deletionTimestamp: _, ...rest } = ending.metadata
      const metadata = { ...rest, creationTimestamp: '2001-01-01T00:00:00Z' }
      const kept = await world.api.update(MAPS, { ...ending, metadata, data: { k: '1' } })
      t.equal(kept.metadata.creationTimestamp, made.metadata.creationTimestamp)
      t.equal(kept.metadata.deletionTimestamp, ending.metadata.deletionTimestamp)
    },
  },
  {
    says: 'an ending object is gone with its last finalizer',
    async run(t, world) {
      const { api } = world
      await api.create(MAPS, map(world, 'a', {}, { finalizers: ['example.com/one', 'example.com/two'] }))
      await api.delete(MAPS, at(world, 'a'))
      const release = async (finalizers: string[]): Promise<KubeObject> => {
        const object = await api.get(MAPS, at(world, 'a'))
        return await api.update(MAPS, { ...object, metadata: { ...object.metadata, finalizers } })
      }
      t.match(await release(['example.com/two']), {
        metadata: { finalizers: ['example.com/two'], deletionTimestamp: /./ },
      })
      await release([])
      await t.rejects(api.get(MAPS, at(world, 'a')), refused('NotFound'))
    },
  },
  {
    says: 'finalizers of a Namespace go through its sub-resource, and the last one ends it',
    needs: ['finalize'],
    async run(t, world) {
      const { api, namespace } = world
      t.match(await api.get(NAMESPACES, { name: namespace }), { spec: { finalizers: ['kubernetes'] } })
      await api.delete(NAMESPACES, { name: namespace })
      const ending = await api.get(NAMESPACES, { name: namespace })
      t.match(ending.metadata, { deletionTimestamp: /./ })
      await api.update(NAMESPACES, { ...ending, spec: {} })
      t.match(await api.get(NAMESPACES, { name: namespace }), { spec: { finalizers: ['kubernetes'] } })
      await api.update(NAMESPACES, { ...ending, spec: { finalizers: [] } }, { subresource: 'finalize' })
      await t.rejects(api.get(NAMESPACES, { name: namespace }), refused('NotFound'))
    },
  },
  {
    says: 'a dry run of an update answers like one, and changes nothing',
    needs: ['dryRun'],
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a', { k: '1' }))
      t.match(await world.api.update(MAPS, map(world, 'a', { k: '2' }), { dryRun: true }), { data: { k: '2' } })
      t.strictSame(await world.api.get(MAPS, at(world, 'a')), made)
      const late = map(world, 'a', { k: '2' }, { resourceVersion: '1' })
      await t.rejects(world.api.update(MAPS, late, { dryRun: true }), refused('Conflict'))
    },
  },
  {
    says: 'an update may write a status with the rest',
    needs: ['withStatus'],
    async run(t, world) {
      const made = await world.api.create(SETS, set(world, 'a'))
      const spec = { ...(made.spec as object), replicas: 2 }
      await world.api.update(SETS, { ...made, spec, status: { replicas: 3 } }, { withStatus: true })
      t.match(await world.api.get(SETS, at(world, 'a')), { spec: { replicas: 2 }, status: { replicas: 3 } })
    },
  },
]
