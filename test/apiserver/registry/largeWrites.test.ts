import t from 'tap'
import { definitionStrategy } from '../../../src/apiserver/definitions/definitionStrategy.ts'
import { LARGE_BYTES, LARGE_TRIES } from '../../../src/apiserver/registry/largeWrites.ts'
import { type Work, WorkTurns } from '../../../src/program/workTurns.ts'
import { asking, configMap, heart, objectOf, SPACE, step, widgets } from './support.ts'

const LARGE = { text: 'x'.repeat(LARGE_BYTES + 1) }

/** Turns without a time: whoever asks rests, and each rest is one of the loop's. */
function counted(onTurn: () => void = () => {}) {
  let rests = 0
  const turns = new WorkTurns({
    sliceMs: 0,
    later: turn => {
      rests++
      setImmediate(() => {
        onTurn()
        turn()
      })
    },
  })
  return { turns, rests: () => rests, work: (): Work => turns.begin({ owner: SPACE }) }
}

t.test('others get their turn between the steps of a large write, and a small one does not wait', async t => {
  const { turns, rests, work } = counted()
  const { registry, type } = await heart(t, { deps: { turns } })
  const maps = type('v1/configmaps')
  const made = await registry.create(asking({ work: work() }), maps, 'default', configMap('large', LARGE))
  t.ok(rests() >= 4, `${rests()} rests of a creation`)
  t.same(objectOf(made).data, LARGE)

  const before = rests()
  const change = { replacement: () => configMap('large', { ...LARGE, more: 'a' }) }
  await registry.update(asking({ work: work() }), maps, 'default', 'large', change)
  t.ok(rests() >= before + 4, `${rests() - before} rests of an update`)

  const small = rests()
  await registry.create(asking(), maps, 'default', configMap('small', { a: 'b' }))
  await registry.update(asking(), maps, 'default', 'small', { replacement: () => configMap('small', { a: 'c' }) })
  t.equal(rests(), small)
})

t.test('a small change of a large object rests too, whoever asks for it', async t => {
  const { turns, rests } = counted()
  const { registry, type } = await heart(t, { deps: { turns } })
  const maps = type('v1/configmaps')
  await registry.create(asking(), maps, 'default', configMap('large', LARGE))
  t.equal(rests(), 0)
  const { stored } = await registry.update(asking(), maps, 'default', 'large', current => {
    current.metadata.labels = { a: 'b' }
    return current
  })
  t.ok(rests() >= 4, `${rests()} rests`)
  t.same(objectOf({ stored }).metadata.labels, { a: 'b' })
})

t.test('others who change a large object all the time do not keep an update from its end', async t => {
  let others = 0
  const later: (() => Promise<unknown>)[] = []
  const { turns } = counted(() => later.shift()?.())
  const { registry, type, store, keyOf } = await heart(t, { deps: { turns } })
  const maps = type('v1/configmaps')
  const { stored } = await registry.create(asking(), maps, 'default', configMap('large', LARGE))
  const tail = stored.bytes.toString().slice(stored.headBytes).replace(/^\d+/, '')
  const head = stored.bytes.toString().slice(0, stored.headBytes)
  const meddle = async (): Promise<void> => {
    others++
    await store.update(keyOf(maps, 'default', 'large'), () => ({ type: 'put', text: { head, tail } }))
  }
  let asked = 0
  const updated = await registry.update(asking(), maps, 'default', 'large', current => {
    asked++
    later.push(meddle)
    return { ...current, metadata: { ...current.metadata, labels: { a: 'b' } } }
  })
  t.equal(asked, LARGE_TRIES + 1)
  t.equal(others, LARGE_TRIES)
  t.same(objectOf(updated).metadata.labels, { a: 'b' })
})

t.test('a large write whose client has gone stores nothing, and tells its admission steps so', async t => {
  const { turns } = counted()
  let isGone = false
  const told: unknown[] = []
  const gate = step('gate', request => {
    isGone = true
    request.outcome?.onSettled(stored => told.push(stored))
  })
  const { registry, type, stored } = await heart(t, { deps: { turns, admission: [gate] } })
  const maps = type('v1/configmaps')
  const work = turns.begin({ owner: SPACE, isAbandoned: () => isGone })
  await t.rejects(registry.create(asking({ work }), maps, 'default', configMap('large', LARGE)), { name: 'Abandoned' })
  t.equal(await stored(maps, 'default', 'large'), undefined)
  t.same(told, [undefined])
})

t.test('a large definition is read and judged in steps, with the same errors', async t => {
  const { turns, rests, work } = counted()
  const { registry, type } = await heart(t, { deps: { turns, strategyFor: () => definitionStrategy } })
  const definitions = type('apiextensions.k8s.io/v1/customresourcedefinitions')
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, { type: 'string' }]))
  const make = (properties: object) => widgets({ v1: { spec: { type: 'object', properties } } })
  const wrong = make({ ...many, last: { type: 'string', default: 1 }, listed: { type: 'array' } })
  const message = async (creation: Promise<unknown>): Promise<string> =>
    await creation.then(
      () => '',
      (error: Error) => error.message,
    )
  const inSteps = await message(registry.create(asking({ work: work() }), definitions, '', structuredClone(wrong)))
  t.match(inSteps, 'listed')
  t.equal(inSteps, await message(registry.create(asking(), definitions, '', wrong)))

  const before = rests()
  await registry.create(asking({ work: work() }), definitions, '', make(many))
  t.ok(rests() - before >= 12, `${rests() - before} rests of a creation`)
  const made = rests()
  await registry.update(asking({ work: work() }), definitions, '', 'widgets.example.com', current => {
    current.spec = make({ ...many, more: { type: 'string' } }).spec!
    return current
  })
  t.ok(rests() - made >= 12, `${rests() - made} rests of an update`)
})
