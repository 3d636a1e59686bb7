/** Clusters that serve one object in two groups, as Kubernetes 1.20 does with Ingresses and OpenShift with RBAC. */
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { equalJson } from '../../src/apimachinery/values.ts'
import type { SpaceClient, WatchEvent } from '../../src/client/client.ts'
import { CLUSTER_RECORD } from '../../src/placement/words/placement.ts'
import { startCenter } from '../support/center.ts'
import { temporaryDir } from '../support/server.ts'
import { MAPS } from './support/kinds.ts'
import { type Pair, pairIn, sent } from './support/pair.ts'
import { recordingLogger } from './support/recordingLogger.ts'

const center = await startCenter(t, { expectsTrouble: true })
const A = { namespace: 'app', name: 'a' }
const B = { namespace: 'app', name: 'b' }
const TWIN: GroupVersionResource = { group: 'twin.example.org', version: 'v1', resource: 'configmaps' }
const names = (group: string, ...of: string[]) => ({
  group,
  resource: 'configmaps',
  apiVersion: 'v1',
  objectsByNamespace: [{ namespace: 'app', names: of }],
})

/** Serves ConfigMaps in a second group, the same objects. First in discovery, so that it is looked at first. */
function twice(cluster: SpaceClient, kind = 'ConfigMap'): SpaceClient {
  const isTwin = ({ group }: GroupVersionResource): boolean => group === TWIN.group
  const real = (resource: GroupVersionResource) => (isTwin(resource) ? MAPS : resource)
  const shown = (resource: GroupVersionResource, object: KubeObject): KubeObject =>
    isTwin(resource) ? { ...object, apiVersion: `${TWIN.group}/v1`, kind } : object
  return {
    get: async (resource, ref) => shown(resource, await cluster.get(real(resource), ref)),
    list: async (resource, options) => {
      const list = await cluster.list(real(resource), options)
      return { ...list, items: list.items.map(object => shown(resource, object)) }
    },
    async *watch(resource, options) {
      for await (const batch of cluster.watch(real(resource), options))
        yield batch.map(
          (event): WatchEvent =>
            event.type === 'BOOKMARK' ? event : { ...event, object: shown(resource, event.object) },
        )
    },
    create: (resource, object, options) => cluster.create(real(resource), object, options),
    update: (resource, object, options) => cluster.update(real(resource), object, options),
    patch: (resource, ref, type, body, options) => cluster.patch(real(resource), ref, type, body, options),
    delete: (resource, ref, options) => cluster.delete(real(resource), ref, options),
    discover: async () => {
      const all = await cluster.discover()
      const maps = all.find(({ group, resource }) => group === '' && resource === 'configmaps')!
      return [{ ...maps, ...TWIN, kind }, ...all]
    },
  }
}

/** Starts a syncer, and ends it after `until`. @returns what it says that it deleted, left or keeps */
async function run(
  p: Pair,
  until: () => Promise<unknown>,
  { stateDir, kind }: { stateDir?: string; kind?: string } = {},
): Promise<string[]> {
  const { logger, lines } = recordingLogger()
  const cluster = twice(p.toCluster.cluster(p.cluster), kind)
  const syncer = p.start(logger, undefined, { cluster, ...(stateDir && { stateDir }) })
  await syncer.synced
  await until()
  await p.settled()
  await syncer.stop()
  return lines.filter(({ message }) => /deleted from|left in|stay in/.test(message)).map(({ message }) => message)
}
const there = (p: Pair, name: string, x?: string) =>
  center.world.present(p.clusterId, `configmaps app/${name}`, ({ data }) => x === undefined || equalJson(data, { x }))
const gone = (p: Pair, name: string) => center.world.absent(p.clusterId, `configmaps app/${name}`)

for (const kind of ['ConfigMap', 'Project'])
  t.test(`what a second group of the cluster shows, as ${kind}, is no leftover`, async t => {
    const p = await pairIn(center, t, { namespacedObjects: [names('', 'a', 'b', 'c', 'd')] })
    for (const name of ['a', 'b', 'c', 'd']) await p.mailbox.create(MAPS, sent(name))
    await run(p, () => Promise.all(['a', 'b', 'c', 'd'].map(name => there(p, name))), { kind })
    // an applied one has another sort of claim
    await p.mailbox.patch(MAPS, A, 'merge', { data: { x: '2' } })
    await run(p, () => there(p, 'a', '2'), { kind })
    const before = await Promise.all([p.cluster.get(MAPS, A), p.cluster.get(MAPS, B)])
    // what is a leftover tells that the search is over
    await p.mailbox.delete(MAPS, { ...A, name: 'c' })
    t.equal((await run(p, () => gone(p, 'c'), { kind, stateDir: temporaryDir(t) })).length, 1)
    await p.mailbox.delete(MAPS, { ...A, name: 'd' })
    t.equal((await run(p, () => gone(p, 'd'), { kind })).length, 1, 'with a state of before')
    const now = await Promise.all([p.cluster.get(MAPS, A), p.cluster.get(MAPS, B)])
    t.same(now.map(uidOf), before.map(uidOf))
  })

t.test('more than the brake lets go are none that it holds, and a leftover in two groups is one', async t => {
  const objects = Array.from({ length: 60 }, (_, i) => `o${i}`)
  const p = await pairIn(center, t, { namespacedObjects: [names('', ...objects)] })
  for (const name of objects) await p.mailbox.create(MAPS, sent(name))
  await run(p, () => Promise.all(objects.map(name => there(p, name))))
  for (const name of objects.slice(0, 30)) await p.mailbox.delete(MAPS, { ...A, name })
  const told = await run(p, () => Promise.all(objects.slice(0, 30).map(name => gone(p, name))), {
    stateDir: temporaryDir(t),
  })
  t.equal(told.length, 30)
  t.ok(await p.cluster.get(MAPS, { ...A, name: 'o59' }))
})

t.test('both groups are watched for what the mailbox holds, and neither view counts as unwanted', async t => {
  const p = await pairIn(center, t, { namespacedObjects: [names('', 'a'), names(TWIN.group, 'b')] })
  await p.mailbox.create(MAPS, sent('a'))
  await run(p, () => there(p, 'a'))
  const { uid } = (await p.cluster.get(MAPS, A)).metadata
  const edit = async (x: string): Promise<void> => {
    await p.mailbox.patch(MAPS, A, 'merge', { data: { x } })
    await there(p, 'a', x)
  }
  const told = await run(p, async () => {
    for (const x of ['1', '2', '3']) await edit(x)
  })
  t.same(told, [])
  t.equal((await p.cluster.get(MAPS, A)).metadata.uid, uid)
})

t.test('where no note says whose the cluster is, a second view is no object of strangers', async t => {
  const p = await pairIn(center, t)
  await p.mailbox.create(MAPS, sent('a'))
  await run(p, () => there(p, 'a'))
  await p.cluster.delete(MAPS, CLUSTER_RECORD)
  await p.mailbox.patch(MAPS, A, 'merge', { data: { x: '2' } })
  await run(p, () => there(p, 'a', '2'), { stateDir: temporaryDir(t) })
  t.ok(await p.cluster.get(MAPS, CLUSTER_RECORD), 'it serves the cluster, and notes it')
})

const uidOf = ({ metadata: { uid } }: KubeObject) => uid
