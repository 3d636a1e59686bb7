/** Parameters that no Location defines on which the space places: the author of an object gets a warning. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { LOCATIONS } from '../../../../src/placement/words/placement.ts'
import { configMap, EDGE, world } from '../translatorWorld.ts'
import { scene } from './previewScene.ts'

const expanding = { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } }

t.test('a name that any Location defines is none of them', async t => {
  const { server, previewer } = await scene(t)
  const told = (object: KubeObject) => previewer().undefinedParameters({ space: 'wds1', object })
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

t.test('nothing is said of a space that places nowhere', async t => {
  const { previewer } = await world(t)
  const object = configMap('new', { v: '%(nobody)' }, expanding)
  t.same(await previewer().undefinedParameters({ space: 'wds1', object }), [])
})
