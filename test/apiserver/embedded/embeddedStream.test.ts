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
  const names = Array.from({ length: 1000 }, (_, i) => key(`n${String(i).padStart(4, '0')}`))
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
