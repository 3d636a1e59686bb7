/** Updates: a function of the current object. Nobody's write is lost, and what changes nothing is not written. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Admission } from '../../../src/apiserver/registry/admission.ts'
import { decodeObject } from '../../../src/apiserver/registry/codec.ts'
import type { UpdateOptions } from '../../../src/apiserver/registry/preparation.ts'
import type { Change } from '../../../src/apiserver/registry/registry.ts'
import { asking, configMap, type Heart, heart, objectOf, refused, step } from './support.ts'

/** Takes its time for each update: then updates are compared and written, instead of run in the queue of the store. */
const slow: Admission = step('gate', () => new Promise(resolve => setImmediate(resolve)), 'UPDATE')

/** About one ConfigMap `c` of the namespace `n`. */
async function world(t: Parameters<typeof heart>[0], ...admission: Admission[]) {
  const here: Heart = await heart(t, { deps: { admission } })
  const type = here.type('v1/configmaps')
  return {
    ...here,
    type,
    create: async (data: object, metadata: object = {}) =>
      objectOf(await here.registry.create(asking(), type, 'n', configMap('c', { ...data }, metadata))),
    update: (change: Change, options: UpdateOptions = {}, context = asking()) =>
      here.registry.update(context, type, 'n', 'c', change, options),
    read: () => here.stored(type, 'n', 'c'),
  }
}
type World = Awaited<ReturnType<typeof world>>

const setting = (data: Record<string, string>) => (current: KubeObject) => {
  Object.assign(current.data as object, data)
  return current
}
const counting = (current: KubeObject): KubeObject =>
  setting({ count: String(Number((current.data as { count: string }).count) + 1) })(current)

for (const [how, steps] of [
  ['in the queue of the store', []],
  ['with admission that takes its time', [slow]],
] as const) {
  t.test(how, async t => {
    t.test('what is made of the current object is stored under a revision of its own', async t => {
      const { create, update, read, store } = await world(t, ...steps)
      await create({ a: '1' })
      const { stored, created } = await update(setting({ b: '2' }))
      t.notOk(created)
      t.equal(stored.revision, store.revision)
      t.strictSame((await read())?.data, { a: '1', b: '2' })
      t.strictSame(await read(), decodeObject(stored))
    })

    t.test('each of many at once builds on all before it', async t => {
      const { create, update, read, store } = await world(t, ...steps)
      await create({ count: '0' })
      await Promise.all(Array.from({ length: 10 }, () => update(counting)))
      t.strictSame((await read())?.data, { count: '10' })
      t.equal(store.revision, 11, 'a write each')
    })

    t.test('what changes nothing writes nothing, whatever the order of members', async t => {
      const { create, update, read, store } = await world(t, ...steps)
      const before = await create({ a: '1', b: '2' })
      const { stored, created } = await update(current => ({ ...current, data: { b: '2', a: '1' } }))
      t.strictSame([store.revision, created], [1, false])
      t.equal(decodeObject(stored).metadata.resourceVersion, '1')
      t.strictSame(await read(), before)
      await update(setting({ a: '2' }))
      t.equal(store.revision, 2, 'a value of the same length is a change')
    })

    t.test('who names a version means that one', async t => {
      const { create, update, store } = await world(t, ...steps)
      const { resourceVersion } = (await create({ a: '1' })).metadata
      const put = (version: string, a: string) =>
        update({ replacement: () => configMap('c', { a }, { namespace: 'n', resourceVersion: version }) })
      await put(resourceVersion!, '2')
      await t.rejects(put(resourceVersion!, '3'), {
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again',
      })
      await t.rejects(put('99', '3'), refused('Conflict'))
      for (const wrong of ['x', '-1', '1.0', '99999999999999999999'])
        await t.rejects(put(wrong, '3'), { reason: 'BadRequest', message: /^strconv\.ParseUint: parsing/ })
      t.equal(store.revision, 2)
      await put('', '3')
      await put('0', '4')
      t.equal(store.revision, 4, 'none, or 0, means any')
    })

    t.test('who names an object means that one, and no other of its name', async t => {
      const { create, update, store } = await world(t, ...steps)
      const { uid } = (await create({ a: '1' })).metadata
      const put = (asked: string) => update({ replacement: () => configMap('c', { a: '2' }, { uid: asked }) })
      await t.rejects(put('another'), {
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on configmaps "c": Precondition failed: UID in precondition: another, UID in object meta: ${uid}`,
      })
      t.equal(store.revision, 1)
      await put(uid!)
    })

    t.test('preconditions hold, or nothing is done', async t => {
      const { create, update, store } = await world(t, ...steps)
      const { uid = '', resourceVersion = '' } = (await create({ a: '1' })).metadata
      let asked = 0
      const change = (current: KubeObject): KubeObject => {
        asked++
        return setting({ a: '2' })(current)
      }
      for (const preconditions of [{ uid: 'another' }, { resourceVersion: '9' }, { uid, resourceVersion: '9' }])
        await t.rejects(update(change, { preconditions }), { reason: 'Conflict', message: /Precondition failed: / })
      t.strictSame([store.revision, asked], [1, 0])
      await update(change, { preconditions: { uid, resourceVersion } })
      t.equal(store.revision, 2)
    })

    t.test('a dry run tells what would be, and writes nothing', async t => {
      const { create, update, read, store } = await world(t, ...steps)
      const before = await create({ a: '1' })
      const { stored } = await update(setting({ a: '2' }), {}, asking({ dryRun: true }))
      t.match(decodeObject(stored), { data: { a: '2' }, metadata: { resourceVersion: '1' } })
      t.strictSame([await read(), store.revision], [before, 1])
    })

    t.test('a change that fails writes nothing', async t => {
      const { create, update, store } = await world(t, ...steps)
      await create({ a: '1' })
      const failing = (current: KubeObject): never => {
        setting({ a: '2' })(current)
        throw new Error('on second thoughts')
      }
      await t.rejects(update(failing), { message: 'on second thoughts' })
      const unreadable = (current: KubeObject) => ({
        ...current,
        metadata: { ...current.metadata, labels: { '/': '' } },
      })
      await t.rejects(update(unreadable), { reason: 'Invalid', message: /metadata\.labels/ })
      t.equal(store.revision, 1)
    })

    t.test('what is not there is not found', async t => {
      const { update, store } = await world(t, ...steps)
      await t.rejects(update(setting({ a: '2' })), { reason: 'NotFound', message: 'configmaps "c" not found' })
      t.equal(store.revision, 0)
    })
  })
}

/** Lets others write, once, between the look at the object and the write. */
function racing(race: () => Promise<unknown>): Admission {
  let raced = false
  return step(
    'gate',
    async () => {
      if (raced) return
      raced = true
      await race()
    },
    'UPDATE',
  )
}

t.test('who loses a race and named a version is told; nothing is overwritten', async t => {
  const here: World = await world(
    t,
    racing(() => here.update(setting({ a: 'raced' }))),
  )
  const { resourceVersion } = (await here.create({ a: '1' })).metadata
  const replacement = () => configMap('c', { a: '2' }, { resourceVersion })
  await t.rejects(here.update({ replacement }), refused('Conflict'))
  t.strictSame((await here.read())?.data, { a: 'raced' })
})

t.test('preconditions are looked at again after a lost race', async t => {
  const here: World = await world(
    t,
    racing(() => here.update(setting({ a: 'raced' }))),
  )
  const { resourceVersion = '' } = (await here.create({ a: '1' })).metadata
  await t.rejects(here.update(setting({ b: '2' }), { preconditions: { resourceVersion } }), refused('Conflict'))
  t.strictSame((await here.read())?.data, { a: 'raced' })
})

t.test('what is deleted meanwhile is not made again', async t => {
  const here: World = await world(
    t,
    racing(() => here.store.update(here.keyOf(here.type, 'n', 'c'), () => ({ type: 'delete' }))),
  )
  await here.create({ a: '1' })
  await t.rejects(here.update(setting({ a: '2' })), refused('NotFound'))
  t.equal(await here.read(), undefined)
})

t.test('each attempt tells its own outcome', async t => {
  const settled: unknown[] = []
  const taker = step('gate', ({ outcome }) => outcome?.onSettled(stored => settled.push(stored?.revision)), 'UPDATE')
  const here: World = await world(
    t,
    taker,
    racing(() => here.store.update(here.keyOf(here.type, 'n', 'c'), now => ({ type: 'put', text: raced(now!) }))),
  )
  await here.create({ a: '1' })
  await here.update(setting({ b: '2' }))
  await here.update(setting({ b: '2' }))
  await here.update(setting({ b: '3' }), {}, asking({ dryRun: true }))
  t.strictSame(settled, [undefined, 3, undefined, undefined], 'lost, written, unchanged, tried')
  t.strictSame((await here.read())?.data, { a: 'raced', b: '2' })
})

function raced({ bytes }: { bytes: Buffer }): { head: string; tail: string } {
  const [head = '', tail = ''] = bytes
    .toString()
    .replace('"a":"1"', '"a":"raced"')
    .split(/(?<="resourceVersion":")\d+/)
  return { head, tail }
}
