// Rollouts over restarts, lost contents and writes that fail.
import t from 'tap'
import { conditionOf } from '../../../../src/apimachinery/conditions.ts'
import { statusError } from '../../../../src/apimachinery/errors.ts'
import { at } from '../../../../src/apimachinery/fields.ts'
import { EDGE_PLACEMENTS, PLACEMENT_CONTENTS, PLACEMENT_REVISIONS } from '../../../../src/placement/words/placement.ts'
import { failing, ONE_BY_ONE, rolledOut, rolloutWorld, unstaged } from './rolloutWorld.ts'

t.test('a restart amid a rollout leaves each cluster its revision, and the rollout goes on', async t => {
  const { restart, server, pass, report, edit, held, states } = await rolledOut(t)
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
  const { restart, edit, pass, report, held } = await rolledOut(t)
  await restart(() => edit('page', '2'))
  await report('florin')
  await report('guilder')
  await pass(200)
  t.same([held('florin'), held('guilder')], ['1', '1'])
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
})

t.test('a revision that cannot be stored moves nothing, is tried again, and is whole then', async t => {
  const { server, edit, pass, report, held, restart } = await rolledOut(t)
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

t.test('contents that are lost take nothing away: clusters keep what the space holds', async t => {
  const { server, wds, restart, edit, pass, report, held, states } = await rolledOut(t)
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
  const { server, restart, pass, report, held } = await rolledOut(t)
  await restart(async () => void server.unplaced.add('wds1'))
  await pass(1000)
  server.place('wds1')
  await report('florin')
  await report('guilder')
  await pass(1000)
  t.same([held('florin'), held('guilder')], ['1', '1'])
})

t.test(
  'the message of a failed cluster stays as it is over other steps, and a step that cannot be written is taken again',
  async t => {
    const { server, edit, pass, report, states, rollout } = await rolledOut(t)
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
  const { server, restart, edit, pass, report, held, states } = await rolledOut(t)
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

t.test('a clock that is set back holds no rollout up', async t => {
  const { clock, edit, pass, report, held } = await rolledOut(t)
  await edit('page', '2')
  clock.setMs = -3_600_000
  await pass(3000)
  t.same([held('florin'), held('guilder')], ['2', '1'])
  await report('florin')
  await pass(500)
  t.same([held('florin'), held('guilder')], ['2', '2'])
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

t.test('an edit that cuts off the first cluster does not reach the second, over a restart, too', async t => {
  const { server, edit, pass, report, restart, outcomes, box, held, states, rollout } = await rolledOut(t)
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
  const { wds, server, edit, pass, report, restart, outcomes, box, held, states } = await rolledOut(t)
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
