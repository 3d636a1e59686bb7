/** The memory of a space's roles and bindings equals the store, and only changed ones are read again. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { RbacReader, type Read } from '../../../src/apiserver/auth/rbacReader.ts'
import { EVERYTHING_ACTS } from '../../../src/placement/spaces/nature.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Store } from '../../../src/storage/store.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import * as fc from '../../support/fastCheck.ts'
import { binding, put, remove, role } from './support.ts'

const SPACE = 's1'
const rules = (resource: string) => [{ apiGroups: [''], resources: [resource], verbs: ['get'] }]
/** Enough of them to be remembered. */
const many = (resource: string, count = 100) =>
  Array.from({ length: count }, (_, i) => role(`r${i}`, [...rules(resource), ...rules('x'.repeat(1000))]))
const work = () => endlessTurns().begin({ owner: SPACE })
const reads = (store: Pick<Store, 'list'>) =>
  new RbacReader({ store, nature: EVERYTHING_ACTS, maxBytes: 64 * 1024 * 1024 })

t.test('after a change only what has changed is parsed', async t => {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  await put(store, SPACE, ...many('pods'), binding('b', 'ClusterRole:r0', ['User:ann']))
  const reader = reads(store)
  const first = await reader.read(SPACE, work())
  await put(store, SPACE, role('r7', rules('secrets')))
  await remove(store, SPACE, role('r8', []))
  const second = await reader.read(SPACE, work())
  const name = ({ metadata }: KubeObject): string => metadata.name!
  const kept = second.objects.clusterRoles.filter(each => first.objects.clusterRoles.includes(each)).map(name)
  t.equal(kept.length, 98)
  t.notOk(kept.includes('r7'))
  t.equal(second.objects.clusterRoleBindings[0], first.objects.clusterRoleBindings[0])
  t.same(second, await reads(store).read(SPACE, work()))
})

t.test('of a small space nothing is remembered, nor behind a reset', async t => {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  await put(store, SPACE, ...many('pods', 3))
  await put(store, 's2', ...many('pods'))
  const reader = reads(store)
  const twice = async (space: string, between: () => void): Promise<boolean> => {
    const { objects } = await reader.read(space, work())
    between()
    return (await reader.read(space, work())).objects.clusterRoles[0] === objects.clusterRoles[0]
  }
  t.notOk(await twice(SPACE, () => {}))
  t.ok(await twice('s2', () => {}))
  t.notOk(await twice('s2', () => reader.reset()))
})

t.test('whatever changes, it is what a reader without a memory reads', async () => {
  const change = fc.record({ name: fc.nat(12), gone: fc.boolean(), resource: fc.constantFrom('pods', 'secrets') })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 6 }), async steps => {
      const store = await openMemoryStore()
      await put(store, SPACE, ...many('pods'))
      const reader = reads(store)
      const seen: [Read, Read][] = []
      const there = new Set(Array.from({ length: 100 }, (_, i) => i))
      for (const changes of steps) {
        for (const { name, gone, resource } of changes) {
          if (!gone) await put(store, SPACE, role(`r${name}`, rules(resource)))
          else if (there.has(name)) await remove(store, SPACE, role(`r${name}`, []))
          if (gone) there.delete(name)
          else there.add(name)
        }
        seen.push([await reader.read(SPACE, work()), await reads(store).read(SPACE, work())])
      }
      await store.close()
      for (const [remembering, fresh] of seen) t.same(remembering, fresh)
    }),
    { numRuns: 12 },
  )
})
