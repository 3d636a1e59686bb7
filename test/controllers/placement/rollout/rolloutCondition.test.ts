/** The condition `RolledOut` of two placements, and the Events with which their rollouts turn. */
import t from 'tap'
import { conditionOf } from '../../../../src/apimachinery/conditions.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import {
  HoldReports,
  type HoldReportsDeps,
} from '../../../../src/controllers/placement/status/conditions/holdReports.ts'
import {
  rolloutCondition,
  rolloutEvent,
} from '../../../../src/controllers/placement/status/conditions/rolloutCondition.ts'
import { EDGE_PLACEMENTS, PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS } from '../../../../src/placement/words/placement.ts'
import { namespace } from '../../../support/scene.ts'
import { ONE_BY_ONE, rolloutWorld } from './rolloutWorld.ts'

const placement = { apiVersion: 'v1', kind: 'EdgePlacement', metadata: { name: 'ep' } }
const EVENTS = { group: '', version: 'v1', resource: 'events' }

t.test('the condition says what a rollout waits for', async t => {
  const report = {
    state: 'Running',
    reason: 'Progressing',
    message: '1 of 2',
    revision: 3,
    isDirty: false,
    pinned: undefined,
  } as const
  const of = (more: object) => rolloutCondition(placement, { ...report, ...more })
  t.match(of({}), { type: 'RolledOut', status: 'False', reason: 'Progressing', message: 'revision 3: 1 of 2' })
  t.match(of({ state: 'Done', reason: 'Done', message: '2 of 2' }), { status: 'True', reason: 'Done' })
  t.match(of({ state: 'Done', isDirty: true }), {
    status: 'False',
    reason: 'EditsPending',
    message: /once there are no more/,
  })
  t.match(of({ state: 'Done', pinned: 3 }), { status: 'False', reason: 'Pinned', message: /rollout unpin ep/ })
  t.match(of({ state: 'Superseded', reason: '', message: '' }), {
    status: 'False',
    reason: 'Superseded',
    message: 'revision 3',
  })
  for (const state of ['Failed', 'RolledBack'] as const)
    t.match(of({ state, isDirty: true }), { status: 'False', reason: 'EditsPending', message: /^revision 3: / })
  t.match(of({ state: 'Running', reason: 'Progressing', isDirty: true }), { reason: 'Progressing' })
  t.match(rolloutCondition(placement, undefined), { status: 'True', reason: 'NotStaged' })
})

t.test('an Event tells a turn once for each revision', async t => {
  const turned = (reason: string, message: string) => ({ type: 'RolledOut', status: 'False', reason, message }) as const
  const before = { ...placement, status: { conditions: [turned('TooManyFailures', 'revision 3: 1 of 2 failed')] } }
  t.equal(rolloutEvent(before, turned('TooManyFailures', 'revision 3: 2 of 2 failed')), undefined)
  t.match(rolloutEvent(before, turned('TooManyFailures', 'revision 4: 1 of 2 failed')), { reason: 'RolloutFailed' })
  t.match(rolloutEvent(before, turned('Done', 'revision 3: 2 of 2')), { reason: 'RolloutDone', type: 'Normal' })
  t.equal(rolloutEvent(before, turned('MinSuccessTime', 'revision 3')), undefined, 'a soak is no news')
  t.match(rolloutEvent(before, turned('Progressing', 'revision 4: 0 of 2')), {
    reason: 'RolloutSuperseded',
    type: 'Normal',
    message: 'revision 3 was not finished; now revision 4: 0 of 2',
  })
  t.match(rolloutEvent(before, turned('Progressing', 'revision 2: 0 of 2')), {
    reason: 'RolledBack',
    message: 'revision 3 gives way to revision 2: 0 of 2',
  })
  t.match(rolloutEvent(before, turned('Pinned', 'revision 2 is pinned')), { reason: 'RevisionPinned' })
  const done = { ...placement, status: { conditions: [turned('Done', 'revision 3: 2 of 2')] } }
  t.match(rolloutEvent(done, turned('Progressing', 'revision 4: 0 of 2')), { reason: 'RolloutProgressing' })
  t.match(rolloutEvent(done, turned('Done', 'revision 4: 2 of 2')), { reason: 'RolloutDone' })
  t.equal(rolloutEvent(placement, turned('MinSuccessTime', 'revision 1: 0 of 2')), undefined)
  const back = { ...placement, status: { conditions: [turned('Progressing', 'revision 2: 1 of 2')] } }
  t.match(rolloutEvent(back, turned('RolledBack', 'revision 3: it failed')), {
    reason: 'RolledBack',
    message: 'revision 3: it failed',
  })
  const backAgain = { ...placement, status: { conditions: [turned('RolledBack', 'revision 3: it failed')] } }
  t.match(rolloutEvent(backAgain, turned('Progressing', 'revision 4: 0 of 2')), { reason: /^Rollout/ })
})

t.test('a placement that stages and one that does not', async t => {
  const { make, place, pass, report, edit, wds, server } = await rolloutWorld(t)
  const conditionIn = async (name: string) => conditionOf(await wds.get(EDGE_PLACEMENTS, { name }), 'RolledOut')
  await wds.create(NAMESPACES, namespace('default'))
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await place('plain', { downsync: [] }, 'florin')
  await place('ep', { rolloutStrategy: ONE_BY_ONE }, 'florin', 'guilder')
  await pass(5000)
  t.equal(await conditionIn('plain'), undefined)
  t.match(await conditionIn('ep'), { status: 'False', reason: 'Progressing', message: /^revision 1: 0 of 2/ })
  await report('florin')
  await pass(5000)
  await report('guilder')
  await pass(5000)
  t.match(await conditionIn('ep'), { status: 'True', reason: 'Done', message: 'revision 1: 2 of 2 clusters are done' })
  await edit('page', '2')
  await pass(500)
  t.match(await conditionIn('ep'), { status: 'False', reason: 'EditsPending' })
  await pass(5000)
  await report('florin', ['page'])
  await pass(5000)
  t.match(await conditionIn('ep'), {
    reason: 'TooManyFailures',
    message: /^revision 2: 1 of 2 clusters failed and 0 may: florin/,
  })
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: true } })
  await pass(5000)
  await report('florin')
  await pass(5000)
  t.match(await conditionIn('ep'), { reason: 'Pinned', message: /^revision 1 is pinned/ })
  t.match((await wds.get(PLACEMENT_ROLLOUTS, { name: 'ep.2' })).status, { state: 'Superseded' })
  const events = server.names('wds1', EVENTS)
  for (const reason of ['rolloutprogressing', 'rolloutdone', 'rolloutfailed', 'revisionpinned'])
    t.equal(events.filter(name => name.startsWith(`default/${reason}.`)).length, 1, reason)
})

t.test('a restart turns the condition not even for a moment, and records no Event', async t => {
  const { make, place, pass, report, edit, restart, wds, server } = await rolloutWorld(t)
  await wds.create(NAMESPACES, namespace('default'))
  await report('florin')
  await make('page', '1')
  await place('ep', { rolloutStrategy: ONE_BY_ONE }, 'florin')
  await pass(3000)
  await report('florin')
  await pass(5000)
  const stored = () => server.peek('wds1', EDGE_PLACEMENTS, 'ep')!
  const condition = () => conditionOf(stored(), 'RolledOut')
  t.match(condition(), { status: 'True', reason: 'Done' })
  const [before, events] = [condition(), server.names('wds1', EVENTS)]
  const followed = async (ms: number): Promise<void> => {
    for (let i = 0; i < ms; i += 250) {
      await pass(250)
      t.strictSame(condition(), before)
    }
  }
  await restart(async () => {})
  await report('florin')
  await followed(5000)
  t.strictSame(server.names('wds1', EVENTS), events)
  let version = 0
  await restart(async () => {
    await edit('page', '2')
    version = server.revision
  })
  await report('florin')
  await followed(1000)
  const { observedResourceVersion } = stored().status as { observedResourceVersion?: string }
  t.ok(Number(observedResourceVersion) < version, 'what was edited meanwhile does not count as rolled out')
  await pass(3000)
  t.match(condition(), { status: 'False', reason: 'Progressing', message: /^revision 2/ })
})

t.test('the condition stays while an intake waits, and it is not known which revisions are staged', t => {
  const holds = new HoldReports({
    join: { waysOf: () => undefined, spec: () => undefined },
    intakes: { messageFor: () => 'it waits' },
    rollout: () => undefined,
  } as unknown as HoldReportsDeps)
  const conditions = [{ type: 'RolledOut', status: 'False', reason: 'Progressing', message: 'revision 3: 1 of 2' }]
  const stated = holds.conditions('wds1', { ...placement, status: { conditions } }, 'unknown', false)
  t.strictSame(
    stated.map(({ type }) => type),
    ['IntakeWaits'],
  )
  t.end()
})
