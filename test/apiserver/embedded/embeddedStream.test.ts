/** A stream over all spaces begins with many pages: none of them may cost a look at everything that is stored. */
import t from 'tap'
import { embeddedStream } from '../../../src/apiserver/embedded/embeddedStream.ts'
import type { StreamedServices } from '../../../src/apiserver/embedded/sharedEvent.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { ListOptions, Store } from '../../../src/storage/store.ts'
import { create, key } from '../../storage/support.ts'

t.test('the pages of a snapshot are not counted, and end with the last object', async t => {
  const inner = await openMemoryStore()
  t.teardown(() => inner.close())
  const names = Array.from({ length: 4000 }, (_, i) => key(`n${String(i).padStart(4, '0')}`))
  await create(inner, ...names)
  const asked: (ListOptions | undefined)[] = []
  const store: Pick<Store, 'list' | 'watch' | 'compactedRevision'> = {
    compactedRevision: 0,
    list(range, options) {
      asked.push(options)
      return inner.list(range, options)
    },
    watch: (range, options) => inner.watch(range, options),
  }
  const services = { forms: { prepare: async () => {} } } as unknown as StreamedServices
  const end = new AbortController()
  const seen: string[] = []
  for await (const batch of embeddedStream({ services, store: store as Store }, { space: '*', signal: end.signal })) {
    seen.push(...batch.events.map(event => event.name))
    if (batch.synced) end.abort()
  }
  t.same(
    seen,
    names.map(k => k.name),
  )
  t.match(asked, [{ uncounted: true }, { uncounted: true }])
  t.equal(asked.length, 2)
})

t.test('a snapshot of some kinds reads those, however much there is of others', async t => {
  const inner = await openMemoryStore()
  t.teardown(() => inner.close())
  const of = (resource: string, space: string, name: string) => ({ space, group: '', resource, namespace: '', name })
  const bulk = Array.from({ length: 600 }, (_, i) => of('configmaps', `s${i % 2}`, `n${i}`))
  const wanted = ['s0', 's1'].flatMap(space => ['secrets', 'pods'].map(resource => of(resource, space, 'x')))
  await create(inner, ...bulk, ...wanted)
  let read = 0
  const store: Pick<Store, 'list' | 'watch' | 'compactedRevision'> = {
    compactedRevision: 0,
    async list(range, options) {
      const page = await inner.list(range, options)
      read += page.items.length
      return page
    },
    watch: (range, options) => inner.watch(range, options),
  }
  const services = { forms: { prepare: async () => {} } } as unknown as StreamedServices
  for (const [space, count] of [
    ['*', 4],
    ['s1', 2],
  ] as const) {
    read = 0
    const end = new AbortController()
    const resources = ['secrets', 'pods', 'nothings'].map(resource => ({ group: '', resource }))
    const synced: boolean[] = []
    let told = 0
    for await (const batch of embeddedStream(
      { services, store: store as Store },
      { space, resources, signal: end.signal },
    )) {
      synced.push(batch.synced)
      told += batch.events.length
      if (batch.synced) end.abort()
    }
    t.equal(told, count)
    t.equal(read, count)
    t.strictSame(synced.indexOf(true), synced.length - 1)
  }
})
