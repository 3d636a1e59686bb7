/** A controller's read of a space gives the object, whatever its size, and a large one holds up nobody. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { EmbeddedSpace } from '../../../src/apiserver/embedded/embeddedSpace.ts'
import { AnsweredKinds } from '../../../src/apiserver/registry/answeredKinds.ts'
import { StreamForms } from '../../../src/apiserver/registry/streamForms.ts'
import type { WorkTurns } from '../../../src/program/workTurns.ts'
import { asking, configMap, heart, SPACE } from '../registry/support.ts'

t.test('a large object is read in turns with all other long work of its space, a small one at once', async t => {
  const owners: string[] = []
  let rests = 0
  const turns = {
    begin({ owner }: { owner: string }) {
      owners.push(owner)
      return { due: true, rest: async () => void rests++ }
    },
  } as unknown as WorkTurns
  const { registry, reader, types, store, type } = await heart(t)
  const make = (name: string, data: Record<string, string>) =>
    registry.create(asking(), type('v1/configmaps'), 'n', { ...configMap(name), data } as KubeObject)
  await make('small', { a: 'b' })
  await make('large', Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`key-${i}`, 'x'.repeat(100)])))
  const services = {
    deps: { ...registry.deps, turns },
    registry,
    reader,
    types,
    answered: new AnsweredKinds({} as ConstructorParameters<typeof AnsweredKinds>[0]),
    forms: new StreamForms(types),
  }
  const deps = { services, store, tree: undefined, component: 'c' } as unknown as ConstructorParameters<
    typeof EmbeddedSpace
  >[0]
  const space = new EmbeddedSpace(deps, () => SPACE)
  const get = (name: string) =>
    space.get({ group: '', version: 'v1', resource: 'configmaps' }, { namespace: 'n', name })
  t.same((await get('small')).data, { a: 'b' })
  t.strictSame([owners, rests], [[], 0])
  t.equal(Object.keys((await get('large')).data as object).length, 3000)
  t.strictSame(owners, [SPACE])
  t.ok(rests > 10)
  rests = 0
  const { items } = await space.list({ group: '', version: 'v1', resource: 'configmaps' })
  t.strictSame(
    items.map(({ metadata }) => metadata.name),
    ['large', 'small'],
  )
  t.equal(rests, 2, 'between those of a list')
})
