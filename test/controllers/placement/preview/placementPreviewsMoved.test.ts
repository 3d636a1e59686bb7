// Other objects that an EdgePlacement or Customizer of the question moves, and their visibility.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { SliceRow } from '../../../../src/controllers/whereDesk.ts'
import { MAX_PREVIEW_READ, MAX_PREVIEW_READ_BYTES } from '../../../../src/placement/desks/placementPreview.ts'
import { CUSTOMIZERS, EDGE_PLACEMENTS, LOCATIONS, SLICES } from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, configMap, EDGE, MAPS, placement, slice, world } from '../translatorWorld.ts'
import { scene } from './previewScene.ts'

t.test(
  'an EdgePlacement or Customizer of the question moves other objects, and shows them to whoever may get them',
  async t => {
    const { server, wds, ask } = await scene(t)
    for (const name of ['hidden', 'stays'])
      await wds.create(MAPS, configMap(name, { v: '1' }, { labels: { keep: name } }))
    await server.quiet()
    const narrowed = placement('ep', {
      downsync: [{ resources: ['configmaps'], labelSelectors: [{ matchLabels: { keep: 'stays' } }] }],
    })
    const [own, ...moved] = await ask([EDGE_PLACEMENTS, narrowed])
    t.match(own, { resource: 'edgeplacements', message: 'moves 2 other objects of this space', groups: [] })
    t.same(
      moved.map(({ name, operation, groups }) => [
        name,
        operation,
        groups.map(({ action, count }) => `${action} ${count}`),
      ]),
      [
        ['page', 'unchanged', ['Delete 2']],
        ['hidden', 'unchanged', ['Delete 2']],
      ],
    )
    t.match(moved[0]!.groups[0]!.before, { data: { v: '1' } })
    t.equal(moved[1]!.groups[0]!.before, undefined)

    const customized = configMap('page', { v: '1' }, { annotations: { 'edge.kubestellar.io/customizer': 'c' } })
    await wds.update(MAPS, customized)
    await server.quiet()
    const replacements = [{ path: '$.data.v', value: '"new"' }]
    const customizer = {
      apiVersion: EDGE,
      kind: 'Customizer',
      metadata: { name: 'c', namespace: 'commonstuff' },
      replacements,
    }
    t.match(await ask([CUSTOMIZERS, customizer]), [
      { message: 'moves 1 other object of this space' },
      { name: 'page', groups: [{ action: 'Update', after: { data: { v: 'new' } } }] },
    ])
  },
)

t.test('a Customizer of the question does not tell what is in an object that whoever asks may not get', async t => {
  const { server, wds, ask } = await scene(t)
  const annotations = { 'edge.kubestellar.io/customizer': 'c' }
  await wds.create(MAPS, configMap('hidden', { pin: '1234' }, { annotations }))
  const customizer = (...replacements: { path: string; value: string }[]): [GroupVersionResource, KubeObject] => [
    CUSTOMIZERS,
    { apiVersion: EDGE, kind: 'Customizer', metadata: { name: 'c', namespace: 'commonstuff' }, replacements },
  ]
  const [resource, stored] = customizer()
  await wds.create(resource, stored)
  await server.quiet()
  const told = async (path: string, value: string) => (await ask(customizer({ path, value })))[1]
  const guesses = [
    await told('$.data.pin', '"1234"'),
    await told('$.data.pin', '"4321"'),
    await told('$.data["pin"].none', '"1234"'),
  ]
  t.match(guesses[0], { name: 'hidden', isMoved: true, groups: [{ action: 'Update', reason: 'NotShown', count: 2 }] })
  for (const guess of guesses) t.same(guess, guesses[0], 'right or wrong, or no such field')
})

t.test('what annotations of a Location say is not shown, neither then nor now', async t => {
  const { server, wds, ask } = await scene(t)
  const florin = server.peek('inv1', LOCATIONS, 'florin')!
  const annotations = { 'a.b/key': 'hushhush' }
  await server.in('inv1').update(LOCATIONS, { ...florin, metadata: { ...florin.metadata, annotations } })
  await server.quiet()
  const expanding = { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } }
  const told = async (v: string, metadata: object = expanding) => {
    const [one] = await ask(configMap('page', { v }, metadata))
    t.notMatch(JSON.stringify(one), /hushhush/)
    return one!.groups.map(({ action, locations, reason, before, after }) => [
      action,
      locations.map(({ name }) => name).join(),
      reason,
      before?.data,
      after?.data,
    ])
  }
  const shown = (where: string, from: string, to: string) => ['Update', where, undefined, { v: from }, { v: to }]
  t.same(await told('%(loc-name)'), [shown('florin', '1', 'florin'), shown('guilder', '1', 'guilder')])
  const hidden = ['Update', 'florin', 'NotShown', undefined, undefined]
  const invalid = ['Invalid', 'guilder', 'CustomizationError', undefined, undefined]
  t.same(await told('%(a.b/key)'), [hidden, invalid], 'guilder has no such parameter')
  await wds.update(MAPS, configMap('page', { v: '%(a.b/key)' }, expanding))
  await server.quiet()
  t.same(await told('plain'), [hidden, shown('guilder', '1', 'plain')])
  t.same(
    (await told('%(a.b/key)')).map(([action]) => action),
    ['Unchanged', 'Invalid'],
  )
  const atFlorin = async (v: string, metadata: object = expanding) => {
    const [{ groups } = { groups: [] }] = await ask(configMap('page', { v }, metadata))
    return groups
      .filter(({ locations }) => locations.some(({ name }) => name === 'florin'))
      .map(({ action, reason, before, after }) => [action, 'florin', reason, before, after])[0]
  }
  t.same(await atFlorin('hushhush'), hidden, 'a right guess is told as a wrong one')
  t.same(await atFlorin('hush'), hidden)
  t.same(await atFlorin('hushhush', {}), hidden)
  t.same(await atFlorin('%(a.b/key)', { ...expanding, labels: { a: 'b' } }), hidden)
  t.match((await told('plain', { labels: { 'edge.kubestellar.io/natured': 'true' } }))[0], [
    'Delete',
    'florin',
    'NotShown',
  ])
})

t.test(
  'other location selectors: what goes where it did not go, what leaves, and whether that would be held',
  async t => {
    const { server, wds, ask, where } = await scene(t)
    const choosing = (...names: string[]): KubeObject =>
      placement('ep', { ...ALL_MAPS, locationSelectors: names.map(at) })
    const at = (name: string) => ({ matchLabels: { 'loc-name': name } })
    await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec: choosing('florin').spec })
    await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, ...slice('ep', 'florin') })
    for (let i = 0; i < 59; i++) await wds.create(MAPS, configMap(`m${i}`, { v: String(i) }))
    await server.quiet()

    const [silent] = await ask([EDGE_PLACEMENTS, choosing('guilder')])
    t.match(
      silent,
      { groups: [], unknown: /to which locations it would lead/ },
      'as long as nobody says where it leads',
    )
    t.match(await ask([EDGE_PLACEMENTS, choosing('florin')]), [{ unknown: undefined, moves: { clusters: 0 } }])

    let [unsure, kept] = [false, false]
    where.answerWith(function* (_space, { spec }) {
      yield
      const { locationSelectors } = spec as { locationSelectors: ReturnType<typeof at>[] }
      const chosen = locationSelectors.map(({ matchLabels }) => matchLabels['loc-name'] as 'florin')
      const destinations = slice('ep', ...chosen).destinations as SliceRow[]
      return { destinations, onlyKept: new Set(kept ? destinations : []), isUncertain: () => unsure }
    })
    const counts = (told: Awaited<ReturnType<typeof ask>>) => {
      const { locations = [], ...moves } = told[0]!.moves ?? {}
      return { ...moves, at: locations.map(({ name, creates, deletes }) => `${name} +${creates} -${deletes}`) }
    }
    const moved = await ask([EDGE_PLACEMENTS, choosing('guilder')])
    t.same(counts(moved), {
      creates: 60,
      deletes: 60,
      unknown: 0,
      clusters: 2,
      isHeld: true,
      at: ['florin +0 -60', 'guilder +60 -0'],
    })
    t.equal(moved[0]!.message, 'moves 60 other objects of this space; 50 are shown')
    t.equal(moved.length, 51)
    t.match(moved[1], {
      name: 'page',
      isMoved: true,
      groups: [
        { action: 'Create', locations: [{ name: 'guilder' }], after: { data: { v: '1' } } },
        { action: 'Delete', locations: [{ name: 'florin' }], before: { data: { v: '1' } } },
      ],
    })
    t.same(counts(await ask([EDGE_PLACEMENTS, choosing('florin', 'guilder')])), {
      creates: 60,
      deletes: 0,
      unknown: 0,
      clusters: 1,
      at: ['guilder +60 -0'],
    })
    t.match(
      counts(await ask([EDGE_PLACEMENTS, choosing()])),
      { deletes: 60, isHeld: true },
      'a selector that matches nothing',
    )
    unsure = true
    t.match(
      counts(await ask([EDGE_PLACEMENTS, choosing()])),
      { deletes: 0, clusters: 0 },
      'what is not known takes nothing away',
    )
    unsure = false
    kept = true
    t.match(
      counts(await ask([EDGE_PLACEMENTS, choosing('guilder')])),
      { creates: 0, deletes: 60 },
      'it takes nothing new',
    )
    t.match(counts(await ask([EDGE_PLACEMENTS, choosing('florin')])), { deletes: 0 })
    kept = false

    const other = { ...choosing('florin', 'guilder'), metadata: { name: 'second' } }
    t.match(
      counts(await ask([EDGE_PLACEMENTS, other])),
      { creates: 60, deletes: 0 },
      'a new one: what the first places it only adds to',
    )
    const asked = await ask(configMap('new', { v: '1' }), [EDGE_PLACEMENTS, choosing('guilder')])
    t.match(
      asked[0]!.groups,
      [{ action: 'Create', locations: [{ name: 'guilder' }] }],
      'an object beside it goes where it would lead',
    )
    await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { paused: true } })
    await server.quiet()
    const paused = { ...(choosing('guilder').spec as object), paused: true }
    t.match(
      counts(await ask([EDGE_PLACEMENTS, placement('ep', paused)])),
      { creates: 0, deletes: 0 },
      'paused: it stays',
    )
  },
)

t.test('the first EdgePlacement of a space: what it would place is read for the question', async t => {
  const { server, wds, previewer, where } = await world(t)
  for (const name of ['page', 'hidden']) await wds.create(MAPS, configMap(name, { v: '1' }))
  await wds.create(MAPS, configMap('going', {}, { finalizers: ['a/b'] }))
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'going' })
  await wds.create(MAPS, configMap('kube-root-ca.crt', {}))
  await server.quiet()
  const leadsTo = (...targets: 'florin'[]) =>
    where.answerWith(function* () {
      yield
      const destinations = slice('ep', ...targets).destinations as SliceRow[]
      return { destinations, onlyKept: new Set(), isUncertain: () => false }
    })
  leadsTo('florin')
  const asked = async (spec: object, ...more: KubeObject[]) => {
    const first = placement('ep', { locationSelectors: [{}], ...spec })
    const objects = [
      { resource: EDGE_PLACEMENTS, object: first, operation: 'create' as const },
      ...more.map(object => ({ resource: MAPS, object, operation: 'create' as const })),
    ]
    const mayGet = async (_: GroupVersionResource, { name }: { name: string }) => name !== 'hidden'
    return (await previewer().preview({ space: 'wds1', objects, mayGet })).objects
  }
  t.match(await asked(ALL_MAPS, configMap('new', {})), [
    {
      message: 'moves 2 other objects of this space',
      moves: { creates: 2, deletes: 0, unknown: 0, clusters: 1, locations: [{ name: 'florin', creates: 2 }] },
      unknown: undefined,
    },
    { name: 'new', placements: ['ep'], groups: [{ action: 'Create', count: 1 }] },
    { name: 'page', isMoved: true, groups: [{ action: 'Create', count: 1, after: { data: { v: '1' } } }] },
    { name: 'hidden', isMoved: true, groups: [{ action: 'Create', count: 1, after: undefined }] },
  ])
  leadsTo()
  t.match((await asked(ALL_MAPS))[0]!.message, /^moves 0 .*; it would lead nowhere: spec.locationSelectors choose no /)
  leadsTo('florin')
  // labels of a Namespace that is stored
  const inNamespace = (special: string) => ({
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaceSelectors: [{ matchLabels: { special } }] }],
  })
  await wds.patch(NAMESPACES, { name: 'commonstuff' }, 'merge', { metadata: { labels: { special: 'yes' } } })
  t.match((await asked(inNamespace('yes')))[0], { moves: { creates: 2 } })
  t.match((await asked(inNamespace('no'), configMap('new', {}))).slice(0, 2), [
    { moves: { creates: 0 } },
    { placements: [] },
  ])

  const long = { labels: { long: 'x'.repeat(MAX_PREVIEW_READ_BYTES) } }
  await wds.create(MAPS, configMap('long', {}, long))
  await wds.create(MAPS, configMap('other', {}))
  t.match((await asked(ALL_MAPS))[0], { unknown: /has no EdgePlacement yet, and more than/ })
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'long' })
  t.match((await asked(ALL_MAPS))[0], { moves: { creates: 3 } })

  for (let i = 0; i < MAX_PREVIEW_READ; i++) await wds.create(MAPS, configMap(`m${i}`, {}))
  t.match(await asked(ALL_MAPS, configMap('new', {})), [
    { unknown: /has no EdgePlacement yet, and more than/, moves: undefined, message: undefined },
    { name: 'new', placements: ['ep'], groups: [{ action: 'Create', count: 1 }] },
  ])
})

t.test('what is asked about is told of for itself, and not counted among what moves', async t => {
  const { wds, server, ask, where } = await scene(t)
  where.answerWith(function* () {
    yield
    return { destinations: [], onlyKept: new Set(), isUncertain: () => false }
  })
  await wds.create(MAPS, configMap('other', { v: '1' }))
  await server.quiet()
  const elsewhere = placement('ep', { ...ALL_MAPS, locationSelectors: [{ matchLabels: { a: 'b' } }] })
  const told = await ask([EDGE_PLACEMENTS, elsewhere], configMap('page', { v: '1' }))
  t.match(told[0], { message: 'moves 1 other object of this space', moves: { deletes: 2 } })
  t.match(told[1], { name: 'page', groups: [{ action: 'Delete', count: 2 }] })
})

t.test('of two EdgePlacements of the question each counts what it moves itself', async t => {
  const { server, wds, ask } = await scene(t)
  for (const name of ['a', 'b', 'c']) await wds.create(MAPS, configMap(name, { v: '1' }))
  const of = (...objectNames: string[]) => ({ downsync: [{ resources: ['configmaps'], objectNames }] })
  await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec: of('a', 'b') })
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, ...slice('ep', 'florin') })
  await wds.create(EDGE_PLACEMENTS, placement('second', of('a', 'c')))
  await wds.create(SLICES, slice('second', 'guilder'))
  await server.quiet()
  const told = await ask(
    [EDGE_PLACEMENTS, placement('ep', of('b'))],
    [EDGE_PLACEMENTS, placement('second', of('none'))],
  )
  const counts = told.slice(0, 2).map(({ moves }) => {
    const { creates, deletes, locations } = moves!
    return [creates, deletes, locations.map(({ name }) => name).join()]
  })
  t.same(counts, [
    [0, 1, 'florin'],
    [0, 2, 'guilder'],
  ])
})
