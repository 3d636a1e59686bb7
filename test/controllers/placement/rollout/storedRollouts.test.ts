/** Stored rollouts, as a server that starts reads them. */
import t from 'tap'
import { type Rollout, rolloutOf } from '../../../../src/controllers/placement/rollout/rollout.ts'
import { storedState } from '../../../../src/controllers/placement/rollout/storedRollouts.ts'
import type { RolloutState } from '../../../../src/placement/rollout/rolloutStates.ts'
import { NOT_STAGED } from '../../../../src/placement/rollout/rolloutStates.ts'

type Row = readonly [key: string, revision: number, state: string]

function stored(
  run: number,
  revision: number,
  from: number,
  state: RolloutState,
  ...clusters: readonly Row[]
): Rollout {
  return rolloutOf({
    apiVersion: 'v1',
    kind: 'PlacementRollout',
    metadata: {},
    spec: { run, revision, from },
    status: { state, clusters: clusters.map(([key, revision, state]) => ({ key, cluster: key, revision, state })) },
  })
}

const STAGED = { isInForce: true, wasLive: false }

t.test('a rollout that goes on gives each cluster its revision', t => {
  const rollouts = [
    stored(2, 2, 1, 'Running', ['florin', 2, 'Running'], ['guilder', 1, 'Planned'], ['kyat', 2, 'Skipped']),
    stored(1, 1, 0, 'Done', ['florin', 1, 'Done'], ['guilder', 1, 'Done']),
  ]
  const { revisions, finished, lastRun, rollout, approved } = storedState(rollouts, STAGED)
  t.same(
    [...revisions!],
    [
      ['florin', 2],
      ['guilder', 1],
    ],
  )
  t.same({ finished, lastRun, revision: rollout?.revision }, { finished: 1, lastRun: 2, revision: 2 })
  t.same([...approved].sort(), [0, 1])
  t.end()
})

t.test('one that is over leaves all clusters the finished revision; one that waits for absent clusters goes on', t => {
  const over = stored(1, 1, 0, 'Done', ['florin', 1, 'Done'], ['kyat', 0, 'Skipped'])
  t.match(storedState([over], STAGED), { finished: 1, revisions: undefined, rollout: { state: 'Done' } })
  const open = stored(1, 1, 0, 'Done', ['florin', 1, 'Done'], ['guilder', 0, 'Waiting'])
  t.same(
    [...storedState([open], STAGED).revisions!],
    [
      ['florin', 1],
      ['guilder', 0],
    ],
  )
  t.end()
})

t.test('one that another process began and took no step of has moved nothing', t => {
  const rollouts = [
    stored(1, 1, 0, 'Done', ['florin', 1, 'Done'], ['guilder', 1, 'Done']),
    stored(2, 2, 1, 'Superseded', ['florin', 2, 'Running'], ['guilder', 1, 'Planned']),
    stored(3, 3, 1, 'Running'),
  ]
  t.same(
    [...storedState(rollouts, STAGED).revisions!],
    [
      ['florin', 2],
      ['guilder', 1],
    ],
  )
  t.end()
})

t.test('destinations have the live content where nothing was staged', t => {
  const running = stored(1, 1, 0, 'Running', ['florin', 1, 'Running'])
  const live = { rollout: undefined, revisions: undefined }
  t.match(storedState([running], { isInForce: false, wasLive: false }), live)
  t.match(storedState([running], { isInForce: true, wasLive: true }), live)
  const ended = stored(1, 1, 0, 'Superseded', ['florin', 1, 'Running'])
  ended.reason = NOT_STAGED
  t.match(storedState([ended], STAGED), live)
  t.match(storedState([], STAGED), { ...live, lastRun: 0, finished: 0 })
  t.end()
})

t.test('a revision that was rolled back is known, and where its clusters went', t => {
  const rollouts = [
    stored(1, 1, 0, 'Done'),
    stored(2, 2, 1, 'RolledBack', ['florin', 2, 'Failed']),
    stored(3, 1, 1, 'Running', ['florin', 1, 'Running']),
  ]
  t.same([...storedState(rollouts, STAGED).rolledBack], [[2, 1]])
  t.end()
})
