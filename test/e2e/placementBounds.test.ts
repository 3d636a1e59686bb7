// Objects that request gigabytes when they are customized: they are held back and reported, and the server starts with them as without
// them.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { CenterProcess } from '../support/centerProcess.ts'
import { CUSTOMIZERS, customizer, LOCATIONS, MAPS, type Scene } from '../support/scene.ts'

const FAULT = 'edge.kubestellar.io/customization-error'
const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const NAMED = { 'edge.kubestellar.io/customizer': 'c' }
/** 288 KB that would be 14 GB. */
const BOMB = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, '%(a)'.repeat(1800)]))
/** With 200 kB in it, and with 16 kB. */
const TOO_LONG = 'x'.repeat(200_000)
const LONG = 'x'.repeat(16_000)
const LEAVES = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 'v']))

const center = new CenterProcess(t)
await center.start()
const faultOf = (object: KubeObject | undefined): string => object?.metadata.annotations?.[FAULT] ?? ''

let scene: Scene
let mailbox = ''

const told = (name: string, fault: RegExp) =>
  center.world.present(scene.wdsId, `configmaps app/${name}`, object => fault.test(faultOf(object)))

t.test('the objects are held back, and say what was not done', async () => {
  scene = await center.scene('bounds', ['florin'])
  mailbox = await scene.mailbox('florin')
  const locations = center.client.in(scene.inventory)
  await locations.patch(LOCATIONS, { name: 'florin' }, 'merge', { metadata: { annotations: { a: TOO_LONG } } })
  await scene.wds.create(
    CUSTOMIZERS,
    customizer('c', [
      { path: `$${'..*'.repeat(8)}`, value: '1' },
      { path: '$.data.k1', value: '"not done"' },
    ]),
  )
  await scene.map('expanded', BOMB, { annotations: EXPAND })
  await scene.map('customized', LEAVES, { annotations: NAMED })
  await scene.place('ep')
  await told('expanded', /parameter "a" of Location "florin" is not expanded: it has more than 16384 characters/)
  await told('customized', /Customizer app\/c replacements\[0\]: it takes too much work/)
  await center.holds(mailbox, [])
  await locations.patch(LOCATIONS, { name: 'florin' }, 'merge', { metadata: { annotations: { a: LONG } } })
  await told('expanded', /^the object is not expanded: with the parameters of Location "florin" it would have 1152/)
})

t.test('a server that starts with them answers', async t => {
  await center.kill()
  await center.disconnect()
  await center.start()
  t.match(faultOf(await scene.wds.get(MAPS, { namespace: 'app', name: 'expanded' })), /not expanded/)
  // the controllers are at work: what is new goes out, and what is deleted goes
  await scene.map('later', { v: '%(cluster)' }, { annotations: EXPAND })
  const later = await center.world.present(mailbox, 'configmaps app/later')
  t.same(later.data, { v: 'florin' })
  await told('customized', /too much work/)
  await scene.wds.delete(MAPS, { namespace: 'app', name: 'expanded' })
  await scene.wds.delete(MAPS, { namespace: 'app', name: 'customized' })
  await center.holds(mailbox, ['app/later'])
  // but for the keys that ran when it was killed
  const lines = center.lines.filter(line => !line.includes('did not end in order'))
  t.notMatch(lines.join('\n'), /customiz|reconcile|heap/, 'nothing is tried again and again')
})
