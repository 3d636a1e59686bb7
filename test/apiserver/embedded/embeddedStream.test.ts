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
  const store: Pick<Store, 'slices' | 'watch' | 'compactedRevision'> = {
    compactedRevision: 0,
    slices(range, options) {
      asked.push(options)
      return inner.slices(range, options)
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
  t.strictSame(asked, [{ uncounted: true }])
})

t.test('a snapshot of some kinds reads those, however much there is of others', async t => {
  const inner = await openMemoryStore()
  t.teardown(() => inner.close())
  const of = (resource: string, space: string, name: string) => ({ space, group: '', resource, namespace: '', name })
  const bulk = Array.from({ length: 600 }, (_, i) => of('configmaps', `s${i % 2}`, `n${i}`))
  const wanted = ['s0', 's1'].flatMap(space => ['secrets', 'pods'].map(resource => of(resource, space, 'x')))
  await create(inner, ...bulk, ...wanted)
  let read = 0
  const store: Pick<Store, 'slices' | 'watch' | 'compactedRevision'> = {
    compactedRevision: 0,
    async *slices(range, options) {
      for await (const page of inner.slices(range, options)) {
        read += page.items.length
        yield page
      }
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

t.test('what is written while a snapshot is read is told behind it, and the snapshot is of one revision', async t => {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  const of = (resource: string, i: number) => {
    return { space: 's', group: '', resource, namespace: '', name: `${resource}-${i}` }
  }
  const kinds = ['configmaps', 'secrets']
  for (const resource of kinds) await create(store, ...Array.from({ length: 1500 }, (_, i) => of(resource, i)))
  const before = store.revision
  const services = { forms: { prepare: async () => {} } } as unknown as StreamedServices
  const end = new AbortController()
  const resources = kinds.map(resource => ({ group: '', resource }))
  const first: string[] = []
  const later: string[] = []
  let synced = false
  for await (const batch of embeddedStream({ services, store }, { space: '*', resources, signal: end.signal })) {
    for (const { type, name } of batch.events) (synced ? later : first).push(`${type} ${name}`)
    if (first.length > 0 && store.revision === before) {
      const gone = of('secrets', 700)
      const { revision } = (await store.get(gone))!
      await store.write({ key: gone, mutation: { type: 'delete' }, expect: revision })
      await create(store, of('configmaps', 9000), of('secrets', 9000))
    }
    if (!synced) t.equal(batch.revision, before)
    if (batch.synced) synced = true
    if (later.length === 3) end.abort()
  }
  t.equal(new Set(first).size, 3000)
  t.ok(first.includes('ADDED secrets-700'))
  t.strictSame(later, ['DELETED secrets-700', 'ADDED configmaps-9000', 'ADDED secrets-9000'])
})

t.test('a stream that waits for changes retains nothing of its snapshot', async t => {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  await create(store, key('a'), key('b'))
  const services = { forms: { prepare: async () => {} } } as unknown as StreamedServices
  const end = new AbortController()
  const stream = embeddedStream({ services, store }, { space: '*', signal: end.signal })
  const { value: snapshot } = await stream.next()
  t.equal(snapshot?.events.length, 2)
  const change = stream.next()
  await create(store, key('c'))
  t.equal((await change).value?.events.length, 1)
  t.equal(snapshot?.events.length, 0)
  end.abort()
})
