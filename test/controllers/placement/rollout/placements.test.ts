/** Placements that rollouts know. */
import t from 'tap'
import { LiveContent } from '../../../../src/controllers/placement/join/leadContent.ts'
import { PlacementJoin } from '../../../../src/controllers/placement/join/placementJoin.ts'
import { ContentRows } from '../../../../src/controllers/placement/rollout/contentRows.ts'
import type { RevisionStore } from '../../../../src/controllers/placement/rollout/revisionStore.ts'
import { Rollouts, type RolloutsDeps } from '../../../../src/controllers/placement/rollout/rollouts.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'
import { compilePlacement } from '../../../../src/placement/select/placementSpec.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'
import { SetClock } from '../../../client/support/fakeClock.ts'
import { ALL_MAPS, configMap, MAPS, placement } from '../translatorWorld.ts'
import { ONE_BY_ONE } from './rolloutWorld.ts'

t.test('a placement of another uid and without a strategy leaves nothing of the one before staged', t => {
  const rollouts = new Rollouts({
    clock: new SetClock(),
    join: { workload: () => ({}), spec: () => undefined },
    tasks: { add: () => {}, report: () => {} },
  } as unknown as RolloutsDeps)
  const spec = (uid: string, more: object) => {
    const object = placement('ep', { ...ALL_MAPS, ...more })
    return compilePlacement({ ...object, metadata: { ...object.metadata, uid } })
  }
  rollouts.place('wds1', 'ep', spec('first', { rolloutStrategy: ONE_BY_ONE }), true)
  rollouts.place('wds1', 'other', spec('second', { rolloutStrategy: ONE_BY_ONE }), true)
  t.equal(rollouts.figures.Done, 2)
  t.equal(rollouts.place('wds1', 'ep', spec('third', {}), false), undefined)
  t.equal(rollouts.figures.Done, 1)
  t.equal(rollouts.of('wds1', 'ep'), undefined)
  t.end()
})

t.test('copies of a revision are named where a placement without a strategy takes its place', t => {
  const tasks = { configs() {}, sources() {}, report() {}, reports() {} }
  const granted = { allowsAll: true, isUncertain: false, refusal: () => undefined, carriesUp: () => false }
  const signals = new Signals()
  const join = new PlacementJoin(tasks, signals, { allowance: () => granted as never, anyUncertain: false })
  const key = objectKey(MAPS, 'commonstuff', 'page')
  const fact = { key, uid: '', resource: MAPS, namespace: 'commonstuff', name: 'page', labels: {}, revision: 1 }
  join.workload('w').setObject({ ...fact, customized: false, customizer: '', annotated: false, defines: [] })
  join.setPlacement('w', 'all', compilePlacement(placement('all', ALL_MAPS)))
  const content = new LiveContent(join.workload('w'), 'all')
  const stage = {
    at: () => content,
    edited: () => true,
    locationEdited: () => true,
    has: () => true,
    keysInUse: () => [key],
  }
  const nothing = compilePlacement(placement('p', { downsync: [] }))
  join.setPlacement('w', 'p', nothing, '', stage)
  join.setDestinations('w', 'p', [{ mailbox: 'm1', cluster: 'inv', locationName: 'florin', syncTarget: 'florin' }])
  const lost: unknown[] = []
  signals.claimsLost.on((_, name, { mailboxes, keys }) => lost.push([name, mailboxes, keys]))
  join.setPlacement('w', 'p', nothing)
  t.strictSame(lost, [['p', ['m1'], [key]]])
  t.strictSame(join.sourcesOf('m1', key), [])
  t.end()
})

t.test('edits that come while a placement becomes staged are in its revision, as the clusters have them', async t => {
  const object = (value: number) => {
    const page = configMap('page', { a: `${value}` })
    return { ...page, metadata: { ...page.metadata, uid: 'u', resourceVersion: `${value}` } }
  }
  const key = objectKey(MAPS, 'commonstuff', 'page')
  let [value, edits] = [1, 0]
  const fact = () => ({ key, uid: 'u', resource: MAPS, namespace: 'commonstuff', name: 'page', revision: value })
  const workload = { selectedBy: () => [key], get: () => ({ ...fact(), customizer: '' }), names: () => true }
  const begun: unknown[] = []
  let stagedWith: number | undefined
  const rollouts = new Rollouts({
    clock: new SetClock(),
    isKnown: () => true,
    known: { send() {} },
    tasks: { add() {}, report() {} },
    sources: { read: async () => object(value) },
    join: {
      workload: () => workload,
      spec: () => compiled,
      observed: { of: () => value },
      customizer: () => undefined,
      waysOf: () => new Map(),
      restage(...[, , change]: [string, string, () => void]) {
        change()
        stagedWith = value
      },
    },
    store: {
      load: async () => new ContentRows(),
      rollouts: async () => [],
      pinned: async () => undefined,
      placement: async () => undefined,
      save: async (...[, rows, { revision, contents, objects }]: Parameters<RevisionStore['save']>) => {
        for (const { digest, object } of contents)
          rows.add({
            ...NO_ROW,
            name: `r${revision}`,
            key,
            from: revision,
            digest,
            seen: Number(object.metadata.resourceVersion),
          })
        rows.commit(revision, { by: '', at: '', objects })
      },
      rollout: async () => undefined,
      beginRollout: async (...[, spec]: Parameters<RevisionStore['beginRollout']>) => {
        begun.push(spec.revision)
        return { apiVersion: 'v1', kind: 'PlacementRollout', metadata: { resourceVersion: '1' }, spec }
      },
      // edits that come then
      writeStatus: async () => {
        if (edits++ < 2) {
          value++
          rollouts.place('w', 'ep', compiled, false)
        }
        return { metadata: { resourceVersion: '1' } }
      },
    },
  } as unknown as RolloutsDeps)
  const compiled = compilePlacement(placement('ep', { ...ALL_MAPS, rolloutStrategy: ONE_BY_ONE }))
  rollouts.place('w', 'ep', compiled, false)
  await rollouts.reconcile('w', 'ep')
  t.same(begun, [1, 2, 3], 'each revision that the clusters have is begun as done')
  t.equal(stagedWith, 3, 'nothing came since the newest one')
})

const NO_ROW = {
  resource: MAPS,
  implied: false,
  fact: undefined,
  customizer: undefined,
  location: undefined,
  reads: [],
}
