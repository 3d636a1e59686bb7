// Rollouts in the translator: which cluster gets which content when.
import t from 'tap'
import { conditionOf } from '../../../../src/apimachinery/conditions.ts'
import { at } from '../../../../src/apimachinery/fields.ts'
import {
  EDGE_PLACEMENTS,
  LOCATIONS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SLICES,
} from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, MAPS, placement, setGrant, slice } from '../translatorWorld.ts'
import { ONE_BY_ONE, rolledOut, rolloutWorld, WITH_DEADLINE } from './rolloutWorld.ts'

t.test('an edit comes to the second cluster once the first is healthy with it', async t => {
  const { make, place, pass, report, edit, held, states } = await rolloutWorld(t)
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await place('ep', { rolloutStrategy: ONE_BY_ONE }, 'florin', 'guilder')
  t.same([held('florin'), held('guilder')], [undefined, undefined], 'edits wait for quiet')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', undefined], 'a new placement is staged, too')
  await report('florin')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await report('guilder')
  await pass(500)
  t.same(states(1), { rollout: 'Done', florin: 'Done', guilder: 'Done' })
  await edit('page', '2')
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  t.same(states(2), { rollout: 'Running', florin: 'Running', guilder: 'Planned' })
  await pass(60_000)
  t.same(
    [held('florin'), held('guilder')],
    ['2', '1'],
    'the old content of the first cluster is healthy, and counts for nothing',
  )
  await report('florin')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '2'])
  await report('guilder')
  await pass(500)
  t.same(states(2), { rollout: 'Done', florin: 'Done', guilder: 'Done' })
})

t.test('a newer edit supersedes a rollout, which goes on from what each cluster has', async t => {
  const { edit, pass, report, held, states, rollout } = await rolledOut(t)
  await edit('page', '2')
  await pass(3000)
  await edit('page', '3')
  await pass(3000)
  t.equal(states(2).rollout, 'Superseded')
  t.match(rollout(2)?.status, { reason: 'NewerRevision', message: 'revision 3 takes its place' })
  t.same([held('florin'), held('guilder')], ['3', '1'], 'who was left halfway goes first')
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['3', '3'])
  t.same(states(3), { rollout: 'Done', florin: 'Done', guilder: 'Done' })
})

t.test('a refused content stops the rollout and says where', async t => {
  const { edit, pass, report, held, states, rollout } = await rolledOut(t)
  await edit('page', 'bad')
  await pass(3000)
  await report('florin', ['page'])
  await pass(30_000)
  t.same([held('florin'), held('guilder')], ['bad', '1'])
  t.same(states(2), { rollout: 'Failed', florin: 'Failed', guilder: 'Planned' })
  t.match(String(at(rollout(2)?.status, 'message')), /florin/)
  await edit('page', '3')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['3', '1'])
  await report('florin')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['3', '3'])
})

t.test(
  'a cluster that is silent blocks nothing and catches up; one that joins gets what is finished, and then its turn',
  async t => {
    const { wds, outcomes, guilder, edit, pass, report, held, states } = await rolledOut(t)
    outcomes().silent(guilder, 's')
    await edit('page', '2')
    await pass(3000)
    await report('florin')
    await pass(500)
    t.same(states(2), { rollout: 'Done', florin: 'Done', guilder: 'Waiting' })
    t.same([held('florin'), held('guilder')], ['2', '1'])
    await report('guilder')
    await pass(500)
    t.same([held('florin'), held('guilder')], ['2', '2'])
    await wds.update(SLICES, { ...slice('ep', 'florin') })
    await pass(500)
    await edit('page', '3')
    await pass(3000)
    await report('guilder')
    await wds.update(SLICES, slice('ep', 'florin', 'guilder'))
    await pass(500)
    t.same([held('florin'), held('guilder')], ['3', '2'])
    await report('florin')
    await pass(500)
    t.same([held('florin'), held('guilder')], ['3', '3'])
  },
)

t.test('of two placements each stages its own objects', async t => {
  const { make, place, pass, report, edit, held } = await rolloutWorld(t)
  const only = (name: string) => ({ downsync: [{ ...ALL_MAPS.downsync[0], objectNames: [name] }] })
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await make('side', '1')
  await place('ep', { ...only('page'), rolloutStrategy: ONE_BY_ONE }, 'florin', 'guilder')
  await place('plain', only('side'), 'florin', 'guilder')
  t.same([held('florin', 'side'), held('guilder', 'side')], ['1', '1'])
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', undefined])
  await edit('side', '2')
  t.same([held('florin', 'side'), held('guilder', 'side')], ['2', '2'])
  await pass(500)
  t.same([held('florin'), held('guilder')], ['1', undefined])
})

t.test('of two placements that claim an object in a cluster the older one stages it', async t => {
  const { wds, make, place, pass, report, edit, held } = await rolloutWorld(t)
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await wds.create(EDGE_PLACEMENTS, {
    ...placement('staged', { ...ALL_MAPS, rolloutStrategy: ONE_BY_ONE }),
    metadata: { name: 'staged', creationTimestamp: '2026-01-01T00:00:00Z' },
  })
  await wds.create(SLICES, slice('staged', 'florin', 'guilder'))
  await pass(3000)
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  await place('aplain', {}, 'florin')
  await edit('page', '2')
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
})

t.test('a copy that waits for its turn counts as pending, and no grant or upsync set is blamed', async t => {
  const { server, make, pass } = await rolledOut(t)
  await setGrant(server, 'wds1', { clusterScoped: false })
  await make('new', '1')
  await pass(3000)
  t.match(at(server.peek('wds1', EDGE_PLACEMENTS, 'ep')?.status, 'counts'), { copies: 6, pending: 2, notPlaced: 0 })
})

t.test('groups come in their order, a soak holds the next one back, and an approval opens it', async t => {
  const { wds, edit, pass, report, held, rollout, states } = await rolledOut(t)
  const group = (groupName: string, cluster: string, more: object = {}) => ({
    groupName,
    locationSelector: { matchLabels: { 'loc-name': cluster } },
    ...more,
  })
  const rolloutStrategy = {
    type: 'ProgressivePerGroup',
    progressivePerGroup: { minSuccessTime: '20s' },
    decisionGroups: [group('canary', 'guilder'), group('prod', 'florin', { approval: true })],
  }
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
  await edit('page', '2')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', '2'])
  await report('guilder')
  await pass(15_000)
  t.equal(states(2).guilder, 'Waiting')
  await pass(6000)
  t.same(states(2), { rollout: 'Waiting', florin: 'Planned', guilder: 'Done' })
  t.match(rollout(2)?.status, { reason: 'ApprovalRequired' })
  t.same([held('florin'), held('guilder')], ['1', '2'])
  await wds.patch(PLACEMENT_ROLLOUTS, { name: 'ep.2' }, 'merge', { spec: { approvals: [{ group: 'prod' }] } })
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '2'])
  await report('florin')
  await pass(21_000)
  t.equal(states(2).rollout, 'Done')
})

t.test('a cluster that is relabelled amid a rollout has the turn of its group', async t => {
  const { server, edit, pass, report, held, wds } = await rolledOut(t)
  const decisionGroups = [{ groupName: 'canary', locationSelector: { matchLabels: { env: 'canary' } } }]
  const progressive = { maxConcurrency: 1, mandatoryDecisionGroups: [{ groupName: 'canary' }] }
  const rolloutStrategy = { type: 'Progressive', progressive, decisionGroups, windows: [] }
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
  await edit('page', '2')
  const location = server.peek('inv1', LOCATIONS, 'guilder')!
  const labels = { ...location.metadata.labels, env: 'canary' }
  await server.in('inv1').update(LOCATIONS, { ...location, metadata: { ...location.metadata, labels } })
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', '2'])
  await report('guilder')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '2'])
})

t.test('a cluster that fails and falls silent has failed', async t => {
  const { server, edit, pass, report, outcomes, box, held, states } = await rolledOut(t, WITH_DEADLINE)
  await edit('page', 'bad')
  await pass(3000)
  await report('florin', ['page'])
  await pass(500)
  t.equal(states(2).rollout, 'Failed')
  outcomes().silent(box('florin'), 's')
  await server.quiet()
  await report('guilder')
  await pass(30_000)
  t.same(states(2), { rollout: 'Failed', florin: 'Failed', guilder: 'Planned' })
  t.same([held('florin'), held('guilder')], ['bad', '1'])
})

t.test(
  'a cluster that falls silent after it was done holds nothing, and has its time anew when it is back',
  async t => {
    const { server, edit, pass, report, outcomes, box, held, states } = await rolledOut(t, WITH_DEADLINE)
    await edit('page', '2')
    await pass(3000)
    await report('florin')
    await pass(500)
    t.same([held('florin'), held('guilder')], ['2', '2'])
    outcomes().silent(box('florin'), 's')
    await server.quiet()
    await pass(50_000)
    t.same(states(2), { rollout: 'Running', florin: 'Done', guilder: 'Running' })
    await report('guilder')
    await pass(30_000)
    t.same(states(2), { rollout: 'Done', florin: 'Done', guilder: 'Done' })
  },
)

t.test('what people write of one placement looks at no other one', async t => {
  const { wds, server, place, edit, pass, report, states, rollout } = await rolledOut(t)
  await place('ep.2', { rolloutStrategy: ONE_BY_ONE }, 'florin', 'guilder')
  await pass(5000)
  for (const name of ['florin', 'guilder', 'florin', 'guilder'] as const) {
    await report(name)
    await pass(1000)
  }
  t.same([states(1).rollout, states(1, 'ep.2').rollout], ['Done', 'Done'])
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.2.1' }, 'merge', { spec: { pinned: true } })
  await edit('page', '2')
  await pass(3000)
  t.equal(conditionOf(server.peek('wds1', EDGE_PLACEMENTS, 'ep.2')!, 'RolledOut')?.reason, 'Pinned')
  t.equal(states(2).rollout, 'Running')
  t.equal(rollout(2, 'ep.2'), undefined)
})

t.test(
  'of two staged placements that claim an object the older one stages it, and the other goes on when that is gone',
  async t => {
    const { wds, server, make, pass, report, edit, held, states } = await rolloutWorld(t)
    await report('florin')
    await report('guilder')
    await make('page', '1')
    for (const [name, creationTimestamp] of [
      ['late', '2026-02-01T00:00:00Z'],
      ['early', '2026-01-01T00:00:00Z'],
    ] as const) {
      const spec = { ...ALL_MAPS, rolloutStrategy: ONE_BY_ONE }
      await wds.create(EDGE_PLACEMENTS, { ...placement(name, spec), metadata: { name, creationTimestamp } })
      await wds.create(SLICES, slice(name, 'florin', 'guilder'))
    }
    await server.quiet()
    const rolled = async () => {
      for (const name of ['florin', 'guilder', 'florin', 'guilder'] as const) {
        await pass(1000)
        await report(name)
      }
      await pass(1000)
    }
    await pass(3000)
    await rolled()
    t.same([states(1, 'early').rollout, states(1, 'late').rollout], ['Done', 'Done'])
    await edit('page', 'bad')
    await pass(3000)
    await report('florin', ['page'])
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['bad', '1'], 'the other placement brings it to no cluster')
    await edit('page', '3')
    await pass(3000)
    t.same([held('florin'), held('guilder')], ['3', '1'])
    const writes = server.writes.length
    await wds.delete(EDGE_PLACEMENTS, { name: 'early' })
    await server.quiet()
    t.not(held('florin'), undefined)
    t.not(held('guilder'), undefined)
    const gone = server.writes.slice(writes).filter(line => / delete configmaps/.test(line))
    t.same(gone, [], 'no cluster is without it')
    await rolled()
    await rolled()
    t.same([held('florin'), held('guilder')], ['3', '3'])
    t.equal(states(3, 'late').rollout, 'Done')
  },
)

t.test('what other placements take from a cluster does not begin its watch anew', async t => {
  const { wds, server, make, place, edit, pass, report, states } = await rolloutWorld(t)
  const only = (name: string) => ({ downsync: [{ ...ALL_MAPS.downsync[0], objectNames: [name] }] })
  await report('florin')
  await make('page', '1')
  await make('side', '1')
  await place('plain', only('side'), 'florin')
  const progressive = { maxConcurrency: 1, minSuccessTime: '20s' }
  await place('ep', { ...only('page'), rolloutStrategy: { type: 'Progressive', progressive } }, 'florin')
  await pass(3000)
  await report('florin')
  await pass(21_000)
  t.equal(states(1).rollout, 'Done')
  await edit('page', '2')
  await pass(3000)
  await report('florin')
  await pass(10_000)
  t.equal(states(2).florin, 'Waiting')
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'side' })
  await server.quiet()
  await pass(1000)
  t.equal(states(2).florin, 'Waiting')
  await report('florin')
  await pass(10_000)
  t.equal(states(2).florin, 'Done')
})
