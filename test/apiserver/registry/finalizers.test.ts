/** The end of objects: the update that takes the last thing that holds one is its deletion. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { deleteObject } from '../../../src/apiserver/operations/remove.ts'
import { type SharedLayer, SharedObjects } from '../../../src/apiserver/registry/sharedObjects.ts'
import { asking, configMap, type Heart, heart, NOW, objectOf, step } from './support.ts'

const HOLD = 'example.com/hold'
const OTHER = 'example.com/other'
const slow = step('gate', () => {}, 'UPDATE')

for (const [how, admission] of [
  ['in the queue of the store', []],
  ['with admission that takes its time', [slow]],
] as const) {
  t.test(`finalizers, ${how}`, async t => {
    const here = await heart(t, { deps: { admission: [...admission] } })
    const { store, registry } = here
    const type = here.type('v1/configmaps')
    const finalize = (finalizers: string[], more: object = {}, context = asking()) =>
      registry.update(context, type, 'n', 'c', current => {
        Object.assign(current.metadata, { finalizers }, more)
        return current
      })
    await registry.create(asking(), type, 'n', configMap('c', { a: '1' }, { finalizers: [HOLD, OTHER] }))
    await finalize([HOLD, OTHER], { labels: { deleted: 'no' } })
    const deleted = await deleteObject(registry.deps, asking(), type, { namespace: 'n', name: 'c' })
    t.equal(deleted.gone, false)

    await t.test('on its way out it gets none that it had not', async t => {
      await t.rejects(finalize([HOLD, OTHER, 'example.com/new']), {
        reason: 'Invalid',
        message: /no new finalizers can be added if the object is being deleted/,
      })
    })

    await t.test('it cannot be called back', async t => {
      const called = objectOf(await finalize([HOLD], { deletionTimestamp: undefined }))
      t.equal(called.metadata.deletionTimestamp, NOW)
      await finalize([HOLD], { deletionTimestamp: '2030-01-01T00:00:00Z' })
      t.equal((await here.stored(type, 'n', 'c'))?.metadata.deletionTimestamp, NOW)
    })

    await t.test('a dry run of the last one leaves it', async t => {
      const { revision } = store
      const tried = objectOf(await finalize([], {}, asking({ dryRun: true })))
      t.notOk(tried.metadata.finalizers)
      t.ok(await here.stored(type, 'n', 'c'))
      t.equal(store.revision, revision)
    })

    await t.test('it goes with the last one, and watchers see its last state', async t => {
      const { revision } = store
      const last = objectOf(await finalize([], { labels: { deleted: 'now' } }))
      t.equal(await here.stored(type, 'n', 'c'), undefined)
      const [event, ...more] = await here.eventsSince(revision)
      t.strictSame(more, [])
      t.equal(event?.type, 'delete')
      t.strictSame(objectOf(event!), last)
      t.match(last, { data: { a: '1' }, metadata: { labels: { deleted: 'now' }, resourceVersion: `${revision + 1}` } })
      t.notOk(last.metadata.finalizers)
    })
  })
}

t.test('without a deletion the last finalizer ends nothing', async t => {
  const here = await heart(t)
  const type = here.type('v1/configmaps')
  await here.registry.create(asking(), type, 'n', configMap('c', {}, { finalizers: [HOLD] }))
  await here.registry.update(asking(), type, 'n', 'c', ({ ...object }) => {
    object.metadata.finalizers = []
    return object
  })
  t.match(await here.stored(type, 'n', 'c'), { metadata: { finalizers: undefined, name: 'c' } })
})

t.test('a Pod that runs stays until its time is over, whoever lets go of it', async t => {
  const here = await heart(t)
  const type = here.type('v1/pods')
  const change = (act: (metadata: KubeObject['metadata'], object: KubeObject) => void, subresource = '') =>
    here.registry.update(
      asking(),
      type,
      'n',
      'p',
      current => {
        act(current.metadata, current)
        return current
      },
      { subresource },
    )
  const spec = { nodeName: 'node', containers: [{ name: 'main', image: 'example.com/main:1' }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', finalizers: [HOLD] }, spec }
  await here.registry.create(asking(), type, 'n', pod)
  const remove = (gracePeriodSeconds: number) =>
    deleteObject(here.registry.deps, asking(), type, { namespace: 'n', name: 'p' }, { gracePeriodSeconds })
  await remove(20)
  const left = objectOf(
    await change(metadata => {
      metadata.finalizers = []
    }),
  )
  t.match(left.metadata, { deletionGracePeriodSeconds: 20, deletionTimestamp: '2026-01-02T03:04:25Z' })
  t.ok(await here.stored(type, 'n', 'p'))
  t.equal((await remove(0)).gone, true)
  t.equal(await here.stored(type, 'n', 'p'), undefined)
})

t.test('a Namespace is held by the finalizers of its spec as well', async t => {
  const here: Heart = await heart(t)
  const type = here.type('v1/namespaces')
  const update = (finalizers: string[], subresource: string) =>
    here.registry.update(asking(), type, '', 'n', current => ({ ...current, spec: { finalizers } }), { subresource })
  await here.registry.create(asking(), type, '', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
  const { gone } = await deleteObject(here.registry.deps, asking(), type, { namespace: '', name: 'n' })
  t.equal(gone, false)
  await update([], '')
  t.match(await here.stored(type, '', 'n'), { spec: { finalizers: ['kubernetes'] } }, 'only /finalize takes them')
  await update([], 'finalize')
  t.equal(await here.stored(type, '', 'n'), undefined)
})

t.test('what every space has comes back before whoever let go of it is answered', async t => {
  const events: string[] = []
  const taken = new Set<string>()
  const layer: SharedLayer = {
    changeable: true,
    namespace: 'n',
    async comeBack({ name }) {
      await new Promise(resolve => setImmediate(resolve))
      events.push(`${name} is back`)
    },
    has: (_space, name) => taken.has(name),
    get: async () => undefined,
    names: async () => [],
    list: async () => [],
  }
  const here = await heart(t, { deps: { shared: new SharedObjects(new Map([['configmaps', layer]])) } })
  const type = here.type('v1/configmaps')
  for (const name of ['back', 'gone']) {
    await here.registry.create(asking(), type, 'n', configMap(name, {}, { finalizers: [HOLD] }))
    await deleteObject(here.registry.deps, asking(), type, { namespace: 'n', name })
    if (name === 'back') taken.add(name)
    await here.registry.update(asking(), type, 'n', name, current => {
      delete current.metadata.finalizers
      return current
    })
    events.push(`${name} is answered`)
  }
  t.strictSame(events, ['back is back', 'back is answered', 'gone is answered'])
})
