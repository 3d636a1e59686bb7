// Histories of rollouts from a seed: edits, bad ones too, edits of Locations, silence, joins, leaves, pins, pauses, restarts. A cluster
// always has the content of one revision. One cluster at most is on its way or cut off, over any number of edits. The end is the newest
// content everywhere.
import t, { type Test } from 'tap'
import { at, num } from '../../../../src/apimachinery/fields.ts'
import {
  LOCATIONS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SLICES,
} from '../../../../src/placement/words/placement.ts'
import { CASES } from '../../../support/fastCheck.ts'
import { Seeded } from '../../../support/seeded.ts'
import { MAPS, slice } from '../translatorWorld.ts'
import { type Cluster, ONE_BY_ONE, rolloutWorld } from './rolloutWorld.ts'

const CLUSTERS: readonly Cluster[] = ['florin', 'guilder']
const STEPS = 30
/** Clusters refuse each such value. */
const isBad = (value: unknown): boolean => Number(value) % 4 === 0

async function play(t: Test, seed: number): Promise<void> {
  const here = await rolloutWorld(t)
  const { server, wds, outcomes, pass, make, place, held, box, restart } = here
  const dice = new Seeded(seed)
  const silent = new Set<Cluster>()
  /** Those that fell silent with content that they had not confirmed. */
  const cutOff = new Set<Cluster>()
  const confirmed = new Map<Cluster, unknown>()
  let zone = 0
  /** All that a cluster has. */
  const has = (name: Cluster): unknown => held(name) && `${held(name)} in ${held(name, 'page', 'zone')}`
  let [there, value]: [readonly Cluster[], number] = [CLUSTERS, 1]
  const story: string[] = []
  const report = async (name: Cluster): Promise<void> => {
    const [value, all] = [held(name), has(name)]
    silent.delete(name)
    cutOff.delete(name)
    await here.report(name, value !== undefined && isBad(value) ? ['page', 'side'] : [])
    if (!isBad(value) && there.includes(name)) confirmed.set(name, all)
  }
  const edit = async (): Promise<void> => {
    value++
    for (const name of ['page', 'side'])
      await wds.patch(MAPS, { namespace: 'commonstuff', name }, 'merge', { data: { a: `${value}` } })
    await server.quiet()
  }
  const choose = async (...names: Cluster[]): Promise<void> => {
    there = names
    await wds.update(SLICES, slice('ep', ...names))
    await pass(250)
    // one that joins gets the finished revision beside the others
    for (const name of names) if (!confirmed.has(name)) confirmed.set(name, has(name))
    for (const name of CLUSTERS) {
      if (names.includes(name)) continue
      confirmed.delete(name)
      cutOff.delete(name)
    }
  }
  const pin = async (pinned: boolean): Promise<void> => {
    const all = server.names('wds1', PLACEMENT_REVISIONS)
    const those = pinned && all.length > 0 ? [dice.one(all)] : all
    for (const name of those) await wds.patch(PLACEMENT_REVISIONS, { name }, 'merge', { spec: { pinned } })
    await server.quiet()
  }
  const pause = async (paused: boolean): Promise<void> => {
    for (const name of server.names('wds1', PLACEMENT_ROLLOUTS))
      await wds.patch(PLACEMENT_ROLLOUTS, { name }, 'merge', { spec: { paused } })
    await server.quiet()
  }
  const moves: Readonly<Record<string, () => Promise<unknown>>> = {
    edit,
    wait: () => pass(500),
    longer: () => pass(3000),
    florin: () => report('florin'),
    guilder: () => report('guilder'),
    both: async () => {
      await report('florin')
      await report('guilder')
    },
    silence: async () => {
      const name = dice.one(CLUSTERS)
      silent.add(name)
      if (there.includes(name) && has(name) !== confirmed.get(name)) cutOff.add(name)
      outcomes().silent(box(name), 's')
      await server.quiet()
    },
    restart: async () => {
      await restart(async () => {})
      await server.quiet()
    },
    relabel: async () => {
      zone++
      for (const name of CLUSTERS) {
        const location = server.peek('inv1', LOCATIONS, name)!
        const labels = { ...location.metadata.labels, zone: `${zone}` }
        await server.in('inv1').update(LOCATIONS, { ...location, metadata: { ...location.metadata, labels } })
      }
      await server.quiet()
    },
    leave: () => choose(dice.one(CLUSTERS)),
    join: () => choose(...CLUSTERS),
    pin: () => pin(true),
    unpin: () => pin(false),
    pause: () => pause(dice.chance(50)),
  }
  /** The way back to the finished revision waits for no cluster that is cut off. */
  const isWayBack = (): boolean => {
    const all = server.names('wds1', PLACEMENT_ROLLOUTS).map(name => server.peek('wds1', PLACEMENT_ROLLOUTS, name)!)
    const [newest] = all.sort((a, b) => num(b.spec, 'run') - num(a.spec, 'run'))
    return newest !== undefined && num(newest.spec, 'revision') <= num(newest.spec, 'from')
  }
  const check = (): void => {
    const pairs = there.map(name => [held(name), held(name, 'side')])
    for (const [i, [page, side]] of pairs.entries())
      if (page !== side) throw new Error(`seed ${seed}: ${there[i]} has ${page} and ${side} after ${story.join()}`)
    const isHeldUp = (name: Cluster): boolean => !silent.has(name) || (cutOff.has(name) && !isWayBack())
    const onTheirWay = there.filter(name => isHeldUp(name) && has(name) !== confirmed.get(name))
    if (onTheirWay.length > 1) throw new Error(`seed ${seed}: ${onTheirWay.join()} at once after ${story.join()}`)
  }
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await make('side', '1')
  await wds.patch(MAPS, { namespace: 'commonstuff', name: 'page' }, 'merge', {
    metadata: { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } },
    data: { zone: '%(zone)' },
  })
  await moves.relabel!()
  const rolloutStrategy = { ...ONE_BY_ONE, ...(seed % 2 === 0 && { onFailure: 'Rollback' }) }
  await place('ep', { rolloutStrategy, revisionHistoryLimit: 3 }, ...CLUSTERS)
  confirmed.set('florin', undefined).set('guilder', undefined)
  const often = [...Object.keys(moves), ...['edit', 'edit', 'longer', 'longer', 'longer', 'silence', 'both']]
  for (let step = 0; step < STEPS; step++) {
    const name = dice.one(often)
    story.push(name)
    await moves[name]!()
    await server.quiet()
    check()
  }
  await pin(false)
  await pause(false)
  await choose(...CLUSTERS)
  do await edit()
  while (isBad(value))
  for (let round = 0; round < 12; round++) {
    await pass(3000)
    await report('florin')
    await report('guilder')
  }
  await pass(3000)
  const newest = server.names('wds1', PLACEMENT_ROLLOUTS).map(name => server.peek('wds1', PLACEMENT_ROLLOUTS, name)!)
  const states = newest.map(
    ({ metadata, status }) => `${metadata.name} ${at(status, 'state')} ${at(status, 'message')}`,
  )
  const end = CLUSTERS.map(name => [has(name), held(name, 'side')])
  t.same(
    end,
    [
      [`${value} in ${zone}`, `${value}`],
      [`${value} in ${zone}`, `${value}`],
    ],
    `seed ${seed}: ${story.join()}: ${states.join('; ')}`,
  )
}

for (let seed = 1; seed <= 6 * CASES; seed++) t.test(`history ${seed}`, t => play(t, seed))
