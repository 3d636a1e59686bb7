/** managedFields as each verb leaves them: whose field is whose, and since when. */
import t, { type Test } from 'tap'
import type { KubeObject, ManagedFieldsEntry } from '../../../src/apimachinery/object.ts'
import { apply } from '../../../src/apiserver/operations/apply.ts'
import { patch } from '../../../src/apiserver/operations/patch.ts'
import type { Admission } from '../../../src/apiserver/registry/admission.ts'
import type { UpdateOptions } from '../../../src/apiserver/registry/preparation.ts'
import { asking, claims, configMap, deployment, heart, objectOf, refused } from './support.ts'

async function world(t: Test, kind = 'v1/configmaps', name = 'c') {
  let now = 0
  const here = await heart(t, { deps: { clock: () => new Date(Date.UTC(2026, 0, 1, 0, 0, now)) } })
  const type = here.type(kind)
  const as = (fieldManager: string, dryRun = false) => asking({ fieldManager, dryRun })
  const target = (manager: string, dryRun = false) => ({
    context: as(manager, dryRun),
    type,
    namespace: 'n',
    name,
    subresource: '',
  })
  return {
    ...here,
    /** A second goes by. */
    tick: () => void now++,
    create: async (manager: string, object: KubeObject) =>
      objectOf(await here.registry.create(as(manager), type, 'n', object)),
    update: async (manager: string, act: (current: KubeObject) => void, options: UpdateOptions = {}) => {
      const change = (current: KubeObject): KubeObject => {
        act(current)
        return current
      }
      return objectOf(await here.registry.update(as(manager), type, 'n', name, change, options))
    },
    patch: async (manager: string, body: object) =>
      objectOf(await patch(here.registry, target(manager), 'merge', body)),
    apply: async (manager: string, object: KubeObject, { force = false, dryRun = false } = {}) =>
      objectOf(await apply(here.registry, target(manager, dryRun), object, { force })),
  }
}

const setData = (data: object) => (current: KubeObject) => {
  current.data = data
}

t.test('create: who makes an object owns what they said, and nothing of the server', async t => {
  const { create } = await world(t, 'apps/v1/deployments')
  const [claim, ...others] = claims(await create('maker', deployment('c', { replicas: 3 })))
  t.strictSame(others, [])
  t.match(claim, /^maker Update apps\/v1: /)
  for (const said of ['.spec.replicas', '.spec.selector']) t.match(claim, said)
  for (const added of ['uid', 'creationTimestamp', 'generation', '.status', 'resourceVersion']) t.notMatch(claim, added)
})

t.test('update: what changes belongs to who changed it, what goes to nobody', async t => {
  const { create, update } = await world(t)
  await create('maker', configMap('c', { a: '1', b: '1', c: '1' }))
  const now = await update('other', setData({ a: '1', b: '2', d: '1' }))
  t.strictSame(claims(now), ['maker Update v1: .data.a', 'other Update v1: .data.b .data.d'])
  const back = await update('maker', setData({ a: '1', b: '3', d: '1' }))
  t.strictSame(claims(back), ['maker Update v1: .data.a .data.b', 'other Update v1: .data.d'])
})

t.test('update: the time of a claim is that of its last change', async t => {
  const { create, update, tick } = await world(t)
  const times = ({ metadata }: KubeObject): unknown[] =>
    (metadata.managedFields ?? []).map(({ manager, time }) => `${manager} ${time?.slice(-3, -1)}`)
  t.strictSame(times(await create('maker', configMap('c', { a: '1' }))), ['maker 00'])
  tick()
  t.strictSame(times(await update('other', setData({ a: '1', b: '2' }))), ['maker 00', 'other 01'])
  tick()
  t.strictSame(times(await update('other', setData({ a: '1', b: '2' }))), ['maker 00', 'other 01'])
})

t.test('update: who changes nothing owns nothing, and nothing is written', async t => {
  const { create, update, store, tick } = await world(t)
  await create('maker', configMap('c', { a: '1' }))
  tick()
  const now = await update('other', setData({ a: '1' }))
  t.strictSame(claims(now), ['maker Update v1: .data.a'])
  t.equal(store.revision, 1)
})

t.test('update: claims can be edited and reset, not garbled', async t => {
  const { create, update } = await world(t)
  const edit = (managedFields: ManagedFieldsEntry[] | undefined) => (current: KubeObject) => {
    if (managedFields) current.metadata.managedFields = managedFields
    else delete current.metadata.managedFields
  }
  const made = await create('maker', configMap('c', { a: '1' }))
  t.strictSame(claims(await update('maker', edit(undefined))), claims(made), 'who does not send them keeps them')
  t.strictSame(claims(await update('maker', edit([{ manager: 'x', fieldsType: 'v9' as 'FieldsV1' }]))), claims(made))
  const [own] = made.metadata.managedFields!
  const renamed = await update('maker', edit([{ ...own!, manager: 'heir' }]))
  t.strictSame(claims(renamed), ['heir Update v1: .data.a'])
  t.strictSame(claims(await update('maker', edit([{}]))), [])
  t.strictSame(claims(await update('maker', setData({ a: '2' }))), [], 'what nobody was recorded for stays so')
})

t.test('status: its claims are told apart, and nobody owns through the one what the other writes', async t => {
  const { create, update } = await world(t, 'apps/v1/deployments')
  await create('maker', deployment('c'))
  const report = (current: KubeObject): void => {
    current.status = { replicas: 3 }
    Object.assign(current.spec as object, { replicas: 9 })
  }
  const [, reported] = claims(await update('maker', report, { subresource: 'status' }))
  t.match(reported, /^maker Update apps\/v1\/status: \.status\.replicas$/)
  const [spec, status] = claims(
    await update('other', current => {
      report(current)
      current.status = { replicas: 5 }
    }),
  )
    .filter(claim => !claim.startsWith('maker Update apps/v1:'))
    .sort()
  t.strictSame(
    [spec, status],
    ['maker Update apps/v1/status: .status.replicas', 'other Update apps/v1: .spec.replicas'],
  )
})

t.test('patch: as an update of what it changes', async t => {
  const here = await world(t)
  await here.create('maker', configMap('c', { a: '1', b: '1' }))
  const now = await here.patch('patcher', { data: { b: '2', a: null } })
  t.strictSame(claims(now), ['maker Update v1: .data', 'patcher Update v1: .data.b'])
})

t.test('apply', async t => {
  const { create, apply, update, store } = await world(t)
  const applied = (data: Record<string, string>): KubeObject => configMap('c', data, { namespace: 'n' })

  await t.test('makes what is missing, and owns what it says', async t => {
    t.strictSame(claims(await apply('one', applied({ a: '1', b: '1' }))), ['one Apply v1: .data.a .data.b'])
  })

  await t.test('again writes nothing', async t => {
    const { revision } = store
    await apply('one', applied({ a: '1', b: '1' }))
    t.equal(store.revision, revision)
  })

  await t.test('of what another owns is a conflict that names them, unless the values are one', async t => {
    const { revision } = store
    await t.rejects(apply('two', applied({ b: '2' })), {
      reason: 'Conflict',
      message: /conflict with "one": \.data\.b/,
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.b' }] },
    })
    t.equal(store.revision, revision)
    const shared = await apply('two', applied({ b: '1' }))
    t.strictSame(claims(shared).sort(), ['one Apply v1: .data.a .data.b', 'two Apply v1: .data.b'])
  })

  await t.test('by force takes over; as a dry run nothing is taken', async t => {
    const { revision } = store
    const tried = await apply('two', applied({ b: '2' }), { force: true, dryRun: true })
    t.strictSame([tried.data, store.revision], [{ a: '1', b: '2' }, revision])
    const now = await apply('two', applied({ b: '2' }), { force: true })
    t.strictSame(now.data, { a: '1', b: '2' })
    t.strictSame(claims(now).sort(), ['one Apply v1: .data.a', 'two Apply v1: .data.b'])
  })

  await t.test('leaves out what goes, unless somebody else owns it', async t => {
    await update('user', current => setData({ ...(current.data as object), c: '3' })(current))
    const now = await apply('two', applied({ d: '4' }))
    t.strictSame(now.data, { a: '1', c: '3', d: '4' })
    t.strictSame(claims(now).sort(), ['one Apply v1: .data.a', 'two Apply v1: .data.d', 'user Update v1: .data.c'])
  })

  await t.test('does not change what only the server can', async t => {
    await t.rejects(apply('one', configMap('c', { a: '1' }, { uid: 'another' })), refused('Invalid'))
    await t.rejects(apply('one', configMap('c', {}, { managedFields: [] })), refused('BadRequest'))
    await t.rejects(create('one', configMap('c')), refused('AlreadyExists'))
  })
})

t.test('who says again what admission completes changes nothing, however much later', async t => {
  let now = 0
  const completes: Admission = {
    stage: 'mutate',
    handles: () => true,
    async admit({ object }) {
      object.data = { place: 'a, with its id' }
    },
  }
  const clock = () => new Date(Date.UTC(2026, 0, 1, 0, 0, now))
  const here = await heart(t, { deps: { clock, admission: [completes] } })
  const type = here.type('v1/configmaps')
  const made = objectOf(await here.registry.create(asking({}), type, 'n', configMap('c', { place: 'a' })))
  now++
  const says = (current: KubeObject): KubeObject => ({ ...current, data: { place: 'a' } })
  const again = objectOf(await here.registry.update(asking({}), type, 'n', 'c', says))
  t.equal(again.metadata.resourceVersion, made.metadata.resourceVersion)
})
