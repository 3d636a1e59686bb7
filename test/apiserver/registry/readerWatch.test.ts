/** Watches of the reader: what a selection sees of the log, where they begin, and how they end. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { decodeObject, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import type { SelectedEvent } from '../../../src/apiserver/registry/eventSelector.ts'
import type { WatchQuery } from '../../../src/apiserver/registry/reader.ts'
import { type Selection, selectionFor } from '../../../src/apiserver/registry/selection.ts'
import { viewBytes } from '../../../src/apiserver/registry/views.ts'
import { asking, configMap, type Heart, type HeartOptions, heart, SPACE, widget, widgets } from './support.ts'

async function world(t: Test, options: HeartOptions = {}) {
  const here: Heart = await heart(t, options)
  const configMaps = here.type('v1/configmaps')
  const at = (place: string) => {
    const [name, namespace = 'n', space = SPACE] = place.split('/').reverse()
    return { ...here.keyOf(configMaps, namespace, name!), space }
  }
  return {
    ...here,
    configMaps,
    put: async (place: string, labels: Record<string, string> = {}) => {
      const text = encodeObject(configMap(at(place).name, {}, { labels }))
      await here.store.update(at(place), () => ({ type: 'put', text }))
    },
    remove: async (place: string) => {
      await here.store.update(at(place), () => ({ type: 'delete' }))
    },
    /** The next events, `count` of them. */
    async watch(
      count: number,
      query: Partial<WatchQuery> = {},
      of: ResourceType = configMaps,
    ): Promise<SelectedEvent[]> {
      const gone = new AbortController()
      const events: SelectedEvent[] = []
      const asked = { space: SPACE, namespace: 'n', after: 0, signal: gone.signal, ...query }
      for await (const batch of here.reader.watch(of, asked)) {
        t.not(batch.length, 0, 'no batch of nothing')
        events.push(...batch)
        if (events.length >= count) gone.abort()
      }
      return events
    },
  }
}

const told = (events: readonly SelectedEvent[]): string[] =>
  events.map(({ type, stored }) => {
    const { name, labels, resourceVersion } = decodeObject(stored).metadata
    return `${type} ${name}${labels?.a ? ` a=${labels.a}` : ''} ${resourceVersion}`
  })

t.test('every change behind the revision that was asked for, in order, once', async t => {
  const { put, remove, watch } = await world(t)
  await put('a')
  await put('a')
  await put('b')
  await remove('a')
  t.strictSame(told(await watch(4)), ['ADDED a 1', 'MODIFIED a 2', 'ADDED b 3', 'DELETED a 4'])
  t.strictSame(told(await watch(2, { after: 2 })), ['ADDED b 3', 'DELETED a 4'])
  const later = watch(3, { after: 4, onLive: () => void Promise.all([put('c'), put('c'), remove('b')]) })
  t.strictSame(told(await later), ['ADDED c 5', 'MODIFIED c 6', 'DELETED b 7'])
})

t.test('of the place that was asked for', async t => {
  const { put, watch } = await world(t)
  for (const place of ['a', 'm/b', 'other/n/c', 'other/m/d', 'e']) await put(place)
  t.strictSame(told(await watch(2)), ['ADDED a 1', 'ADDED e 5'])
  t.strictSame(told(await watch(3, { namespace: undefined })), ['ADDED a 1', 'ADDED b 2', 'ADDED e 5'])
  t.strictSame(told(await watch(3, { space: '*' })), ['ADDED a 1', 'ADDED c 3', 'ADDED e 5'])
  t.strictSame((await watch(5, { space: '*', namespace: undefined })).length, 5)
})

t.test('what comes into a selection is made there, what leaves it goes with its last selected state', async t => {
  const { put, remove, watch, configMaps } = await world(t)
  await put('a', { a: '1' })
  await put('b', { a: '2' })
  await put('b', { a: '1' })
  await put('a', { a: '1', b: '1' })
  await put('a', { a: '2' })
  await put('a', { a: '3' })
  await put('b', { a: '1', b: '1' })
  await remove('a')
  await remove('b')
  const selection: Selection = selectionFor(configMaps, undefined, { labelSelector: 'a=1' })
  const wanted = [
    'ADDED a a=1 1',
    'ADDED b a=1 3',
    'MODIFIED a a=1 4',
    'DELETED a a=1 5',
    'MODIFIED b a=1 7',
    'DELETED b a=1 9',
  ]
  t.strictSame(told(await watch(wanted.length, { selection })), wanted)
  const byName = selectionFor(configMaps, undefined, { fieldSelector: 'metadata.name=b' })
  t.strictSame((await watch(4, { selection: byName })).map(({ stored }) => stored.key.name).join(''), 'bbbb')
})

t.test('custom resources are selected as the version of the watch shows them', async t => {
  const definition = widgets({ v1: { colour: { type: 'string' } }, v2: { colour: { type: 'string' } } })
  const asked: string[] = []
  const { watch, type, registry } = await world(t, {
    definitions: [definition],
    convert: async (objects, apiVersion) => {
      asked.push(`${objects.map(({ metadata }) => metadata.name)} to ${apiVersion}`)
      return objects.map(object => ({ ...structuredClone(object), apiVersion, colour: `not ${object.colour}` }))
    },
  })
  const [v1, v2] = [type('example.com/v1/widgets'), type('example.com/v2/widgets')]
  await registry.create(asking(), v1, 'n', widget('v1', 'a', { colour: 'red' }))
  await registry.create(asking(), v1, 'n', widget('v1', 'b', { colour: 'blue' }))
  const paint = (colour: string) => registry.update(asking(), v1, 'n', 'a', current => ({ ...current, colour }))
  await paint('blue')
  await paint('red')
  const selection = selectionFor({ ...v2, selectableFields: ['.colour'] }, undefined, {
    fieldSelector: 'colour=not red',
  })
  const events = await watch(3, { selection }, v2)
  t.strictSame(told(events), ['ADDED a 1', 'DELETED a 3', 'ADDED a 4'])
  const views = events.map(({ stored }) => JSON.parse(viewBytes(stored, v2).toString()) as KubeObject)
  t.strictSame(
    views.map(({ apiVersion, colour }) => `${apiVersion} ${colour}`),
    Array(3).fill('example.com/v2 not red'),
    'also the state that it left with is ready to be shown',
  )
  t.equal(new Set(asked).size, asked.length, 'nothing is converted twice')
})

t.test('history that is forgotten, a reader that is too slow, and an end', async t => {
  const { put, watch, store, reader, configMaps } = await world(t, { store: { watcherBacklog: 3 } })
  for (const name of ['a', 'b', 'c']) await put(name)
  await store.compact(2)
  await t.rejects(watch(1, { after: 1 }), {
    reason: 'Expired',
    code: 410,
    message: 'too old resource version: 1 (2)',
  })
  t.strictSame(told(await watch(1, { after: 2 })), ['ADDED c 3'])

  const gone = new AbortController()
  const slow = reader.watch(configMaps, { space: SPACE, namespace: 'n', after: 3, signal: gone.signal })
  const reading = slow[Symbol.asyncIterator]()
  const first = reading.next()
  for (const name of ['d', 'e', 'f', 'g', 'h', 'i']) await put(name)
  t.strictSame(told((await first).value!), ['ADDED d 4'])
  await t.rejects(
    (async () => {
      for await (const _ of { [Symbol.asyncIterator]: () => reading });
    })(),
    { reason: 'Expired', message: /too slow/ },
  )

  const ended = reader.watch(configMaps, { space: SPACE, namespace: 'n', after: store.revision, signal: gone.signal })
  const last = ended[Symbol.asyncIterator]().next()
  gone.abort()
  t.strictSame(await last, { done: true, value: undefined })
})
