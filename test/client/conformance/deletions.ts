/** Objects as they end. */
import { at, MAPS, map, refused, type Statement } from './statement.ts'

const HOLD = { finalizers: ['example.com/hold'] }

export const deletions: Statement[] = [
  {
    says: 'a deleted object is gone, and a missing one is NotFound',
    async run(t, world) {
      await world.api.create(MAPS, map(world, 'a'))
      t.equal(await world.api.delete(MAPS, at(world, 'a')), undefined)
      await t.rejects(world.api.get(MAPS, at(world, 'a')), refused('NotFound'))
      await t.rejects(world.api.delete(MAPS, at(world, 'a')), refused('NotFound', { details: { name: 'a' } }))
    },
  },
  {
    says: 'a deletion whose precondition does not hold is a conflict, and the object stays',
    async run(t, world) {
      const { api } = world
      const { metadata } = await api.create(MAPS, map(world, 'a'))
      const { uid, resourceVersion } = metadata as Required<typeof metadata>
      for (const preconditions of [{ uid: 'other' }, { resourceVersion: '1' }, { uid, resourceVersion: '1' }])
        await t.rejects(api.delete(MAPS, at(world, 'a'), { preconditions }), refused('Conflict', { code: 409 }))
      t.equal((await api.get(MAPS, at(world, 'a'))).metadata.resourceVersion, resourceVersion)
      await api.delete(MAPS, at(world, 'a'), { preconditions: { uid, resourceVersion } })
      await t.rejects(api.get(MAPS, at(world, 'a')), refused('NotFound'))
    },
  },
  {
    says: 'an object with finalizers ends once, and keeps its first time of deletion',
    async run(t, world) {
      const { api } = world
      const made = await api.create(MAPS, map(world, 'a', {}, HOLD))
      await api.delete(MAPS, at(world, 'a'))
      const ending = await api.get(MAPS, at(world, 'a'))
      t.match(ending.metadata, { uid: made.metadata.uid, deletionTimestamp: /^\d{4}-.*Z$/, ...HOLD })
      t.ok(Number(ending.metadata.resourceVersion) > Number(made.metadata.resourceVersion))
      await api.delete(MAPS, at(world, 'a'))
      t.strictSame(await api.get(MAPS, at(world, 'a')), ending)
    },
  },
  {
    says: 'a deletion that shall wait for dependents, or leave them, says so with a finalizer',
    async run(t, world) {
      const { api } = world
      for (const [name, propagationPolicy, finalizers] of [
        ['f', 'Foreground', ['foregroundDeletion']],
        ['o', 'Orphan', ['orphan']],
      ] as const) {
        await api.create(MAPS, map(world, name))
        await api.delete(MAPS, at(world, name), { propagationPolicy })
        t.match(await api.get(MAPS, at(world, name)), { metadata: { finalizers, deletionTimestamp: /./ } })
      }
      await api.create(MAPS, map(world, 'b'))
      await api.delete(MAPS, at(world, 'b'), { propagationPolicy: 'Background' })
      await t.rejects(api.get(MAPS, at(world, 'b')), refused('NotFound'))
    },
  },
]
