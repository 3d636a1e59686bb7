// Edits, Customizers, Locations and strategies as revisions of a staged placement.
import t, { type Test } from 'tap'
import { conditionOf } from '../../../../src/apimachinery/conditions.ts'
import { statusError } from '../../../../src/apimachinery/errors.ts'
import { at } from '../../../../src/apimachinery/fields.ts'
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  LOCATIONS,
  PLACEMENT_CONTENTS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SLICES,
} from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, EDGE, MAPS, slice } from '../translatorWorld.ts'
import { ONE_BY_ONE, rolledOut, rolloutWorld, unstaged } from './rolloutWorld.ts'

t.test('a deletion by name is obeyed at once, whatever revision a cluster has', async t => {
  const { wds, server, edit, pass, held } = await rolledOut(t)
  await edit('page', '2')
  await pass(3000)
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'side' })
  await server.quiet()
  t.same([held('florin', 'side'), held('guilder', 'side')], [undefined, undefined])
  t.same([held('florin'), held('guilder')], ['2', '1'], 'the other object waits as before')
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.same([held('florin'), held('guilder')], [undefined, undefined])
})

t.test('an object that leaves the selection goes cluster by cluster', async t => {
  const { wds, server, pass, report, held } = await rolledOut(t)
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'side' }, 'merge', { metadata: { labels: { out: 'yes' } } })
  const downsync = [
    { ...ALL_MAPS.downsync[0], labelSelectors: [{ matchExpressions: [{ key: 'out', operator: 'DoesNotExist' }] }] },
  ]
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { downsync } })
  await pass(3000)
  t.same([held('florin', 'side'), held('guilder', 'side')], [undefined, '1'])
  await report('florin')
  await pass(500)
  t.same([held('florin', 'side'), held('guilder', 'side')], [undefined, undefined])
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await server.quiet()
})

t.test('a copy that is lost while a rollout runs comes back as the revision of its cluster', async t => {
  const { server, guilder, edit, pass, held } = await rolledOut(t)
  await edit('page', '2')
  await pass(3000)
  await server.in(guilder).delete(MAPS, { namespace: 'commonstuff', name: 'page' })
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  const copy = server.peek(guilder, MAPS, 'page', 'commonstuff')!
  await server.in(guilder).update(MAPS, { ...copy, data: { a: 'theirs' } })
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '1'])
})

t.test(
  'without a strategy all gets the newest content at once, and a placement that gets one moves nothing',
  async t => {
    const { wds, server, edit, pass, report, held, states } = await rolledOut(t)
    await edit('page', '2')
    await pass(3000)
    await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy: null } })
    await pass(500)
    t.same([held('florin'), held('guilder')], ['2', '2'])
    t.equal(states(2).rollout, 'Superseded')
    await edit('page', '3')
    t.same([held('florin'), held('guilder')], ['3', '3'])
    const writes = server.writes.length
    await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy: ONE_BY_ONE } })
    await pass(3000)
    t.same(
      server.writes.slice(writes).filter(line => line.includes('configmaps')),
      [],
    )
    t.equal(states(3).rollout, 'Done')
    await edit('page', '4')
    t.same([held('florin'), held('guilder')], ['3', '3'])
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['4', '3'])
    await report('florin')
    await report('guilder')
  },
)

t.test('an edit of a Customizer is a revision, too', async t => {
  const { wds, server, pass, report, held, states } = await rolledOut(t)
  const customizer = (value: string) => ({
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name: 'c', namespace: 'commonstuff' },
    replacements: [{ path: '$.data.a', value: JSON.stringify(value) }],
  })
  await wds.create(CUSTOMIZERS, customizer('x'))
  const annotations = { 'edge.kubestellar.io/customizer': 'c' }
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'page' }, 'merge', { metadata: { annotations } })
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['x', '1'])
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  t.equal(states(2).rollout, 'Done')
  await wds.patch(CUSTOMIZERS, { namespace: 'commonstuff', name: 'c' }, 'merge', {
    replacements: customizer('y').replacements,
  })
  await server.quiet()
  t.same([held('florin'), held('guilder')], ['x', 'x'])
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['y', 'x'])
})

t.test('a placement that loses its strategy is pinned no more, before and after a restart', async t => {
  const { wds, restart, server, edit, pass, held } = await rolledOut(t)
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: true } })
  await edit('page', '2')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy: null } })
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '2'])
  await restart(async () => {})
  await server.quiet()
  t.same([held('florin'), held('guilder')], ['2', '2'])
})

t.test('a placement that is created anew has its own revisions beside leftovers of the one before', async t => {
  const { wds, server, make, place, pass, report, held, states } = await rolloutWorld(t)
  await report('florin')
  await report('guilder')
  await make('page', '1')
  const ownerReferences = [{ apiVersion: EDGE, kind: 'EdgePlacement', name: 'ep', uid: 'before' }]
  for (const [resource, kind] of [
    [PLACEMENT_REVISIONS, 'PlacementRevision'],
    [PLACEMENT_ROLLOUTS, 'PlacementRollout'],
  ] as const)
    await wds.create(resource, {
      apiVersion: 'edge.kubestellar.io/v1alpha1',
      kind,
      metadata: { name: 'ep.1', ownerReferences },
      spec: { placement: 'ep', placementUID: 'before', revision: 1 },
    })
  await place('ep', { rolloutStrategy: ONE_BY_ONE }, 'florin', 'guilder')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', undefined])
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  t.equal(states(1).rollout, 'Done')
  for (const resource of [PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS])
    t.not(server.peek('wds1', resource, 'ep.1')?.metadata.ownerReferences?.[0]?.uid, 'before')
})

t.test('a revision that only lacks what was deleted comes to its end', async t => {
  const { wds, server, pass, report, held, states } = await rolledOut(t)
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'side' })
  await server.quiet()
  t.same([held('florin', 'side'), held('guilder', 'side')], [undefined, undefined])
  await report('florin')
  await report('guilder')
  await pass(5000)
  t.same(states(2), { rollout: 'Done', florin: 'Done', guilder: 'Done' })
})

t.test('a write that changes no content leaves the placement rolled out', async t => {
  const { wds, pass } = await rolledOut(t)
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'page' }, 'merge', { metadata: { annotations } })
  await pass(1000)
  const condition = async () => conditionOf(await wds.get(EDGE_PLACEMENTS, { name: 'ep' }), 'RolledOut')
  t.match(await condition(), { status: 'False', reason: 'EditsPending' })
  await pass(5000)
  t.match(await condition(), { status: 'True', reason: 'Done' })
})

t.test('a placement that selects nothing is rolled out, and objects that come are staged', async t => {
  const { make, place, pass, report, held, rollout } = await rolloutWorld(t)
  await report('florin')
  await report('guilder')
  await place('ep', { rolloutStrategy: ONE_BY_ONE }, 'florin', 'guilder')
  await pass(5000)
  t.match(rollout(1)?.status, { state: 'Done', reason: 'Done', message: /selects no object/ })
  await make('page', '1')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', undefined])
  await report('florin')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['1', '1'])
})

t.test('a strategy that comes back moves no cluster back, whatever a rollout of before says', async t => {
  const { wds, server, restart, edit, pass, report, held, states } = await rolledOut(t)
  await edit('page', '2')
  await pass(3000)
  const stage = (rolloutStrategy: unknown) =>
    wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
  server.refuse = (_, verb, { resource }) => {
    if (resource === 'placementrollouts') throw statusError.internal(`no ${verb}: the server ends`)
  }
  await stage(null)
  await pass(500)
  await restart(async () => {
    server.refuse = () => {}
  })
  await report('florin')
  await report('guilder')
  await edit('page', '3')
  await pass(500)
  t.same([states(2).rollout, held('florin'), held('guilder')], ['Running', '3', '3'])
  const writes = server.writes.length
  await stage(ONE_BY_ONE)
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['3', '3'])
  t.same(
    server.writes.slice(writes).filter(line => line.includes('configmaps')),
    [],
  )
  t.equal(states(3).rollout, 'Done', 'all clusters have it already')
})

t.test(
  'an object that is made anew keeps its earlier content where the new one waits, and an undo brings that back',
  async t => {
    const { wds, server, make, pass, report, held, restart } = await rolledOut(t)
    const ref = { namespace: 'commonstuff', name: 'page' }
    await wds.delete(MAPS, ref)
    await server.quiet()
    t.same([held('florin'), held('guilder')], [undefined, undefined], 'a deletion is obeyed at once')
    await make('page', '2')
    await pass(200)
    t.same([held('florin'), held('guilder')], ['1', '1'])
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['2', '1'])
    const pin = (pinned: boolean) => wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned } })
    await pin(true)
    await report('florin')
    await report('guilder')
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['1', '1'])
    await restart(async () => {
      await wds.delete(MAPS, ref)
      await make('page', '3')
    })
    await report('florin')
    await report('guilder')
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['1', '1'], 'a pin holds what is made anew, too')
    await wds.delete(MAPS, ref)
    await server.quiet()
    t.same([held('florin'), held('guilder')], [undefined, undefined])
    await make('page', '4')
    await pass(3000)
    await pin(false)
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['4', '1'])
  },
)

t.test('an object that is made anew as it was makes no revision', async t => {
  const { wds, server, make, pass, held } = await rolledOut(t)
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'page' })
  await server.quiet()
  await make('page', '1')
  await pass(5000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  t.same(server.names('wds1', PLACEMENT_REVISIONS), ['ep.1'])
})

t.test('a placement that gets a strategy moves nothing, and the next edit waits for its turn', async t => {
  const { server, stage, edit, pass, held, states } = await unstaged(t)
  const writes = server.writes.length
  await stage(ONE_BY_ONE)
  await pass(3000)
  t.equal(states(1).rollout, 'Done')
  t.same(
    server.writes.slice(writes).filter(line => line.includes('configmaps')),
    [],
  )
  await edit('page', '2')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
})

/** A placement whose object reads the label `zone` of each Location, rolled out. */
async function zoned(t: Test) {
  const here = await rolledOut(t)
  const { server, wds, pass, report, held } = here
  const label = async (name: 'florin' | 'guilder', more: Record<string, string>) => {
    const location = server.peek('inv1', LOCATIONS, name)!
    const labels = { ...location.metadata.labels, ...more }
    await server.in('inv1').update(LOCATIONS, { ...location, metadata: { ...location.metadata, labels } })
    await server.quiet()
  }
  await label('florin', { zone: 'f1' })
  await label('guilder', { zone: 'g1' })
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'page' }, 'merge', {
    metadata: { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } },
    data: { a: 'in %(zone)' },
  })
  await pass(3000)
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['in f1', 'in g1'])
  return { ...here, label, revisions: () => server.names('wds1', PLACEMENT_REVISIONS) }
}

t.test("an edit of a Location's parameter is a revision, and comes to one cluster after the other", async t => {
  const { label, pass, report, held, states, restart, revisions } = await zoned(t)
  t.same(revisions(), ['ep.1', 'ep.2'])
  await label('florin', { zone: 'f2' })
  await label('guilder', { zone: 'g2' })
  t.same([held('florin'), held('guilder')], ['in f1', 'in g1'], 'nothing moves before there is a revision')
  await pass(3000)
  t.same(revisions(), ['ep.1', 'ep.2', 'ep.3'])
  t.same([held('florin'), held('guilder')], ['in f2', 'in g1'])
  await restart(() => label('guilder', { zone: 'g3' }))
  await report('florin')
  await pass(300)
  t.same([held('florin'), held('guilder')], ['in f2', 'in g1'])
  await report('guilder')
  await pass(3000)
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  await report('guilder')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['in f2', 'in g3'])
  t.equal(states(4).rollout, 'Done')
})

t.test('a label of a Location that nothing reads makes no revision, and moves nothing', async t => {
  const { server, label, pass, revisions } = await zoned(t)
  const writes = server.writes.length
  await label('florin', { other: 'x' })
  await pass(5000)
  t.same(revisions(), ['ep.1', 'ep.2'])
  t.same(
    server.writes.slice(writes).filter(line => /configmaps|placement/.test(line)),
    [],
  )
})

t.test(
  'a pin and an undo bring parameters back, too, and a cluster that joins has its own staged from then on',
  async t => {
    const { wds, label, pass, report, held } = await zoned(t)
    const pin = (pinned: boolean) => wds.patch(PLACEMENT_REVISIONS, { name: 'ep.2' }, 'merge', { spec: { pinned } })
    await label('florin', { zone: 'f2' })
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['in f2', 'in g1'])
    await pin(true)
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['in f1', 'in g1'])
    await pin(false)
    for (const name of ['florin', 'guilder', 'florin', 'guilder'] as const) {
      await pass(1000)
      await report(name)
    }
    t.same([held('florin'), held('guilder')], ['in f2', 'in g1'])
    await wds.update(SLICES, slice('ep', 'florin'))
    await pass(3000)
    await label('guilder', { zone: 'g2' })
    await wds.update(SLICES, slice('ep', 'florin', 'guilder'))
    await pass(300)
    t.equal(held('guilder'), 'in g1', 'it joins with the finished revision')
    for (const name of ['guilder', 'florin', 'guilder'] as const) {
      await report(name)
      await pass(1000)
    }
    t.equal(held('guilder'), 'in g2', 'an edit while it was away is a revision')
    await label('florin', { zone: 'f3' })
    await label('guilder', { zone: 'g3' })
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['in f3', 'in g2'])
  },
)

t.test('a strategy that comes back while the end of the one before is written stages the next edit', async t => {
  const { server, wds, edit, pass, held } = await rolledOut(t)
  const strategy = (rolloutStrategy: unknown) =>
    wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
  let back: Promise<unknown> | undefined
  server.refuse = (_, verb, { resource }) => {
    if (resource !== 'placementrollouts' || verb !== 'status') return
    server.refuse = () => {}
    back = strategy(ONE_BY_ONE)
  }
  await strategy(null)
  await pass(5000)
  t.ok(back)
  await back
  await pass(5000)
  await edit('page', '2')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
})

t.test('revisions keep of a Location what they read, also of one that left before more was read', async t => {
  const { server, wds, label, pass, report, held } = await zoned(t)
  await label('florin', { tier: 't1', secret: 'x' })
  await label('guilder', { tier: 't2', secret: 'x' })
  const kept = () =>
    server
      .names('wds1', PLACEMENT_CONTENTS)
      .map(name => at(server.peek('wds1', PLACEMENT_CONTENTS, name)?.spec, 'object'))
      .filter(object => at(object, 'kind') === 'Location')
      .map(object => at(object, 'metadata', 'labels'))
  t.same(kept(), [{ zone: 'f1' }, { zone: 'g1' }])
  await wds.update(SLICES, slice('ep', 'florin'))
  await pass(3000)
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'page' }, 'merge', { data: { a: '%(zone) %(tier)' } })
  await pass(3000)
  await report('florin')
  await pass(500)
  t.equal(held('florin'), 'f1 t1')
  await wds.update(SLICES, slice('ep', 'florin', 'guilder'))
  await pass(500)
  t.equal(held('guilder'), 'g1 t2')
  await pass(3000)
  t.same(kept().length, 4, 'no further revision')
})
