/** A bookmark of a watch over a replica covers only events that the watch has had. */
import t from 'tap'
import { runWatch, type WatchTarget } from '../../../src/apiserver/endpoints/watch.ts'
import { Reader } from '../../../src/apiserver/registry/reader.ts'
import { EVERYTHING } from '../../../src/apiserver/registry/selection.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { openReplica } from '../../../src/storage/replica/replicaStore.ts'
import { SharedLog } from '../../../src/storage/replica/sharedLog.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'

t.test('what was written before the tick, though the thread had no turn to hear of that', async t => {
  const { server } = await startTestServer(t, ON_MAIN_THREAD)
  const log = new SharedLog()
  const writer = await openMemoryStore({ log })
  const store = await openReplica(log.follow().link, { logger: { error: (_, message) => t.fail(message) } })
  t.teardown(() => Promise.all([store.close(), writer.close()]))
  const { services } = server
  const info = parseRequest('GET', '/api/v1/configmaps?watch=1&allowWatchBookmarks=true')
  const target: WatchTarget = {
    info,
    resource: info.resource!,
    space: 'root',
    type: services.types.in('root').find('', 'v1', 'configmaps')!,
    form: { format: 'json' } as WatchTarget['form'],
    user: { name: 'u', groups: [] },
  }
  const permission = { space: 'root', identity: { user: target.user }, judge: () => {} }
  let tick = (): void => {}
  t.capture(globalThis, 'setInterval', ((run: () => void) => {
    tick = run
    return undefined
  }) as never)
  const told: { type: string; revision: number }[] = []
  const sink = {
    busy: false,
    async write(frames: readonly Buffer[]) {
      for (const frame of frames) {
        const { type, object } = JSON.parse(frame.toString())
        told.push({ type, revision: Number(object.metadata.resourceVersion) })
      }
      return true
    },
    end() {},
  }
  const gone = new AbortController()
  const plan = {
    collection: { space: 'root', namespace: undefined, selection: EVERYTHING },
    initial: undefined,
    marksInitialEnd: false,
    after: writer.revision,
    bookmarks: true,
    timeoutMs: 2 ** 30,
  }
  const reader = new Reader({ store, parsed: services.deps.parsed as never, turns: endlessTurns() })
  const ended = runWatch({ ...services, reader }, target, plan, sink, { gone: gone.signal, permission })
  const key = { space: 'root', group: '', resource: 'configmaps', namespace: 'default', name: 'a' }
  const text = { head: '{"metadata":{"resourceVersion":"', tail: '"}}' }
  for (let round = 0; round < 300; round++) {
    await writer.update(key, () => ({ type: 'put', text }))
    tick()
    // some of them quietly, so that there are bookmarks at all
    if (round % 3 === 0) {
      await new Promise(setImmediate)
      tick()
    }
  }
  gone.abort()
  await ended
  t.ok(told.some(({ type }) => type === 'BOOKMARK'))
  let marked = 0
  const early = told.filter(({ type, revision }) => {
    if (type === 'BOOKMARK') marked = revision
    return type !== 'BOOKMARK' && revision <= marked
  })
  t.same(early, [], 'no change comes behind a bookmark that stands for it')
})
