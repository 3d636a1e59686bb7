/** An EdgePlacement says up to which content its counts speak, and never more than was taken in. */
import t from 'tap'
import { at } from '../../../../src/apimachinery/fields.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { ObservedContent } from '../../../../src/controllers/placement/join/observedContent.ts'
import { CUSTOMIZERS, EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { signalTo } from '../signalTo.ts'
import { ALL_MAPS, configMap, EDGE, MAPS, placement, replicaSet, SETS, slice, tick, world } from '../translatorWorld.ts'

t.test('what one of two streams has not told keeps it', async t => {
  const news: string[] = []
  const observed = new ObservedContent(signalTo((space, what, name) => news.push(`${space} ${what} ${name}`)))
  observed.taken('s', 'slice', 3)
  observed.note('s', 'p', 3)
  t.equal(observed.of('s', 'p'), undefined, 'what the space did before is not told yet')
  t.equal(observed.of('other', 'p'), 0)
  observed.seen('s', 'slice', 3)
  t.equal(observed.of('s', 'p'), 3)
  t.same(news, ['s content p', 's content p'], 'once more, as it was asked about before')
  observed.seen('s', 'customizer', 5)
  observed.note('s', 'p', 6)
  t.equal(observed.of('s', 'p'), undefined)
  observed.taken('s', 'customizer', 4)
  t.equal(observed.of('s', 'p'), undefined, 'an earlier version')
  observed.taken('s', 'customizer', 5)
  t.equal(observed.of('s', 'p'), 6)
  observed.seen('s', 'customizer', undefined)
  t.equal(observed.of('s', 'p'), undefined, 'deleted, as one of them says')
  observed.taken('s', 'customizer', undefined)
  t.equal(observed.of('s', 'p'), 6)
  observed.unfollowed('s')
  t.equal(observed.of('s', 'p'), undefined, 'it is to be told again')
  observed.seen('s', 'slice', 3)
  t.equal(observed.of('s', 'p'), 6)
  observed.note('s', 'p', 4)
  t.equal(observed.of('s', 'p'), 6)
  observed.forget('s', 'p')
  t.equal(observed.of('s', 'p'), 0)
})

const SETS_ONLY = { downsync: [{ apiGroup: 'apps', resources: ['replicasets'], namespaces: ['commonstuff'] }] }

t.test('the newest of what a placement selects, of its slices, Customizers and spec', async t => {
  const clock = new FakeClock()
  const { server, wds } = await world(t, clock)
  const observed = (name: string) =>
    Number(at(server.peek('wds1', EDGE_PLACEMENTS, name), 'status', 'observedResourceVersion'))
  const writesOf = (name: string) =>
    server.writes.filter(write => write.includes(`edgeplacements`) && write.endsWith(name)).length
  const revision = ({ metadata }: { metadata: { resourceVersion?: string } }) => Number(metadata.resourceVersion)
  const is = async (name: string, wanted: number, why: string) => {
    await tick(server, clock)
    await tick(server, clock)
    t.equal(observed(name), wanted, why)
  }
  const maps = await wds.create(EDGE_PLACEMENTS, placement('maps', { ...ALL_MAPS, locationSelectors: [] }))
  await wds.create(EDGE_PLACEMENTS, placement('sets', SETS_ONLY))
  await wds.create(SLICES, slice('maps', 'florin', 'guilder'))
  const ofSets = await wds.create(SLICES, slice('sets', 'florin'))
  await is('sets', revision(ofSets), 'its slice; nothing is selected')
  const customizer = {
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name: 'c', namespace: 'commonstuff' },
    replacements: [],
  }
  await wds.create(CUSTOMIZERS, customizer)
  const customized = { annotations: { 'edge.kubestellar.io/customizer': 'commonstuff/c' } }
  await wds.create(MAPS, configMap('a', { x: '1' }, customized))
  const b = await wds.create(MAPS, configMap('b', { x: '1' }))
  await is('maps', revision(b), 'the newest of two')
  t.equal(observed('sets'), revision(ofSets), 'not that of another placement')
  const set = await wds.create(SETS, replicaSet('r'))
  await is('sets', revision(set), 'of another kind')
  t.equal(observed('maps'), revision(b))

  const before = [writesOf('maps'), writesOf('sets')]
  await wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'far' } })
  await is('maps', revision(b), 'what is not selected moves nothing')
  t.same([writesOf('maps'), writesOf('sets')], before, 'and writes nothing')

  const edited = await wds.update(MAPS, {
    ...(await wds.get(MAPS, { namespace: 'commonstuff', name: 'b' })),
    data: { x: '2' },
  })
  await is('maps', revision(edited), 'an edit')

  const stored1 = await wds.get(CUSTOMIZERS, { namespace: 'commonstuff', name: 'c' })
  const made = await wds.update(CUSTOMIZERS, { ...stored1, metadata: { ...stored1.metadata, labels: { v: '2' } } })
  await is('maps', revision(made), 'the Customizer of one of them')

  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'b' })
  await tick(server, clock)
  await tick(server, clock)
  const gone = observed('maps')
  t.ok(gone > revision(made), 'a deletion')

  const stored = await wds.get(EDGE_PLACEMENTS, { name: 'maps' })
  await wds.update(EDGE_PLACEMENTS, { ...stored, metadata: { ...stored.metadata, annotations: { a: 'b' } } })
  await is('maps', gone, 'the placement moves it as far as its spec goes')
  t.ok(revision(maps) < gone)
})

t.test('a restart neither moves it nor takes it back; what came meanwhile counts', async t => {
  const clock = new FakeClock()
  const { server, wds, restart } = await world(t, clock)
  const observed = () => Number(at(server.peek('wds1', EDGE_PLACEMENTS, 'ep'), 'status', 'observedResourceVersion'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await wds.create(MAPS, configMap('a', {}))
  await wds.create(MAPS, configMap('b', {}))
  await tick(server, clock)
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'b' })
  await tick(server, clock)
  await tick(server, clock)
  const before = observed()
  const writes = server.writes.length
  await restart(async () => {})
  await tick(server, clock)
  await tick(server, clock)
  t.equal(observed(), before)
  t.same(server.writes.slice(writes), [])
  let revision = 0
  await restart(async () => {
    const a = await wds.get(MAPS, { namespace: 'commonstuff', name: 'a' })
    revision = Number((await wds.update(MAPS, { ...a, data: { x: '2' } })).metadata.resourceVersion)
  })
  await tick(server, clock)
  await tick(server, clock)
  t.equal(observed(), revision)
})

t.test('a spec counts when the where-resolver has found where it leads', async t => {
  const clock = new FakeClock()
  const { server, wds } = await world(t, clock)
  const status = () => server.peek('wds1', EDGE_PLACEMENTS, 'ep')?.status
  const said = () => [at(status(), 'observedGeneration'), Number(at(status(), 'observedResourceVersion'))]
  const ep = { ...placement('ep', ALL_MAPS), metadata: { name: 'ep', generation: 1 } }
  await wds.create(EDGE_PLACEMENTS, ep)
  const first = await wds.create(SLICES, slice('ep', 'florin'))
  await wds.patch(
    EDGE_PLACEMENTS,
    { name: 'ep' },
    'merge',
    { status: { specGeneration: 1 } },
    { subresource: 'status' },
  )
  await tick(server, clock)
  t.same(said(), [1, Number(first.metadata.resourceVersion)])
  const stored = await wds.get(EDGE_PLACEMENTS, { name: 'ep' })
  const spec = { ...(stored.spec as object), locationSelectors: [{ matchLabels: { env: 'prod' } }] }
  const edited = await wds.update(EDGE_PLACEMENTS, { ...stored, metadata: { ...stored.metadata, generation: 2 }, spec })
  await tick(server, clock)
  await tick(server, clock)
  t.same(said(), [1, Number(first.metadata.resourceVersion)], 'its slices are those of the spec before')
  await wds.patch(
    EDGE_PLACEMENTS,
    { name: 'ep' },
    'merge',
    { status: { specGeneration: 2 } },
    { subresource: 'status' },
  )
  await tick(server, clock)
  await tick(server, clock)
  t.same(said(), [2, Number(edited.metadata.resourceVersion)], 'where nothing else changes, too')
})
