/** Objects as they are made. */
import { at, MAPS, map, NAMESPACES, refused, SETS, type Statement, set } from './statement.ts'

export const creations: Statement[] = [
  {
    says: 'a creation gives each object a uid, a version that rises, and its time',
    async run(t, world) {
      const a = await world.api.create(MAPS, map(world, 'a'))
      const b = await world.api.create(MAPS, map(world, 'b'))
      t.match(a.metadata, {
        uid: /./,
        resourceVersion: /^\d+$/,
        creationTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      })
      t.not(a.metadata.uid, b.metadata.uid)
      t.ok(Number(b.metadata.resourceVersion) > Number(a.metadata.resourceVersion))
    },
  },
  {
    says: 'a creation takes no uid from its author',
    async run(t, world) {
      t.not((await world.api.create(MAPS, map(world, 'a', {}, { uid: 'mine' }))).metadata.uid, 'mine')
    },
  },
  {
    says: 'a creation takes neither time nor generation from its author, and no version',
    async run(t, world) {
      const own = { creationTimestamp: '2001-01-01T00:00:00Z', generation: 7 }
      const { metadata } = await world.api.create(SETS, set(world, 'a', 1, own))
      t.not(metadata.creationTimestamp, own.creationTimestamp)
      t.equal(metadata.generation, 1)
      const versioned = map(world, 'b', {}, { resourceVersion: '5' })
      await t.rejects(world.api.create(MAPS, versioned), refused('BadRequest'))
    },
  },
  {
    says: 'a name that is taken is AlreadyExists, and the object stays',
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a', { k: '1' }))
      const taken = { code: 409, message: 'configmaps "a" already exists', details: { name: 'a', kind: 'configmaps' } }
      await t.rejects(world.api.create(MAPS, map(world, 'a', { k: '2' })), refused('AlreadyExists', taken))
      t.strictSame(await world.api.get(MAPS, at(world, 'a')), made)
    },
  },
  {
    says: 'an object that is made again after its end has another uid',
    async run(t, world) {
      const first = await world.api.create(MAPS, map(world, 'a'))
      await world.api.delete(MAPS, at(world, 'a'))
      const second = await world.api.create(MAPS, map(world, 'a'))
      t.not(first.metadata.uid, second.metadata.uid)
    },
  },
  {
    says: 'generateName gives each object a name of its own behind the prefix',
    async run(t, world) {
      const unnamed = map(world, '', {}, { name: undefined, generateName: 'x-' })
      const names = [await world.api.create(MAPS, unnamed), await world.api.create(MAPS, unnamed)].map(
        o => o.metadata.name,
      )
      t.match(names, [/^x-./, /^x-./])
      t.not(names[0], names[1])
      const nameless = map(world, '', {}, { name: undefined })
      await t.rejects(world.api.create(MAPS, nameless), refused('Invalid', { code: 422 }))
    },
  },
  {
    says: 'a creation needs its Namespace',
    async run(t, world) {
      const elsewhere = map(world, 'a', {}, { namespace: `${world.namespace}-none` })
      await t.rejects(world.api.create(MAPS, elsewhere), refused('NotFound', { details: { kind: 'namespaces' } }))
    },
  },
  {
    says: 'an ending Namespace takes nothing new',
    async run(t, world) {
      const { api, namespace } = world
      await api.patch(NAMESPACES, { name: namespace }, 'merge', { metadata: { finalizers: ['example.com/hold'] } })
      await api.delete(NAMESPACES, { name: namespace })
      const causes = [{ reason: 'NamespaceTerminating' }]
      await t.rejects(api.create(MAPS, map(world, 'a')), refused('Forbidden', { details: { causes } }))
    },
  },
  {
    says: 'a creation leaves out the status of a kind whose status is a sub-resource',
    async run(t, world) {
      const { status } = await world.api.create(SETS, { ...set(world, 'a'), status: { replicas: 3 } })
      t.notMatch(status, { replicas: 3 })
    },
  },
  {
    says: 'a creation records its field manager',
    async run(t, world) {
      const { metadata } = await world.api.create(MAPS, map(world, 'a', { k: '1' }), { fieldManager: 'me' })
      t.match(metadata.managedFields, [{ manager: 'me' }])
    },
  },
  {
    says: 'a dry run of a creation answers like one, and makes nothing',
    needs: ['dryRun'],
    async run(t, world) {
      t.match(await world.api.create(MAPS, map(world, 'a'), { dryRun: true }), { metadata: { name: 'a' } })
      await t.rejects(world.api.get(MAPS, at(world, 'a')), refused('NotFound'))
      await world.api.create(MAPS, map(world, 'a'))
      await t.rejects(world.api.create(MAPS, map(world, 'a'), { dryRun: true }), refused('AlreadyExists'))
    },
  },
]
