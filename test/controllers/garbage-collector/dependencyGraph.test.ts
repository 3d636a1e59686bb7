import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { StreamEvent } from '../../../src/client/client.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { DependencyGraph, FOREGROUND, refId } from '../../../src/controllers/garbage-collector/dependencyGraph.ts'
import { GarbageReconciler } from '../../../src/controllers/garbage-collector/garbageReconciler.ts'
import { OwnerReader } from '../../../src/controllers/garbage-collector/ownerReader.ts'
import { FakeServer, KINDS } from '../../client/support/fakeServer.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

const { configmaps } = KINDS

function event(type: StreamEvent['type'], name: string, metadata: Partial<KubeObject['metadata']> = {}) {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'n', uid: `uid-${name}`, ...metadata },
  }
  const text = JSON.stringify(object)
  let parsed = 0
  const made = {
    type,
    space: 's',
    resource: configmaps,
    namespace: 'n',
    name,
    revision: 1,
    mentions: (part: string) => text.includes(part),
    get object() {
      parsed++
      return object
    },
  }
  return { event: made satisfies StreamEvent, parsed: () => parsed }
}

const ownedBy = (...owners: string[]) => ({
  ownerReferences: owners.map(name => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-${name}` })),
})

function graphOf() {
  const woken: string[] = []
  const graph = new DependencyGraph({
    wake: ref => void woken.push(ref.name),
    wakeAll: refs => woken.push(...Array.from(refs, ref => ref.name)),
    kindsChanged() {},
  })
  return { graph, woken: () => woken.splice(0).sort() }
}

t.test('of what tells its metadata nothing else is parsed', async t => {
  const { graph, woken } = graphOf()
  graph.begin()
  graph.synced()
  const told = (type: StreamEvent['type'], name: string, metadata: Partial<KubeObject['metadata']> = {}) => {
    const { event: made, parsed } = event(type, name, metadata)
    // the getter's value is not read here
    const change = Object.defineProperty(made, 'metadata', { value: { name, uid: `uid-${name}`, ...metadata } })
    graph.change(change)
    t.equal(parsed(), 0)
  }
  woken()
  told('ADDED', 'd', ownedBy('o'))
  t.strictSame(woken(), ['d'])
  told('MODIFIED', 'd', ownedBy('o', 'p'))
  told('DELETED', 'o')
  t.ok(woken().includes('d'))
})

t.test('what is deleted is not parsed in a space where nobody names an owner and none waits', async t => {
  const { graph, woken } = graphOf()
  graph.begin()
  graph.synced()
  const parsedOf = (type: StreamEvent['type'], name: string, metadata: Partial<KubeObject['metadata']> = {}) => {
    const { event: made, parsed } = event(type, name, metadata)
    graph.change(made)
    return parsed()
  }
  t.equal(parsedOf('DELETED', 'o'), 0)
  parsedOf('ADDED', 'd', ownedBy('o', 'p'))
  parsedOf('ADDED', 'e', ownedBy('o'))
  woken()
  t.equal(parsedOf('DELETED', 'o'), 1)
  t.strictSame(woken(), ['d', 'e'], 'somebody names it')
  parsedOf('DELETED', 'd', ownedBy('o', 'p'))
  t.equal(parsedOf('DELETED', 'x'), 1, 'somebody is left who names an owner')
  parsedOf('DELETED', 'e', ownedBy('o'))
  t.equal(parsedOf('DELETED', 'y'), 0)
  const waiting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [FOREGROUND] }
  parsedOf('MODIFIED', 'w', waiting)
  parsedOf('MODIFIED', 'w', waiting)
  t.equal(graph.knowsDependentsOf('s', 'uid-w'), true)
  t.equal(parsedOf('DELETED', 'w', waiting), 1)
  t.equal(graph.knowsDependentsOf('s', 'uid-w'), false)
  t.equal(parsedOf('DELETED', 'z'), 0)
  parsedOf('MODIFIED', 'w', waiting)
  graph.begin()
  graph.synced()
  t.equal(parsedOf('DELETED', 'w'), 0, 'what was waited for is forgotten with the rest')
})

t.test('objects without owners pass by unparsed and are not held', t => {
  const { graph } = graphOf()
  graph.begin()
  const free = event('ADDED', 'free')
  graph.change(free.event)
  graph.synced()
  t.equal(free.parsed(), 0)
  t.equal(graph.size, 0)
  t.end()
})

t.test('a live owner is believed only while the stream is sure to tell of its end', t => {
  const { graph, woken } = graphOf()
  graph.begin()
  graph.change(event('ADDED', 'd', ownedBy('o')).event)
  graph.noteLive('s', 'uid-o', graph.epoch)
  t.notOk(graph.isLive('s', 'uid-o'), 'not during a snapshot')
  graph.synced()
  t.strictSame(woken(), ['d'])
  const epoch = graph.epoch
  graph.noteLive('s', 'uid-o', epoch)
  t.ok(graph.isLive('s', 'uid-o'))
  t.notOk(graph.isLive('other', 'uid-o'), 'in another space it is another')
  graph.change(event('DELETED', 'o').event)
  t.strictSame(woken(), ['d'])
  graph.noteLive('s', 'uid-o', epoch)
  t.notOk(graph.isLive('s', 'uid-o'), 'a read that was overtaken by the deletion')

  graph.change(event('ADDED', 'e', ownedBy('p')).event)
  const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [FOREGROUND] }
  graph.change(event('MODIFIED', 'p', leaving).event)
  graph.noteLive('s', 'uid-p', epoch)
  t.notOk(graph.isLive('s', 'uid-p'), 'an owner that waits for its dependents is to be read again')

  graph.change(event('ADDED', 'f', ownedBy('q')).event)
  graph.begin()
  graph.synced()
  graph.noteLive('s', 'uid-q', epoch)
  t.notOk(graph.isLive('s', 'uid-q'), 'a read from before the snapshot')
  t.end()
})

t.test('a snapshot replaces the graph: what it lacks is forgotten', t => {
  const { graph, woken } = graphOf()
  graph.begin()
  graph.change(event('ADDED', 'a', ownedBy('o')).event)
  graph.change(event('ADDED', 'b', ownedBy('o')).event)
  graph.synced()
  woken()
  graph.begin()
  graph.change(event('ADDED', 'b', ownedBy('o')).event)
  t.equal(graph.size, 2, 'not before it is complete')
  graph.synced()
  t.strictSame(
    graph.dependentsOf('s', 'uid-o').map(d => d.ref.name),
    ['b'],
  )
  t.strictSame(woken(), ['b'])
  t.end()
})

t.test('an owner is not let go before the stream has told all its dependents', async t => {
  const server = new FakeServer()
  const { graph } = graphOf()
  const wakeAll = () => {}
  const reconciler = new GarbageReconciler({
    turns: endlessTurns(),
    client: server,
    graph,
    owners: new OwnerReader(server, systemClock),
    wakeAll,
  })
  const made: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'o', namespace: 'n' } }
  const owner = await server.in('s').create(configmaps, made)
  await server.in('s').delete(configmaps, { namespace: 'n', name: 'o' }, { propagationPolicy: 'Foreground' })
  const ref = { space: 's', resource: configmaps, namespace: 'n', name: 'o' }
  graph.begin()
  await reconciler.reconcile(ref)
  t.strictSame(server.names('s', configmaps), ['o'], 'during a snapshot')
  graph.synced()
  await reconciler.reconcile(ref)
  t.strictSame(server.names('s', configmaps), ['o'], 'while its deletion is not told')
  const { object } = event('MODIFIED', 'o').event
  const { finalizers, deletionTimestamp } = (await server.in('s').get(configmaps, ref)).metadata
  const told = { uid: owner.metadata.uid!, finalizers: finalizers!, deletionTimestamp: deletionTimestamp! }
  graph.change(event('MODIFIED', object.metadata.name!, told).event)
  await reconciler.reconcile(ref)
  t.strictSame(server.names('s', configmaps), [])
})

t.test('names of objects are unique over spaces, groups and namespaces', t => {
  const ref = { space: 's', resource: configmaps, namespace: 'n', name: 'a' }
  const others = [
    { ...ref, space: 't' },
    { ...ref, namespace: '' },
    { ...ref, name: 'b' },
    { ...ref, resource: { ...configmaps, group: 'g' } },
  ]
  t.equal(new Set([ref, ...others].map(refId)).size, 5)
  t.equal(refId({ ...ref, resource: { ...configmaps, version: 'v2' } }), refId(ref), 'the version does not matter')
  t.end()
})

t.test('dependents of an owner that is gone are named by and by, whatever happens to them meanwhile', t => {
  const named: Iterator<{ name: string }>[] = []
  const woken: string[] = []
  const graph = new DependencyGraph({
    wake: ref => void woken.push(ref.name),
    wakeAll: refs => void named.push(refs[Symbol.iterator]()),
    kindsChanged() {},
  })
  graph.begin()
  for (let i = 0; i < 5; i++) graph.change(event('ADDED', `d${i}`, ownedBy('o')).event)
  graph.synced()
  named.length = 0
  graph.change(event('DELETED', 'o', ownedBy('x')).event)
  t.equal(named.length, 1)
  t.equal(named[0]!.next().value.name, 'd0')
  graph.change(event('DELETED', 'd1', ownedBy('o')).event)
  graph.change(event('MODIFIED', 'd2', ownedBy('o', 'other')).event)
  graph.change(event('ADDED', 'd5', ownedBy('o')).event)
  const rest: string[] = []
  for (let step = named[0]!.next(); !step.done; step = named[0]!.next()) rest.push(step.value.name)
  t.same([...new Set([...rest, ...woken])].sort(), ['d2', 'd3', 'd4', 'd5'])
  t.end()
})

t.test('those that hold a waiting owner up are asked once, however often one of them goes', t => {
  const { graph, woken } = graphOf()
  const blocking = (...owners: string[]) => ({
    ownerReferences: ownedBy(...owners).ownerReferences.map(owner => ({ ...owner, blockOwnerDeletion: true })),
  })
  graph.begin()
  graph.synced()
  for (const name of ['a', 'b']) graph.change(event('ADDED', name, blocking('o')).event)
  graph.change(event('ADDED', 'free', ownedBy('o')).event)
  graph.change(event('ADDED', 'o', blocking('o')).event)
  woken()
  graph.askBlocking('s', 'uid-o')
  t.strictSame(woken(), [], 'it does not wait')
  t.ok(graph.isHeldUp('s', 'uid-o'))
  const waits = { ...blocking('o'), finalizers: [FOREGROUND], deletionTimestamp: '2026-01-01T00:00:00Z' }
  graph.change(event('MODIFIED', 'o', waits).event)
  woken()
  graph.askBlocking('s', 'uid-o')
  t.strictSame(woken(), ['a', 'b'])
  graph.change(event('DELETED', 'a', blocking('o')).event)
  t.strictSame(woken(), ['o'])
  graph.askBlocking('s', 'uid-o')
  t.strictSame(woken(), [])
  graph.change(event('MODIFIED', 'b', ownedBy('o')).event)
  t.notOk(graph.isHeldUp('s', 'uid-o'), 'nobody blocks it, itself included')
  t.ok(graph.hasDependents('s', 'uid-o'))
  t.end()
})

t.test('who names an owner twice, alone or with others, depends on it until it goes itself', t => {
  const { graph } = graphOf()
  graph.begin()
  graph.synced()
  const twice = ownedBy('o', 'o', 'p')
  twice.ownerReferences[1] = {
    ...twice.ownerReferences[1]!,
    blockOwnerDeletion: true,
  } as (typeof twice.ownerReferences)[0]
  const names = (uid: string): string[] => graph.dependentsOf('s', uid).map(({ ref }) => ref.name)
  graph.change(event('ADDED', 'a', twice).event)
  t.strictSame(names('uid-o'), ['a'])
  t.ok(graph.isHeldUp('s', 'uid-o'))
  graph.change(event('ADDED', 'b', ownedBy('o')).event)
  t.strictSame(names('uid-o'), ['a', 'b'])
  t.ok(graph.isHeldUp('s', 'uid-o'))
  graph.change(event('DELETED', 'a', twice).event)
  t.strictSame([names('uid-o'), names('uid-p')], [['b'], []])
  t.notOk(graph.isHeldUp('s', 'uid-o'))
  graph.change(event('ADDED', 'a', twice).event)
  graph.change(event('DELETED', 'b', ownedBy('o')).event)
  t.strictSame(names('uid-o'), ['a'])
  t.ok(graph.isHeldUp('s', 'uid-o'))
  graph.change(event('DELETED', 'a', twice).event)
  t.notOk(graph.hasDependents('s', 'uid-o'))
  t.equal(graph.size, 0)
  t.end()
})

t.test('whatever kinds and names hold, a change of who holds up whom is seen', t => {
  const { graph } = graphOf()
  graph.begin()
  graph.synced()
  const named = (...owners: [kind: string, name: string, blockOwnerDeletion: boolean][]) => ({
    ownerReferences: owners.map(([kind, name, blockOwnerDeletion], i) => {
      return { apiVersion: 'v1', kind, name, uid: `u${i}`, blockOwnerDeletion }
    }),
  })
  graph.change(event('ADDED', 'a', named(['K', 'N\0true\0K', false], ['K2', 'N2', true])).event)
  t.notOk(graph.isHeldUp('s', 'u0'))
  graph.change(event('MODIFIED', 'a', named(['K', 'N', true], ['K\0false\0K2', 'N2', true])).event)
  t.ok(graph.isHeldUp('s', 'u0'))
  t.end()
})
