// One object that several workload spaces place in one cluster: it has one known owner, and the others get a report.

import t, { type Test } from 'tap'
import { str } from '../../../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../../src/apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { SpaceClient } from '../../../../src/client/client.ts'
import {
  EDGE_PLACEMENTS,
  LOCATIONS,
  PAUSED_ANNOTATION,
  PLACEMENT_GRANTS,
  PROJECTED_LABEL,
  SLICES,
  SYNC_TARGETS,
} from '../../../../src/placement/words/placement.ts'
import { type FakeServer, namespace } from '../fakeServer.ts'
import {
  ALL_MAPS,
  CRONTABS,
  configMap,
  consent,
  MAPS,
  placement,
  replicaSet,
  SETS,
  slice,
  world,
} from '../translatorWorld.ts'

const PAGE = { namespace: 'commonstuff', name: 'page' }
const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
const CONFLICT = 'edge.kubestellar.io/object-conflict'
const OWNER = 'edge.kubestellar.io/owner'
const SINCE = 'edge.kubestellar.io/owned-since'
const COUNT = 'kubestellar.io/executing-count'
const SINGLETON_SETS = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }

/** Events about placed objects. Those about EdgePlacements come at a pace of their own. */
function objectEvents(server: FakeServer, space: string): KubeObject[] {
  return server
    .names(space, EVENTS)
    .map(name => name.split('/'))
    .map(([at = '', name = '']) => server.peek(space, EVENTS, name, at)!)
    .filter(event => str(event, 'involvedObject', 'kind') !== 'EdgePlacement')
}

/** A second workload space `wds2`, whose claims come after those of `wds1`; what tests ask. */
async function rivals(t: Test) {
  const all = await world(t)
  const { server, florin } = all
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, namespace('commonstuff'))
  const place = async (api: SpaceClient, spec: object, ...at: ('florin' | 'guilder')[]) => {
    await api.create(EDGE_PLACEMENTS, placement('ep', spec))
    await api.create(SLICES, slice('ep', ...at))
    await server.quiet()
  }
  const map = (at: string) => server.peek(at, MAPS, 'page', 'commonstuff')
  const set = (at: string) => server.peek(at, SETS, 'rs', 'commonstuff')
  return {
    ...all,
    other,
    place,
    map,
    set,
    owner: () => map(florin)?.metadata.annotations?.[OWNER],
    told: (space: string) => map(space)?.metadata.annotations?.[CONFLICT],
    events: (space: string) => objectEvents(server, space).length,
    /** Writes to the florin mailbox since then, without those to its SyncerConfig. */
    writesTo: (from: number) =>
      server.writes.slice(from).filter(write => write.startsWith(`${florin} `) && !write.includes(' syncerconfigs ')),
    /** Both spaces with the ConfigMap `page`, that of wds1 first. */
    both: async () => {
      await all.wds.create(MAPS, configMap('page', { from: 'one' }, { labels: { one: 'yes' } }))
      await place(all.wds, ALL_MAPS, 'florin')
      await other.create(MAPS, configMap('page', { from: 'two' }, { labels: { two: 'yes' } }))
      await place(other, ALL_MAPS, 'florin')
    },
    annotate: async (api: SpaceClient, annotations: Record<string, string | null>) => {
      await api.patch(MAPS, PAGE, 'merge', { metadata: { annotations } })
      await server.quiet()
    },
  }
}

t.test('what a later space places under the same name replaces nothing, whatever it writes, and is told', async t => {
  const { server, other, florin, map, owner, told, events, both, annotate, writesTo } = await rivals(t)
  await both()
  t.same(map(florin)!.data, { from: 'one' })
  t.same(map(florin)!.metadata.labels, { one: 'yes', [PROJECTED_LABEL]: 'yes' }, 'two are never merged')
  t.equal(owner(), 'wds1')
  t.match(told('wds2'), /^not placed where space wds1 owns it \(at florin\); use another name/)
  t.equal(told('wds1'), undefined)
  const [event] = objectEvents(server, 'wds2')
  t.match(event, { type: 'Warning', reason: 'ObjectConflict', involvedObject: { kind: 'ConfigMap', ...PAGE } })
  const before = server.writes.length
  await annotate(other, { touched: 'yes' })
  await other.patch(MAPS, PAGE, 'merge', { data: { from: 'two again' } })
  await server.quiet()
  t.same(writesTo(before), [], 'newer writes do not count')
  t.equal(events('wds2'), 1, 'an Event when it begins')
  t.equal(events('wds1'), 0)
})

t.test('the placement of a later claimant is told, for as long as that lasts', async t => {
  const { server, wds, both } = await rivals(t)
  await both()
  const told = (space: string) => {
    const { status } = server.peek(space, EDGE_PLACEMENTS, 'ep')!
    return ((status as { conditions?: Record<string, string>[] } | undefined)?.conditions ?? [])[0]
  }
  await server.until(() => told('wds2')?.reason === 'ObjectConflict')
  t.match(
    told('wds2')!.message,
    /1 refused \(1 copy\): configmaps "commonstuff\/page": space wds1 owns it there; use another/,
  )
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.until(() => told('wds2')?.status === 'True')
})

t.test('a grant that is withdrawn ends the claim', async t => {
  const { server, map, florin, owner, both, writesTo } = await rivals(t)
  await both()
  const before = server.writes.length
  await server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' })
  await server.quiet()
  t.same(writesTo(before), [`${florin} update configmaps commonstuff/page`])
  t.equal(owner(), 'wds2')
  t.same(map(florin)!.data, { from: 'two' })
})

t.test('status that returns to two spaces changes nothing that either wants', async t => {
  const { server, wds, other, florin, place, set } = await rivals(t)
  await wds.create(SETS, replicaSet('rs'))
  await place(wds, SINGLETON_SETS, 'florin')
  await other.create(SETS, { ...replicaSet('rs'), spec: { replicas: 3 } })
  await place(other, SINGLETON_SETS, 'florin')
  for (let readyReplicas = 0; readyReplicas < 5; readyReplicas++) {
    await server.in(florin).update(SETS, { ...set(florin)!, status: { readyReplicas } }, { subresource: 'status' })
    await server.quiet()
    t.same(set(florin)!.spec, { replicas: 1 })
    t.same(set('wds1')!.status, { readyReplicas })
    t.equal(set('wds2')!.status, undefined, 'it is not their object that is reported on')
  }
  t.equal(set('wds1')!.metadata.annotations![COUNT], '1')
  t.equal(set('wds2')!.metadata.annotations![COUNT], '0')
  t.notOk(COUNT in set(florin)!.metadata.annotations!)
})

t.test('a space is counted where it owns the object alone, and its status returns from there', async t => {
  const { server, wds, other, florin, guilder, place, set } = await rivals(t)
  await wds.create(SETS, replicaSet('rs'))
  await place(wds, SINGLETON_SETS, 'florin')
  await other.create(SETS, { ...replicaSet('rs'), spec: { replicas: 3 } })
  await place(other, SINGLETON_SETS, 'florin', 'guilder')
  t.equal(set('wds2')!.metadata.annotations![COUNT], '1')
  t.match(set('wds2')!.metadata.annotations![CONFLICT], /\(at florin\)/)
  await server.in(guilder).update(SETS, { ...set(guilder)!, status: { readyReplicas: 3 } }, { subresource: 'status' })
  await server.in(florin).update(SETS, { ...set(florin)!, status: { readyReplicas: 1 } }, { subresource: 'status' })
  await server.quiet()
  t.same(set('wds2')!.status, { readyReplicas: 3 })
  t.same(set('wds1')!.status, { readyReplicas: 1 })
})

t.test(
  'who owns an object no more is told nothing of it any more, and who owns it now what is told from then on',
  async t => {
    const { server, wds, other, florin, place, set, writesTo } = await rivals(t)
    await wds.create(SETS, replicaSet('rs'))
    await place(wds, SINGLETON_SETS, 'florin')
    await other.create(SETS, replicaSet('rs'))
    await place(other, SINGLETON_SETS, 'florin')
    await server.in(florin).update(SETS, { ...set(florin)!, status: { readyReplicas: 1 } }, { subresource: 'status' })
    await server.quiet()
    t.same(set('wds1')!.status, { readyReplicas: 1 })
    const handOver = { 'edge.kubestellar.io/hand-over-to': 'wds2' }
    const before = server.writes.length
    await wds.patch(SETS, { namespace: 'commonstuff', name: 'rs' }, 'merge', { metadata: { annotations: handOver } })
    await server.quiet()
    t.equal(set(florin)!.metadata.annotations![OWNER], 'wds2')
    t.equal(set('wds1')!.status, undefined)
    t.same(writesTo(before), [`${florin} update replicasets commonstuff/rs`])
    t.equal(set(florin)!.status, undefined, 'what was told to the former owner went in the same write')
    t.equal(set('wds2')!.status, undefined)
    t.match(set(florin)!.metadata.annotations![SINCE], /^\d{4}-/)
    await server.in(florin).update(SETS, { ...set(florin)!, status: { readyReplicas: 3 } }, { subresource: 'status' })
    await server.quiet()
    t.same(set('wds2')!.status, { readyReplicas: 3 })
    const since = set(florin)!.metadata.annotations![SINCE]
    await other.patch(SETS, { namespace: 'commonstuff', name: 'rs' }, 'merge', { spec: { replicas: 5 } })
    await server.quiet()
    t.match(set(florin), { spec: { replicas: 5 }, status: { readyReplicas: 3 } })
    t.equal(set(florin)!.metadata.annotations![SINCE], since)
  },
)

t.test('an owner that leaves is followed by the next claim in one update', async t => {
  for (const leave of ['object', 'placement', 'slice'] as const) {
    const { server, wds, map, florin, owner, told, both, writesTo } = await rivals(t)
    await both()
    const { uid } = map(florin)!.metadata
    const before = server.writes.length
    if (leave === 'object') await wds.delete(MAPS, PAGE)
    if (leave === 'placement') await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
    if (leave === 'slice') await wds.delete(SLICES, { name: 'ep' })
    await server.quiet()
    t.same(writesTo(before), [`${florin} update configmaps commonstuff/page`], leave)
    t.same(map(florin)!.data, { from: 'two' })
    t.same(map(florin)!.metadata.labels, { two: 'yes', [PROJECTED_LABEL]: 'yes' })
    t.equal(map(florin)!.metadata.uid, uid)
    t.equal(owner(), 'wds2')
    t.equal(told('wds2'), undefined, 'it is told that all is well')
    if (leave !== 'object') t.equal(told('wds1'), undefined, 'who has left claims nothing')
  }
})

t.test('an owner that comes back is a later claimant', async t => {
  const { server, wds, owner, told, both } = await rivals(t)
  await both()
  await wds.delete(MAPS, PAGE)
  await server.quiet()
  await wds.create(MAPS, configMap('page', { from: 'one' }))
  await server.quiet()
  t.equal(owner(), 'wds2', 'although its placement is older')
  t.match(told('wds1'), /space wds2 owns it/)
})

t.test('a restart, and what happens during one, leaves the owner who it was', async t => {
  const { server, wds, other, florin, map, owner, told, events, place, restart, annotate, workStatuses } =
    await rivals(t)
  // the owner's placement is the younger one
  await place(wds, ALL_MAPS, 'florin')
  await place(other, ALL_MAPS, 'florin')
  await other.create(MAPS, configMap('page', { from: 'two' }))
  await server.quiet()
  await wds.create(MAPS, configMap('page', { from: 'one' }))
  await server.quiet()
  t.equal(owner(), 'wds2')
  const { resourceVersion } = map(florin)!.metadata
  await restart(() => annotate(wds, { touched: 'yes' }))
  await server.quiet()
  t.equal(map(florin)!.metadata.resourceVersion, resourceVersion, 'nothing is written')
  t.match(told('wds1'), /space wds2 owns it/)
  t.equal(events('wds1'), 1, 'nothing is told again')
  for (const silent of ['wds1', 'wds2', florin]) {
    await restart(async () => server.stalled.add(silent))
    await server.quiet()
    t.equal(map(florin)!.metadata.resourceVersion, resourceVersion, `without the stream of ${silent}`)
    t.match(told('wds1'), /space wds2 owns it/)
    server.stalled.clear()
    server.notify()
    await server.quiet()
    t.same(await workStatuses(), ['inv1.florin:configmaps:page Conflict ObjectConflict'], 'once both claims are known')
  }
  await restart(() => other.delete(MAPS, PAGE))
  await server.quiet()
  t.same(map(florin)!.data, { from: 'one' }, 'a claim that ended meanwhile is followed by the next')
  t.equal(told('wds1'), undefined)
})

t.test('counts do not waver while a restart is under way', async t => {
  const { server, wds, other, florin, place, set, restart } = await rivals(t)
  await wds.create(SETS, replicaSet('rs'))
  await place(wds, SINGLETON_SETS, 'florin')
  await other.create(SETS, { ...replicaSet('rs'), spec: { replicas: 3 } })
  await place(other, SINGLETON_SETS, 'florin')
  const versions = () => [set('wds1')!.metadata.resourceVersion, set('wds2')!.metadata.resourceVersion]
  const before = versions()
  for (const silent of ['wds1', florin]) {
    await restart(async () => server.stalled.add(silent))
    await server.quiet()
    server.stalled.clear()
    server.notify()
    await server.quiet()
    t.same(versions(), before)
  }
})

t.test('hands in a mailbox neither give an object away nor take its owner by deleting it', async t => {
  const { server, florin, map, owner, both } = await rivals(t)
  await both()
  const copy = map(florin)!
  const annotations = { ...copy.metadata.annotations, [OWNER]: 'wds2' }
  await server.in(florin).update(MAPS, { ...copy, metadata: { ...copy.metadata, annotations } })
  await server.quiet()
  t.equal(owner(), 'wds1')
  t.same(map(florin)!.data, { from: 'one' })
})

t.test('a copy that is deleted by hand is made again for its owner', async t => {
  const { server, wds, other, florin, map, owner, place } = await rivals(t)
  await place(wds, ALL_MAPS, 'florin')
  await place(other, ALL_MAPS, 'florin')
  await other.create(MAPS, configMap('page', { from: 'two' }))
  await server.quiet()
  await wds.create(MAPS, configMap('page', { from: 'one' }))
  await server.quiet()
  await server.in(florin).delete(MAPS, PAGE)
  await server.quiet()
  t.same(map(florin)!.data, { from: 'two' })
  t.equal(owner(), 'wds2')
})

t.test('the administrator of the inventory releases what a space owns in a cluster', async t => {
  const { server, florin, map, owner, told, both, writesTo, restart } = await rivals(t)
  const inventory = server.in('inv1')
  await both()
  const before = server.writes.length
  const release = async (text: string | null) => {
    const annotations = { 'edge.kubestellar.io/release-owner': text }
    await inventory.patch(SYNC_TARGETS, { name: 'florin' }, 'merge', { metadata: { annotations } })
    await server.quiet()
  }
  await release('root:wds1')
  t.same(writesTo(before), [`${florin} update configmaps commonstuff/page`])
  t.equal(owner(), 'wds2')
  t.same(map(florin)!.data, { from: 'two' })
  t.match(told('wds1'), /space wds2 owns it/)
  t.equal(told('wds2'), undefined)
  await restart(() => release(null))
  await server.quiet()
  t.equal(owner(), 'wds2', 'it stays where it went')
  await release('wds2, wds1')
  t.equal(owner(), 'wds2', 'where all have to give way, nobody does')
  await release('wds2')
  t.equal(owner(), 'wds1')
})

t.test(
  'who claims what another space owns is told so also when both have left and come back behind a pause',
  async t => {
    const { server, wds, other, both, told, map, florin } = await rivals(t)
    await both()
    t.match(told('wds2'), /space wds1 owns it/)
    const pause = async (value: string | null) => {
      await server.in('inv1').patch(LOCATIONS, { name: 'florin' }, 'merge', {
        metadata: { annotations: { [PAUSED_ANNOTATION]: value } },
        spec: { instanceSelector: { matchLabels: { 'loc-name': 'florin' } } },
      })
      await server.quiet()
    }
    const lead = async (api: SpaceClient, space: string, ...at: 'florin'[]) => {
      await api.update(SLICES, {
        ...server.peek(space, SLICES, 'ep')!,
        ...slice('ep', ...at),
        metadata: server.peek(space, SLICES, 'ep')!.metadata,
      })
      await server.quiet()
    }
    await pause('true')
    await lead(wds, 'wds1')
    await lead(other, 'wds2')
    t.notOk(told('wds2'))
    await lead(other, 'wds2', 'florin')
    await lead(wds, 'wds1', 'florin')
    await pause(null)
    t.match(map(florin), { data: { from: 'one' } })
    t.match(told('wds2'), /space wds1 owns it/)
  },
)

t.test('a workload space hands an object over, to a space that places it too', async t => {
  const { server, wds, other, florin, map, owner, told, both, annotate, writesTo } = await rivals(t)
  await both()
  await annotate(wds, { 'edge.kubestellar.io/hand-over-to': 'root:elsewhere' })
  t.equal(owner(), 'wds1', 'to nobody, it stays')
  const before = server.writes.length
  await annotate(wds, { 'edge.kubestellar.io/hand-over-to': 'root:wds2' })
  t.same(writesTo(before), [`${florin} update configmaps commonstuff/page`])
  t.same(map(florin)!.data, { from: 'two' })
  t.equal(owner(), 'wds2')
  t.match(told('wds1'), /space wds2 owns it/)
  t.equal(told('wds2'), undefined)
  await annotate(wds, { 'edge.kubestellar.io/hand-over-to': null })
  t.equal(owner(), 'wds2')
  await annotate(wds, { 'edge.kubestellar.io/hand-over-to': 'wds2' })
  const calm = server.writes.length
  await annotate(other, { 'edge.kubestellar.io/hand-over-to': 'wds1' })
  t.same(writesTo(calm), [], 'a circle hands nothing over')
})

t.test('a Namespace is there for all; what stands on it is the first one that places it explicitly', async t => {
  const { server, wds, other, florin, place } = await rivals(t)
  const spaces = { downsync: [{ apiGroup: '', resources: ['namespaces'], objectNames: ['shared'] }] }
  const told = (space: string) => server.peek(space, NAMESPACES, 'shared')!.metadata.annotations?.[CONFLICT]
  await wds.create(NAMESPACES, namespace('shared', { team: 'one' }))
  await place(wds, spaces, 'florin')
  await other.create(NAMESPACES, namespace('default'))
  await other.create(NAMESPACES, namespace('shared', { team: 'one' }))
  await place(other, spaces, 'florin')
  t.equal(told('wds2'), undefined, 'both say the same: no conflict')
  await wds.patch(NAMESPACES, { name: 'shared' }, 'merge', { metadata: { labels: { team: 'two' } } })
  await server.quiet()
  t.equal(server.peek(florin, NAMESPACES, 'shared')!.metadata.labels!.team, 'two')
  t.match(told('wds2'), /space wds1 owns it/)
  t.equal(objectEvents(server, 'wds2').length, 1)
  await wds.delete(NAMESPACES, { name: 'shared' })
  await server.quiet()
  t.equal(server.peek(florin, NAMESPACES, 'shared')!.metadata.labels!.team, 'one', 'it passes on, and never goes')
  t.notOk(server.writes.includes(`${florin} delete namespaces /shared`))
  t.equal(told('wds2'), undefined)
})

t.test('a definition stays while objects of anybody need it, whoever brought it', async t => {
  const { server, wds, other, florin, place } = await rivals(t)
  const name = 'crontabs.stable.example.com'
  const crd = (label: string): KubeObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    // as of any definition that has objects
    metadata: { name, labels: { label }, finalizers: ['customresourcecleanup.apiextensions.k8s.io'] },
    spec: { group: 'stable.example.com', names: { plural: 'crontabs' } },
  })
  const tab = (tabName: string): KubeObject => ({
    apiVersion: 'stable.example.com/v1',
    kind: 'CronTab',
    metadata: { name: tabName, namespace: 'commonstuff' },
    spec: {},
  })
  for (const [api, id] of [
    [wds, 'one'],
    [other, 'two'],
  ] as const) {
    await api.create(CRDS, crd(id))
    await api.create(CRONTABS, tab(id))
    await place(api, { downsync: [{ apiGroup: 'stable.example.com' }] }, 'florin')
  }
  const label = () => server.peek(florin, CRDS, name)?.metadata.labels?.label
  t.same(server.names(florin, CRONTABS), ['commonstuff/one', 'commonstuff/two'])
  t.equal(label(), 'one')
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.equal(label(), 'two', 'it passes on')
  await other.delete(CRDS, { name })
  await server.quiet()
  t.equal(label(), 'two', 'no space places it any more, and there is an object')
  await other.delete(CRONTABS, { namespace: 'commonstuff', name: 'two' })
  await server.quiet()
  t.equal(label(), undefined)
  t.same(
    server.writes.filter(write => write.startsWith(`${florin} `) && write.includes(' customresourcedefinitions ')),
    [`${florin} create`, `${florin} update`, `${florin} delete`].map(
      verb => `${verb} customresourcedefinitions /${name}`,
    ),
  )
})
