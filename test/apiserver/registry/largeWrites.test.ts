import t from 'tap'
import { definitionStrategy } from '../../../src/apiserver/definitions/definitionStrategy.ts'
import { patch } from '../../../src/apiserver/operations/patch.ts'
import { deleteObject } from '../../../src/apiserver/operations/remove.ts'
import { LARGE_BYTES, LARGE_VALUES } from '../../../src/apiserver/registry/largeWrites.ts'
import { asking, configMap, countedTurns, heart, NOW, objectOf, SPACE, step, widgets } from './support.ts'

const LARGE = { text: 'x'.repeat(LARGE_BYTES + 1) }

t.test('others get their turn between the steps of a large write, and a small one does not wait', async t => {
  const { turns, rests, work } = countedTurns()
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
  const { turns, rests } = countedTurns()
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

t.test('a patch that copies again and again rests, however small the object is', async t => {
  const { turns, rests } = countedTurns()
  const { registry, type } = await heart(t, { deps: { turns } })
  const maps = type('v1/configmaps')
  await registry.create(asking(), maps, 'default', configMap('small', { a: 'b' }))
  const target = { context: asking(), type: maps, namespace: 'default', name: 'small', subresource: '' }
  const copy = (to: string): object => ({ op: 'copy', from: '/data/a', path: `/data/${to}` })
  await patch(registry, target, 'json', [copy('b')])
  t.equal(rests(), 0)
  const { stored } = await patch(registry, target, 'json', [copy('c'), copy('d')])
  t.ok(rests() >= 4, `${rests()} rests`)
  t.same(objectOf({ stored }).data, { a: 'b', b: 'b', c: 'b', d: 'b' })
})

t.test('an object of many values is made with rests, whoever makes it', async t => {
  const { turns, rests } = countedTurns()
  const { registry, type } = await heart(t, { deps: { turns } })
  const data = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '']))
  await registry.create(asking(), type('v1/configmaps'), 'default', configMap('some', data(LARGE_VALUES - 10)))
  t.equal(rests(), 0)
  await registry.create(asking(), type('v1/configmaps'), 'default', configMap('many', data(LARGE_VALUES)))
  t.ok(rests() >= 8, `${rests()} rests`)
})

t.test('what admission makes large of a small object rests from there on', async t => {
  const { turns, rests } = countedTurns()
  const data = Object.fromEntries(Array.from({ length: LARGE_VALUES }, (_, i) => [`k${i}`, '']))
  const adds = step('mutate', ({ object }) => {
    if (object.metadata.labels?.grows) object.data = data
  })
  const { registry, type, stored } = await heart(t, { deps: { turns, admission: [adds] } })
  const maps = type('v1/configmaps')
  await registry.create(asking(), maps, 'default', configMap('small'))
  t.equal(rests(), 0)
  const labelled = { ...configMap('grown'), metadata: { name: 'grown', labels: { grows: 'yes' } } }
  await registry.create(asking(), maps, 'default', labelled)
  t.ok(rests() >= 4, `${rests()} rests of a creation`)
  t.same((await stored(maps, 'default', 'grown'))?.data, data)

  const before = rests()
  await registry.update(asking(), maps, 'default', 'small', current => {
    current.metadata.labels = { grows: 'yes' }
    return current
  })
  t.ok(rests() >= before + 2, `${rests() - before} rests of an update`)
})

t.test('an update of a large object that somebody else was faster than is made again', async t => {
  const { turns } = countedTurns()
  const { registry, type, store, keyOf } = await heart(t, { deps: { turns } })
  const maps = type('v1/configmaps')
  const { stored } = await registry.create(asking(), maps, 'default', configMap('large', LARGE))
  const tail = stored.bytes.toString().slice(stored.headBytes).replace(/^\d+/, '')
  const head = stored.bytes.toString().slice(0, stored.headBytes)
  let others = 0
  let asked = 0
  const meddling: Promise<unknown>[] = []
  const updated = await registry.update(asking(), maps, 'default', 'large', current => {
    asked++
    if (others < 4) {
      others++
      meddling.push(store.update(keyOf(maps, 'default', 'large'), () => ({ type: 'put', text: { head, tail } })))
    }
    return { ...current, metadata: { ...current.metadata, labels: { a: 'b' } } }
  })
  await Promise.all(meddling)
  t.equal(asked, 5)
  t.same(objectOf(updated).metadata.labels, { a: 'b' })
})

t.test('a large object is deleted with rests, a small one without', async t => {
  const { turns, rests } = countedTurns()
  const { registry, type, stored } = await heart(t, { deps: { turns } })
  const maps = type('v1/configmaps')
  await registry.create(asking(), maps, 'default', configMap('small', { a: 'b' }))
  await registry.create(asking(), maps, 'default', configMap('held', LARGE, { finalizers: ['example.com/held'] }))
  await registry.create(asking(), maps, 'default', configMap('large', LARGE))
  const remove = (name: string) => deleteObject(registry.deps, asking(), maps, { namespace: 'default', name })
  t.match(await remove('small'), { gone: true })
  t.equal(rests(), 0)
  t.match(await remove('large'), { gone: true })
  t.ok(rests() >= 3, `${rests()} rests`)
  t.equal(await stored(maps, 'default', 'large'), undefined)

  t.match(await remove('held'), { gone: false })
  const held = await stored(maps, 'default', 'held')
  t.equal(held?.metadata.deletionTimestamp, NOW)
  t.same(held?.data, LARGE)
  const again = await remove('held')
  t.match(again, { gone: false })
  t.equal(again.stored.revision, Number(held?.metadata.resourceVersion), 'nothing is written twice')
})

t.test('a large object is deleted, however often others write it first', async t => {
  const { turns } = countedTurns()
  const { registry, type, store, keyOf, stored } = await heart(t, { deps: { turns } })
  const maps = type('v1/configmaps')
  let others = 0
  const meddled = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (name !== 'write') return member.bind(target)
      return async (...asked: Parameters<typeof store.write>) => {
        others++
        await registry.update(asking(), maps, 'default', 'large', now => {
          now.metadata.labels = { a: `${others}` }
          return now
        })
        return await store.write(...asked)
      }
    },
  })
  await registry.create(asking(), maps, 'default', configMap('large', LARGE))
  const deps = { ...registry.deps, store: meddled }
  const deleted = await deleteObject(deps, asking(), maps, { namespace: 'default', name: 'large' })
  t.ok(others > 1, `${others} others`)
  t.equal(objectOf(deleted).metadata.labels?.a, `${others}`)
  t.equal(await stored(maps, 'default', 'large'), undefined)
  t.equal(await store.get(keyOf(maps, 'default', 'large')), undefined)
})

t.test('while somebody writes a large object, those who would be quick stand in line, too', async t => {
  const { turns, work } = countedTurns()
  const { registry, type, stored } = await heart(t, { deps: { turns } })
  const maps = type('v1/configmaps')
  await registry.create(asking(), maps, 'default', configMap('grows'))
  let asked = 0
  const quick: Promise<unknown>[] = []
  await registry.update(asking({ work: work() }), maps, 'default', 'grows', current => {
    asked++
    quick.push(
      registry.update(asking(), maps, 'default', 'grows', small => ({
        ...small,
        metadata: { ...small.metadata, labels: { a: 'b' } },
      })),
    )
    return { ...current, data: LARGE }
  })
  await Promise.all(quick)
  t.equal(asked, 1)
  t.match(await stored(maps, 'default', 'grows'), { data: LARGE, metadata: { labels: { a: 'b' } } })
})

t.test('a large write whose client has gone stores nothing, and tells its admission steps so', async t => {
  const { turns } = countedTurns()
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
  const { turns, rests, work } = countedTurns()
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
