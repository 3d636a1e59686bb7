/** Single objects and lists, as they are read. */
import { at, MAPS, map, NAMESPACES, refused, SETS, type Statement, set } from './statement.ts'

export const reads: Statement[] = [
  {
    says: 'an object is read as it was answered to its writer',
    async run(t, world) {
      const made = await world.api.create(MAPS, map(world, 'a', { k: 'ü' }))
      t.match(made, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: world.namespace },
        data: { k: 'ü' },
      })
      t.strictSame(await world.api.get(MAPS, at(world, 'a')), made)
    },
  },
  {
    says: 'a missing object is NotFound, with its name and resource',
    async run(t, world) {
      const details = { name: 'a', kind: 'configmaps' }
      const missing = refused('NotFound', { code: 404, message: 'configmaps "a" not found', details })
      await t.rejects(world.api.get(MAPS, at(world, 'a')), missing)
      await t.rejects(
        world.api.get(SETS, at(world, 'a')),
        refused('NotFound', { message: 'replicasets.apps "a" not found' }),
      )
    },
  },
  {
    says: 'a resource that the space does not serve is NotFound for each verb',
    async run(t, world) {
      const unserved = { group: 'nobody.example.com', version: 'v1', resource: 'things' }
      const thing = { ...map(world, 'a'), apiVersion: 'nobody.example.com/v1', kind: 'Thing' }
      const { api } = world
      await t.rejects(api.get(unserved, at(world, 'a')), refused('NotFound'))
      await t.rejects(api.create(unserved, thing), refused('NotFound'))
      await t.rejects(api.update(unserved, thing), refused('NotFound'))
      await t.rejects(api.patch(unserved, at(world, 'a'), 'merge', {}), refused('NotFound'))
      await t.rejects(api.delete(unserved, at(world, 'a')), refused('NotFound'))
    },
  },
  {
    says: 'an answer belongs to its reader, and an argument stays its writer’s',
    async run(t, world) {
      const given = map(world, 'a', { k: 'v' })
      const made = await world.api.create(MAPS, given)
      t.strictSame(given, map(world, 'a', { k: 'v' }))
      for (const object of [given, made, await world.api.get(MAPS, at(world, 'a'))]) object.data = { other: 'x' }
      t.match((await world.api.get(MAPS, at(world, 'a'))).data, { k: 'v' })
    },
  },
  {
    says: 'discovery names what is served, with kind, scope and sub-resources',
    async run(t, { api }) {
      const found = await api.discover()
      const of = (name: string) => found.find(({ resource }) => resource === name)
      t.match(of('configmaps'), { ...MAPS, kind: 'ConfigMap', namespaced: true })
      t.match(of('namespaces'), { ...NAMESPACES, kind: 'Namespace', namespaced: false, subresources: Array })
      t.ok(of('replicasets')?.subresources.includes('status'))
      t.notOk(of('configmaps')?.subresources.includes('status'))
      for (const verb of ['create', 'delete', 'get', 'patch', 'update'])
        t.ok(of('configmaps')?.verbs.includes(verb), verb)
    },
  },
  {
    says: 'a list has the objects of its Namespace by name, and a version from which a watch goes on',
    needs: ['list'],
    async run(t, world) {
      const { api, namespace } = world
      t.match(await api.list(MAPS, { namespace }), { items: [] })
      for (const name of ['b', 'a']) await api.create(MAPS, map(world, name))
      await api.create(SETS, set(world, 'other'))
      const list = await api.list(MAPS, { namespace })
      t.strictSame(list.items, [await api.get(MAPS, at(world, 'a')), await api.get(MAPS, at(world, 'b'))])
      t.match(list.items[0], { apiVersion: 'v1', kind: 'ConfigMap' })
      t.ok(Number(list.resourceVersion) >= Number(list.items[0]!.metadata.resourceVersion))
      t.notOk(list.continue)
      const all = await api.list(MAPS)
      t.strictSame(
        all.items.filter(({ metadata }) => metadata.namespace === namespace),
        list.items,
      )
    },
  },
  {
    says: 'a list is selected by labels',
    needs: ['list', 'selectors'],
    async run(t, world) {
      const { api, namespace } = world
      await api.create(MAPS, map(world, 'a', {}, { labels: { x: '1' } }))
      await api.create(MAPS, map(world, 'b', {}, { labels: { x: '2' } }))
      await api.create(MAPS, map(world, 'c'))
      const select = async (labelSelector: string) =>
        (await api.list(MAPS, { namespace, labelSelector })).items.map(({ metadata }) => metadata.name).join()
      t.equal(await select('x=1'), 'a')
      t.equal(await select('x!=1'), 'b,c')
      t.equal(await select('x in (1,2)'), 'a,b')
      t.equal(await select('!x'), 'c')
      t.equal(await select('x,x notin (2)'), 'a')
      await t.rejects(select('x in 1'), refused('BadRequest'))
    },
  },
  {
    says: 'a list is selected by name and Namespace as fields, and by no field that the kind lacks',
    needs: ['list', 'fields'],
    async run(t, world) {
      const { api, namespace } = world
      for (const name of ['a', 'b']) await api.create(MAPS, map(world, name))
      const select = async (fieldSelector: string) =>
        (await api.list(MAPS, { namespace, fieldSelector })).items.map(({ metadata }) => metadata.name).join()
      t.equal(await select('metadata.name=b'), 'b')
      t.equal(await select('metadata.name!=b'), 'a')
      t.equal(await select(`metadata.namespace=${namespace}`), 'a,b')
      await t.rejects(select('spec.x=1'), refused('BadRequest'))
    },
  },
  {
    says: 'pages show each object of one moment once, whatever is written meanwhile',
    needs: ['list'],
    async run(t, world) {
      const { api, namespace } = world
      for (const name of ['a', 'b', 'c', 'd', 'e']) await api.create(MAPS, map(world, name))
      const first = await api.list(MAPS, { namespace, limit: 2 })
      await api.create(MAPS, map(world, 'bb'))
      await api.delete(MAPS, at(world, 'd'))
      const second = await api.list(MAPS, { namespace, limit: 2, continue: first.continue! })
      const last = await api.list(MAPS, { namespace, limit: 2, continue: second.continue! })
      const pages = [first, second, last]
      t.strictSame(
        pages.map(({ items }) => items.map(({ metadata }) => metadata.name).join()),
        ['a,b', 'c,d', 'e'],
      )
      t.equal(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size, 1, 'of one version')
      t.notOk(last.continue)
    },
  },
  {
    says: 'a page whose history is gone is Expired, and a token that is none a bad request',
    needs: ['list'],
    async run(t, world) {
      const { api, namespace } = world
      for (const name of ['a', 'b']) await api.create(MAPS, map(world, name))
      const first = await api.list(MAPS, { namespace, limit: 1 })
      await api.delete(MAPS, at(world, 'b'))
      await world.forget()
      await t.rejects(
        api.list(MAPS, { namespace, limit: 1, continue: first.continue! }),
        refused('Expired', { code: 410 }),
      )
      await t.rejects(api.list(MAPS, { namespace, limit: 1, continue: 'nonsense' }), refused('BadRequest'))
    },
  },
]
