/** Messages tell Locations of one name apart, and say no more than that takes. */
import t from 'tap'
import { stageConditions } from '../../../src/controllers/placement/status/conditions/outcomeConditions.ts'
import type { PlacementOutcome } from '../../../src/controllers/placement/status/placementOutcome.ts'
import { ambiguousNames, namedPlace, placeName } from '../../../src/placement/words/placeNames.ts'
import { waysOf } from '../../../src/placement/words/ways.ts'

const way = (mailbox: string, cluster: string, locationName: string) => ({ mailbox, cluster, locationName })

t.test('a name is ambiguous where two inventories have it and the placement leads to both', async t => {
  const one = waysOf([way('m1', 'imw1', 'florin'), way('m2', 'imw1', 'guilder'), way('m3', 'imw1', 'florin')])
  t.strictSame(ambiguousNames(one), new Set())
  const two = waysOf([way('m1', 'imw1', 'florin'), way('m2', 'imw1', 'guilder'), way('m3', 'imw2', 'florin')])
  t.strictSame(ambiguousNames(two), new Set(['florin']))
  const place = (location: string) => placeName({ location, cluster: 'root:imw2' }, ambiguousNames(two))
  t.same([place('florin'), place('guilder')], ['florin of root:imw2', 'guilder'])
  t.equal(placeName({ location: 'florin' }, ambiguousNames(two)), 'florin', 'of an inventory that is gone')
})

t.test('conditions say which one it is', async t => {
  const counts = {
    clusters: 2,
    objects: 1,
    copies: 2,
    applied: 1,
    pending: 0,
    stale: 0,
    notPlaced: 0,
    conflict: 0,
    refused: 1,
    retrying: 0,
    altered: 0,
    waiting: 0,
    unknown: 0,
    held: 0,
    paused: 0,
    healthy: 1,
    progressing: 0,
    degraded: 0,
    differing: 0,
  }
  const object = { group: '', resource: 'configmaps', namespace: 'shop', name: 'a' }
  const broken = [
    { location: 'florin', cluster: 'root:imw2', ...object, state: 'refused', reason: 'No', message: 'no' },
  ]
  const said = (ambiguous: readonly string[]) => {
    const outcome: PlacementOutcome = {
      ...{ counts, broken, differing: [], projecting: false, early: false, silent: [], fallen: new Map() },
      ...{ refused: undefined, doubtful: new Set(), full: [] },
      ambiguous: new Set(ambiguous),
    }
    const stages = stageConditions({ outcome })
    return stages.find(({ type }) => type === 'Applied')?.message
  }
  const altered = { ...counts, refused: 0, altered: 1 }
  const differing = { ...counts, applied: 2, refused: 0, differing: 1 }
  const one = (state: string) => [{ location: 'florin', ...object, state, reason: 'FieldsDropped', message: 'drops' }]
  const applied = (more: Partial<PlacementOutcome>) => {
    const outcome: PlacementOutcome = {
      ...{ counts, broken: [], differing: [], projecting: false, early: false, silent: [], fallen: new Map() },
      ...{ refused: undefined, doubtful: new Set(), full: [] },
      ambiguous: new Set(),
      ...more,
    }
    const stages = stageConditions({ outcome })
    return stages.find(({ type }) => type === 'Applied')
  }
  const tooMany = { ...altered, copies: 402, altered: 300, unknown: 101 }
  t.match(applied({ counts: tooMany, broken: one('altered') }), {
    status: 'False',
    reason: 'Altered',
    message:
      /^1 applied, 300 altered, 101 unknown; at florin, .*drops; more is wrong .* than the 300 objects .* the unknown may be/,
  })
  t.match(applied({ counts: { ...counts, refused: 0, unknown: 1 } }), {
    status: 'Unknown',
    reason: 'TooMuchTrouble',
    message: /^1 applied, 1 unknown; more is wrong in a cluster than the 300/,
  })
  t.match(applied({ counts: altered, broken: one('altered') }), {
    status: 'False',
    reason: 'Altered',
    message: '1 applied, 1 altered; at florin, configmaps "shop/a": drops',
  })
  t.match(applied({ counts: differing, differing: one('applied') }), {
    status: 'True',
    reason: 'AllApplied',
    message: '2 applied; 1 of them not in all fields; at florin, configmaps "shop/a": drops',
  })
  t.equal(said([]), '1 applied, 1 refused; at florin, configmaps "shop/a": no')
  t.equal(said(['florin']), '1 applied, 1 refused; at florin of root:imw2, configmaps "shop/a": no')
})

t.test('clusters of one Location are told apart by their SyncTargets', async t => {
  const named = (syncTarget?: string) =>
    namedPlace(
      { mailbox: 'm', cluster: 'id1', locationName: 'both', ...(syncTarget && { syncTarget }) },
      () => 'root:imw1',
    )
  t.same(named('florin'), { location: 'both', cluster: 'root:imw1', syncTarget: 'florin' })
  t.same(named('both'), named())
  t.equal(placeName(named('florin'), new Set()), 'both+florin')
  t.equal(placeName(named('florin'), new Set(['both'])), 'both+florin of root:imw1')
  t.equal(placeName(named(), new Set()), 'both')
})
