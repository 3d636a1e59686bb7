/** Many objects at a time, where the client has a way for that. */
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { at, MAPS, map, refused, type Statement } from './statement.ts'

export const together: Statement[] = [
  {
    says: 'objects that are made together are answered in order, and each that cannot is left to be made alone',
    async run(t, world) {
      const { api, client, space } = world
      if (!client.createCopies) return
      const objects = ['a', 'taken', 'b'].map(name => map(world, name, { k: name }))
      await api.create(MAPS, map(world, 'taken'))
      const made = await client.createCopies(
        objects.map(object => ({ space, resource: MAPS, object, fieldManager: 'me' })),
      )
      t.equal(made.length, 3)
      t.notMatch(made[1], { uid: /./ })
      for (const [i, name] of ['a', undefined, 'b'].entries()) {
        if (name === undefined) continue
        const { metadata, data } = await api.get(MAPS, at(world, name))
        t.match(made[i], { uid: metadata.uid, resourceVersion: metadata.resourceVersion, like: { data } })
        t.match(metadata.managedFields, [{ manager: 'me' }])
      }
    },
  },
  {
    says: 'objects are changed together, where their version is known',
    async run(t, world) {
      const { api, client, space } = world
      if (!client.createCopies || !client.updateCopies) return
      const [object, content] = [map(world, 'a', { k: '1' }), map(world, 'a', { k: '2' })]
      const make = () => client.createCopies!([{ space, resource: MAPS, object, fieldManager: 'me' }])
      const change = async (uid: string, resourceVersion: string) => {
        const replace = (current: KubeObject) => ({ ...current, data: { k: '2' } })
        const version = { uid, resourceVersion, fieldManager: 'me' }
        const update = { space, resource: MAPS, ...at(world, 'a'), ...version, content, replace }
        return (await client.updateCopies!([update]))[0]
      }
      await make()
      const { uid = '', resourceVersion = '' } = (await api.get(MAPS, at(world, 'a'))).metadata
      t.notMatch(await change(uid, '1'), { uid: /./ })
      t.match((await api.get(MAPS, at(world, 'a'))).data, { k: '1' })
      // a server may leave any to be changed alone, and has not touched it then
      const done = await change(uid, resourceVersion)
      const is = await api.get(MAPS, at(world, 'a'))
      if (done === undefined) t.equal(is.metadata.resourceVersion, resourceVersion)
      else t.match(is, { metadata: { uid, resourceVersion: done.resourceVersion }, data: { k: '2' } })
    },
  },
  {
    says: 'objects that are deleted together are gone where their version is known, and stay otherwise',
    async run(t, world) {
      const { api, client, space } = world
      if (!client.createCopies || !client.deleteCopies) return
      const held = { finalizers: ['example.com/hold'] }
      const objects = ['a', 'changed', 'held'].map(name => map(world, name, {}, name === 'held' ? held : {}))
      await client.createCopies(objects.map(object => ({ space, resource: MAPS, object, fieldManager: 'me' })))
      if (!(await api.get(MAPS, at(world, 'held')).catch(() => undefined))) await api.create(MAPS, objects[2]!)
      const deletions = []
      for (const name of ['a', 'changed', 'held']) {
        const { uid = '', resourceVersion = '' } = (await api.get(MAPS, at(world, name))).metadata
        deletions.push({ space, resource: MAPS, namespace: world.namespace, name, uid, resourceVersion })
      }
      await api.patch(MAPS, at(world, 'changed'), 'merge', { data: { k: '1' } })
      const missing = { ...deletions[0]!, name: 'missing' }
      t.strictSame(await client.deleteCopies([...deletions, missing]), [true, false, false, false])
      await t.rejects(api.get(MAPS, at(world, 'a')), refused('NotFound'))
      for (const name of ['changed', 'held'])
        t.notOk((await api.get(MAPS, at(world, name))).metadata.deletionTimestamp, name)
    },
  },
]
