/** Creates: one object, one revision, one name; and nothing at all where a write is refused or only tried. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { cloneJson } from '../../../src/apimachinery/values.ts'
import { deleteObject } from '../../../src/apiserver/operations/remove.ts'
import type { Admission } from '../../../src/apiserver/registry/admission.ts'
import { decodeObject } from '../../../src/apiserver/registry/codec.ts'
import { SharedObjects, sharedConstants } from '../../../src/apiserver/registry/sharedObjects.ts'
import type { Stored } from '../../../src/storage/store.ts'
import { asking, configMap, type Heart, heart, objectOf, refused, SPACE, step, widget, widgets } from './support.ts'

const creates = ({ registry, type }: Heart, context = asking()) => ({
  create: (object: KubeObject, kind = 'v1/configmaps', namespace = 'n') =>
    registry.create(context, type(kind), namespace, object),
})

/** A step that takes something for each write, and gets its outcome. */
function taking(): Admission & { settled: (Stored | undefined)[] } {
  const settled: (Stored | undefined)[] = []
  const taker = step('gate', ({ outcome }) => outcome?.onSettled(stored => settled.push(stored)))
  return Object.assign(taker, { settled })
}

t.test('what is answered is what was stored, under its revision', async t => {
  const here = await heart(t)
  const { create } = creates(here)
  await create(configMap('before'))
  const { stored, created } = await create(configMap('c', { a: '1' }))
  t.ok(created)
  t.equal(stored.revision, here.store.revision)
  t.strictSame(stored.key, { space: SPACE, group: '', resource: 'configmaps', namespace: 'n', name: 'c' })
  t.equal(decodeObject(stored).metadata.resourceVersion, String(here.store.revision))
  t.equal((await here.store.get(stored.key))?.bytes, stored.bytes)
})

t.test('what is only tried reads as if it were stored, in whatever order it was sent', async t => {
  for (const metadata of [{ name: 'c', labels: { a: 'b' } }, { name: 'c' }]) {
    const sent = (): KubeObject => ({
      data: { k: '1' },
      metadata: { ...metadata },
      kind: 'ConfigMap',
      apiVersion: 'v1',
    })
    const tried = await creates(await heart(t), asking({ dryRun: true })).create(sent())
    const { stored } = await creates(await heart(t)).create(sent())
    t.equal(tried.stored.bytes.toString(), stored.bytes.toString().replace(/,"resourceVersion":"\d+"/, ''))
  }
})

t.test('a name is given once in its namespace and kind', async t => {
  const here = await heart(t)
  const { create } = creates(here)
  await create(configMap('c', { a: 'first' }))
  await t.rejects(create(configMap('c', { a: 'second' })), {
    reason: 'AlreadyExists',
    message: 'configmaps "c" already exists',
    details: { name: 'c', kind: 'configmaps' },
  })
  t.strictSame((await here.stored(here.type('v1/configmaps'), 'n', 'c'))?.data, { a: 'first' })
  await create(configMap('c'), 'v1/configmaps', 'other')
  await create({ ...configMap('c'), kind: 'Secret' }, 'v1/secrets')
})

t.test('of many who want a name at once one gets it', async t => {
  const here = await heart(t)
  const { create } = creates(here)
  const attempts = await Promise.allSettled(Array.from({ length: 9 }, (_, i) => create(configMap('c', { i: `${i}` }))))
  const [won, ...others] = attempts.toSorted((a, b) => (a.status < b.status ? -1 : 1))
  t.match(won, { status: 'fulfilled' })
  for (const other of others) t.match(other, { status: 'rejected', reason: { reason: 'AlreadyExists' } })
  t.equal(here.store.revision, 1)
})

t.test('an instance that is under way when its definition goes is not left behind', async t => {
  let going: () => void = () => {}
  const here = await heart(t, {
    definitions: [widgets({ v1: {} })],
    deps: { admission: [step('gate', () => going())] },
  })
  const { create } = creates(here)
  const kind = 'example.com/v1/widgets'
  const type = here.type(kind)
  await create(widget('v1', 'before'), kind)
  going = () => here.types.define(SPACE, 'widgets.example.com', [{ ...type, verbs: ['get', 'list', 'delete'] }])
  await t.rejects(create(widget('v1', 'going'), kind), refused('MethodNotAllowed'))
  here.redefine(widgets({ v1: {} }))
  going = () => here.types.define(SPACE, 'widgets.example.com', [])
  await t.rejects(create(widget('v1', 'gone'), kind), refused('NotFound'))
  for (const name of ['going', 'gone']) t.equal(await here.stored(type, 'n', name), undefined)
})

t.test('whoever meets an object on its way out is told so', async t => {
  const here = await heart(t)
  const { create } = creates(here)
  await create(configMap('c', {}, { finalizers: ['example.com/hold'] }))
  await deleteObject(here.registry.deps, asking(), here.type('v1/configmaps'), { namespace: 'n', name: 'c' })
  await t.rejects(create(configMap('c')), { message: 'object is being deleted: configmaps "c" already exists' })
})

t.test('a new object claims no version', async t => {
  const here = await heart(t)
  const { create } = creates(here)
  await t.rejects(create(configMap('c', {}, { resourceVersion: '7' })), {
    reason: 'BadRequest',
    message: 'resourceVersion should not be set on objects to be created',
  })
  t.equal(here.store.revision, 0)
  const { metadata } = objectOf(await create(configMap('c', {}, { resourceVersion: '0' })))
  t.equal(metadata.resourceVersion, '1')
})

t.test('a name is made of its base, and made anew where it is taken', async t => {
  const chances = [0, 0, 0.5]
  const seen: KubeObject[] = []
  const watching = step('mutate', ({ object }) => {
    seen.push(cloneJson(object))
    object.data = { ...(object.data as object), mutated: `${seen.length}` }
  })
  const random = (): number => chances[Math.floor(made++ / 5)]!
  let made = 0
  const here = await heart(t, { deps: { admission: [watching], random } })
  const { create } = creates(here)
  const asked = (): KubeObject => ({ ...configMap('', { a: '1' }), metadata: { generateName: 'gen-' } })
  const first = objectOf(await create(asked()))
  const second = objectOf(await create(asked()))
  t.match(first.metadata, { generateName: 'gen-', name: /^gen-[a-z0-9]{5}$/ })
  t.match(second.metadata.name, /^gen-[a-z0-9]{5}$/)
  t.not(second.metadata.name, first.metadata.name)
  t.strictSame(
    seen.map(({ metadata, data }) => [metadata.name, data]),
    [first, second].map(({ metadata }) => [metadata.name, { a: '1' }]),
    'a name that is taken is found out before anybody is asked about the object',
  )
  t.strictSame(second.data, { a: '1', mutated: '2' })
})

t.test('who has bad luck with names is told to come again', async t => {
  const taker = taking()
  const here = await heart(t, { deps: { admission: [taker] } })
  const { create } = creates(here)
  const asked = (): KubeObject => ({ ...configMap(''), metadata: { generateName: 'gen-' } })
  await create(asked())
  await t.rejects(create(asked()), {
    reason: 'AlreadyExists',
    message: /"gen-\w{5}" already exists, the server was not able to generate a unique name for the object$/,
    details: { retryAfterSeconds: 1 },
  })
  t.equal(taker.settled.length, 2)
  t.equal(here.store.revision, 1)
})

t.test('who says a name gets that one', async t => {
  const here = await heart(t)
  const { create } = creates(here)
  const { metadata } = objectOf(await create(configMap('said', {}, { generateName: 'gen-' })))
  t.match(metadata, { name: 'said', generateName: 'gen-' })
  await t.rejects(create(configMap('said', {}, { generateName: 'gen-' })), refused('AlreadyExists'))
  await t.rejects(create(configMap('')), { reason: 'Invalid', message: /metadata\.name: Required value/ })
})

t.test('a dry run tells what would be, and writes nothing', async t => {
  const here = await heart(t)
  const { create } = creates(here)
  const dry = creates(here, asking({ dryRun: true }))
  const { stored, created } = await dry.create(configMap('c', { a: '1' }))
  const { metadata, data } = JSON.parse(stored.bytes.toString()) as KubeObject
  t.ok(created)
  t.match(metadata, { name: 'c', namespace: 'n', uid: /./, creationTimestamp: /./, managedFields: [{ manager: /./ }] })
  t.notOk('resourceVersion' in metadata, 'it has no version')
  t.strictSame(data, { a: '1' })
  t.equal(here.store.revision, 0)
  t.equal(await here.store.get(stored.key), undefined)
  await t.rejects(dry.create(configMap('C')), refused('Invalid'))
  await create(configMap('c', { a: '2' }))
  await t.rejects(dry.create(configMap('c')), { reason: 'AlreadyExists', message: 'configmaps "c" already exists' })
  t.equal(here.store.revision, 1)
})

t.test('who took something for a write hears what became of it, once, whatever that was', async t => {
  const taker = taking()
  let admits = true
  const judge = step('validate', () => {
    if (!admits) throw new Error('refused')
  })
  const here = await heart(t, {
    deps: { admission: [taker, judge] },
    store: {
      budget: {
        refusal: ({ key }) =>
          key.name === 'big' ? { reason: 'Budget', message: 'no room', key, causes: [] } : undefined,
        count: () => {},
        loaded: () => {},
      },
    },
  })
  const { create } = creates(here)
  const { stored } = await create(configMap('c'))
  t.equal(taker.settled.at(-1), stored)
  await t.rejects(create(configMap('c')), refused('AlreadyExists'))
  await t.rejects(create(configMap('Not A Name')), refused('Invalid'))
  await t.rejects(create(configMap('big')), { reason: 'Forbidden', message: 'configmaps "big" is forbidden: no room' })
  await creates(here, asking({ dryRun: true })).create(configMap('dry'))
  admits = false
  await t.rejects(create(configMap('d')), { message: 'refused' })
  t.strictSame(taker.settled.slice(1), Array(5).fill(undefined))
  t.equal(here.store.revision, 1)
})

t.test('what every space shows has its name taken', async t => {
  const kind = 'scheduling.k8s.io/v1/priorityclasses'
  const object: KubeObject = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'everywhere' },
    value: 1,
  }
  const shared = new SharedObjects(sharedConstants((await heart(t)).type(kind), [object], { changeable: true }))
  const here = await heart(t, { deps: { shared } })
  const { create } = creates(here)
  await t.rejects(create(cloneJson(object), kind, ''), refused('AlreadyExists'))
  t.equal(here.store.revision, 0)
})
