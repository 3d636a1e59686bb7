/** Changes of marks stand in a watch where they happened: a client that is cut off anywhere goes on without a loss. */
import t, { type Test } from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { decodeObject, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import type { SelectedEvent } from '../../../src/apiserver/registry/eventSelector.ts'
import { selectionFor } from '../../../src/apiserver/registry/selection.ts'
import { KeptReports } from '../../../src/apiserver/reported/keptReports.ts'
import { MarkLog } from '../../../src/apiserver/reported/markLog.ts'
import { ReportedNames } from '../../../src/apiserver/reported/reportedNames.ts'
import { ReportedSources } from '../../../src/apiserver/reported/reportedSources.ts'
import { ReportedWatch } from '../../../src/apiserver/reported/reportedWatch.ts'
import type { MarksListener, ReportedCluster, ReportedPlaces } from '../../../src/placement/desks/reported.ts'
import { objectKey } from '../../../src/placement/words/names.ts'
import { configMap, type HeartOptions, heart, widgets } from '../registry/support.ts'

const SPACE = 'a'
const PASSED = /a location is another cluster, or has another name, since/

/** Clusters of one space, by location: the mailbox of each. */
class Places implements ReportedPlaces {
  readonly mailboxes = new Map<string, string>()
  mark: MarksListener = () => {}
  changed = (_space: string): void => {}

  cluster(space: string, location: string): ReportedCluster {
    const found = this.clusters(space).find(one => one.location === location)
    if (!found) throw new StatusError('NotFound', 'no placement leads there')
    return found
  }

  clusters(_space: string): ReportedCluster[] {
    return [...this.mailboxes].map(([location, mailbox]) => ({
      location,
      mailbox,
      uses: () => true,
      silentSince: undefined,
      isMarked: () => true,
      marks: () => ({ silentSince: '2026-01-31T12:00:00Z' }),
    }))
  }

  spaces(): string[] {
    return [SPACE]
  }

  followClusters(listener: (space: string) => void): () => void {
    this.changed = listener
    return () => {}
  }

  follow(listener: MarksListener): () => void {
    this.mark = listener
    return () => {}
  }
}

async function world(t: Test, options: HeartOptions = {}, kind = 'v1/configmaps') {
  const { store, reader, type, keyOf } = await heart(t, options)
  const configMaps = type(kind)
  const places = new Places()
  places.mailboxes.set('imw.paris', 'paris').set('imw.rome', 'rome')
  const log = new MarkLog(places, () => store.revision)
  const names = new ReportedNames()
  const gone = new AbortController()
  t.teardown(() => gone.abort())
  let isCaughtUp = (): boolean => false
  return {
    store,
    places,
    isCaughtUp: () => isCaughtUp(),
    key: (name: string) => objectKey(configMaps, 'n', name),
    async put(mailbox: string, name: string, data = {}, version = {}): Promise<void> {
      const annotations = { 'edge.kubestellar.io/owner': SPACE }
      const labels = { 'edge.kubestellar.io/projected': 'yes' }
      const text = encodeObject({ ...configMap(name, data, { annotations, labels }), ...version })
      await store.update({ ...keyOf(configMaps, 'n', name), space: mailbox }, () => ({ type: 'put', text }))
    },
    /** All clusters are watched, or one. */
    watch(location?: string, after = store.revision, labelSelector = ''): AsyncIterator<readonly SelectedEvent[]> {
      const one = location === undefined ? undefined : places.cluster(SPACE, location)
      const spaces = new Set([SPACE])
      const kept = new KeptReports()
      const sources = new ReportedSources({ places, names, kept, reader, spaces, ...(one && { one }) })
      const query = {
        space: SPACE,
        after,
        signal: gone.signal,
        selection: selectionFor(configMaps, undefined, { labelSelector }),
        onLive: (waits: () => boolean) => {
          isCaughtUp = waits
        },
      }
      return new ReportedWatch({ reader, sources, log }, configMaps, query).events()
    },
  }
}

const told = (events: readonly SelectedEvent[]): string[] =>
  events.map(({ stored }) => {
    const { name, resourceVersion } = decodeObject(stored).metadata
    return `${name} ${resourceVersion}`
  })

async function next(watch: AsyncIterator<readonly SelectedEvent[]>): Promise<string[]> {
  return told((await watch.next()).value ?? [])
}

t.test('marks that change while others are sent wait for the events before them', async t => {
  const { put, watch, places, key, store } = await world(t)
  for (let i = 10; i < 70; i++) await put('paris', `m${i}`)
  const events = watch()
  const first = next(events)
  places.mark('paris', 'all')
  t.equal((await first).length, 50)
  const marked = store.revision
  await put('rome', 'x')
  await put('rome', 'y')
  places.mark('rome', [key('y')])
  t.equal((await next(events)).at(-1), `m69 ${marked}`)
  t.same([await next(events), await next(events), await next(events)].flat(), [
    `x ${marked + 1}`,
    `y ${marked + 2}`,
    `y ${marked + 2}`,
  ])
})

t.test('marks are sent in the order of their changes, be they of one object or of all', async t => {
  const { put, watch, places, key, store } = await world(t)
  await put('paris', 'p')
  await put('rome', 'r')
  const events = watch()
  const first = next(events)
  await put('rome', 'r')
  await first
  places.mark('rome', [key('r')])
  const before = store.revision
  await put('elsewhere', 'other')
  places.mark('paris', 'all')
  t.same([...(await next(events)), ...(await next(events))], [`r ${before}`, `p ${before + 1}`])
  const again = watch(undefined, before - 1)
  t.same(
    [await next(again), await next(again), await next(again)].flat(),
    [`r ${before}`, `r ${before}`, `p ${before + 1}`],
    'also for a watch that resumes',
  )
})

t.test('no bookmark passes by marks that are being sent', async t => {
  const { put, watch, places, isCaughtUp } = await world(t)
  for (let i = 10; i < 70; i++) await put('paris', `m${i}`)
  const events = watch()
  const first = next(events)
  places.mark('paris', 'all')
  await first
  t.notOk(isCaughtUp())
  await next(events)
  const idle = next(events)
  await new Promise(setImmediate)
  t.ok(isCaughtUp())
  await put('paris', 'last')
  await idle
})

t.test('a reader who takes long for the marks of a cluster gets all of them, whatever history is kept', async t => {
  const { put, watch, places, store } = await world(t)
  for (let i = 10; i < 70; i++) await put('paris', `m${i}`)
  const events = watch()
  const first = next(events)
  places.mark('paris', 'all')
  await first
  await put('rome', 'x')
  await store.compact(store.revision)
  t.equal((await next(events)).length, 10)
})

t.test('a location that passes to a cluster that was there before ends its watches', async t => {
  const { put, watch, places, store } = await world(t)
  await put('paris', 'p')
  const open = watch('imw.paris')
  const { revision } = store
  await put('rome', 'r')
  places.mailboxes.delete('imw.rome')
  places.mailboxes.set('imw.paris', 'rome')
  places.changed(SPACE)
  await t.rejects(open.next(), { message: PASSED })
  t.throws(() => watch('imw.paris', revision), { message: PASSED }, 'nor does one go on from before')
  const fresh = watch('imw.paris')
  const first = next(fresh)
  await put('rome', 'r', { x: '2' })
  t.same(await first, [`r ${store.revision}`])
})

t.test('a location that nothing leads to any more is watched on', async t => {
  const { put, watch, places, store } = await world(t)
  await put('paris', 'p')
  const open = watch('imw.paris')
  places.mailboxes.delete('imw.paris')
  places.changed(SPACE)
  const first = next(open)
  await put('paris', 'p', { x: '2' })
  t.same(await first, [`p ${store.revision}`])
})

t.test('selectors look at objects that a webhook converts as they were before, too', async t => {
  const convert: HeartOptions['convert'] = async (objects, apiVersion) => objects.map(one => ({ ...one, apiVersion }))
  const definitions = [widgets({ v1: {}, v2: {} })]
  const { put, watch, store } = await world(t, { definitions, convert }, 'example.com/v2/widgets')
  const old = { apiVersion: 'example.com/v1', kind: 'Widget' }
  await put('paris', 'w', {}, old)
  const first = next(watch(undefined, store.revision, 'none!=such'))
  await put('paris', 'w', { x: '2' }, old)
  t.same(await first, [`w ${store.revision}`])
})
