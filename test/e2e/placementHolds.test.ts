/**
 * Reasons that keep copies where they are, or take them away at once: pauses, preserved objects, eviction, and the brake; all as processes.
 * Where KUBEBUILDER_ASSETS is set the cluster is a real control plane, too.
 */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { heldBy } from '../support/scene.ts'
import { at, gone, is, map, there } from '../syncer/support/installation.ts'
import { LOCATIONS, MAPS, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'
import {
  condition,
  FLORIN,
  Florin,
  has,
  marks,
  refusedByCordon,
  type StartCluster,
  simulatedCluster,
} from './support/florin.ts'

const EP = { name: 'p' }
const NAMES = Array.from({ length: 12 }, (_, i) => `m${i}`)
const PAUSED = 'edge.kubestellar.io/paused'
const isHeld = (placement: KubeObject | undefined): boolean =>
  placement !== undefined && heldBy(placement) !== undefined

/** Paused objects alone give the condition, too. */
const isLocationPaused = (placement: KubeObject | undefined): boolean =>
  /at Location florin/.test(condition(placement, 'Paused')?.message)
const spec = (space: SpaceClient, fields: object) => space.patch(PLACEMENTS, EP, 'merge', { spec: fields })
const data = (space: SpaceClient, name: string, x: string) => space.patch(MAPS, at(name), 'merge', { data: { x } })

async function fill({ wds, cluster }: Florin): Promise<void> {
  for (const name of NAMES) await wds.create(MAPS, map(name, { x: '1' }))
  for (const name of NAMES) await until(cluster, MAPS, at(name), there)
}

/** Objects of a later EdgePlacement arrive: all before it was looked at. */
async function goesOn({ wds, cluster }: Florin, name: string): Promise<void> {
  const { apiVersion, kind, spec: whole } = await wds.get(PLACEMENTS, EP)
  const [wish] = (whole as { downsync: object[] }).downsync
  const downsync = [{ ...wish, objectNames: [name] }]
  await wds.create(PLACEMENTS, {
    apiVersion,
    kind,
    metadata: { name },
    spec: { ...(whole as object), paused: false, downsync },
  })
  await wds.create(MAPS, map(name, { x: '1' }))
  await until(cluster, MAPS, at(name), there)
}

function holds(t: Test, startCluster: StartCluster): void {
  t.test(
    'a paused EdgePlacement changes and removes nothing in the cluster; the brake is not passed by its end',
    async t => {
      const florin = await Florin.begin(t, { startCluster })
      const { wds, cluster } = florin
      await fill(florin)
      await spec(wds, { paused: true })
      await until(wds, PLACEMENTS, EP, has('Paused', 'True', 'PlacementPaused'))
      await data(wds, 'page', '2')
      await wds.delete(MAPS, at('m0'))
      await goesOn(florin, 'other')
      t.same((await cluster.get(MAPS, at('page'))).data, { x: '1' })
      t.ok(await cluster.get(MAPS, at('m0')))
      await spec(wds, { paused: false })
      await until(cluster, MAPS, at('page'), is('data', { x: '2' }))
      await until(cluster, MAPS, at('m0'), gone)

      await spec(wds, { paused: true })
      await until(wds, PLACEMENTS, EP, has('Paused', 'True', 'PlacementPaused'))
      await wds.delete(PLACEMENTS, { name: 'other' })
      const { downsync } = (await wds.get(PLACEMENTS, EP)).spec as { downsync: object[] }
      await spec(wds, { downsync: downsync.map(wish => ({ ...wish, namespaces: ['shopp'] })) })
      await spec(wds, { paused: false })
      await until(wds, PLACEMENTS, EP, isHeld)
      for (const name of NAMES.slice(1)) t.ok(await cluster.get(MAPS, at(name)))
    },
  )

  t.test('a paused object stays as it is, its deletion is obeyed; of a paused Location all stays', async t => {
    const florin = await Florin.begin(t, { startCluster })
    const { wds, cluster, inventory } = florin
    await fill(florin)
    const pause = (on: boolean) => ({ metadata: { annotations: { [PAUSED]: on ? 'true' : null } } })
    await wds.patch(MAPS, at('page'), 'merge', pause(true))
    await wds.patch(MAPS, at('m1'), 'merge', pause(true))
    await until(wds, PLACEMENTS, EP, has('Paused', 'True', 'PartlyPaused'))
    await data(wds, 'page', '2')
    await data(wds, 'm2', '2')
    await until(cluster, MAPS, at('m2'), is('data', { x: '2' }))
    t.same((await cluster.get(MAPS, at('page'))).data, { x: '1' })
    await wds.delete(MAPS, at('m1'))
    await until(cluster, MAPS, at('m1'), gone)
    await wds.patch(MAPS, at('page'), 'merge', pause(false))
    await until(cluster, MAPS, at('page'), is('data', { x: '2' }))

    await inventory.patch(LOCATIONS, FLORIN, 'merge', pause(true))
    await until(wds, PLACEMENTS, EP, isLocationPaused)
    await data(wds, 'm3', '2')
    await wds.delete(MAPS, at('m4'))
    await until(wds, PLACEMENTS, EP, has('Applied', 'False', 'Paused'))
    t.same((await cluster.get(MAPS, at('m3'))).data, { x: '1' })
    t.ok(await cluster.get(MAPS, at('m4')))
    await inventory.patch(LOCATIONS, FLORIN, 'merge', pause(false))
    await until(cluster, MAPS, at('m3'), is('data', { x: '2' }))
    await until(cluster, MAPS, at('m4'), gone)
  })

  t.test(
    'the brake is not passed by the end of the pause of a Location; a paused object is held as others',
    async t => {
      const florin = await Florin.begin(t, { startCluster })
      const { wds, cluster, inventory } = florin
      await fill(florin)
      const pause = (on: boolean) => ({ metadata: { annotations: { [PAUSED]: on ? 'true' : null } } })
      await wds.patch(MAPS, at('m0'), 'merge', pause(true))
      await inventory.patch(LOCATIONS, FLORIN, 'merge', pause(true))
      await until(wds, PLACEMENTS, EP, isLocationPaused)
      const { downsync } = (await wds.get(PLACEMENTS, EP)).spec as { downsync: object[] }
      await spec(wds, { downsync: downsync.map(wish => ({ ...wish, namespaces: ['shopp'] })) })
      await inventory.patch(LOCATIONS, FLORIN, 'merge', pause(false))
      const held = await until(wds, PLACEMENTS, EP, isHeld)
      for (const name of NAMES) t.ok(await cluster.get(MAPS, at(name)))
      const annotations = { 'edge.kubestellar.io/confirm-deletion': heldBy(held!) }
      await wds.patch(PLACEMENTS, EP, 'merge', { metadata: { annotations } })
      for (const name of NAMES.slice(1)) await until(cluster, MAPS, at(name), gone)
    },
  )

  t.test('what is to be preserved stays without a mark when its EdgePlacement goes, however much it is', async t => {
    const florin = await Florin.begin(t, { startCluster })
    const { wds, cluster } = florin
    await fill(florin)
    await spec(wds, { preserveResourcesOnDeletion: true })
    await wds.delete(PLACEMENTS, EP)
    for (const name of NAMES)
      await until(cluster, MAPS, at(name), object => object !== undefined && marks(object).length === 0)
    t.same((await cluster.get(MAPS, at('m0'))).data, { x: '1' })
  })

  t.test(
    'an unschedulable cluster keeps what it has; from evictAfter on it is emptied, and the brake holds nothing',
    async t => {
      const florin = await Florin.begin(t, { startCluster })
      const { wds, cluster, inventory } = florin
      await fill(florin)
      await inventory.patch(TARGETS, FLORIN, 'merge', { spec: { unschedulable: true } })
      const late = await refusedByCordon(wds, cluster)
      await data(wds, 'page', '2')
      await until(cluster, MAPS, at('page'), is('data', { x: '2' }))
      t.notOk((await cluster.list(MAPS, { namespace: 'shop' })).items.some(({ metadata }) => metadata.name === late))
      await inventory.patch(TARGETS, FLORIN, 'merge', { spec: { evictAfter: new Date().toISOString() } })
      for (const name of [...NAMES, 'page']) await until(cluster, MAPS, at(name), gone)
      t.notOk(isHeld(await wds.get(PLACEMENTS, EP)))
      await inventory.patch(TARGETS, FLORIN, 'merge', { spec: { unschedulable: false, evictAfter: null } })
      for (const name of [...NAMES, 'page', late]) await until(cluster, MAPS, at(name), there)
    },
  )
}

t.test('simulated', async t => holds(t, simulatedCluster))
t.test('a real control plane', { skip: assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set' }, async t =>
  holds(t, startRealCluster),
)
