/** Watches that API threads serve: the same as those of one thread, wherever a connection comes to. */
import t, { type Test } from 'tap'
import { Api, type Watch } from '../../support/api.ts'
import { ALICE, CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'

/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12
const WATCH = `${CONFIGMAPS}?watch=1`
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const START = { more: { apiThreads: 2, bookmarkIntervalMs: 5 } }

/** Watches of the administrator, each over a connection of its own. */
function openAll(api: Api, path: string, space?: string): Promise<Watch[]> {
  const at = (): Api => (space === undefined ? new Api(api.access) : new Api(api.access).in(space))
  return Promise.all(Array.from({ length: CONNECTIONS }, () => at().watch(path)))
}

function closeAll(watches: readonly Watch[]): void {
  for (const watch of watches) watch.close()
}

async function openWatches(api: Api): Promise<number> {
  const { text } = await api.get('/metrics')
  return Number(/apiserver_longrunning_requests\{verb="WATCH"\} (\d+)/.exec(text)?.[1])
}

t.test('one server', async t => {
  const { api, server, faults } = await startTestServer(t, START)

  t.test('all are told the same, to the byte, and begin anywhere', async t => {
    const from = (await api.ok(api.get(CONFIGMAPS))).metadata.resourceVersion
    const live = await openAll(api, `${WATCH}&resourceVersion=${from}`)
    for (let i = 0; i < 20; i++) {
      await api.ok(api.post(CONFIGMAPS, configMap(`c${i}`)))
      await api.ok(api.delete(`${CONFIGMAPS}/c${i}`))
    }
    const resumed = await openAll(api, `${WATCH}&resourceVersion=${from}`)
    const told = await Promise.all([...live, ...resumed].map(watch => watch.take(40)))
    t.match(told[0]!.slice(-2), [
      { type: 'ADDED', object: { metadata: { name: 'c19' } } },
      { type: 'DELETED', object: { metadata: { name: 'c19' } } },
    ])
    for (const events of told) if (!t.strictSame(events, told[0])) break
    closeAll([...live, ...resumed])
  })

  t.test('what came before a thread began is asked of the store; what is forgotten is said to be', async t => {
    await api.ok(api.post(CONFIGMAPS, configMap('kept')))
    const first = await openAll(api, `${WATCH}&resourceVersion=1`)
    for (const watch of first) t.match(await watch.next(), { type: 'ADDED' })
    await server.store.compact()
    await api.ok(api.post(CONFIGMAPS, configMap('later')))
    await server.store.compact(server.store.revision)
    const late = await openAll(api, `${WATCH}&resourceVersion=1`)
    for (const watch of late) t.match(await watch.rest(), [{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }])
    closeAll(first)
  })

  t.test('bookmarks come, behind all that they stand for', async t => {
    const watches = await openAll(api, `${WATCH}&allowWatchBookmarks=true&fieldSelector=metadata.name=none`)
    const { metadata } = await api.ok(api.post(CONFIGMAPS, configMap('other')))
    const revision = Number(metadata.resourceVersion)
    for (const watch of watches)
      await watch.until(
        ({ type, object }) => type === 'BOOKMARK' && Number(object.metadata.resourceVersion) >= revision,
      )
    closeAll(watches)
    t.pass('of what it does not show, too')
  })

  t.test('they are counted together', async t => {
    while ((await openWatches(api)) > 0);
    const watches = await openAll(api, WATCH)
    while ((await openWatches(api)) !== CONNECTIONS);
    closeAll(watches)
    while ((await openWatches(api)) > 0);
    t.pass('as many as there are')
  })

  t.test('with a space end all watches in it', async t => {
    const space = await createSpace(api, 'ends')
    const watches = await openAll(api, WATCH, space)
    await api.ok(api.delete(`${WORKSPACES}/ends`))
    for (const watch of watches) await watch.rest()
    t.pass('all of them')
  })

  t.test('when it ends, it tells all who watch, whichever thread they have', async t => {
    const watches = await openAll(api, WATCH)
    const ended = Promise.all(watches.map(watch => watch.rest()))
    await server.close()
    t.equal((await ended).length, CONNECTIONS, 'each ended as it should')
  })

  t.test('nothing of it was a fault of the server', async t => t.same(faults, []))
})

t.test('what one thread lets in takes room in all', async t => {
  const limits = { reading: 400, mutating: 200, watching: 32 }
  const { api } = await startTestServer(t, { more: { apiThreads: 2, inFlight: limits } })
  // a quarter of all
  const most = limits.watching / 4
  const space = await createSpace(api, 'bounded')
  await api.ok(
    api.in(space).post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'alice' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }],
    }),
  )
  const alice = (t: Test): Api => {
    const client = api.in(space).as(ALICE)
    t.teardown(() => client.close())
    return client
  }
  while ((await openWatches(api)) > 0);
  const watches = await Promise.all(Array.from({ length: most }, () => alice(t).watch(WATCH)))
  while ((await openWatches(api)) < most);
  for (let i = 0; i < CONNECTIONS; i++) {
    // until it has the others' counts
    let refused = ''
    while (refused === '')
      await alice(t)
        .watch(WATCH)
        .then(
          watch => watch.close(),
          error => (refused = String(error)),
        )
    if (!t.match(refused, /refused: 429/)) break
  }
  closeAll(watches)
  while ((await openWatches(api)) > 0);
  const again = await alice(t).watch(WATCH)
  again.close()
})
