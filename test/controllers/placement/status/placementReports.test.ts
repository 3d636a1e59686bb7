/** An early report of a placement is repeated. */

import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { ObservedContent } from '../../../../src/controllers/placement/join/observedContent.ts'
import { PendingMarks } from '../../../../src/controllers/placement/join/pendingMarks.ts'
import { Remarks } from '../../../../src/controllers/placement/mailboxes/remarks.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'
import { PlacementReports } from '../../../../src/controllers/placement/status/placementReports.ts'

const WAY = { cluster: 'i', mailbox: 'm', locationName: 'florin', targetName: 'florin' }

t.test('what is told while not all of the space is named is told once more when it is', async t => {
  const asked: string[] = []
  const told: unknown[] = []
  const projected: unknown[] = []
  const signals = new Signals()
  signals.known.on((what, space) => what === 'named' && reports.named(space))
  const pendingMarks = new PendingMarks(signals)
  const placement: KubeObject = { apiVersion: 'v1', kind: 'EdgePlacement', metadata: { name: 'p' } }
  const workload = { selectedBy: () => ['|configmaps|shop|a'], selects: () => true, paused: () => [] }
  const join = {
    waysOf: () => new Map([['m', [WAY]]]),
    placementsOf: () => [{ space: 's', name: 'p' }],
    spec: () => ({ upsync: [], collectors: [] }),
    brings: () => true,
    carriesUp: () => false,
    carriersTo: () => [],
    observed: new ObservedContent(signals.spaceChanged),
    workload: () => workload,
  }
  const mailbox = {
    space: 'x',
    copies: new Map([['|configmaps|shop|a', {}]]),
    changes: {
      behind: () => [],
      pending: () => [],
      processed: () => {},
      isBehind: () => false,
      unlooked: () => [],
      isPending: () => false,
    },
    refused: new Map(),
    health: { unhealthyOf: () => [] },
    ownerOf: () => 's',
  }
  const outcome = { live: true, compared: true, processed: 1, exceptions: new Map(), unlisted: {} }
  let nowMs = 0
  const reports: PlacementReports = new PlacementReports({
    client: {
      in: () => ({
        get: async () => placement,
        patch: async (...said: { status: { counts: unknown; conditions: { type: string }[] } }[]) => {
          told.push(said[3]?.status.counts)
          projected.push(said[3]?.status.conditions.find(({ type }) => type === 'Projected'))
        },
      }),
    },
    join,
    allowances: { allowance: () => ({ allowsAll: true }), nowhere: () => undefined, isUncertain: () => false },
    holds: {
      waits: () => false,
      isOpening: () => false,
      holdOf: () => undefined,
      conditions: () => [],
      reported: async () => {},
    },
    retained: { behindPauseOf: () => 0 },
    definitions: () => undefined,
    due: { isDue: () => false },
    isUnread: () => false,
    outcomes: {
      join,
      mailbox: () => mailbox,
      outcome: () => outcome,
      isNamed: (owner: string) => !pendingMarks.isOpen(owner),
      allowsAll: () => true,
      refusal: () => undefined,
      remarks: new Remarks(signals.copyChanged),
      pauses: { locationOf: () => undefined },
      pathOf: () => 'root:imw1',
    },
    clock: { now: () => nowMs, after: () => () => {} },
    events: { report: async () => {}, forget: () => {} },
    outages: { report: async () => undefined, forget: () => {} },
    told: () => {},
    tasks: { report: (space: string, name: string) => void asked.push(`${space} ${name}`) },
  } as never)

  const open = pendingMarks.of('s', ['of another placement'], () => {})[Symbol.iterator]()
  open.next()
  await reports.reconcile('s', 'p')
  t.match(told, [{ pending: 1, applied: 0 }])
  t.same(asked, [], 'not before all is named')
  open.next()
  t.same(asked, ['s p'])
  nowMs += 10_000
  await reports.reconcile('s', 'p')
  t.match(told[1], { pending: 0, applied: 1 })
  t.match(projected, [
    { status: 'False', reason: 'Projecting' },
    { status: 'True', reason: 'AllProjected' },
  ])
  pendingMarks
    .of('s', [], () => {})
    [Symbol.iterator]()
    .next()
  t.same(asked, ['s p'], 'once')
})
