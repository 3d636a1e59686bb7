/** Objects that are there, changed in part. */
import { at, MAPS, map, refused, SETS, type Statement, set } from './statement.ts'

export const patches: Statement[] = [
  {
    says: 'a merge patch sets, removes with null, and replaces lists',
    async run(t, world) {
      const { api } = world
      await api.create(MAPS, map(world, 'a', { keep: '1', go: '2' }, { finalizers: ['example.com/one'] }))
      const patched = await api.patch(MAPS, at(world, 'a'), 'merge', {
        metadata: { labels: { x: 'y' }, finalizers: ['example.com/two'] },
        data: { go: null, come: '3' },
      })
      t.strictSame(patched.data, { keep: '1', come: '3' })
      t.match(patched.metadata, { labels: { x: 'y' }, finalizers: ['example.com/two'] })
      t.equal(patched.metadata.finalizers?.length, 1)
      t.strictSame(await api.get(MAPS, at(world, 'a')), patched)
    },
  },
  {
    says: 'a merge patch that changes nothing keeps the version',
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a', { k: '1' }))
      t.strictSame(await world.api.patch(MAPS, at(world, 'a'), 'merge', { data: { k: '1' } }), made)
    },
  },
  {
    says: 'a patch with an earlier version is a conflict, and one with another uid invalid',
    async run(t, world) {
      const { api } = world
      const { metadata } = await api.create(MAPS, map(world, 'a'))
      const patch = (metadata: object) => api.patch(MAPS, at(world, 'a'), 'merge', { metadata, data: { k: '1' } })
      await t.rejects(patch({ uid: 'other' }), refused('Invalid', { details: { causes: [{ field: 'metadata.uid' }] } }))
      t.match(await patch({ uid: metadata.uid, resourceVersion: metadata.resourceVersion }), { data: { k: '1' } })
      await t.rejects(patch({ resourceVersion: metadata.resourceVersion }), refused('Conflict'))
    },
  },
  {
    says: 'a patch of a missing object is NotFound',
    async run(t, world) {
      await t.rejects(world.api.patch(MAPS, at(world, 'a'), 'merge', {}), refused('NotFound'))
    },
  },
  {
    says: 'a patch leaves the status of a kind whose status is a sub-resource, and its sub-resource the rest',
    async run(t, world) {
      const { api } = world
      await api.create(SETS, set(world, 'a'))
      const body = { spec: { replicas: 2 }, status: { replicas: 3 } }
      const reported = await api.patch(SETS, at(world, 'a'), 'merge', body, { subresource: 'status' })
      t.match(reported, { spec: { replicas: 1 }, status: { replicas: 3 } })
      const scaled = await api.patch(SETS, at(world, 'a'), 'merge', { ...body, status: { replicas: 7 } })
      t.match(scaled, { metadata: { generation: 2 }, spec: { replicas: 2 }, status: { replicas: 3 } })
    },
  },
  {
    says: 'a patch that removes the last finalizer ends an ending object',
    async run(t, world) {
      await world.api.create(MAPS, map(world, 'a', {}, { finalizers: ['example.com/hold'] }))
      await world.api.delete(MAPS, at(world, 'a'))
      await world.api.patch(MAPS, at(world, 'a'), 'merge', { metadata: { finalizers: null } })
      await t.rejects(world.api.get(MAPS, at(world, 'a')), refused('NotFound'))
    },
  },
  {
    says: 'a JSON patch does its operations in order, and all of them or none',
    needs: ['json'],
    async run(t, world) {
      const { api } = world
      const made = await api.create(MAPS, map(world, 'a', { k: '1' }))
      const add = { op: 'add', path: '/data/n', value: '2' }
      const other = { op: 'test', path: '/data/k', value: '0' }
      await t.rejects(api.patch(MAPS, at(world, 'a'), 'json', [add, other]), refused('Invalid'))
      t.strictSame(await api.get(MAPS, at(world, 'a')), made)
      const patched = await api.patch(MAPS, at(world, 'a'), 'json', [add, { op: 'remove', path: '/data/k' }])
      t.strictSame(patched.data, { n: '2' })
    },
  },
  {
    says: 'a strategic merge patch merges lists by their key',
    needs: ['strategic'],
    async run(t, world) {
      await world.api.create(SETS, set(world, 'a'))
      const containers = [{ name: 'd', image: 'j' }]
      const body = { spec: { template: { spec: { containers } } } }
      const { spec } = await world.api.patch(SETS, at(world, 'a'), 'strategic', body)
      t.match(spec, { template: { spec: { containers: [{ name: 'd' }, { name: 'c', image: 'i' }] } } })
    },
  },
  {
    says: 'an apply makes what is missing, owns its fields, and takes those of others by force alone',
    needs: ['apply'],
    async run(t, world) {
      const { api } = world
      const apply = (fieldManager: string, data: object, force = false) =>
        api.patch(MAPS, at(world, 'a'), 'apply', { ...map(world, 'a'), data }, { fieldManager, force })
      t.match(await apply('one', { k: '1', mine: '1' }), { data: { k: '1', mine: '1' } })
      const causes = [{ reason: 'FieldManagerConflict', field: '.data.k' }]
      await t.rejects(apply('two', { k: '2' }), refused('Conflict', { details: { causes } }))
      t.strictSame((await apply('two', { k: '2' }, true)).data, { k: '2', mine: '1' })
      t.strictSame((await apply('one', {})).data, { k: '2' })
    },
  },
  {
    says: 'a dry run of a patch answers like one, and changes nothing',
    needs: ['dryRun'],
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a', { k: '1' }))
      const body = { data: { k: '2' } }
      t.match(await world.api.patch(MAPS, at(world, 'a'), 'merge', body, { dryRun: true }), body)
      t.strictSame(await world.api.get(MAPS, at(world, 'a')), made)
    },
  },
]
