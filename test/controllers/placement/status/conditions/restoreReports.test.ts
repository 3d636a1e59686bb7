/** Each placement reports that a restore holds removals in its clusters, until these have reported that they keep none, or it is settled. */
import t from 'tap'
import { conditionOf } from '../../../../../src/apimachinery/conditions.ts'
import { at } from '../../../../../src/apimachinery/fields.ts'
import { EDGE_PLACEMENTS, SLICES, SYNC_TARGETS } from '../../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../../client/support/fakeClock.ts'
import { ALL_MAPS, configMap, MAPS, placement, slice, world } from '../../translatorWorld.ts'

const RESTORED_AT = '2026-11-30T04:00:00.000Z'

/** The placement `one` leads to florin, `two` to florin and guilder. */
async function restored(t: Parameters<typeof world>[0]) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, wds, reports } = all
  reports.restoredAt = RESTORED_AT
  await wds.create(MAPS, configMap('page', {}))
  for (const [name, ...clusters] of [
    ['one', 'florin'],
    ['two', 'florin', 'guilder'],
  ] as const) {
    await wds.create(EDGE_PLACEMENTS, placement(name, ALL_MAPS))
    await wds.create(SLICES, slice(name, ...clusters))
  }
  /** All that is due within the pace of reports. */
  const pass = async (): Promise<void> => {
    for (let second = 0; second < 12; second++) {
      await server.quiet()
      await clock.advance(1000)
    }
    await server.quiet()
  }
  /** A whole report of a syncer's new session, with the ConfigMaps that its cluster keeps. */
  const report = async (mailbox: string, session: string, compared: boolean, ...kept: string[]): Promise<void> => {
    const key = { group: '', resource: 'configmaps', namespace: 'commonstuff' }
    const held = {
      state: 'held',
      reason: 'DeletionHeld',
      message: `${kept.length} objects stay`,
      since: RESTORED_AT,
    } as const
    all.outcomes().take(mailbox, {
      session,
      number: 1,
      whole: true,
      epoch: 'epoch',
      compared,
      processed: Number.MAX_SAFE_INTEGER,
      exceptions: kept.map(name => ({ ...key, name, ...held, seq: 1 })),
      settled: [],
      unlisted: {},
    })
    await pass()
  }
  const condition = (name: 'one' | 'two') =>
    conditionOf(server.peek('wds1', EDGE_PLACEMENTS, name)!, 'RestoreUnsettled')
  const outcome = (name: string) => at(server.peek('inv1', SYNC_TARGETS, name)?.status, 'outcome')
  await pass()
  return { ...all, report, pass, condition, outcome }
}

t.test('a placement whose clusters have all reported is not held, one with an open cluster is', async t => {
  const { florin, guilder, report, condition } = await restored(t)
  t.match(condition('one'), {
    status: 'True',
    reason: 'NotReported',
    lastTransitionTime: RESTORED_AT,
    message: /not known of florin, without a report since\. .*"orrery restore status".*"orrery restore settle"/,
  })
  t.match(condition('two'), { message: /not known of florin, guilder/ })
  await report(florin, 'a', false)
  t.match(condition('one'), { status: 'True', reason: 'NotReported' }, 'it has not looked at all of its cluster')
  await report(florin, 'b', true)
  t.match(condition('one'), { status: 'False', reason: 'NothingHeld' })
  t.match(condition('two'), { status: 'True', message: /not known of guilder, without/ })
  await report(guilder, 'a', true, 'first', 'second')
  t.match(condition('one'), { status: 'False' })
  t.match(condition('two'), { status: 'True', reason: 'DeletionHeld', message: /are kept in guilder\. Make again/ })
  await report(guilder, 'b', true)
  t.match(condition('two'), { status: 'False', reason: 'NothingHeld' })
})

t.test('a restart forgets neither the restore nor which clusters have reported', async t => {
  const { florin, guilder, report, condition, outcome, restart, pass } = await restored(t)
  await report(florin, 'a', true)
  await report(guilder, 'a', true, 'first')
  const before = { one: condition('one'), two: condition('two') }
  t.match(before, { one: { status: 'False' }, two: { status: 'True', reason: 'DeletionHeld' } })
  await restart(async () => {})
  await pass()
  t.strictSame({ one: condition('one'), two: condition('two') }, before, 'no syncer has reported since the restart')
  await report(guilder, 'b', false)
  t.match(outcome('guilder'), { sinceRestore: RESTORED_AT, heldDeletions: { objects: 1 } }, 'its search goes on')
  t.strictSame(condition('two'), before.two)
  await report(guilder, 'c', true)
  t.match(condition('two'), { status: 'False' })
})

t.test('a restore that is settled holds no placement, whatever clusters have not reported', async t => {
  const { florin, report, condition, outcome, outcomes, reports, pass } = await restored(t)
  await report(florin, 'a', true)
  t.match(condition('two'), { status: 'True' })
  reports.restoredAt = undefined
  outcomes().settled()
  await pass()
  t.match(condition('two'), { status: 'False', reason: 'NothingHeld', message: '' })
  t.equal(at(outcome('florin'), 'sinceRestore'), undefined)
})
