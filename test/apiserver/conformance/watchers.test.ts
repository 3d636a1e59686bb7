/** Watches: what every controller and every cache relies on. */
import t from 'tap'
import type { WatchEvent } from '../../support/api.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)

const labelled = (name: string, label: string, data: Record<string, string> = {}): object =>
  configMap(name, data, { labels: { 'watch-this-configmap': label } })
const selecting = (selector: string, resourceVersion?: string): Promise<Awaited<ReturnType<typeof api.watch>>> =>
  api.watch(
    `${CONFIGMAPS}?watch=1&labelSelector=${encodeURIComponent(selector)}${resourceVersion ? `&resourceVersion=${resourceVersion}` : ''}`,
  )
const label = (value: string): string => `watch-this-configmap=${value}`
const told = ({ type, object }: WatchEvent): string =>
  `${type} ${object.metadata.name} ${(object as { data?: { mutation?: string } }).data?.mutation ?? ''}`.trim()
const mutate = (name: string, mutation: string) =>
  api.ok(api.patch(`${CONFIGMAPS}/${name}`, 'merge', { data: { mutation } }))

// Watchers should observe add, update, and delete watch notifications on configmaps
t.test('each watcher is told of what its selector matches, and of nothing else', async t => {
  const watchers = {
    A: await selecting(label('multiple-watchers-A')),
    B: await selecting(label('multiple-watchers-B')),
    AB: await selecting('watch-this-configmap in (multiple-watchers-A, multiple-watchers-B)'),
  }
  await api.ok(api.post(CONFIGMAPS, labelled('map-a', 'multiple-watchers-A')))
  await mutate('map-a', '1')
  await mutate('map-a', '2')
  await api.ok(api.delete(`${CONFIGMAPS}/map-a`))
  await api.ok(api.post(CONFIGMAPS, labelled('map-b', 'multiple-watchers-B')))
  await api.ok(api.delete(`${CONFIGMAPS}/map-b`))
  const ofA = ['ADDED map-a', 'MODIFIED map-a 1', 'MODIFIED map-a 2', 'DELETED map-a 2']
  const ofB = ['ADDED map-b', 'DELETED map-b']
  t.same((await watchers.A.take(4)).map(told), ofA)
  t.same((await watchers.B.take(2)).map(told), ofB)
  t.same((await watchers.AB.take(6)).map(told), [...ofA, ...ofB])
  for (const watch of Object.values(watchers)) watch.close()
})

// Watchers should be able to start watching from a specific resource version
t.test('a watch from a version tells what came after it', async t => {
  await api.ok(api.post(CONFIGMAPS, labelled('from', 'from-resource-version')))
  const { resourceVersion } = (await mutate('from', '1')).metadata
  await mutate('from', '2')
  await api.ok(api.delete(`${CONFIGMAPS}/from`))
  const watch = await selecting(label('from-resource-version'), resourceVersion)
  t.same((await watch.take(2)).map(told), ['MODIFIED from 2', 'DELETED from 2'])
  watch.close()
})

// Watchers should be able to restart watching from the last resource version observed by the previous watch
t.test('a watch that was closed goes on where it stopped', async t => {
  const first = await selecting(label('closed-and-restarted'))
  await api.ok(api.post(CONFIGMAPS, labelled('restarted', 'closed-and-restarted')))
  await mutate('restarted', '1')
  const seen = await first.take(2)
  t.same(seen.map(told), ['ADDED restarted', 'MODIFIED restarted 1'])
  first.close()
  await mutate('restarted', '2')
  const second = await selecting(label('closed-and-restarted'), seen[1]!.object.metadata.resourceVersion)
  await api.ok(api.delete(`${CONFIGMAPS}/restarted`))
  t.same((await second.take(2)).map(told), ['MODIFIED restarted 2', 'DELETED restarted 2'])
  second.close()
})

// Watchers should observe an object deletion if it stops meeting the requirements of the selector
t.test('who leaves the selector is told as deleted, who comes back as added', async t => {
  const watch = await selecting(label('label-changed'))
  await api.ok(api.post(CONFIGMAPS, labelled('changing', 'label-changed')))
  await mutate('changing', '1')
  const relabel = (value: string): Promise<unknown> =>
    api.ok(api.patch(`${CONFIGMAPS}/changing`, 'merge', { metadata: { labels: { 'watch-this-configmap': value } } }))
  await relabel('wrong-value')
  await mutate('changing', '2')
  await relabel('label-changed')
  await mutate('changing', '3')
  await api.ok(api.delete(`${CONFIGMAPS}/changing`))
  t.same((await watch.take(6)).map(told), [
    'ADDED changing',
    'MODIFIED changing 1',
    'DELETED changing 1',
    'ADDED changing 2',
    'MODIFIED changing 3',
    'DELETED changing 3',
  ])
  watch.close()
})

// Watchers should receive events on concurrent watches in same order
t.test('watches from every version see the same events in the same order', async t => {
  const first = await selecting(label('concurrent'))
  const writers = [0, 1, 2].map(async writer => {
    for (let n = 0; n < 10; n++) {
      const name = `concurrent-${writer}-${n % 3}`
      if (n < 3) await api.ok(api.post(CONFIGMAPS, labelled(name, 'concurrent')))
      else if (n < 8) await mutate(name, `${n}`)
      else await api.ok(api.delete(`${CONFIGMAPS}/concurrent-${writer}-${n - 8}`))
    }
  })
  const events = await first.take(30)
  await Promise.all(writers)
  first.close()
  const versions = events.map(({ object }) => object.metadata.resourceVersion!)
  t.same(
    versions,
    [...versions].sort((a, b) => Number(a) - Number(b)),
    'versions rise',
  )
  t.equal(new Set(versions).size, versions.length, 'each once')
  for (const start of [0, 7, 19, 28]) {
    const later = await selecting(label('concurrent'), versions[start])
    const seen = await later.take(versions.length - start - 1)
    t.same(
      seen.map(({ object }) => object.metadata.resourceVersion),
      versions.slice(start + 1),
      `from ${start}`,
    )
    later.close()
  }
})

// API Streaming (aka. WatchList): should be requested by informers; reflector doesn't support receiving resources as Tables
t.test('a watch can bring the present list first, and says where it ends', async t => {
  for (const name of ['streamed-1', 'streamed-2']) await api.ok(api.post(CONFIGMAPS, labelled(name, 'streamed')))
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const watch = await api.watch(`${CONFIGMAPS}?${query}&labelSelector=${label('streamed')}`)
  const initial = await watch.take(3)
  t.same(initial.slice(0, 2).map(told), ['ADDED streamed-1', 'ADDED streamed-2'])
  t.equal(initial[2]!.type, 'BOOKMARK')
  t.equal(initial[2]!.object.metadata.annotations?.['k8s.io/initial-events-end'], 'true')
  await mutate('streamed-1', 'after')
  t.same((await watch.take(1)).map(told), ['MODIFIED streamed-1 after'])
  watch.close()
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
