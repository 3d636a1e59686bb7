// Rollouts in the translator: which cluster gets which content when, over restarts, edits and deletions.
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
import { ALL_MAPS, EDGE, MAPS, placement, setGrant, slice } from '../translatorWorld.ts'
import { ONE_BY_ONE, rolloutWorld } from './rolloutWorld.ts'

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

const OTHER = { type: 'Progressive', progressive: { maxConcurrency: 1, progressDeadline: '60s' } }

/** A placement with revision 1 in both clusters. */
async function placed(t: Test, strategy: object = ONE_BY_ONE) {
  const here = await rolloutWorld(t)
  const { make, place, pass, report, states } = here
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await make('side', '1')
  await place('ep', { rolloutStrategy: strategy }, 'florin', 'guilder')
  await pass(3000)
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  t.equal(states(1).rollout, 'Done')
  return here
}

t.test('a restart amid a rollout leaves each cluster its revision, and the rollout goes on', async t => {
  const { restart, server, pass, report, edit, held, states } = await placed(t)
  await edit('page', '2')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  await restart(async () => {})
  await server.quiet()
  await pass(20_000)
  t.same([held('florin'), held('guilder')], ['2', '1'], 'nothing moves while nothing is known of the clusters')
  await report('florin')
  await report('guilder')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '2'])
  await report('guilder')
  await pass(500)
  t.same(states(2), { rollout: 'Done', florin: 'Done', guilder: 'Done' })
})

t.test('edits while the server is down make a revision, and no cluster has them before its turn', async t => {
  const { restart, edit, pass, report, held } = await placed(t)
  await restart(() => edit('page', '2'))
  await report('florin')
  await report('guilder')
  await pass(200)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
})

t.test('a newer edit supersedes a rollout, which goes on from what each cluster has', async t => {
  const { edit, pass, report, held, states, rollout } = await placed(t)
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

t.test('a deletion by name is obeyed at once, whatever revision a cluster has', async t => {
  const { wds, server, edit, pass, held } = await placed(t)
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
  const { wds, server, pass, report, held } = await placed(t)
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
  const { server, guilder, edit, pass, held } = await placed(t)
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

t.test('a refused content stops the rollout and says where', async t => {
  const { edit, pass, report, held, states, rollout } = await placed(t)
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

t.test('a rollout that fails goes back where the strategy says so, and stays there until the next edit', async t => {
  const { wds, restart, edit, pass, report, held, states } = await placed(t, { ...OTHER, onFailure: 'Rollback' })
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
  const { wds, edit, pass, report, held, states } = await placed(t)
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
  const { wds, edit, pass, report, held, states } = await placed(t)
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
  const { wds, edit, pass, report, held, states, rollout } = await placed(t)
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
  t.not(states(3).rollout, 'Paused', 'a way back ends the pause')
})

t.test(
  'without a strategy all gets the newest content at once, and a placement that gets one moves nothing',
  async t => {
    const { wds, server, edit, pass, report, held, states } = await placed(t)
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

t.test(
  'a cluster that is silent blocks nothing and catches up; one that joins gets what is finished, and then its turn',
  async t => {
    const { wds, outcomes, guilder, edit, pass, report, held, states } = await placed(t)
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
  const { server, make, pass } = await placed(t)
  await setGrant(server, 'wds1', { clusterScoped: false })
  await make('new', '1')
  await pass(3000)
  t.match(at(server.peek('wds1', EDGE_PLACEMENTS, 'ep')?.status, 'counts'), { copies: 6, pending: 2, notPlaced: 0 })
})

t.test('a revision that cannot be stored moves nothing, is tried again, and is whole then', async t => {
  const { server, edit, pass, report, held, restart } = await placed(t)
  let refused = 0
  server.refuse = (_, verb, { resource }) => {
    if (verb !== 'create' || resource !== 'placementrevisions') return
    refused++
    throw statusError.forbidden({ group: '', resource: '' }, '', 'the space is full')
  }
  await edit('page', '2')
  await pass(5000)
  t.equal(refused, 1)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  server.refuse = () => {}
  await edit('page', '1')
  await edit('side', '2')
  await pass(35_000)
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  t.same([held('florin'), held('florin', 'side')], ['1', '2'])
  await restart(async () => {})
  await pass(500)
  t.same([held('florin'), held('florin', 'side')], ['1', '2'], 'the half of the first attempt is cleared away')
})

t.test('an edit of a Customizer is a revision, too', async t => {
  const { wds, server, pass, report, held, states } = await placed(t)
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

t.test('contents that are lost take nothing away: clusters keep what the space holds', async t => {
  const { server, wds, restart, edit, pass, report, held, states } = await placed(t)
  await edit('page', '2')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  await restart(async () => {
    for (const name of server.names('wds1', PLACEMENT_CONTENTS)) await wds.delete(PLACEMENT_CONTENTS, { name })
  })
  await report('florin')
  await report('guilder')
  await pass(5000)
  t.same([held('florin'), held('guilder'), held('florin', 'side'), held('guilder', 'side')], ['2', '2', '1', '1'])
  t.equal(states(3).rollout, 'Done', 'from there on it is staged again')
  await edit('page', '3')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['3', '2'])
})

t.test('a placement of before that is seen late loses nothing', async t => {
  const { server, restart, pass, report, held } = await placed(t)
  await restart(async () => void server.unplaced.add('wds1'))
  await pass(1000)
  server.place('wds1')
  await report('florin')
  await report('guilder')
  await pass(1000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
})

t.test('a way back has the strategy of now, and waits for no approval', async t => {
  const decisionGroups = [{ groupName: 'all', locationSelector: {} }]
  const { wds, edit, pass, rollout } = await placed(t, { ...ONE_BY_ONE, decisionGroups })
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

t.test('groups come in their order, a soak holds the next one back, and an approval opens it', async t => {
  const { wds, edit, pass, report, held, rollout, states } = await placed(t)
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
  const { server, edit, pass, report, held, wds } = await placed(t)
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

t.test(
  'the message of a failed cluster stays as it is over other steps, and a step that cannot be written is taken again',
  async t => {
    const { server, edit, pass, report, states, rollout } = await placed(t)
    await edit('page', 'bad')
    await pass(3000)
    await report('florin', ['page'])
    await pass(500)
    const message = () => at(rollout(2)?.status, 'clusters', 0, 'message')
    const first = message()
    t.match(String(first), /page/)
    for (let i = 0; i < 3; i++) {
      await report('guilder')
      await pass(500)
    }
    t.equal(message(), first)
    server.refuse = (_, verb, { resource }) => {
      if (verb === 'status' && resource === 'placementrollouts') throw statusError.internal('no disk')
    }
    await report('florin')
    server.refuse = () => {}
    await pass(60_000)
    t.equal(states(2).florin, 'Done')
  },
)

/** Requests of the center about a kind fail until the answer is called. */
function failing(server: Awaited<ReturnType<typeof rolloutWorld>>['server'], verbs: readonly string[], plural: string) {
  server.refuse = (_, verb, { resource }) => {
    if (verbs.includes(verb) && resource === plural)
      throw statusError.forbidden({ group: '', resource: '' }, '', 'the space is full')
  }
  return () => {
    server.refuse = () => {}
  }
}

/** A placement without a strategy that both clusters have. */
async function unstaged(t: Test) {
  const here = await rolloutWorld(t)
  const { make, place, pass, report } = here
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await make('side', '1')
  await place('ep', {}, 'florin', 'guilder')
  await pass(500)
  await report('florin')
  await report('guilder')
  const stage = async (rolloutStrategy: object | null) => {
    await here.wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
    await here.server.quiet()
  }
  return { ...here, stage }
}

t.test('a placement that gets a strategy keeps its copies while no revision of it can be stored', async t => {
  const { server, wds, stage, pass, held, states } = await unstaged(t)
  const mend = failing(server, ['create'], 'placementrevisions')
  await stage(ONE_BY_ONE)
  await pass(5000)
  t.same([held('florin'), held('guilder'), held('florin', 'side')], ['1', '1', '1'])
  t.match(conditionOf(await wds.get(EDGE_PLACEMENTS, { name: 'ep' }), 'RolledOut'), {
    status: 'False',
    reason: 'RevisionNotStored',
  })
  mend()
  await pass(35_000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  t.equal(states(1).rollout, 'Done')
})

t.test('a server that ends while a placement becomes staged takes nothing away', async t => {
  const { server, restart, stage, pass, report, held } = await unstaged(t)
  const mend = failing(server, ['patch'], 'placementrollouts')
  await stage(ONE_BY_ONE)
  await pass(3000)
  await restart(async () => mend())
  await server.quiet()
  await pass(3000)
  t.same([held('florin'), held('guilder'), held('florin', 'side')], ['1', '1', '1'])
  await report('florin')
  await report('guilder')
  await pass(3000)
  t.same([held('florin'), held('guilder'), held('florin', 'side')], ['1', '1', '1'])
})

t.test('a server that ends between two rollouts brings no edit to a cluster before its turn', async t => {
  const { server, restart, edit, pass, report, held, states } = await placed(t)
  await edit('page', '2')
  await pass(3000)
  const mend = failing(server, ['create'], 'placementrollouts')
  await edit('page', '3')
  await pass(3000)
  t.equal(states(2).rollout, 'Superseded')
  await restart(async () => mend())
  await server.quiet()
  await report('florin')
  await report('guilder')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['3', '1'])
})

t.test('a rollout of a pinned revision that fails stops, and no other cluster gets it', async t => {
  const { wds, edit, pass, report, held, states } = await placed(t, { ...OTHER, onFailure: 'Rollback' })
  await edit('page', 'bad')
  await pass(3000)
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.2' }, 'merge', { spec: { pinned: true } })
  await report('florin', ['page'])
  await pass(3000)
  t.equal(held('guilder'), '1')
  t.equal(states(2).rollout, 'Failed')
})

t.test('an edit that comes as a rollout goes back has its stages', async t => {
  const { clock, edit, pass, report, held } = await placed(t, { ...OTHER, onFailure: 'Rollback' })
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
  const { wds, edit, pass, report, held, states } = await placed(t, { ...OTHER, onFailure: 'Rollback' })
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
  const { wds, edit, pass, held, states } = await placed(t)
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

t.test('a placement that loses its strategy is pinned no more, before and after a restart', async t => {
  const { wds, restart, server, edit, pass, held } = await placed(t)
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

t.test('a clock that is set back holds no rollout up', async t => {
  const { clock, edit, pass, report, held } = await placed(t)
  await edit('page', '2')
  clock.setMs = -3_600_000
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  await report('florin')
  await pass(500)
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

t.test('a placement of which nothing was written before a restart is staged from its first revision', async t => {
  const { server, restart, make, place, pass, report, held } = await rolloutWorld(t)
  await make('page', '1')
  server.refuse = (_, verb, { resource }) => {
    const isReport = resource === 'edgeplacements' && verb === 'status'
    if (isReport || resource === 'placementrollouts') throw statusError.internal(`no ${verb}`)
  }
  await place('ep', { rolloutStrategy: ONE_BY_ONE }, 'florin', 'guilder')
  await restart(async () => {
    server.refuse = () => {}
  })
  await report('florin')
  await report('guilder')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['1', undefined])
})

t.test('a revision that only lacks what was deleted comes to its end', async t => {
  const { wds, server, pass, report, held, states } = await placed(t)
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'side' })
  await server.quiet()
  t.same([held('florin', 'side'), held('guilder', 'side')], [undefined, undefined])
  await report('florin')
  await report('guilder')
  await pass(5000)
  t.same(states(2), { rollout: 'Done', florin: 'Done', guilder: 'Done' })
})

t.test('a write that changes no content leaves the placement rolled out', async t => {
  const { wds, pass } = await placed(t)
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'page' }, 'merge', { metadata: { annotations } })
  await pass(1000)
  const condition = async () => conditionOf(await wds.get(EDGE_PLACEMENTS, { name: 'ep' }), 'RolledOut')
  t.match(await condition(), { status: 'False', reason: 'EditsPending' })
  await pass(5000)
  t.match(await condition(), { status: 'True', reason: 'Done' })
})

t.test('an edit that cuts off the first cluster does not reach the second, over a restart, too', async t => {
  const { server, edit, pass, report, restart, outcomes, box, held, states, rollout } = await placed(t)
  await edit('page', '2')
  await pass(3000)
  outcomes().silent(box('florin'), 's')
  await server.quiet()
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  t.match(rollout(2)?.status, { clusters: [{ state: 'Running', reason: 'ClusterSilent', away: true }, {}] })
  await restart(async () => {})
  for (let minutes = 0; minutes < 6; minutes += 0.5) {
    await report('guilder')
    await pass(30_000)
  }
  t.same([held('florin'), held('guilder')], ['2', '1'])
  t.same(states(2), { rollout: 'Stuck', florin: 'Stuck', guilder: 'Planned' })
  await report('florin')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '2'], 'once it is back the rollout goes on')
})

t.test('three edits in a row that cut clusters off reach one cluster only, over a restart, too', async t => {
  const { wds, server, edit, pass, report, restart, outcomes, box, held, states } = await placed(t)
  const cutOff = async () => {
    outcomes().silent(box('florin'), 's')
    await server.quiet()
  }
  await edit('page', '2')
  await pass(3000)
  await cutOff()
  for (const value of ['3', '4']) {
    await edit('page', value)
    await pass(3000)
    t.same([held('florin'), held('guilder')], [value, '1'], 'who is cut off has the newest edit once it is back')
  }
  t.same(states(4), { rollout: 'Running', florin: 'Running', guilder: 'Planned' })
  await restart(async () => {})
  for (let i = 0; i < 4; i++) {
    await report('guilder')
    await pass(30_000)
  }
  await edit('page', '5')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['5', '1'])
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: true } })
  await pass(3000)
  t.equal(held('florin'), '5', 'the way back waits for no cluster that is silent')
  t.equal(states(1).rollout, 'Done')
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: false } })
  await pass(3000)
  await report('florin')
  await pass(3000)
  await report('florin')
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['5', '5'])
})

t.test('a cluster that fails and falls silent has failed', async t => {
  const { server, edit, pass, report, outcomes, box, held, states } = await placed(t, OTHER)
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
    const { server, edit, pass, report, outcomes, box, held, states } = await placed(t, OTHER)
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
  const { wds, server, restart, edit, pass, report, held, states } = await placed(t)
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

t.test('what people write of one placement looks at no other one', async t => {
  const { wds, server, place, edit, pass, report, states, rollout } = await placed(t)
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
  'an object that is made anew keeps its earlier content where the new one waits, and an undo brings that back',
  async t => {
    const { wds, server, make, pass, report, held, restart } = await placed(t)
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
  const { wds, server, make, pass, held } = await placed(t)
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
  const here = await placed(t)
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

t.test('a strategy that comes back while the end of the one before is written stages the next edit', async t => {
  const { server, wds, edit, pass, held } = await placed(t)
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

t.test('a pin of a placement of type All waits for no group or window, over a restart, too', async t => {
  const decisionGroups = [{ groupName: 'all', locationSelector: {}, approval: true }]
  const { wds, edit, pass, report, restart, held } = await placed(t)
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

t.test('a cluster that is paused amid its step has its time anew when the pause is over', async t => {
  const { server, edit, pass, report, held, states } = await placed(t, {
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
  const { wds, edit, pass, report, held, states } = await placed(t, {
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
