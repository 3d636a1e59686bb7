// Warnings for the author of an EdgePlacement before the write: whether it leads nowhere, and removals by cluster.

import t, { type Test } from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { type Clock, systemClock } from '../../../../src/client/clock.ts'
import type { SliceRow } from '../../../../src/controllers/whereDesk.ts'
import { MAX_CONSEQUENCE_WORK } from '../../../../src/placement/desks/placementPreview.ts'
import { EDGE_PLACEMENTS, INVENTORY_BINDINGS, SLICES } from '../../../../src/placement/words/placement.ts'
import { namespace } from '../fakeServer.ts'
import { ALL_MAPS, configMap, consent, MAPS, placement, slice, world } from '../translatorWorld.ts'

type Cluster = 'florin' | 'guilder'

/** Waits for nothing. */
const IMPATIENT: Clock = { ...systemClock, after: (_ms, run) => systemClock.after(0, run) }

const leadingTo = (...clusters: Cluster[]) => ({
  locationSelectors: clusters.map(name => ({ matchLabels: { 'loc-name': name } })),
})
const selecting = (...names: string[]) => ({
  downsync: [{ resources: ['configmaps'], namespaces: ['commonstuff'], objectNames: names }],
})

/** Two EdgePlacements: `p` of all ConfigMaps at florin and guilder, `q` of `o0` at guilder. */
async function scene(t: Test, { objects = 3, steps = 1 } = {}) {
  const all = await world(t, IMPATIENT)
  const { server, wds, where, previewer } = all
  where.answerWith(function* (_space, { spec }) {
    for (let i = 0; i < steps; i++) yield
    const { locationSelectors = [] } = spec as Partial<ReturnType<typeof leadingTo>>
    const chosen = locationSelectors.map(({ matchLabels }) => matchLabels['loc-name'] as Cluster)
    const destinations = slice('', ...chosen).destinations as SliceRow[]
    return { destinations, onlyKept: new Set(), isUncertain: () => false }
  })
  for (let i = 0; i < objects; i++) await wds.create(MAPS, configMap(`o${i}`, { v: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('p', { ...leadingTo('florin', 'guilder'), ...ALL_MAPS }))
  await wds.create(SLICES, slice('p', 'florin', 'guilder'))
  await wds.create(EDGE_PLACEMENTS, placement('q', { ...leadingTo('guilder'), ...selecting('o0') }))
  await wds.create(SLICES, slice('q', 'guilder'))
  await server.quiet()
  const consequence = (name: string, spec: object, space = 'wds1') =>
    previewer().consequence({ space, object: placement(name, spec) as KubeObject })
  return { ...all, consequence }
}

const NOTHING = { deletes: 0, clusters: 0, isPartial: false, isHeld: false }

t.test('nothing is said of what leads somewhere and takes nothing away', async t => {
  const { consequence } = await scene(t)
  t.same(await consequence('new', { ...leadingTo('florin'), ...ALL_MAPS }), NOTHING)
  t.same(await consequence('p', { ...leadingTo('florin', 'guilder'), ...ALL_MAPS }), NOTHING)
  t.same(await consequence('q', { ...leadingTo('guilder', 'florin'), ...ALL_MAPS }), NOTHING)
  t.same(await consequence('q', { ...leadingTo('guilder'), ...selecting('o1') }), NOTHING, 'the other places it')
})

t.test('what leads nowhere says why', async t => {
  const { server, consequence, wds, where } = await scene(t)
  t.match((await consequence('new', ALL_MAPS))?.nowhere, /choose no Location that this space may use/)
  t.match(await consequence('new', leadingTo()), { nowhere: /choose no Location/, deletes: 0 })
  const bare = server.in('wds3')
  await bare.create(NAMESPACES, namespace('commonstuff'))
  t.match((await consequence('new', ALL_MAPS, 'wds3'))?.nowhere, /this space uses no inventory/)
  await consent(server, 'wds2', { allow: [] })
  await wds.delete(INVENTORY_BINDINGS, { name: 'inv1' })
  await server.quiet()
  t.match((await consequence('new', ALL_MAPS))?.nowhere, /create an InventoryBinding/)
  where.answerWith(undefined)
  t.same(await consequence('new', ALL_MAPS), NOTHING, 'nobody knows where it would lead')
})

t.test('one whose slice is still to come leads where its selectors say', async t => {
  const { server, wds, consequence } = await scene(t)
  const early = { ...leadingTo('florin'), ...selecting('o0') }
  await wds.create(EDGE_PLACEMENTS, placement('early', early))
  await server.quiet()
  t.same(await consequence('early', { ...early, ...ALL_MAPS }), NOTHING)
})

t.test('copies that leave are counted, with the clusters that they leave', async t => {
  const { server, wds, consequence } = await scene(t)
  const toBoth = leadingTo('florin', 'guilder')
  t.match(await consequence('p', { ...leadingTo('guilder'), ...ALL_MAPS }), { deletes: 3, clusters: 1 })
  t.match(await consequence('p', { ...toBoth, ...selecting('o0', 'o1') }), { deletes: 2, clusters: 2 }, 'o2')
  t.match(
    await consequence('p', { ...toBoth, ...selecting('o2') }),
    { deletes: 3, clusters: 2 },
    'q keeps o0 at guilder',
  )
  const all = await consequence('p', { ...leadingTo(), ...ALL_MAPS })
  t.match(all, { nowhere: /no Location/, deletes: 5, clusters: 2, isPartial: false })
  await wds.patch(EDGE_PLACEMENTS, { name: 'q' }, 'merge', { spec: leadingTo('florin') })
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'q')!, ...slice('q', 'florin') })
  await server.quiet()
  t.match(await consequence('q', { ...leadingTo('guilder'), ...selecting('o0') }), NOTHING, 'a move to where it is')
})

t.test('what a pause keeps leaves nothing, whether it is there or comes by the edit', async t => {
  const { server, wds, consequence } = await scene(t)
  const narrowed = { ...leadingTo('florin', 'guilder'), ...selecting('none'), paused: true }
  t.same(await consequence('p', narrowed), NOTHING)
  await wds.patch(EDGE_PLACEMENTS, { name: 'p' }, 'merge', { spec: { paused: true } })
  await server.quiet()
  t.same(await consequence('p', narrowed), NOTHING)
})

t.test('what the brake would hold says so', async t => {
  const { consequence } = await scene(t, { objects: 60 })
  t.match(await consequence('p', { ...leadingTo('guilder'), ...ALL_MAPS }), { deletes: 60, clusters: 1, isHeld: true })
})

t.test('the work is bounded, and what is counted then is the least', async t => {
  const { consequence } = await scene(t, { objects: 40 })
  const tests = Array.from({ length: MAX_CONSEQUENCE_WORK / 20 }, () => ({ objectNames: ['none'] }))
  const few = await consequence('p', { ...leadingTo('florin', 'guilder'), downsync: tests })
  t.match(few, { isPartial: true, isHeld: false })
  t.ok(few!.deletes > 0 && few!.deletes < 79)
  const { consequence: far } = await scene(t, { steps: MAX_CONSEQUENCE_WORK })
  t.same(await far('new', ALL_MAPS), NOTHING, 'more Locations than are judged')
})

t.test('copies that leave because an upsync set names the object are counted, whoever places it', async t => {
  const { consequence } = await scene(t)
  const upsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], names: ['o0', 'o1'] }]
  const carrying = { ...leadingTo('guilder'), ...selecting('o0'), upsync }
  t.match(await consequence('q', carrying), { deletes: 2, clusters: 1 })
  t.match(await consequence('new', { ...leadingTo('guilder', 'florin'), upsync }), { deletes: 4, clusters: 2 })
})

t.test('a Location that was made a moment before is no reason to warn', async t => {
  const { consequence, where } = await scene(t)
  let asked = 0
  where.answerWith(function* () {
    yield
    const destinations = (asked++ === 0 ? [] : slice('', 'florin').destinations) as SliceRow[]
    return { destinations, onlyKept: new Set(), isUncertain: () => false }
  })
  t.same(await consequence('new', { ...leadingTo('florin'), ...ALL_MAPS }), NOTHING)
  t.equal(asked, 2)
})
