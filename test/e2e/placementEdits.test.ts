// Effects of a user's edit of an EdgePlacement on mailboxes and on the workload space.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { type Center, startCenter } from '../support/center.ts'
import { CRDS, MAPS, PLACEMENTS, type Scene } from '../support/scene.ts'

const COUNT = 'kubestellar.io/executing-count'
const CONFIG = 'syncerconfigs.edge.kubestellar.io the-one'
const ONE = 'configmaps app/one'
const TWO = 'configmaps app/two'
const BOTH = ['app/one', 'app/two']

const center = await startCenter(t)
const { world } = center

/** A scene with clusters a and b, two ConfigMaps, and their mailboxes. */
async function stage(tag: string): Promise<{ scene: Scene; a: string; b: string }> {
  const scene = await center.scene(tag, ['a', 'b'])
  await scene.map('one', { v: '1' })
  await scene.map('two', { v: '2' }, { labels: { size: 'big' } })
  return { scene, a: await scene.mailbox('a'), b: await scene.mailbox('b') }
}

function upsyncOf(config: KubeObject): unknown {
  return (config.spec as { upsync?: unknown } | undefined)?.upsync
}

const own = (space: string): string[] => center.mapsIn(space)

const ORBITAL = { apiGroup: 'group1.test', resources: ['sprockets'], namespaces: ['orbital'], names: ['george'] }

t.test('an edit of upsync alone reaches the syncers', async t => {
  const { scene, a, b } = await stage('upsync')
  await scene.place('ep')
  for (const mailbox of [a, b]) await world.present(mailbox, ONE)
  await scene.replace('ep', { upsync: [ORBITAL] })
  for (const mailbox of [a, b]) {
    const config = await world.present(mailbox, CONFIG, object => JSON.stringify(upsyncOf(object)) !== '[]')
    t.same(upsyncOf(config), [ORBITAL])
  }
  await scene.replace('ep', { upsync: null })
  for (const mailbox of [a, b]) {
    await world.present(mailbox, CONFIG, object => JSON.stringify(upsyncOf(object)) === '[]')
  }
})

t.test('upsync without any downsync reaches the syncers too', async () => {
  const { scene, a } = await stage('upsync-only')
  await scene.place('ep', { downsync: [], upsync: [ORBITAL] })
  await world.present(a, CONFIG, object => JSON.stringify(upsyncOf(object)) === JSON.stringify([ORBITAL]))
})

t.test('wantSingletonReportedState switched on and off: the executing count comes and goes', async t => {
  const { scene, a } = await stage('wants')
  await scene.place('ep')
  await world.present(a, ONE)
  t.equal(world.get(scene.wdsId, ONE)?.metadata.annotations?.[COUNT], undefined)
  await scene.replace('ep', { wantSingletonReportedState: true })
  for (const key of [ONE, TWO]) await world.present(scene.wdsId, key, o => o.metadata.annotations?.[COUNT] === '2')
  await scene.replace('ep', { wantSingletonReportedState: false })
  for (const key of [ONE, TWO])
    await world.present(scene.wdsId, key, o => o.metadata.annotations?.[COUNT] === undefined)
})

t.test('downsync narrowed and widened: exactly what it names is in the mailboxes', async t => {
  const { scene, a, b } = await stage('narrow')
  await scene.place('ep')
  for (const mailbox of [a, b]) await center.holds(mailbox, BOTH)
  const big = { apiGroup: '', resources: ['configmaps'], labelSelectors: [{ matchLabels: { size: 'big' } }] }
  await scene.replace('ep', { downsync: [big] })
  for (const mailbox of [a, b]) await world.absent(mailbox, ONE)
  await center.settled()
  for (const mailbox of [a, b]) t.same(own(mailbox), ['app/two'])
  await scene.replace('ep', { downsync: [big, { apiGroup: '', resources: ['configmaps'], objectNames: ['one'] }] })
  for (const mailbox of [a, b]) await world.present(mailbox, ONE)
  await scene.replace('ep', { downsync: [] })
  await scene.confirmHeld('ep')
  for (const mailbox of [a, b]) await center.holds(mailbox, [])
})

t.test(
  'a placement that moves from one cluster to another leaves no moment at which neither has the workload',
  async t => {
    const { scene, a, b } = await stage('move')
    await scene.place('ep', scene.at('a'))
    await center.holds(a, BOTH)
    const gaps = await gapsWhile(center, [a, b], async () => {
      for (const to of ['b', 'a', 'b']) {
        const [now, before] = to === 'a' ? [a, b] : [b, a]
        await scene.replace('ep', scene.at(to))
        await center.holds(now, BOTH)
        await center.holds(before, [])
      }
    })
    t.same(gaps, [])
    await center.settled()
    t.same(own(a), [])
    t.same(own(b), BOTH)
  },
)

t.test('a custom object that moves has its definition there before it arrives, and no gap either', async t => {
  const { scene, a, b } = await stage('move-custom')
  await scene.wds.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boats.sea.example.com' },
    spec: {
      group: 'sea.example.com',
      scope: 'Namespaced',
      names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  await world.present(scene.wdsId, 'customresourcedefinitions.apiextensions.k8s.io boats.sea.example.com', o =>
    JSON.stringify(o.status ?? {}).includes('"type":"Established"'),
  )
  const boats = { group: 'sea.example.com', version: 'v1', resource: 'boats' }
  const boat = { apiVersion: 'sea.example.com/v1', kind: 'Boat', metadata: { namespace: 'app', name: 'one' } }
  await scene.wds.create(boats, boat)
  await scene.place('ep', { ...scene.at('a'), downsync: [{ apiGroup: 'sea.example.com', resources: ['boats'] }] })
  const BOAT = 'boats.sea.example.com app/one'
  await world.present(a, BOAT)
  let gaps = 0
  const end = world.onChange(() => {
    if (!world.get(a, BOAT) && !world.get(b, BOAT)) gaps++
  })
  await scene.replace('ep', scene.at('b'))
  await world.present(b, BOAT)
  await world.absent(a, BOAT)
  end()
  t.equal(gaps, 0)
  await world.absent(a, 'customresourcedefinitions.apiextensions.k8s.io boats.sea.example.com')
})

t.test('a deleted placement takes its copies, its slice and the executing counts with it', async t => {
  const { scene, a, b } = await stage('deleted')
  await scene.place('ep', { wantSingletonReportedState: true, upsync: [ORBITAL] })
  for (const key of [ONE, TWO]) await world.present(scene.wdsId, key, o => o.metadata.annotations?.[COUNT] === '2')
  for (const mailbox of [a, b]) await center.holds(mailbox, BOTH)
  await scene.wds.delete(PLACEMENTS, { name: 'ep' })
  for (const mailbox of [a, b]) await center.holds(mailbox, [])
  await world.absent(scene.wdsId, 'singleplacementslices.edge.kubestellar.io ep')
  for (const key of [ONE, TWO])
    await world.present(scene.wdsId, key, o => o.metadata.annotations?.[COUNT] === undefined)
  for (const mailbox of [a, b]) {
    const { spec } = await world.present(mailbox, CONFIG, o => JSON.stringify(upsyncOf(o)) === '[]')
    t.same(spec, { namespaceScope: {}, namespacedObjects: [], clusterScope: [], upsync: [] })
  }
  t.same(own(scene.wdsId), BOTH, 'the workload itself stays')
})

t.test('a placement deleted and made again under its name works as new', async t => {
  const { scene, a } = await stage('again')
  await scene.place('ep', scene.at('a'))
  await world.present(a, ONE)
  await scene.wds.delete(PLACEMENTS, { name: 'ep' })
  const made = await scene.place('ep', scene.at('a'))
  await world.present(scene.wdsId, 'singleplacementslices.edge.kubestellar.io ep', slice =>
    (slice.metadata.ownerReferences ?? []).every(owner => owner.uid === made.metadata.uid),
  )
  await center.settled()
  t.same(own(a), BOTH)
  t.ok(world.get(scene.wdsId, 'singleplacementslices.edge.kubestellar.io ep'), 'the new slice survives the old one')
})

t.test('an EdgePlacement tells how many Locations it has matched', async () => {
  const { scene, a, b } = await stage('told')
  await scene.place('ep')
  const matched = (count: number) => (object: KubeObject) =>
    (object.status as { matchingLocationCount?: number } | undefined)?.matchingLocationCount === count
  await world.present(scene.wdsId, 'edgeplacements.edge.kubestellar.io ep', matched(2))
  await scene.replace('ep', { locationSelectors: [] })
  await world.present(scene.wdsId, 'edgeplacements.edge.kubestellar.io ep', matched(0))
  await scene.confirmHeld('ep')
  for (const mailbox of [a, b]) await center.holds(mailbox, [])
})

t.test('nothing is written once everything has settled', async t => {
  const { scene, a } = await stage('settled')
  await scene.place('ep', { wantSingletonReportedState: true, upsync: [ORBITAL] })
  await world.present(a, ONE)
  const revision = await center.settled()
  // a write that concerns nobody wakes every controller that listens to everything
  const written: string[] = []
  const end = world.onChange(({ key }) => written.push(key))
  await scene.wds.create(MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'aside', namespace: 'default' },
  })
  const after = await center.settled()
  end()
  t.equal(after, revision + 1, `only the one write happened: ${written.join(', ')}`)
})

/** Objects that were missing everywhere at some moment of `run`. */
async function gapsWhile({ world }: Center, mailboxes: string[], run: () => Promise<void>): Promise<string[]> {
  const gaps: string[] = []
  const end = world.onChange(({ key }) => {
    for (const wanted of [ONE, TWO]) {
      if (!mailboxes.some(space => world.get(space, wanted))) gaps.push(`${wanted} was nowhere after ${key}`)
    }
  })
  await run()
  end()
  return gaps
}
