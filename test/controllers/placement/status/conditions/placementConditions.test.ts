// Conditions of an EdgePlacement follow from its outcome and from the conditions that stand there, which others may write, too.
import t from 'tap'
import { conditionsFor } from '../../../../../src/controllers/placement/status/conditions/placementConditions.ts'

const REFUSAL = 'RefusedByCluster: 1 refused (1 copy): configmaps "shop/page": refused by the cluster at florin: no'

/** The condition `Placed` behind one with this message, while all clusters are in doubt and nothing is refused now. */
function placedAfter(message: string) {
  const conditions = [{ type: 'Placed', status: 'False', reason: 'RefusedByCluster', message }]
  const placement = { apiVersion: 'v1', kind: 'EdgePlacement', metadata: { name: 'ep' }, status: { conditions } }
  const counts = new Proxy({}, { get: () => 0 })
  const outcome = { counts, broken: [], differing: [], full: [], doubtful: new Set(['florin']), refused: undefined }
  const verdict = { stages: { outcome, stayingCopies: 0 }, withheld: undefined, isFirst: false, isSelected: () => true }
  return conditionsFor(placement, verdict as never, 1).find(({ type }) => type === 'Placed')
}

t.test('a refusal stands while its cluster is in doubt', async t => {
  t.match(placedAfter(REFUSAL), { status: 'False', reason: 'RefusedByCluster', message: REFUSAL })
})

t.test('a message is read as far as one of ours has characters, whoever wrote it', async t => {
  const long = `RefusedByCluster: 1 refused (1 copy): ${'a'.repeat(1_000_000)} refused by the cluster at florin: no`
  t.match(placedAfter(long), { status: 'True' })
})
