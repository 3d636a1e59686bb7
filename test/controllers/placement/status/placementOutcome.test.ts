/** The counts of a placement are the sum of its copies' single states, in every situation. */
import t from 'tap'
import { CopyHealth } from '../../../../src/controllers/placement/mailboxes/copyHealth.ts'
import { PendingChanges } from '../../../../src/controllers/placement/mailboxes/pendingChanges.ts'
import { conditionsFor } from '../../../../src/controllers/placement/status/conditions/placementConditions.ts'
import { placementOutcome } from '../../../../src/controllers/placement/status/placementOutcome.ts'
import { SpaceCluster } from '../../../../src/controllers/placement/status/spaceCluster.ts'
import { NOTHING_LEFT_OUT } from '../../../../src/placement/desks/syncerConfig.ts'
import { OBJECT_CONFLICT } from '../../../../src/placement/outcome/copyState.ts'
import { COPY_STATES, type OutcomeState } from '../../../../src/placement/outcome/copyStates.ts'
import { FIELDS_DROPPED } from '../../../../src/placement/outcome/fieldDifference.ts'
import { healthOf } from '../../../../src/placement/outcome/health.ts'
import { type Exception, STATUS_TOO_LARGE } from '../../../../src/placement/outcome/outcome.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'
import type { Reason } from '../../../../src/placement/words/reason.ts'
import * as fc from '../../../support/fastCheck.ts'

const CLAIMS = { group: '', resource: 'persistentvolumeclaims' }
const MAILBOXES = ['m1', 'm2', 'm3']
const PLACEMENTS = ['p', 'q']
const KEYS = ['a', 'b', 'c', 'd'].map(name => objectKey(CLAIMS, 'shop', name))
const sometimes = fc.boolean().chain(first => fc.boolean().map(second => first && second))

/** Each cluster refused something when it was last known. */
const REFUSED_BEFORE = {
  apiVersion: 'v1',
  kind: 'EdgePlacement',
  metadata: { generation: 1 },
  status: {
    conditions: [
      {
        type: 'Placed',
        status: 'False',
        reason: 'RefusedByCluster',
        message: `refused by the cluster at ${MAILBOXES.join(', ')}: no`,
      },
    ],
  },
}
const FAILED = { health: 'Degraded', message: 'it failed' } as const
/** One copy. */
const copy = fc.record({
  isDenied: sometimes,
  found: fc.constantFrom(undefined, undefined, OBJECT_CONFLICT, 'Unschedulable'),
  isNamed: sometimes,
  isUnprocessed: sometimes,
  isMissing: sometimes,
  isAnothers: sometimes,
  exception: fc.constantFrom<(OutcomeState | 'untold' | 'differing' | 'lively' | 'failed' | undefined)[]>(
    undefined,
    undefined,
    'refused',
    'retrying',
    'held',
    'drifted',
    'altered',
    'untold',
    'differing',
    'lively',
    'finished',
    'failed',
  ),
  phase: fc.constantFrom('Bound', 'Bound', 'Lost'),
})
const cluster = fc.record({
  isLive: fc.constantFrom(true, true, false),
  isCompared: fc.constantFrom(true, true, false),
  isNamed: fc.constantFrom(true, true, false),
  isUnlisted: sometimes,
  isPaused: sometimes,
  isThere: fc.constantFrom(true, true, true, false),
  copies: fc.tuple(copy, copy, copy, copy),
})
const world = fc.record({
  clusters: fc.tuple(cluster, cluster, cluster),
  selects: fc.tuple(fc.subarray(KEYS), fc.subarray(KEYS)),
  leads: fc.tuple(fc.subarray(MAILBOXES), fc.subarray(MAILBOXES)),
  pausedPlacements: fc.tuple(sometimes, sometimes),
  pausedObjects: fc.subarray(KEYS, { maxLength: 1 }),
})

t.test('counts are sums', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ clusters, selects, leads, pausedPlacements, pausedObjects }) => {
      const of = (mailbox: string, key: string) => clusters[MAILBOXES.indexOf(mailbox)]!.copies[KEYS.indexOf(key)]!
      const isSelected = (name: string, key: string) => selects[PLACEMENTS.indexOf(name)]!.includes(key)
      const leadsTo = (name: string, mailbox: string) => leads[PLACEMENTS.indexOf(name)]!.includes(mailbox)
      const mailboxes = MAILBOXES.map((name, i) => {
        const changes = new PendingChanges()
        const health = new CopyHealth()
        const present = new Map<string, unknown>()
        for (const key of KEYS) {
          const { isNamed, isUnprocessed, isMissing, phase } = of(name, key)
          if (isNamed) changes.name(key)
          if (isUnprocessed) changes.changed(key, 20)
          if (!isMissing) present.set(key, true)
          health.note(
            key,
            healthOf(CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {}, status: { phase } }),
            () => '',
          )
        }
        const ownerOf = (key: string) => (of(name, key).isAnothers ? 'other' : 'w')
        const mailbox = {
          space: name,
          copies: present,
          changes,
          refused: new Map<string, string>(),
          health,
          ownerOf,
          isUpsyncFull: false,
          leftOut: NOTHING_LEFT_OUT,
          share: undefined,
        }
        return clusters[i]!.isThere ? mailbox : undefined
      })
      const mailbox = (name: string) => mailboxes[MAILBOXES.indexOf(name)]
      const outcome = (name: string) => {
        const { isLive: live, isCompared: compared, isUnlisted } = clusters[MAILBOXES.indexOf(name)]!
        const exceptions = new Map<string, Exception>()
        for (const key of KEYS) {
          const { exception: state } = of(name, key)
          const said = { ...CLAIMS, namespace: 'shop', name: key, seq: 1, reason: 'No', message: '', since: '' }
          if (state === 'untold') exceptions.set(key, { ...said, state: 'applied', reason: STATUS_TOO_LARGE })
          else if (state === 'differing') exceptions.set(key, { ...said, state: 'applied', reason: FIELDS_DROPPED })
          else if (state === 'lively')
            exceptions.set(key, { ...said, state: 'applied', health: { health: 'Degraded', message: '' } })
          else if (state === 'failed') exceptions.set(key, { ...said, state: 'finished', health: FAILED })
          else if (state) exceptions.set(key, { ...said, state })
        }
        return { live, compared, processed: 10, exceptions, unlisted: isUnlisted ? { refused: 1 } : {} }
      }
      const told: Reason = { reason: 'NotGranted', message: 'no' }
      const deps = {
        join: {
          workload: () =>
            ({
              selectedBy: (name: string) => selects[PLACEMENTS.indexOf(name)],
              selects: isSelected,
              paused: () => pausedObjects,
              get: (key: string) => ({ isPaused: pausedObjects.includes(key) }),
            }) as never,
          placementsOf: (name: string) =>
            PLACEMENTS.flatMap(one => (leadsTo(one, name) ? [{ space: 'w', name: one }] : [])),
          spec: (_: string, name: string) =>
            ({ isPaused: pausedPlacements[PLACEMENTS.indexOf(name)], upsync: [] }) as never,
          brings: (_: string, name: string, key: string) => !of(name, key).isDenied,
          contentAt: (_: string, name: string) =>
            ({ get: (key: string) => (isSelected(name, key) ? { key } : undefined) }) as never,
        },
        mailbox,
        outcome,
        isNamed: (owner: string) => owner === 'w' || clusters[MAILBOXES.indexOf(owner)]!.isNamed,
        allowsAll: (_: string, name: string) => KEYS.every(key => !of(name, key).isDenied),
        refusal: () => told,
        pathOf: (space: string) => `root:${space}`,
        remarks: {
          of(at: string, _: string, key: string) {
            const { found: reason } = of(at, key)
            return reason === undefined ? undefined : { reason, message: 'found' }
          },
          in: (at: string) => {
            const remarked = KEYS.filter(key => of(at, key).found !== undefined)
            return new Map(remarked.map(key => [key, { reason: of(at, key).found!, message: 'found' }]))
          },
        },
        pauses: {
          locationOf: (name: string) => (clusters[MAILBOXES.indexOf(name)]!.isPaused ? 'l' : undefined),
        },
      }
      for (const name of PLACEMENTS) {
        const led = MAILBOXES.filter(one => leadsTo(name, one))
        const ways = new Map(led.map(one => [one, [{ mailbox: one, cluster: 'i', locationName: one }]]))
        const denied = (at: string) => KEYS.filter(key => of(at, key).isDenied)
        const outcome = await placementOutcome(deps, { space: 'w', name, ways, denied })
        const { counts, broken, projecting, fallen } = outcome
        const sums: Record<string, number> = {}
        const count = (what: string) => {
          sums[what] = (sums[what] ?? 0) + 1
        }
        let isProjecting = false
        for (const one of led) {
          for (const key of KEYS.filter(each => isSelected(name, each))) {
            const { state } = new SpaceCluster(deps, 'w', one).verdict(key)
            count(COPY_STATES[state].count)
            isProjecting ||= state === 'Projecting'
            const { isNamed, isMissing, phase, exception } = of(one, key)
            isProjecting ||= state === 'Stale' && mailbox(one) !== undefined && isNamed && isMissing
            // how it ended counts, and not what was reported of it last
            if (state === 'Finished') count(exception === 'failed' ? 'degraded' : 'healthy')
            if (state !== 'Applied') continue
            if (exception === 'differing') count('differing')
            // the last report of an object with too frequent ones does not count
            const isLost = phase === 'Lost' || exception === 'lively'
            count(exception === 'untold' ? 'progressing' : isLost ? 'degraded' : 'healthy')
          }
        }
        const { clusters: places, objects, copies, ...counted } = counts
        for (const [what, number] of Object.entries(counted))
          if ((sums[what] ?? 0) !== number) throw new Error(`${what}: ${number} counted, ${sums[what] ?? 0} said`)
        const { healthy, progressing, degraded, differing: _, ...partition } = counted
        if (healthy + progressing + degraded !== counted.applied)
          throw new Error('not all that is applied has a health')
        const sum = Object.values(partition).reduce((all, one) => all + one, 0)
        if (sum !== copies || copies !== places * objects) throw new Error(`${sum} of ${copies} copies are counted`)
        const isFallen = (one: string): boolean =>
          mailbox(one) !== undefined && new SpaceCluster(deps, 'w', one).common.state === 'Stale'
        if ([...fallen.keys()].join() !== (counts.objects > 0 ? led.filter(isFallen).join() : ''))
          throw new Error(`${[...fallen.keys()]} have fallen silent`)
        const verdict = {
          stages: { outcome },
          withheld: undefined,
          collected: undefined,
          definitions: undefined,
          associated: undefined,
          isFirst: false,
          isOpening: false,
          isSelected: () => true,
        }
        const conditions = conditionsFor(REFUSED_BEFORE, verdict, 1)
        const is = (type: string) => conditions.find(one => one.type === type)!
        const isPlaced = is('Placed').status === 'True'
        if (isPlaced ? counts.refused > 0 : is('Applied').status === 'True')
          throw new Error(`Applied ${is('Applied').reason}, Placed ${is('Placed').reason}`)
        if (projecting !== isProjecting) throw new Error(`projecting: ${projecting}`)
        if (broken.some(({ state }) => state === 'degraded') !== degraded > 0) throw new Error('degraded is not listed')
      }
    }),
    { numRuns: 350 },
  )
})
