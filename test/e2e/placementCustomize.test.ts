// Customized copies: parameters of Locations, Customizers, the faults that users see and how they are cured.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { CUSTOMIZERS, customizer, LOCATIONS, MAPS } from '../support/scene.ts'

const FAULT = 'edge.kubestellar.io/customization-error'
const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const NAMED = { 'edge.kubestellar.io/customizer': 'c' }
const ONE = 'configmaps app/one'
const REF = { namespace: 'app', name: 'one' }

const center = await startCenter(t)
const { world, client } = center

const data = (object: KubeObject | undefined): Record<string, string> => (object?.data ?? {}) as Record<string, string>
const faultOf = (object: KubeObject | undefined): string => object?.metadata.annotations?.[FAULT] ?? ''

t.test('each copy speaks of its own Location, and follows when the Location is relabelled', async t => {
  const scene = await center.scene('expand', ['a', 'b'])
  const [a, b] = [await scene.mailbox('a'), await scene.mailbox('b')]
  await scene.map('one', { at: 'in %(cluster)', odd: '100%% %%(nobody)' }, { annotations: EXPAND })
  await scene.place('ep')
  const inA = await world.present(a, ONE)
  const inB = await world.present(b, ONE)
  t.same(data(inA), { at: 'in a', odd: '100% %(nobody)' })
  t.same(data(inB), { at: 'in b', odd: '100% %(nobody)' })
  t.equal(data(world.get(scene.wdsId, ONE)).at, 'in %(cluster)', 'the source stays as the user wrote it')
  t.equal(faultOf(world.get(scene.wdsId, ONE)), '')
  await scene.wds.patch(MAPS, REF, 'merge', { data: { at: 'in %(clustr)' } })
  const shown = await world.present(scene.wdsId, ONE, o => faultOf(o).includes('(for b)'))
  t.equal(
    faultOf(shown),
    ['a', 'b']
      .map(
        name =>
          `parameter "clustr" is not defined in Location "${name}"; did you mean "cluster"? For the text itself write %%(clustr) (for ${name})`,
      )
      .join('; '),
  )
  await center.settled()
  for (const [mailbox, copy] of [
    [a, inA],
    [b, inB],
  ] as const)
    t.equal(
      world.get(mailbox, ONE)?.metadata.resourceVersion,
      copy.metadata.resourceVersion,
      'copies stay as they were',
    )
  await client.in(scene.inventory).patch(LOCATIONS, { name: 'a' }, 'merge', { metadata: { labels: { clustr: 'x' } } })
  await world.present(a, ONE, o => data(o).at === 'in x')
  await world.present(scene.wdsId, ONE, o => !faultOf(o).includes('(for a)'))
  await center.settled()
  t.equal(world.get(b, ONE)?.metadata.resourceVersion, inB.metadata.resourceVersion, 'the other copy is not written')
  // a change of nothing but status costs nothing
  const before = await center.settled()
  await client.in(scene.inventory).patch(LOCATIONS, { name: 'b' }, 'merge', { metadata: { annotations: { why: 'x' } } })
  t.equal(await center.settled(), before + 1)
})

t.test('a Customizer that is missing is told on the object and holds it back; its creation cures it', async t => {
  const scene = await center.scene('missing', ['a'])
  const a = await scene.mailbox('a')
  await scene.map('one', { v: 'source' }, { annotations: NAMED })
  await scene.place('ep')
  await world.present(scene.wdsId, ONE, o => faultOf(o).includes('Customizer "app/c" not found'))
  await center.settled()
  t.equal(world.get(a, ONE), undefined, 'it does not go out uncustomized')
  await scene.wds.create(CUSTOMIZERS, customizer('c', [{ path: '$.data.v', value: '"custom"' }]))
  const good = await world.present(a, ONE, o => data(o).v === 'custom')
  await world.present(scene.wdsId, ONE, o => faultOf(o) === '')
  await scene.wds.delete(CUSTOMIZERS, { namespace: 'app', name: 'c' })
  await scene.wds.patch(MAPS, REF, 'merge', { data: { v: 'new' } })
  await world.present(scene.wdsId, ONE, o => faultOf(o) !== '')
  await center.settled()
  t.equal(world.get(a, ONE)?.metadata.resourceVersion, good.metadata.resourceVersion, 'the last good copy stays')
  await scene.wds.patch(MAPS, REF, 'merge', {
    metadata: { annotations: { 'edge.kubestellar.io/customizer': null } },
  })
  await world.present(scene.wdsId, ONE, o => faultOf(o) === '')
  await world.present(a, ONE, o => data(o).v === 'new')
})

t.test('a bad path or bad JSON holds the object back, and says where', async t => {
  const scene = await center.scene('bad', ['a'])
  const a = await scene.mailbox('a')
  const good = { path: '$.data.w', value: '"%(cluster)"' }
  await scene.wds.create(
    CUSTOMIZERS,
    customizer('c', [{ path: '$.data[', value: '1' }, { path: '$.data.v', value: 'not json' }, good], {
      annotations: EXPAND,
    }),
  )
  await scene.map('one', { v: 'source' }, { annotations: NAMED })
  await scene.place('ep')
  const fault = faultOf(await world.present(scene.wdsId, ONE, o => faultOf(o) !== ''))
  t.match(fault, /replacements\[0\].*\$\.data\[/)
  t.match(fault, /replacements\[1\]: value is not JSON/)
  t.match(fault, /for a\)/, 'it names the Location')
  await center.settled()
  t.equal(world.get(a, ONE), undefined)
  await scene.wds.update(CUSTOMIZERS, {
    ...(await scene.wds.get(CUSTOMIZERS, { namespace: 'app', name: 'c' })),
    replacements: [{ path: '$.data.v', value: '"cured"' }, good],
  })
  t.same(data(await world.present(a, ONE)), { v: 'cured', w: 'a' })
  await world.present(scene.wdsId, ONE, o => faultOf(o) === '')
})

t.test('a replacement that breaks the object is refused by the mailbox and told; the cure goes through', async t => {
  const scene = await center.scene('invalid', ['a'])
  const a = await scene.mailbox('a')
  await scene.wds.create(CUSTOMIZERS, customizer('c', [{ path: '$.data', value: '"a text"' }]))
  await scene.map('one', { v: 'source' }, { annotations: NAMED })
  await scene.map('two', { v: 'other' })
  await scene.place('ep')
  await world.present(a, 'configmaps app/two')
  const told = await world.present(scene.wdsId, ONE, o => faultOf(o) !== '')
  t.match(faultOf(told), /the copy is refused: .*\(for a\)/)
  t.equal(world.get(a, ONE), undefined, 'an invalid object is not written')
  await scene.wds.patch(CUSTOMIZERS, { namespace: 'app', name: 'c' }, 'merge', {
    replacements: [{ path: '$.data.v', value: '"fine"' }],
  })
  await world.present(a, ONE, o => data(o).v === 'fine')
  await world.present(scene.wdsId, ONE, o => faultOf(o) === '')
})

t.test('a malformed selector is shown on the placement until it is corrected; the others count', async t => {
  const scene = await center.scene('selector', ['a', 'b'])
  await scene.map('one')
  const bad = { matchExpressions: [{ key: 'cluster', operator: 'In', values: [] }] }
  await scene.place('ep', { locationSelectors: [...scene.at('a').locationSelectors, bad] })
  await center.holds(await scene.mailbox('a'), ['app/one'])
  const EP = 'edgeplacements.edge.kubestellar.io ep'
  const told = (o: KubeObject) =>
    Object.entries(o.metadata.annotations ?? {}).find(([key]) => key.startsWith('validation-error.kubestellar.io/'))
  const shown = await world.present(scene.wdsId, EP, o => told(o) !== undefined)
  t.match(told(shown)?.[1], /spec\.locationSelectors\[1\]/)
  t.same(center.mapsIn(await scene.mailbox('b')), [])
  await scene.replace('ep', scene.at('a', 'b'))
  await world.present(scene.wdsId, EP, o => told(o) === undefined)
  await center.holds(await scene.mailbox('b'), ['app/one'])
})
