// The status that comes back from clusters: while there is one, in generations of the source, and taken back after.
import t from 'tap'
import { conditionOf } from '../../../../src/apimachinery/conditions.ts'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { placement, replicaSet, SETS, slice, tick, world } from '../translatorWorld.ts'

t.test('state returns while there is exactly one destination; the count is kept while it is wanted', async t => {
  const { server, wds, florin } = await world(t)
  const spec = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }
  await wds.create(SETS, replicaSet('rs'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', spec))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const home = () => server.peek('wds1', SETS, 'rs', 'commonstuff')!
  const report = (status: object) =>
    server
      .in(florin)
      .update(SETS, { ...server.peek(florin, SETS, 'rs', 'commonstuff')!, status }, { subresource: 'status' })
  t.equal(home().metadata.annotations!['kubestellar.io/executing-count'], '2')
  const travelled = () => server.peek(florin, SETS, 'rs', 'commonstuff')!.metadata.annotations!
  t.notOk('kubestellar.io/executing-count' in travelled(), 'it is told at home')
  await report({ readyReplicas: 1 })
  await server.quiet()
  t.equal(home().status, undefined, 'not while two clusters run it')
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: slice('ep', 'florin').destinations })
  await server.quiet()
  t.equal(home().metadata.annotations!['kubestellar.io/executing-count'], '1')
  t.same(home().status, { readyReplicas: 1 })
  await report({ readyReplicas: 0 })
  await server.quiet()
  t.same(home().status, { readyReplicas: 0 })
  await wds.update(EDGE_PLACEMENTS, {
    ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!,
    spec: { ...spec, wantSingletonReportedState: false },
  })
  await server.quiet()
  t.notOk('kubestellar.io/executing-count' in home().metadata.annotations!)
  await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec })
  await server.quiet()
  t.equal(home().metadata.annotations!['kubestellar.io/executing-count'], '1')
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.notOk('kubestellar.io/executing-count' in home().metadata.annotations!, 'also when the last placement goes')
})

t.test('returned state is taken back when there is not one destination any more, or nobody asks for it', async t => {
  const { server, wds, florin, guilder, restart } = await world(t)
  const spec = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }
  await wds.create(SETS, replicaSet('rs'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', spec))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const status = () => server.peek('wds1', SETS, 'rs', 'commonstuff')!.status
  const report = async (mailbox: string, reported: object) => {
    const copy = server.peek(mailbox, SETS, 'rs', 'commonstuff')!
    await server.in(mailbox).update(SETS, { ...copy, status: reported }, { subresource: 'status' })
    await server.quiet()
  }
  const goTo = (...at: ('florin' | 'guilder')[]) =>
    wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: slice('ep', ...at).destinations })
  const ask = (wantSingletonReportedState: boolean) =>
    wds.update(EDGE_PLACEMENTS, {
      ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!,
      spec: { ...spec, wantSingletonReportedState },
    })
  await report(florin, { readyReplicas: 1, observedBy: 'florin' })
  t.same(status(), { readyReplicas: 1, observedBy: 'florin' })
  await goTo('florin', 'guilder')
  await server.quiet()
  t.equal(status(), undefined, 'two')
  await report(guilder, { readyReplicas: 2 })
  await goTo('guilder')
  await server.quiet()
  t.same(status(), { readyReplicas: 2 }, 'another one, whole')
  await goTo('florin')
  await server.quiet()
  t.equal(status(), undefined, 'what nobody has reported yet is not known')
  await report(florin, { readyReplicas: 3 })
  t.same(status(), { readyReplicas: 3 })
  await goTo()
  await server.quiet()
  t.equal(status(), undefined, 'none')
  await goTo('florin')
  await server.quiet()
  await report(florin, { readyReplicas: 4 })
  await ask(false)
  await server.quiet()
  t.equal(status(), undefined, 'nobody asks')
  await ask(true)
  await server.quiet()
  t.same(status(), { readyReplicas: 4 })
  await restart(() => goTo('florin', 'guilder'))
  await server.quiet()
  t.equal(status(), undefined, 'two, since nobody was there')
  await goTo('florin')
  await server.quiet()
  t.same(status(), { readyReplicas: 4 })
  await restart(() => wds.delete(EDGE_PLACEMENTS, { name: 'ep' }))
  await server.quiet()
  t.equal(status(), undefined, 'the placement went while nobody was there')
  const own = { ...server.peek('wds1', SETS, 'rs', 'commonstuff')!, status: { readyReplicas: 9 } }
  await wds.update(SETS, own, { subresource: 'status' })
  await wds.create(EDGE_PLACEMENTS, placement('ep', { ...spec, wantSingletonReportedState: false }))
  await server.quiet()
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.same(status(), { readyReplicas: 9 }, 'what others wrote is theirs')
})

t.test('what the only cluster has observed is told in generations of the source, and not before', async t => {
  const clock = new FakeClock()
  const { server, wds, florin, restart } = await world(t, clock)
  await wds.create(SETS, replicaSet('rs'))
  const spec = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }
  await wds.create(EDGE_PLACEMENTS, placement('ep', spec))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const home = () => server.peek('wds1', SETS, 'rs', 'commonstuff')!
  const copy = () => server.peek(florin, SETS, 'rs', 'commonstuff')!
  const edit = (replicas: number) => wds.update(SETS, { ...home(), spec: { replicas } })
  /** Status of the source then: its generation, and the observed one. */
  const observed = async (observedGeneration: number, readyReplicas: number) => {
    const conditions = [{ type: 'Ready', observedGeneration }]
    const status = { readyReplicas, observedGeneration, conditions }
    await server.in(florin).update(SETS, { ...copy(), status }, { subresource: 'status' })
    await server.quiet()
    const told = home().status as typeof status
    t.equal(told.readyReplicas, readyReplicas)
    t.equal(told.conditions[0]!.observedGeneration, told.observedGeneration)
    return [home().metadata.generation, told.observedGeneration]
  }
  t.same(await observed(1, 1), [1, 1])
  // the copy is edited in the mailbox, and put right: from then on it counts otherwise
  await server.in(florin).update(SETS, { ...copy(), spec: { replicas: 9 } })
  await server.quiet()
  t.equal(copy().metadata.generation, 3)
  t.same(await observed(1, 2), [1, undefined], 'what the cluster has seen may be what the hand in the mailbox wrote')
  t.same(await observed(3, 3), [1, 1])
  await edit(2)
  await server.quiet()
  t.same(await observed(3, 4), [2, 1])
  t.same(await observed(4, 5), [2, 2])
  // the second without further reports on a placement is over
  await clock.advance(1000)
  await server.quiet()
  const writes = server.writes.length
  await restart(async () => {})
  await server.quiet()
  t.same(server.writes.slice(writes), [], 'a start rewrites nothing')
  await restart(() => edit(3))
  await server.quiet()
  t.same(await observed(4, 6), [3, 2])
  t.same(await observed(5, 7), [3, 3])
})

t.test('a status that an earlier run left is taken back, also where no placement is any more', async t => {
  const { server, wds, restart } = await world(t)
  await restart(async () => {
    const set = await wds.create(SETS, replicaSet('rs'))
    const written = { subresource: 'status', fieldManager: 'placement-translator' }
    await wds.update(SETS, { ...set, status: { readyReplicas: 1 } }, written)
  })
  await server.quiet()
  t.equal(server.peek('wds1', SETS, 'rs', 'commonstuff')!.status, undefined)
})

t.test('a condition of withheld statuses stays over a restart until the objects are judged anew', async t => {
  const clock = new FakeClock()
  const { server, wds, florin, guilder, restart } = await world(t, clock)
  for (const name of ['stays', 'ends']) {
    await wds.create(SETS, replicaSet(name))
    const spec = { downsync: [{ apiGroup: 'apps', objectNames: [name] }], wantSingletonReportedState: true }
    await wds.create(EDGE_PLACEMENTS, placement(name, spec))
    await wds.create(SLICES, slice(name, 'florin', 'guilder'))
    await server.quiet()
    for (const mailbox of [florin, guilder]) {
      const copy = { ...server.peek(mailbox, SETS, name, 'commonstuff')!, status: { readyReplicas: 1 } }
      await server.in(mailbox).update(SETS, copy, { subresource: 'status' })
    }
  }
  await tick(server, clock)
  await tick(server, clock)
  const shown: string[] = []
  const look = (object: KubeObject | undefined) => {
    const withheld = conditionOf(object!, 'StatusWithheld')
    shown.push(`${object!.metadata.name} ${withheld?.status} ${withheld?.reason}`)
  }
  for (const name of ['stays', 'ends']) look(server.peek('wds1', EDGE_PLACEMENTS, name))
  t.same(shown, ['stays True InSeveralClusters', 'ends True InSeveralClusters'])
  const { items, resourceVersion } = await wds.list(EDGE_PLACEMENTS)
  t.equal(items.length, 2)
  const over = new AbortController()
  const looking = (async () => {
    for await (const events of wds.watch(EDGE_PLACEMENTS, { resourceVersion, signal: over.signal }))
      for (const event of events) if (event.type === 'MODIFIED') look(event.object)
  })()
  await restart(async () => {
    const kept = server.peek('wds1', SLICES, 'ends')!
    await wds.update(SLICES, { ...kept, destinations: slice('ends', 'florin').destinations })
  })
  await tick(server, clock)
  await tick(server, clock)
  over.abort()
  await looking
  t.ok(shown.includes('ends False NothingWithheld'))
  t.notMatch(shown.join(), /stays False/)
})
