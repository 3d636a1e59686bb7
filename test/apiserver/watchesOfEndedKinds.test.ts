/** Watches of custom resources whose definition is deleted: a client that reads slowly is given the last events, too. */
import t from 'tap'
import { runWatch, type WatchTarget } from '../../src/apiserver/endpoints/watch.ts'
import { EVERYTHING } from '../../src/apiserver/registry/selection.ts'
import { parseRequest } from '../../src/apiserver/request/requestInfo.ts'
import { crdsIn } from '../support/crds.ts'
import { createSpace, ON_MAIN_THREAD, startTestServer } from '../support/server.ts'

const { api, server } = await startTestServer(t, ON_MAIN_THREAD)
const { services } = server
const kind = (plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, singular: plural, kind: 'Thing', listKind: 'ThingList' },
    versions: ['v1', 'v2'].map(name => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  },
})

/** A watch whose client takes the first event at once, and the others after `goOn`. */
function slowWatch(space: string, plural: string) {
  const info = parseRequest('GET', `/apis/example.com/v1/${plural}?watch=1`)
  const target: WatchTarget = {
    info,
    resource: info.resource!,
    space,
    type: services.types.in(space).find('example.com', 'v1', plural)!,
    form: { format: 'json' } as WatchTarget['form'],
    user: { name: 'u', groups: [] },
  }
  const [first, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const told: string[] = []
  const sink = {
    busy: false,
    async write(frames: readonly Buffer[]) {
      for (const frame of frames) {
        const { type, object } = JSON.parse(frame.toString())
        told.push(`${type} ${object.apiVersion} ${object.metadata.name}`)
      }
      first.resolve()
      await goOn.promise
      return true
    },
    end() {},
  }
  const plan = {
    collection: { space, namespace: undefined, selection: EVERYTHING },
    initial: undefined,
    marksInitialEnd: false,
    after: services.reader.revision,
    bookmarks: false,
    timeoutMs: 2 ** 30,
  }
  const permission = { space, identity: { user: target.user }, judge: () => {} }
  const gone = new AbortController()
  t.teardown(() => gone.abort())
  const ended = runWatch(services, target, plan, sink, { gone: gone.signal, permission })
  return { told, first: first.promise, goOn: () => goOn.resolve(), ended }
}

t.test('the deletions that came with the end of the definition, in two spaces', async t => {
  for (const name of ['one', 'two']) {
    const space = await createSpace(api, name)
    const at = api.in(space)
    const crds = crdsIn(at)
    await crds.define(kind('things'))
    const path = '/apis/example.com/v1/namespaces/default/things'
    for (const thing of ['a', 'b'])
      await api.ok(at.post(path, { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: thing } }))
    const watch = slowWatch(space, 'things')
    await api.ok(at.patch(`${path}/a`, 'merge', { metadata: { labels: { x: 'y' } } }))
    await watch.first
    const end = await at.watch(`${crds.path('').slice(0, -1)}?watch=1&fieldSelector=metadata.name=things.example.com`)
    await api.ok(at.delete(crds.path('things.example.com')))
    await end.until(({ type }) => type === 'DELETED')
    end.close()
    watch.goOn()
    await watch.ended
    t.equal(watch.told[0], 'MODIFIED example.com/v1 a')
    t.same(watch.told.slice(1).sort(), ['DELETED example.com/v1 a', 'DELETED example.com/v1 b'])
  }
})
