/** Parameters that no Location defines on which the space places: the author of an object gets a warning. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { atOnce } from '../../../../src/apimachinery/steps.ts'
import { locationFaults } from '../../../../src/controllers/placement/preview/locationFaults.ts'
import { CUSTOMIZERS, LOCATIONS } from '../../../../src/placement/words/placement.ts'
import { configMap, EDGE, world } from '../translatorWorld.ts'
import { scene } from './previewScene.ts'

const expanding = { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } }

t.test('a name that any Location defines is none of them', async t => {
  const { server, previewer } = await scene(t)
  const told = (object: KubeObject) => previewer().locationFaults({ space: 'wds1', object })
  t.same(await told(configMap('new', { v: '%(loc-name) %(env) %%(no)' }, expanding)), [])
  t.same(await told(configMap('new', { v: '%(loc-nme) %(here)' }, expanding)), [
    'parameter "loc-nme" is not defined in any Location that this space places on; did you mean "loc-name"? For the text itself write %%(loc-nme)',
    'parameter "here" is not defined in any Location that this space places on; for the text itself write %%(here)',
  ])
  const guilder = server.peek('inv1', LOCATIONS, 'guilder')!
  const metadata = { ...guilder.metadata, annotations: { here: 'hushhush' } }
  await server.in('inv1').update(LOCATIONS, { ...guilder, metadata })
  await server.quiet()
  t.same(await told(configMap('new', { v: '%(here)' }, expanding)), [], 'an annotation defines it, too')
  t.match(await told(configMap('new', { v: '%(her)' }, expanding)), [/places on; for the text/], 'no hint at it')
  const customizer = {
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name: 'c', namespace: 'commonstuff', annotations: { ...expanding.annotations, note: '%(note)' } },
    replacements: [{ path: '$.data.v', value: '"%(wat)"' }],
  }
  t.match(await told(customizer), [/^parameter "wat" is not defined/])
})

t.test('a Customizer defines parameters of its own, for itself and for what names it', async t => {
  const { server, wds, previewer } = await scene(t)
  const told = (object: KubeObject) => previewer().locationFaults({ space: 'wds1', object })
  const parameters = [
    { values: { tier: 'x' } },
    { locationSelector: { matchLabels: { env: 'nowhere' } }, values: { lost: 'x' } },
  ]
  const metadata = { name: 'own', namespace: 'commonstuff', ...expanding }
  const replacements = [{ path: '$.data.v', value: '"%(tier) %(lost)"' }]
  const customizer = { apiVersion: EDGE, kind: 'Customizer', metadata, parameters, replacements }
  const lost = (name: string) =>
    `parameter "${name}" is not defined in its Customizer or any Location that this space places on`
  t.same(await told(customizer), [
    'parameters[1].locationSelector matches no Location that this space places on: none has env=nowhere',
    `${lost('lost')}; for the text itself write %%(lost)`,
  ])
  await wds.create(CUSTOMIZERS, customizer)
  await server.quiet()
  const by = { annotations: { ...expanding.annotations, 'edge.kubestellar.io/customizer': 'own' } }
  t.same(await told(configMap('new', { v: '%(tier) %(tire)' }, by)), [
    `${lost('tire')}; did you mean "tier"? For the text itself write %%(tire)`,
  ])
  t.match(await told(configMap('new', { v: '%(tier)' }, expanding)), [
    /^parameter "tier" is not defined in any Location/,
  ])
})

t.test('a selector of a Customizer that matches none of them is told with what none has', async t => {
  const { previewer } = await scene(t)
  const told = (object: KubeObject) => previewer().locationFaults({ space: 'wds1', object })
  const where = (matchLabels: object) => ({ locationSelector: { matchLabels } })
  const object = {
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name: 'c', namespace: 'commonstuff' },
    parameters: [{ values: {} }, { ...where({ env: 'prod', 'loc-name': 'florin' }), values: { a: '%(literal)' } }],
    replacements: [
      { ...where({ env: 'prd' }), path: '$.data.v', value: '"%(literal)"' },
      { ...where({ 'loc-name': 'guilder', env: 'prod' }), mergePatch: {} },
      { ...where({ 'loc-name': 'gulden', env: 'prod' }), mergePatch: {} },
    ],
  }
  t.same(await told(object), [
    'replacements[0].locationSelector matches no Location that this space places on: none has env=prd',
    'replacements[2].locationSelector matches no Location that this space places on: none has loc-name=gulden',
  ])
})

t.test(
  'before the first placement those count that the space may place on, and nothing is said where it may nowhere',
  async t => {
    const { server, previewer } = await world(t)
    await server.quiet()
    const told = (space: string, object: KubeObject) => previewer().locationFaults({ space, object })
    const object = configMap('new', { v: '%(nobody) %(loc-name)' }, expanding)
    t.same(await told('wds1', object), [
      'parameter "nobody" is not defined in any Location that this space may place on; for the text itself write %%(nobody)',
    ])
    const where = (matchLabels: object) => ({ locationSelector: { matchLabels }, path: '$.data.v', value: '"x"' })
    const customizer = {
      apiVersion: EDGE,
      kind: 'Customizer',
      metadata: { name: 'c', namespace: 'commonstuff' },
      replacements: [where({ env: 'prod' }), where({ env: 'prd' })],
    }
    t.same(await told('wds1', customizer), [
      'replacements[1].locationSelector matches no Location that this space may place on: none has env=prd',
    ])
    t.same(await told('elsewhere', object), [])
    t.same(await told('elsewhere', customizer), [])
  },
)

t.test('a Customizer that is written beside an object counts as it is there', async t => {
  const { previewer } = await scene(t)
  const annotations = { ...expanding.annotations, 'edge.kubestellar.io/customizer': 'coming' }
  const object = configMap('new', { v: '%(tier)' }, { annotations })
  const customizer = {
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name: 'coming', namespace: 'commonstuff' },
    parameters: [{ values: { tier: 'x' } }],
  }
  t.match(await previewer().locationFaults({ space: 'wds1', object }), [/^parameter "tier" is not defined/])
  t.same(await previewer().locationFaults({ space: 'wds1', object, customizer }), [])
})

t.test('no more Locations are looked at than it takes, however many placements lead to them', async t => {
  const found = { apiVersion: EDGE, kind: 'Location', metadata: { name: 'l', labels: { env: 'prod' } } }
  const way = { mailbox: 'm', cluster: 'inv1', locationName: 'l' }
  const ways = new Map(Array.from({ length: 1000 }, (_, i) => [`m${i}`, [way]]))
  let looked = 0
  const told = (placements: number, v: string) => {
    looked = 0
    const deps = {
      join: { placementNames: () => Array.from({ length: placements }, (_, i) => `p${i}`), waysOf: () => ways },
      knows: () => true,
      location: () => {
        looked++
        return found
      },
      locationsFor: () => [],
      customizer: () => undefined,
    }
    return atOnce(locationFaults(deps, { space: 'wds1', object: configMap('new', { v }, expanding) }))
  }
  t.same(told(2, '%(env)'), [])
  t.equal(looked, 1)
  t.match(told(2, '%(nev)'), [/did you mean "env"/])
  t.same(told(1000, '%(nev)'), [], 'there are too many to say so')
  t.ok(looked < 1_000_000)
})
