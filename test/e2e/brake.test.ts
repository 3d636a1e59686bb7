/**
 * One letter in a selector, two clusters, and a server that restarts meanwhile: nobody loses anything until it is confirmed.
 * Nor by what inventories say, or by a Namespace that takes along what is in it.
 */
import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { PLACEMENT_GRANTS, WORK_STATUSES } from '../../src/placement/words/placement.ts'
import { heldBy, MAPS_OF_APP } from '../support/scene.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, gone, map, registerCluster, there } from '../syncer/support/installation.ts'
import { LOCATIONS, MAPS, NAMESPACES, PLACEMENTS } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { has } from './support/florin.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const NAMES = Array.from({ length: 60 }, (_, i) => `m${String(i).padStart(2, '0')}`)
const EP = { name: 'p' }
const FLORIN = { name: 'florin' }
/** As somebody makes it who has its manifest. */
const anew = ({ apiVersion, kind, metadata: { name = '', labels = {} }, spec }: KubeObject): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, labels },
  spec,
})
const selecting = (app: string) => ({
  spec: {
    downsync: [{ ...MAPS_OF_APP.downsync[0], namespaces: ['shop'], labelSelectors: [{ matchLabels: { app } }] }],
  },
})
const labelled = (name: string, app: string): KubeObject => {
  const object = map(name, { name })
  return { ...object, metadata: { ...object.metadata, labels: { app } } }
}
const isHeld = (placement: KubeObject | undefined): boolean =>
  placement !== undefined && heldBy(placement) !== undefined
const heldCopies = (placement: KubeObject | undefined): unknown => {
  const { counts } = (placement?.status ?? {}) as { counts?: Record<string, number> }
  return counts?.deletionHeld
}
const names = async (space: SpaceClient): Promise<string[]> => {
  const { items } = await space.list(MAPS, { namespace: 'shop' })
  return items.map(({ metadata }) => metadata.name ?? '').filter(name => NAMES.includes(name))
}

/** Waits until so many of them are in a cluster. */
async function hold(space: SpaceClient, count: number): Promise<void> {
  const left = await names(space)
  if (left.length === count) return
  const missing = NAMES.filter(name => !left.includes(name))
  for (const name of count === 0 ? left : missing) await until(space, MAPS, at(name), count === 0 ? gone : there)
}

t.test('one letter in a selector of 60 objects in 2 clusters', async t => {
  const dir = temporaryDir(t)
  const center = new Center(t, join(dir, 'center'))
  await center.start()
  const clusters: SpaceClient[] = []
  for (const name of ['florin', 'guilder']) clusters.push(await cluster(name))
  const wds = center.in('root:wmw1')
  await wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  for (const name of NAMES) await wds.create(MAPS, labelled(name, 'page'))
  const spec = { locationSelectors: [{ matchLabels: { env: 'prod' } }], ...selecting('page').spec }
  await wds.create(PLACEMENTS, { apiVersion: EDGE, kind: 'EdgePlacement', metadata: EP, spec })
  const all = (what: (space: SpaceClient) => Promise<unknown>) => Promise.all(clusters.map(what))
  await all(space => until(space, MAPS, at(NAMES.at(-1)!), there))
  for (const space of clusters) await hold(space, NAMES.length)

  await wds.patch(PLACEMENTS, EP, 'merge', selecting('pape'))
  const held = await until(wds, PLACEMENTS, EP, isHeld)
  await until(wds, PLACEMENTS, EP, has('Applied', 'False', 'DeletionHeld'))
  await until(wds, PLACEMENTS, EP, has('Healthy', 'False', 'DeletionHeld'))
  await center.end()
  await center.start()
  const after = center.in('root:wmw1')
  // what is placed from now on arrives: the server and all syncers are back at work
  await after.create(MAPS, labelled('new', 'pape'))
  await all(space => until(space, MAPS, at('new'), there))
  for (const space of clusters) t.same(await names(space), NAMES)
  const still = await until(after, PLACEMENTS, EP, isHeld)
  t.equal(heldBy(still!), heldBy(held!), 'the same plan as before')
  const { items } = await after.list(WORK_STATUSES, { namespace: 'shop', fieldSelector: 'spec.sourceRef.name=m00' })
  t.match(
    items.map(({ metadata, status }) => ({ name: metadata.name, status })),
    ['florin', 'guilder'].map(name => ({
      name: `imw1.${name}:configmaps:m00`,
      status: { state: 'Held', message: new RegExp(`edgeplacement p \\S+=${heldBy(held!)}$`) },
    })),
    'each copy that is held says so, and what confirms that it goes',
  )

  await after.patch(PLACEMENTS, EP, 'merge', selecting('page'))
  await until(after, PLACEMENTS, EP, placement => placement !== undefined && !isHeld(placement))
  await until(after, PLACEMENTS, EP, has('Applied', 'True', 'AllApplied'))
  await all(space => until(space, MAPS, at('new'), gone))
  for (const space of clusters) t.same(await names(space), NAMES)

  const inventory = center.in('root:imw1')
  const florin = await inventory.get(LOCATIONS, FLORIN)
  const [grant] = (await inventory.list(PLACEMENT_GRANTS)).items
  const relabel = (env: string) => inventory.patch(LOCATIONS, FLORIN, 'merge', { metadata: { labels: { env } } })
  for (const [what, take, giveBack] of [
    ['a label of a Location', () => relabel('test'), () => relabel('prod')],
    [
      'a Location that is deleted',
      () => inventory.delete(LOCATIONS, FLORIN),
      () => inventory.create(LOCATIONS, anew(florin)),
    ],
    [
      'a grant that is withdrawn',
      () => inventory.delete(PLACEMENT_GRANTS, { name: grant!.metadata.name! }),
      () => inventory.create(PLACEMENT_GRANTS, anew(grant!)),
    ],
  ] as const) {
    await take()
    await until(after, PLACEMENTS, EP, isHeld)
    for (const space of clusters) t.same(await names(space), NAMES, what)
    await giveBack()
    await until(after, PLACEMENTS, EP, placement => placement !== undefined && !isHeld(placement))
    await until(after, PLACEMENTS, EP, has('Applied', 'True', 'AllApplied'))
    for (const space of clusters) t.same(await names(space), NAMES, `${what}, undone`)
  }

  await after.delete(NAMESPACES, { name: 'shop' })
  await until(after, NAMESPACES, { name: 'shop' }, gone)
  // the hash covers what is held so far: 60 ConfigMaps in two clusters
  const again = await until(after, PLACEMENTS, EP, placement => isHeld(placement) && heldCopies(placement) === 120)
  for (const space of clusters) t.same(await names(space), NAMES, 'a Namespace that is deleted with what is in it')
  const annotations = { 'edge.kubestellar.io/confirm-deletion': heldBy(again!) }
  await after.patch(PLACEMENTS, EP, 'merge', { metadata: { annotations } })
  for (const space of clusters) await hold(space, 0)

  async function cluster(name: string): Promise<SpaceClient> {
    const mailbox = await registerCluster(center, name, { env: 'prod' })
    const wec = ['simulate-wec', '--name', name, '--data-dir', join(dir, name), '--secure-port', '0']
    await new Command(t, wec).said('ready')
    const [from, to] = [join(dir, `${name}.kubeconfig`), join(dir, name, 'admin.kubeconfig')]
    await center.syncerKubeconfig(from, mailbox)
    new Command(t, ['syncer', '--from-kubeconfig', from, '--to-kubeconfig', to, '--qps', '0'])
    return await clientOf(t, to)
  }
})
