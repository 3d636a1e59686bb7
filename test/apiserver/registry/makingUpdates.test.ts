/** Updates of what the space does not hold: they may make it, or copy what every space shows. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { decodeObject } from '../../../src/apiserver/registry/codec.ts'
import type { UpdateOptions } from '../../../src/apiserver/registry/preparation.ts'
import { SharedObjects, sharedConstants } from '../../../src/apiserver/registry/sharedObjects.ts'
import { asking, configMap, heart, objectOf, refused, step } from './support.ts'

const made = (data: object, metadata: object = {}): KubeObject => configMap('c', { ...data }, metadata)

t.test('an update that may makes what is missing', async t => {
  const here = await heart(t)
  const type = here.type('v1/configmaps')
  const put = (metadata: object = {}, options: UpdateOptions = {}) => {
    const replacement = (): KubeObject => made({ a: '1' }, metadata)
    return here.registry.update(asking(), type, 'n', 'c', { replacement }, { create: replacement, ...options })
  }

  await t.test('not what is said to be a certain object', async t => {
    await t.rejects(put({ uid: 'u' }), {
      reason: 'Conflict',
      message: /Precondition failed: UID in precondition: u, UID in object meta: $/,
    })
    await t.rejects(put({ uid: 'u' }, { managesFields: true }), { reason: 'Conflict', message: /uid mismatch: / })
    await t.rejects(put({ resourceVersion: 'x' }), refused('BadRequest'))
    t.equal(here.store.revision, 0)
  })

  await t.test('not for who may not create', async t => {
    const mayCreate = async (): Promise<never> => {
      throw new StatusError('Forbidden', 'you may not')
    }
    await t.rejects(put({}, { mayCreate }), { reason: 'Forbidden', message: 'you may not' })
    t.equal(here.store.revision, 0)
  })

  await t.test('whatever version it brings, once', async t => {
    t.match(await put({ resourceVersion: '7' }), { created: true })
    t.equal((await here.stored(type, 'n', 'c'))?.metadata.resourceVersion, '1')
    const mayCreate = async (): Promise<void> => void t.fail('nothing has to be made')
    t.match(await put({}, { mayCreate }), { created: false })
    t.equal(here.store.revision, 1)
  })
})

t.test('a dry run of it writes nothing', async t => {
  const here = await heart(t)
  const context = asking({ dryRun: true })
  const create = (): KubeObject => made({ a: '1' })
  const type = here.type('v1/configmaps')
  const written = await here.registry.update(context, type, 'n', 'c', { replacement: create }, { create })
  t.match(written, { created: true, stored: { revision: 0 } })
  t.equal(here.store.revision, 0)
})

t.test('what somebody else makes meanwhile is updated', async t => {
  let race = true
  const racer = step(
    'gate',
    async () => {
      if (!race) return
      race = false
      await here.registry.create(asking(), type, 'n', made({ raced: 'yes' }))
    },
    'CREATE',
  )
  const here: Awaited<ReturnType<typeof heart>> = await heart(t, { deps: { admission: [racer] } })
  const type = here.type('v1/configmaps')
  const add = (current: KubeObject): KubeObject => ({ ...current, data: { ...(current.data as object), a: '1' } })
  const create = (): KubeObject => made({ a: '1' })
  t.match(await here.registry.update(asking(), type, 'n', 'c', add, { create }), { created: false })
  t.strictSame((await here.stored(type, 'n', 'c'))?.data, { raced: 'yes', a: '1' })
})

t.test('what every space shows', async t => {
  const classes = loadCatalog().types.find(({ resource }) => resource === 'priorityclasses')!
  const shown: KubeObject = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'everywhere', uid: 'shared' },
    value: 1,
    preemptionPolicy: 'Never',
  }
  const label = (current: KubeObject): KubeObject => {
    current.metadata.labels = { mine: 'yes' }
    return current
  }
  const world = (changeable: boolean) =>
    heart(t, { deps: { shared: new SharedObjects(sharedConstants(classes, [shown], { changeable })) } })

  await t.test('becomes a space its own with the first change', async t => {
    const { registry, store, reader } = await world(true)
    const update = (dryRun: boolean) => registry.update(asking({ dryRun }), classes, '', 'everywhere', label)
    t.match(objectOf(await update(true)), { metadata: { labels: { mine: 'yes' } } })
    t.equal(store.revision, 0)
    const written = await update(false)
    t.match(written, { created: false, stored: { revision: 1 } })
    t.match(objectOf(written), { metadata: { uid: 'shared', resourceVersion: '1' }, value: 1 })
    t.match(decodeObject(await reader.get('root', classes, '', 'everywhere')), {
      metadata: { labels: { mine: 'yes' } },
    })
    const elsewhere = decodeObject(await reader.get('other', classes, '', 'everywhere'))
    t.equal(elsewhere.metadata.labels, undefined)
  })

  await t.test('stays shared where nothing is changed', async t => {
    const { registry, store } = await world(true)
    await registry.update(asking(), classes, '', 'everywhere', current => current)
    t.equal(store.revision, 0)
  })

  await t.test('cannot be changed where it says what the server does', async t => {
    const { registry, store } = await world(false)
    await t.rejects(registry.update(asking(), classes, '', 'everywhere', label), {
      reason: 'Forbidden',
      message: /it says what the server does, and cannot be changed$/,
    })
    t.equal(store.revision, 0)
  })
})
