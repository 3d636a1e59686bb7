/** Work on large objects waits for turns between its steps, and has the same result as work at once. */
import t from 'tap'
import { apply } from '../../../src/apiserver/operations/apply.ts'
import { patch } from '../../../src/apiserver/operations/patch.ts'
import { Abandoned } from '../../../src/program/workTurns.ts'
import { asking, configMap, countedTurns, type Heart, heart } from './support.ts'

const data = (count: number, value = 'v') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]))
const LARGE = 6000

function targets({ type }: Heart) {
  return (name: string, more: Parameters<typeof asking>[0] = {}) => ({
    context: asking(more),
    type: type('v1/configmaps'),
    namespace: 'ns',
    name,
    subresource: '',
  })
}

async function both(t: Parameters<typeof heart>[0]) {
  const { turns, rests, work } = countedTurns()
  const slow = await heart(t, { deps: { turns } })
  const atOnce = await heart(t)
  let before = 0
  const rested = (): number => {
    const count = rests() - before
    before = rests()
    return count
  }
  return { rested, work, slow, atOnce }
}

t.test('small objects wait for nobody', async t => {
  const { rested, slow } = await both(t)
  const target = targets(slow)('a')
  await slow.registry.create(target.context, target.type, 'ns', configMap('a', data(10)))
  await patch(slow.registry, target, 'merge', { data: { k1: 'x' } })
  await apply(slow.registry, target, configMap('a', { k2: 'y' }), { force: true })
  t.equal(rested(), 0)
})

t.test('creates, patches and applies of large ones do, and store the same', async t => {
  const { rested, work, slow, atOnce } = await both(t)
  const write = async (heart: Heart) => {
    const at = targets(heart)
    const seen: number[] = []
    const counted = async (work: Promise<unknown>) => {
      await work
      seen.push(rested())
    }
    const { registry } = heart
    const isLarge = heart === slow ? { work: work() } : {}
    await counted(registry.create(at('a', isLarge).context, at('a').type, 'ns', configMap('a', data(LARGE))))
    await counted(patch(registry, at('a'), 'merge', { data: { k1: 'x' } }))
    await counted(patch(registry, at('a'), 'json', [{ op: 'remove', path: '/data/k2' }]))
    for (const manager of ['one', 'two']) {
      const target = at('a', { ...isLarge, fieldManager: manager })
      await counted(apply(registry, target, configMap('a', data(LARGE, manager)), { force: true }))
    }
    await counted(apply(registry, at('b', isLarge), configMap('b', data(LARGE)), { force: false }))
    return seen
  }
  const waits = await write(slow)
  t.ok(
    waits.every(count => count >= 8),
    `each in many steps: ${waits}`,
  )
  t.same(await write(atOnce), [0, 0, 0, 0, 0, 0])
  for (const name of ['a', 'b']) {
    const type = slow.type('v1/configmaps')
    t.strictSame(await slow.stored(type, 'ns', name), await atOnce.stored(type, 'ns', name))
  }
})

t.test('those who change one at the same time lose nothing', async t => {
  const { slow } = await both(t)
  const at = targets(slow)
  await slow.registry.create(at('a').context, at('a').type, 'ns', configMap('a', data(LARGE)))
  const writers = Array.from({ length: 8 }, (_, i) =>
    i % 2 === 0
      ? patch(slow.registry, at('a'), 'merge', { data: { [`new${i}`]: 'x' } })
      : apply(slow.registry, at('a', { fieldManager: `m${i}` }), configMap('a', { [`new${i}`]: 'x' }), {
          force: false,
        }),
  )
  await Promise.all(writers)
  const stored = (await slow.stored(at('a').type, 'ns', 'a')) as unknown as { data: Record<string, string> }
  t.equal(Object.keys(stored.data).length, LARGE + 8)
})

t.test('what nobody waits for any more is not written', async t => {
  const { slow } = await both(t)
  const at = targets(slow)
  let left = 6
  const context = asking({ isAbandoned: () => --left < 0 })
  const { type } = at('a')
  await slow.registry.create(asking(), type, 'ns', configMap('a', data(LARGE)))
  await t.rejects(patch(slow.registry, { ...at('a'), context }, 'merge', { data: { k1: 'x' } }), Abandoned)
  await t.rejects(slow.registry.create(context, type, 'ns', configMap('b', data(LARGE))), Abandoned)
  t.equal(await slow.stored(type, 'ns', 'b'), undefined)
  await patch(slow.registry, at('a'), 'merge', { data: { k3: 'y' } })
  const stored = (await slow.stored(type, 'ns', 'a')) as unknown as { data: Record<string, string> }
  t.match(stored.data, { k1: 'v', k3: 'y' }, 'and the line goes on')
})
