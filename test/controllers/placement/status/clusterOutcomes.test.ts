/** The account that the center keeps of clusters, held against a model: it never says applied of what is not. */

import t from 'tap'
import { timestamp } from '../../../../src/apimachinery/timestamp.ts'
import { PendingMarks } from '../../../../src/controllers/placement/join/pendingMarks.ts'
import { CopyHealth } from '../../../../src/controllers/placement/mailboxes/copyHealth.ts'
import { PendingChanges } from '../../../../src/controllers/placement/mailboxes/pendingChanges.ts'
import { Remarks } from '../../../../src/controllers/placement/mailboxes/remarks.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'
import { ClusterOutcomes } from '../../../../src/controllers/placement/status/clusterOutcomes.ts'
import { placementOutcome } from '../../../../src/controllers/placement/status/placementOutcome.ts'
import { NOTHING_LEFT_OUT } from '../../../../src/placement/desks/syncerConfig.ts'
import { commonVerdict } from '../../../../src/placement/outcome/copyState.ts'
import { type Exception, OUTCOME_SILENCE_MS, type OutcomeReport } from '../../../../src/placement/outcome/outcome.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'
import { Outcomes } from '../../../../src/syncer/tells/outcomes.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import * as fc from '../../../support/fastCheck.ts'

const MAPS = { group: '', resource: 'configmaps' }
const key = (name: string) => ({ ...MAPS, namespace: 'shop', name })
const keyIn = (name: string): string => objectKey(MAPS, 'shop', name)
const refused = (name: string): Exception => ({
  ...key(name),
  seq: 1,
  state: 'refused',
  reason: 'Forbidden',
  message: 'no',
  since: '2026-01-31T12:00:00Z',
})
const say = (epoch: string, number: number, more: Partial<OutcomeReport> = {}): OutcomeReport => ({
  session: 's',
  number,
  whole: number === 1,
  epoch,
  compared: true,
  processed: 10,
  exceptions: [],
  settled: [],
  unlisted: {},
  ...more,
})

t.test('a session begins whole and under this epoch, and goes on without a gap', async t => {
  const changed: string[] = []
  const outcomes = new ClusterOutcomes({ clock: new FakeClock(), changed: space => changed.push(space), epoch: 'e' })
  t.same(outcomes.take('m', say('', 1)), { epoch: 'e', again: true }, 'it has to hear the epoch first')
  t.notOk(outcomes.of('m').live)
  t.same(outcomes.take('m', say('e', 2, { whole: false })), { epoch: 'e', again: true })
  t.same(outcomes.take('m', say('e', 3, { whole: true, exceptions: [refused('a')] })), { epoch: 'e', again: false })
  t.same(outcomes.take('m', say('e', 5, { settled: [key('a')] })), { epoch: 'e', again: true }, 'one is missing')
  t.equal(outcomes.of('m').exceptions.size, 1)
  t.same(outcomes.take('m', say('e', 4, { settled: [key('a')] })), { epoch: 'e', again: false })
  t.equal(outcomes.of('m').exceptions.size, 0)
  changed.length = 0
  outcomes.take('m', say('e', 5))
  t.same(changed, [], 'a sign of life is no news')
  outcomes.stop()
})

t.test(
  'what a cluster offers is known until it is another or a whole report does not say, and held once for all',
  async t => {
    const changed: unknown[] = []
    const outcomes = new ClusterOutcomes({
      clock: new FakeClock(),
      changed: (...what) => changed.push(what),
      epoch: 'e',
    })
    const offer = (version: string) => ({
      resources: [{ group: '', resource: 'configmaps', versions: [version] }],
      unlisted: 0,
    })
    for (const space of ['m', 'n']) outcomes.take(space, say('e', 1, { offer: offer('v1') }))
    const { offer: first } = outcomes.of('m')
    t.same(first, offer('v1'))
    t.equal(outcomes.of('n').offer, first)
    changed.length = 0
    outcomes.take('m', say('e', 2))
    outcomes.take('m', say('e', 3, { offer: offer('v1') }))
    t.equal(outcomes.of('m').offer, first)
    t.same(changed, [], 'the same is no news')
    outcomes.take('m', say('e', 4, { offer: offer('v2') }))
    t.same(outcomes.of('m').offer, offer('v2'))
    t.same(changed, [['m', []]], 'it is no news of any copy')
    outcomes.take('m', say('e', 5, { whole: true }))
    t.equal(outcomes.of('m').offer, undefined)
    outcomes.stop()
  },
)

t.test('since when something is so is told by our clock, where that of the cluster cannot be right', async t => {
  const clock = new FakeClock()
  const outcomes = new ClusterOutcomes({ clock, changed: () => {}, epoch: 'e' })
  const since = () => outcomes.of('m').exceptions.get(keyIn('a'))?.since
  const refusedSince = (since: string, more: Partial<Exception> = {}) => [{ ...refused('a'), ...more, since }]
  outcomes.take('m', say('e', 1, { exceptions: refusedSince('2025-12-31T23:00:00Z') }))
  t.equal(since(), '2025-12-31T23:00:00Z', 'one that can be is told as it was said')
  outcomes.take('m', say('e', 2, { exceptions: refusedSince('0001-01-01T00:00:00Z', { reason: 'Other' }) }))
  t.equal(since(), '2026-01-01T00:00:00Z')
  await clock.advance(10_000)
  outcomes.take('m', say('e', 3, { exceptions: refusedSince('9999-01-01T00:00:00Z', { reason: 'Other' }) }))
  t.equal(since(), '2026-01-01T00:00:00Z', 'it is the same that it was')
  outcomes.take('m', say('e', 4, { exceptions: refusedSince('9999-01-01T00:00:00Z', { state: 'retrying' }) }))
  t.equal(since(), '2026-01-01T00:00:10Z')
  outcomes.stop()
})

t.test('that a syncer does not reach its cluster, or does again, is news of all that is placed there', async t => {
  const changed: unknown[] = []
  const outcomes = new ClusterOutcomes({ clock: new FakeClock(), changed: (_, keys) => changed.push(keys), epoch: 'e' })
  outcomes.take('m', say('e', 1))
  changed.length = 0
  outcomes.take('m', say('e', 2, { compared: false, unreachable: true }))
  t.ok(outcomes.of('m').unreachable)
  outcomes.take('m', say('e', 3, { compared: false }))
  t.notOk(outcomes.of('m').unreachable)
  t.same(changed, ['all', 'all'])
  outcomes.stop()
})

t.test('who falls silent is not believed any more, until it speaks', async t => {
  const clock = new FakeClock()
  const outcomes = new ClusterOutcomes({ clock, changed: () => {}, epoch: 'e' })
  outcomes.take('m', say('e', 1))
  await clock.advance(OUTCOME_SILENCE_MS - 1)
  t.ok(outcomes.of('m').live)
  outcomes.take('m', say('e', 2))
  await clock.advance(OUTCOME_SILENCE_MS - 1)
  t.ok(outcomes.of('m').live)
  const lastReportMs = clock.now() - OUTCOME_SILENCE_MS + 1
  await clock.advance(1)
  t.notOk(outcomes.of('m').live)
  t.equal(outcomes.of('m').reportedAtMs, lastReportMs, 'nobody knows when the connection died')
  outcomes.take('m', say('e', 3))
  t.ok(outcomes.of('m').live)
  outcomes.silent('m', 'of another session')
  t.ok(outcomes.of('m').live)
  await clock.advance(1000)
  outcomes.silent('m', 's')
  t.notOk(outcomes.of('m').live)
  t.equal(outcomes.of('m').reportedAtMs, clock.now(), 'it was heard while its connection lasted')
  const sight = { mailbox: undefined, outcome: outcomes.of('m'), projecting: false }
  t.match(commonVerdict(sight), { state: 'Stale', since: timestamp(new Date(clock.now())) })
  outcomes.stop()
})

t.test('what is named by and by is open until all of it is drawn', async t => {
  const pendingMarks = new PendingMarks(new Signals())
  const named: number[] = []
  const tasks = pendingMarks.of('one', [1, 2], task => named.push(task))
  t.ok(pendingMarks.isOpen('one'))
  t.notOk(pendingMarks.isOpen('other'))
  t.same([...tasks], [1, 2])
  t.same(named, [1, 2])
  t.notOk(pendingMarks.isOpen('one'))
})

/** Events of the mailbox, of the cluster, and on the way between them. */
type Step =
  | { do: 'edit' | 'judge' | 'fail'; name: string }
  | { do: 'hear' | 'report' | 'lose' | 'restartCenter' | 'restartSyncer' | 'statusBack' | 'sync' }
const NAMES = ['a', 'b', 'c']
const named = fc.record({ do: fc.constantFrom('edit', 'judge', 'fail'), name: fc.constantFrom(...NAMES) })
const common = fc.record({ do: fc.constant('sync') })
const plain = fc.record({
  do: fc.constantFrom('hear', 'report', 'lose', 'restartCenter', 'restartSyncer', 'statusBack'),
})
const steps = fc.array(
  fc.oneof({ weight: 3, arbitrary: named }, { weight: 2, arbitrary: plain }, { weight: 2, arbitrary: common }),
  { maxLength: 60 },
)

/** A change of content that nobody has looked at when a status follows it. */
const FOLLOWED_BY_STATUS: Step[] = [
  { do: 'sync' },
  { do: 'edit', name: 'a' },
  { do: 'statusBack' },
  { do: 'hear' },
  { do: 'report' },
]

t.test(
  'whatever is lost, restarted or refused: what counts as applied is in the cluster as the mailbox says',
  async () => {
    await fc.assert(
      fc.asyncProperty(steps as fc.Arbitrary<Step[]>, async all => {
        const clock = new FakeClock()
        let revision = 1
        /** Wanted objects of the mailbox, and the cluster's objects, by the revision that made them so. */
        const wanted = new Map<string, number>()
        const inCluster = new Map<string, number>()
        /** Any write of the copy, statuses too. */
        const written = new Map<string, number>()
        let changes = new PendingChanges()
        let epochs = 0
        const newCenter = () => new ClusterOutcomes({ clock, changed: () => {}, epoch: `e${++epochs}` })
        let center = newCenter()
        let syncer = {
          outcomes: new Outcomes(clock),
          heard: 0,
          number: 0,
          told: undefined as unknown,
          epoch: '',
          id: 1,
        }
        /** Writes that the syncer has yet to receive. */
        let coming: { name: string; revision: number }[] = []
        const write = (name: string): void => {
          written.set(name, ++revision)
          coming.push({ name, revision })
        }
        const report = (arrives: boolean): void => {
          const { outcomes, heard, told, epoch, id } = syncer
          const whole = told === undefined
          const before = (told ?? new Map()) as Map<string, Exception>
          const said: OutcomeReport = {
            session: `s${id}`,
            number: ++syncer.number,
            whole,
            epoch,
            compared: outcomes.compared,
            processed: outcomes.compared ? outcomes.processed(heard) : 0,
            exceptions: [...outcomes.exceptions].filter(([k, one]) => before.get(k) !== one).map(([, one]) => one),
            settled: [...before].filter(([k]) => !outcomes.exceptions.has(k)).map(([, one]) => one),
            unlisted: {},
          }
          if (!arrives) {
            syncer.told = undefined
            return
          }
          const answer = center.take('m', said)
          syncer.epoch = answer.epoch
          syncer.told = answer.again ? undefined : new Map(outcomes.exceptions)
        }
        /** The syncer receives everything, applies it, and reports it. */
        const usual = NAMES.map((name): Step => ({ do: 'judge', name }))
        const inFull = all.flatMap((step): Step[] =>
          step.do === 'sync' ? [{ do: 'hear' }, ...usual, { do: 'report' }, { do: 'report' }] : [step],
        )
        for (const step of inFull) {
          if (step.do === 'edit') {
            await changes.write(keyIn(step.name), async () => {
              write(step.name)
              wanted.set(step.name, revision)
              return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: `${revision}` } }
            })
          } else if (step.do === 'statusBack') {
            for (const name of wanted.keys()) write(name)
          } else if (step.do === 'hear') {
            for (const one of coming) syncer.outcomes.changed(key(one.name), one.revision)
            coming = []
            syncer.heard = revision
            // the mirror is whole from then on
            syncer.outcomes.whole([...wanted.keys()].map(key))
          } else if (step.do === 'judge' || step.do === 'fail') {
            const { name } = step
            // latest received revision of the object
            const heard = Math.max(0, ...(coming.some(one => one.name === name) ? [syncer.heard] : [revision]))
            if (!wanted.has(name) || syncer.heard === 0) continue
            await syncer.outcomes.looking(key(name), async () => {
              if (step.do === 'fail') {
                syncer.outcomes.except(key(name), heard, { state: 'retrying', reason: 'Error', message: 'no' })
                return
              }
              if (wanted.get(name)! <= syncer.heard) inCluster.set(name, wanted.get(name)!)
              syncer.outcomes.settle(key(name))
            })
          } else if (step.do === 'report') report(true)
          else if (step.do === 'lose') report(false)
          else if (step.do === 'restartCenter') {
            center.stop()
            center = newCenter()
            changes = new PendingChanges()
            // the snapshot of the mailbox tells what there is, in the order of names
            for (const name of [...written.keys()].sort()) changes.changed(keyIn(name), written.get(name)!)
          } else {
            syncer = {
              outcomes: new Outcomes(clock),
              heard: 0,
              number: 0,
              told: undefined,
              epoch: '',
              id: syncer.id + 1,
            }
            coming = [...written].map(([name, at]) => ({ name, revision: at }))
          }
          const copies = new Map([...wanted.keys()].map(name => [keyIn(name), 1]))
          const mailbox = {
            space: 'm',
            copies,
            changes,
            refused: new Map<string, string>(),
            health: new CopyHealth(),
            ownerOf: () => 'w',
            isUpsyncFull: false,
            leftOut: NOTHING_LEFT_OUT,
            share: undefined,
          }
          const counted = await placementOutcome(
            {
              join: {
                workload: () =>
                  ({
                    selectedBy: () => [...copies.keys()],
                    selects: () => true,
                    paused: () => [],
                    get: () => undefined,
                  }) as never,
                placementsOf: () => [{ space: 'w', name: 'p' }],
                spec: () => undefined,
                brings: () => true,
                contentAt: () => ({ get: () => ({}) }) as never,
              },
              mailbox: () => mailbox,
              outcome: space => center.of(space),
              isNamed: () => true,
              allowsAll: () => true,
              refusal: () => undefined,
              pathOf: space => `root:${space}`,
              remarks: new Remarks(new Signals().copyChanged),
              pauses: { locationOf: () => undefined },
            },
            { space: 'w', name: 'p', ways: new Map([['m', [{ mailbox: 'm', cluster: 'i', locationName: 'l' }]]]) },
          )
          const right = [...wanted].filter(([name, at]) => inCluster.get(name) === at).length
          if (counted.counts.applied > right) throw new Error(`${counted.counts.applied} applied, ${right} are`)
        }
        center.stop()
      }),
      { numRuns: 1000, examples: [[FOLLOWED_BY_STATUS]] },
    )
  },
)

t.test('how far a syncer is, is news only where something waits for it', async t => {
  const changed: string[] = []
  const state = { isAwaited: false }
  const outcomes = new ClusterOutcomes({
    clock: new FakeClock(),
    changed: space => changed.push(space),
    isAwaited: () => state.isAwaited,
    epoch: 'e',
  })
  outcomes.take('m', say('e', 1))
  changed.length = 0
  outcomes.take('m', say('e', 2, { processed: 20 }))
  t.same(changed, [])
  t.equal(outcomes.of('m').processed, 20, 'and is known all the same')
  state.isAwaited = true
  outcomes.take('m', say('e', 3, { processed: 30 }))
  t.same(changed, ['m'])
  outcomes.take('m', say('e', 4, { processed: 30, exceptions: [refused('a')] }))
  t.same(changed, ['m', 'm'])
  outcomes.stop()
})
