// The stages of a rollout in the answer of a preview, before anything moves.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../../src/apimachinery/object.ts'
import { EDGE_PLACEMENTS, LOCATIONS, PLACEMENT_REVISIONS } from '../../../../src/placement/words/placement.ts'
import { rolloutWorld } from '../rollout/rolloutWorld.ts'
import { ALL_MAPS, configMap, MAPS, placement } from '../translatorWorld.ts'

const GROUPS = {
  type: 'ProgressivePerGroup',
  progressivePerGroup: { maxConcurrency: 1, minSuccessTime: '90s' },
  decisionGroups: [
    { groupName: 'canary', locationSelector: { matchLabels: { tier: 'canary' } } },
    { groupName: 'lab', locationSelector: { matchLabels: { tier: 'lab' } }, approval: true },
  ],
}

async function scene(t: Parameters<typeof rolloutWorld>[0]) {
  const here = await rolloutWorld(t)
  const { server, report, make, place, pass, previewer } = here
  await report('florin')
  await report('guilder')
  const guilder = server.peek('inv1', LOCATIONS, 'guilder')!
  const labels = { ...guilder.metadata.labels, tier: 'canary' }
  await server.in('inv1').update(LOCATIONS, { ...guilder, metadata: { ...guilder.metadata, labels } })
  await make('page', '1')
  await place('ep', { rolloutStrategy: GROUPS }, 'florin', 'guilder')
  await place('plain', {}, 'florin')
  await pass(3000)
  const stagesOf = async (
    asked: readonly [GroupVersionResource, KubeObject][],
    { operation = 'update', mayGet = true }: { operation?: 'update' | 'unchanged'; mayGet?: boolean } = {},
  ) => {
    const objects = asked.map(([resource, object]) => ({ resource, object, operation }))
    const { rollouts } = await previewer().preview({ space: 'wds1', objects, mayGet: async () => mayGet })
    return rollouts
  }
  return { ...here, stagesOf }
}

const PAGE: [GroupVersionResource, KubeObject] = [MAPS, configMap('page', { a: '2' })]
const CANARY = { name: 'canary', count: 1, locations: [{ cluster: 'inv1', name: 'guilder' }] }
const REST = { count: 1, locations: [{ cluster: 'inv1', name: 'florin' }] }
const EP = {
  placement: 'ep',
  minSuccessSeconds: 90,
  stages: [
    { atOnce: 1, mayFail: 0, groups: [CANARY] },
    { atOnce: 0, mayFail: 0, groups: [{ name: 'lab', approval: true, count: 0, locations: [] }] },
    { atOnce: 1, mayFail: 0, groups: [REST] },
  ],
}

t.test('an edit of an object has the stages of placements with a strategy that select it, and of no other', async t => {
  const { stagesOf } = await scene(t)
  t.strictSame(await stagesOf([PAGE]), [EP])
  t.strictSame(await stagesOf([PAGE], { operation: 'unchanged' }), [], 'nothing changes')
  t.strictSame(await stagesOf([PAGE], { mayGet: false }), [], 'the placement is for those who may get it')
})

t.test('an object that leaves the selection goes by stages, too', async t => {
  const { wds, server, stagesOf } = await scene(t)
  const downsync = [{ ...ALL_MAPS.downsync[0], labelSelectors: [{ matchLabels: { go: 'yes' } }] }]
  await wds.update(MAPS, configMap('page', { a: '1' }, { labels: { go: 'yes' } }))
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { downsync } })
  await server.quiet()
  t.strictSame(await stagesOf([PAGE]), [EP])
})

t.test('an edited placement has the stages of its new strategy, a new one too', async t => {
  const { stagesOf, where } = await scene(t)
  where.answerWith(function* () {
    yield
    return { destinations: [], onlyKept: new Set(), isUncertain: () => false }
  })
  const spec = { ...ALL_MAPS, rolloutStrategy: { type: 'Progressive', progressive: { maxConcurrency: '100%' } } }
  const both = await stagesOf([
    [EDGE_PLACEMENTS, placement('ep', spec)],
    [EDGE_PLACEMENTS, placement('new', spec)],
  ])
  t.strictSame(both, [
    {
      placement: 'ep',
      stages: [{ atOnce: 2, mayFail: 0, groups: [{ count: 2, locations: [...REST.locations, ...CANARY.locations] }] }],
    },
    { placement: 'new', stages: [] },
  ])
})

t.test('clusters that are away are passed over, and a pin holds all', async t => {
  const { wds, server, outcomes, box, pass, report, stagesOf } = await scene(t)
  await report('guilder')
  await pass(95_000)
  await report('guilder')
  await report('florin')
  outcomes().silent(box('guilder'), 's')
  await wds.patch(PLACEMENT_REVISIONS, { name: 'ep.1' }, 'merge', { spec: { pinned: true } })
  await server.quiet()
  await pass(1000)
  t.match(await stagesOf([PAGE]), [
    {
      placement: 'ep',
      pinned: 1,
      stages: [{ atOnce: 0, groups: [{ name: 'canary', locations: [{ name: 'guilder', away: true }] }] }, {}, {}],
    },
  ])
})
