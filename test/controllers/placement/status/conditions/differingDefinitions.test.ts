/** Clusters that are not known yet, as after a start, are no reason to take back that clusters define a kind otherwise. */
import t from 'tap'
import { reconcileConfig } from '../../../../../src/controllers/placement/mailboxes/configReconciler.ts'
import { differingDefinitions } from '../../../../../src/controllers/placement/status/conditions/differingDefinitions.ts'
import { conditionsFor } from '../../../../../src/controllers/placement/status/conditions/placementConditions.ts'
import { compileUpsync } from '../../../../../src/placement/select/placementSpec.ts'

const KIND = { group: 'wgpolicyk8s.io', resource: 'policyreports' }
const NAME = 'policyreports.wgpolicyk8s.io'
const SETS = [{ apiGroup: KIND.group, resources: ['*'], namespaces: ['*'], names: ['*'] }]
const SHARE = { digest: 'new', sets: [], crowded: [], requestedForKind: () => ['a'], requestedBy: () => ['a'] }

/** A placement's finding on two clusters, by the digest of each one's definition; `undefined`: the mailbox has no share yet. */
function found(oslo: string, rome: string | undefined) {
  const mailboxOf = (digest: string | undefined) => ({
    definitions: new Map(digest === undefined ? [] : [[NAME, { kind: KIND, uid: '', generation: 1, digest }]]),
    share: digest === undefined ? undefined : SHARE,
  })
  const mailboxes = new Map([
    ['mb-oslo', mailboxOf(oslo)],
    ['mb-rome', mailboxOf(rome)],
  ])
  const byMailbox = new Map([...mailboxes.keys()].map(name => [name, { label: name.replace('mb-', 'imw.') }]))
  const deps = {
    join: { spec: () => ({ upsync: SETS, upsyncTests: compileUpsync(SETS as never) }) },
    locations: { of: () => ({ byMailbox }) },
    mailbox: (name: string) => mailboxes.get(name),
  }
  return differingDefinitions(deps as never, 'a', 'p')
}

function conditionAfter(definitions: ReturnType<typeof found>) {
  const conditions = [{ type: 'DefinitionsDiffer', status: 'True', reason: 'DefinedOtherwise', message: '' }]
  const placement = { apiVersion: 'v1', kind: 'EdgePlacement', metadata: { name: 'p' }, status: { conditions } }
  const counts = new Proxy({}, { get: () => 0 })
  const outcome = { counts, broken: [], differing: [], full: [], doubtful: new Set(), refused: undefined }
  const findings = { stages: { outcome, stayingCopies: 0 }, definitions, isFirst: false, isSelected: () => true }
  return conditionsFor(placement, findings as never, 1).find(({ type }) => type === 'DefinitionsDiffer')
}

t.test('the condition stays until all clusters are known', async t => {
  t.match(conditionAfter(found('x', 'y')), { status: 'True', message: /imw.oslo; imw.rome/ })
  t.match(conditionAfter(found('x', 'x')), { status: 'False', reason: 'DefinedAlike' })
  t.equal(found('x', undefined), 'unknown')
  t.equal(conditionAfter('unknown'), undefined, 'nothing is written')
})

t.test('placements are reported once it is known what their syncer is asked for', async t => {
  const reported: unknown[] = []
  const mailbox = { name: 'mb-oslo', space: 'oslo', share: undefined, definitions: new Map([[NAME, {}]]) }
  const deps = {
    client: { in: () => ({ get: async () => ({ metadata: {}, spec: {} }), update: async () => {} }) },
    join: { isUncertain: () => false, upsyncOf: () => SHARE, placementsOf: () => [{ space: 'a', name: 'p' }] },
    records: {
      setShare: (of: { share: unknown }, share: unknown) => {
        of.share = share
      },
    },
    tasks: { reportAll: (placements: Iterable<unknown>) => reported.push(...placements) },
  }
  await reconcileConfig(deps as never, mailbox as never)
  t.same(reported, [{ space: 'a', name: 'p' }])
  await reconcileConfig(deps as never, mailbox as never)
  t.equal(reported.length, 1, 'once')
})
