// Pins, pauses and ways back of rollouts.
import t from 'tap'
import { conditionOf } from '../../../../src/apimachinery/conditions.ts'
import { at } from '../../../../src/apimachinery/fields.ts'
import {
  EDGE_PLACEMENTS,
  LOCATIONS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
} from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, MAPS } from '../translatorWorld.ts'
import { ONE_BY_ONE, rolledOut, WITH_DEADLINE } from './rolloutWorld.ts'

t.test('a rollout that fails goes back where the strategy says so, and stays there until the next edit', async t => {
  const { wds, restart, edit, pass, report, held, states } = await rolledOut(t, {
    ...WITH_DEADLINE,
    onFailure: 'Rollback',
  })
  await edit('page', 'bad')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['bad', '1'])
  await report('florin', ['page'])
  await pass(1000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  t.equal(states(2).rollout, 'RolledBack')
  await report('florin')
  await report('guilder')
  await pass(1000)
  t.equal(states(1).rollout, 'Done')
  const condition = async () => conditionOf(await wds.get(EDGE_PLACEMENTS, { name: 'ep' }), 'RolledOut')
  await pass(1000)
  const back = { status: 'False', reason: 'RolledBack', message: /^revision 2: it failed, .* revision 1 again/ }
  t.match(await condition(), back, 'the newest revision is nowhere')
  await restart(async () => {})
  await report('florin')
  await report('guilder')
  await pass(60_000)
  t.same([held('florin'), held('guilder')], ['1', '1'], 'a restart does not try again')
  t.match(await condition(), back)
  await edit('page', '3')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['3', '1'])
})

t.test('a pin holds the clusters at a revision until it is lifted, and edits make revisions meanwhile', async t => {
  const { wds, edit, pass, report, held, states } = await rolledOut(t)
  const reportBoth = async () => {
    for (const name of ['florin', 'guilder', 'guilder'] as const) {
      await report(name)
      await pass(500)
    }
  }
  await edit('page', '2')
  await pass(3000)
  await reportBoth()
  t.same([held('florin'), held('guilder')], ['2', '2'])
  const pin = (pinned: boolean) => wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned } })
  await pin(true)
  await pass(500)
  t.same([held('florin'), held('guilder')], ['1', '2'], 'the way back has stages, too')
  await reportBoth()
  t.same([held('florin'), held('guilder')], ['1', '1'])
  t.equal(states(1).rollout, 'Done')
  await edit('page', '3')
  await pass(5000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await pin(false)
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['3', '1'])
})

t.test('a pause holds what has not begun, and an urgent rollout passes it', async t => {
  const { wds, edit, pass, report, held, states } = await rolledOut(t)
  await edit('page', '2')
  await pass(3000)
  const set = (spec: object) => wds.patch(PLACEMENT_ROLLOUTS, { name: 'ep.2' }, 'merge', { spec })
  await set({ paused: true })
  await report('florin')
  await pass(60_000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  t.equal(states(2).rollout, 'Paused')
  await set({ urgent: true })
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '2'])
})

t.test('a pause goes on with a newer edit, with who paused it, and an undo passes it', async t => {
  const { wds, edit, pass, report, held, states, rollout } = await rolledOut(t)
  await edit('page', '2')
  await pass(3000)
  const pausedBy = { by: 'alice', at: '2026-01-01T00:00:00Z' }
  await wds.patch(PLACEMENT_ROLLOUTS, { name: 'ep.2' }, 'merge', { spec: { paused: true, pausedBy } })
  await edit('page', '3')
  await pass(3000)
  await report('florin')
  await pass(60_000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  t.equal(states(3).rollout, 'Paused')
  t.match(rollout(3)?.spec, { paused: true, pausedBy })
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: true } })
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: null } })
  await pass(3000)
  t.equal(states(3).rollout, 'Running', 'a way back ends the pause')
})

t.test('a pause outlasts the end of its rollout: the next edit waits, too', async t => {
  const { wds, edit, pass, report, held, states, rollout } = await rolledOut(t, { type: 'Progressive' })
  await edit('page', '2')
  await pass(3000)
  const pausedBy = { by: 'alice', at: '2026-01-01T00:00:00Z' }
  await wds.patch(PLACEMENT_ROLLOUTS, { name: 'ep.2' }, 'merge', { spec: { paused: true, pausedBy } })
  await report('florin')
  await report('guilder')
  await pass(3000)
  t.equal(states(2).rollout, 'Done', 'clusters that have begun go on')
  await edit('page', '3')
  await pass(60_000)
  t.same([held('florin'), held('guilder')], ['2', '2'])
  t.equal(states(3).rollout, 'Paused')
  t.match(rollout(3)?.spec, { paused: true, pausedBy })
})

t.test('a pause outlasts a rollout that goes back by itself', async t => {
  const { wds, edit, pass, report, held, states } = await rolledOut(t, { ...WITH_DEADLINE, onFailure: 'Rollback' })
  await edit('page', 'bad')
  await pass(3000)
  await wds.patch(PLACEMENT_ROLLOUTS, { name: 'ep.2' }, 'merge', { spec: { paused: true } })
  await report('florin', ['page'])
  await pass(1000)
  await report('florin')
  await report('guilder')
  await pass(1000)
  t.same([states(2).rollout, states(1).rollout], ['RolledBack', 'Done'])
  await edit('page', '3')
  await pass(5000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  t.equal(states(3).rollout, 'Paused')
})

t.test('a way back has the strategy of now, and waits for no approval', async t => {
  const decisionGroups = [{ groupName: 'all', locationSelector: {} }]
  const { wds, edit, pass, rollout } = await rolledOut(t, { ...ONE_BY_ONE, decisionGroups })
  await edit('page', '2')
  await pass(3000)
  const gated = [{ groupName: 'late', locationSelector: {}, approval: true }]
  const rolloutStrategy = { ...ONE_BY_ONE, windows: null, decisionGroups: gated, onFailure: 'Stop' }
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
  await pass(3000)
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: true } })
  await pass(3000)
  t.strictSame(at(rollout(1)?.spec, 'strategy'), {
    ...ONE_BY_ONE,
    decisionGroups: [{ groupName: 'late', locationSelector: {} }],
    onFailure: 'Stop',
  })
})

t.test('a rollout of a pinned revision that fails stops, and no other cluster gets it', async t => {
  const { wds, edit, pass, report, held, states } = await rolledOut(t, { ...WITH_DEADLINE, onFailure: 'Rollback' })
  await edit('page', 'bad')
  await pass(3000)
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.2' }, 'merge', { spec: { pinned: true } })
  await report('florin', ['page'])
  await pass(3000)
  t.equal(held('guilder'), '1')
  t.equal(states(2).rollout, 'Failed')
})

t.test('an edit that comes as a rollout goes back has its stages', async t => {
  const { clock, edit, pass, report, held } = await rolledOut(t, { ...WITH_DEADLINE, onFailure: 'Rollback' })
  await edit('page', 'bad')
  await pass(3000)
  await edit('page', '3')
  await pass(250)
  await report('florin', ['page'])
  clock.leap(3000)
  await pass(500)
  t.same([held('florin'), held('guilder')], ['3', '1'])
})

t.test('a revision that was rolled back, and is finished later, stays after the pin is lifted', async t => {
  const { wds, edit, pass, report, held, states } = await rolledOut(t, { ...WITH_DEADLINE, onFailure: 'Rollback' })
  const reportBoth = async () => {
    for (const name of ['florin', 'guilder', 'florin', 'guilder'] as const) {
      await report(name)
      await pass(500)
    }
  }
  await edit('page', '2')
  await pass(3000)
  await report('florin', ['page'])
  await pass(1000)
  t.equal(states(2).rollout, 'RolledBack')
  await reportBoth()
  const pin = (pinned: boolean) => wds.patch(PLACEMENT_REVISIONS, { name: 'ep.2' }, 'merge', { spec: { pinned } })
  await pin(true)
  await pass(500)
  await reportBoth()
  t.equal(states(2).rollout, 'Done')
  await pin(false)
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '2'])
})

t.test('a pin of a revision that passed no gate passes none', async t => {
  const { wds, edit, pass, held, states } = await rolledOut(t)
  const decisionGroups = [{ groupName: 'all', locationSelector: {}, approval: true }]
  const rolloutStrategy = { ...ONE_BY_ONE, decisionGroups }
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
  await edit('page', '2')
  await pass(3000)
  await edit('page', '3')
  await pass(3000)
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.2' }, 'merge', { spec: { pinned: true } })
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  t.equal(states(2).rollout, 'Waiting')
})

t.test('a pin of a placement of type All waits for no group or window, over a restart, too', async t => {
  const decisionGroups = [{ groupName: 'all', locationSelector: {}, approval: true }]
  const { wds, edit, pass, report, restart, held } = await rolledOut(t)
  const rolloutStrategy = { type: 'All', progressive: null, decisionGroups }
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
  await pass(3000)
  await edit('page', '2')
  await pass(5000)
  t.same([held('florin'), held('guilder')], ['2', '2'])
  await restart(async () => {})
  await report('florin')
  await report('guilder')
  await pass(3000)
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: true } })
  await pass(3000)
  await report('florin')
  await report('guilder')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
})

t.test('a cluster that is paused amid its step has its time anew when the pause is over', async t => {
  const { server, edit, pass, report, held, states } = await rolledOut(t, {
    type: 'Progressive',
    progressive: { maxConcurrency: 1, progressDeadline: '15s' },
    onFailure: 'Rollback',
  })
  const pause = async (paused: 'true' | undefined) => {
    const location = server.peek('inv1', LOCATIONS, 'florin')!
    const annotations = paused ? { 'edge.kubestellar.io/paused': paused } : {}
    const spec = { instanceSelector: { matchLabels: { 'loc-name': 'florin' } } }
    await server.in('inv1').update(LOCATIONS, { ...location, spec, metadata: { ...location.metadata, annotations } })
    await server.quiet()
  }
  await edit('page', '2')
  await pass(3000)
  t.equal(held('florin'), '2')
  await pause('true')
  await pass(1000)
  t.equal(states(2).florin, 'Waiting')
  await pass(500)
  await report('guilder')
  await pass(16_000)
  await pause(undefined)
  await pass(1000)
  t.equal(states(2).florin, 'Running')
  t.same([held('florin'), held('guilder')], ['2', '2'], 'a pause fails nothing')
  await pass(10_000)
  t.equal(states(2).florin, 'Running')
  await pass(6000)
  t.equal(states(2).florin, 'Stuck')
})

t.test('an object that somebody paused fails no cluster by its deadline, and brings nothing back', async t => {
  const { wds, edit, pass, report, held, states } = await rolledOut(t, {
    type: 'Progressive',
    progressive: { maxConcurrency: 1, progressDeadline: '15s' },
    onFailure: 'Rollback',
  })
  const pause = async (paused: 'true' | null) => {
    const metadata = { annotations: { 'edge.kubestellar.io/paused': paused } }
    await wds.patch(MAPS, { namespace: 'commonstuff', name: 'page' }, 'merge', { metadata })
  }
  await pause('true')
  await edit('page', '2')
  await pass(20_000)
  const { rollout, florin } = states(2)
  t.same({ rollout, florin, held: held('florin') }, { rollout: 'Stuck', florin: 'Stuck', held: '1' })
  await pause(null)
  await pass(3000)
  await report('florin')
  await pass(3000)
  await report('guilder')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '2'])
})

t.test('an object that somebody paused and nothing selects any more stays, and fails no cluster', async t => {
  const { wds, pass, report, held, states } = await rolledOut(t, {
    type: 'Progressive',
    progressive: { maxConcurrency: 1, progressDeadline: '15s' },
    onFailure: 'Rollback',
  })
  const metadata = { annotations: { 'edge.kubestellar.io/paused': 'true' } }
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'side' }, 'merge', { metadata })
  const { downsync } = ALL_MAPS
  const spec = { downsync: downsync.map(test => ({ ...test, objectNames: ['page'] })) }
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec })
  await pass(3000)
  await report('florin')
  await pass(20_000)
  t.equal(held('florin', 'side'), '1')
  t.match(states(2), { rollout: 'Stuck', florin: 'Stuck' })
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'side' }, 'merge', { metadata: { annotations: null } })
  for (const name of ['florin', 'guilder'] as const) {
    await pass(3000)
    await report(name)
  }
  await pass(3000)
  t.match([states(2).rollout, held('florin', 'side')], ['Done', undefined])
})

t.test('what a paused EdgePlacement beside it keeps fails no cluster', async t => {
  const { wds, place, pass, report, held, states } = await rolledOut(t, {
    type: 'Progressive',
    progressive: { maxConcurrency: 1, progressDeadline: '15s' },
    onFailure: 'Rollback',
  })
  await place('beside', { downsync: [], paused: true }, 'florin', 'guilder')
  const spec = { downsync: ALL_MAPS.downsync.map(test => ({ ...test, objectNames: ['page'] })) }
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec })
  await pass(3000)
  await report('florin')
  await pass(20_000)
  t.equal(held('florin', 'side'), '1')
  t.match(states(2), { rollout: 'Stuck', florin: 'Stuck' })
})

t.test('a cluster whose syncer is paused does not fail by its deadline', async t => {
  const { edit, pass, report, held, states } = await rolledOut(t, {
    type: 'Progressive',
    progressive: { maxConcurrency: 1, progressDeadline: '15s' },
    onFailure: 'Rollback',
  })
  await edit('page', '2')
  await pass(3000)
  await report('florin', ['page'], { state: 'held', reason: 'Paused' })
  await pass(20_000)
  t.match(states(2), { rollout: 'Stuck', florin: 'Stuck' })
  t.same([held('florin'), held('guilder')], ['2', '1'])
  await report('florin')
  await pass(1000)
  t.same([held('florin'), held('guilder')], ['2', '2'])
})
