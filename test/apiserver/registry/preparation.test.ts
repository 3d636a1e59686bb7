/** The order of a write: who sees an object when, what it is by then, and that a refusal ends it. */
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import { fieldError } from '../../../src/apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { cloneJson } from '../../../src/apimachinery/values.ts'
import { ADMISSION_STAGES, type Admission, type AdmissionStage } from '../../../src/apiserver/registry/admission.ts'
import type { Strategy } from '../../../src/kinds/strategy.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { asking, claims, configMap, heart, NOW, objectOf, refused, step } from './support.ts'

type Place = AdmissionStage | 'decode' | 'defaults' | 'strategy' | 'rules'

/** A kind and admission that note what they see, each time. */
function witnesses() {
  const seen: { place: Place; object: KubeObject }[] = []
  const note = (place: Place, object: KubeObject): void => void seen.push({ place, object: cloneJson(object) })
  const strategy: Strategy = {
    *decode(object) {
      note('decode', object)
      yield
      return undefined
    },
    applyDefaults: object => {
      note('defaults', object)
      object.data ??= { by: 'default' }
    },
    prepareForCreate: object => note('strategy', object),
    prepareForUpdate: object => note('strategy', object),
    validate: object => {
      note('rules', object)
      return []
    },
  }
  const admission = ADMISSION_STAGES.toReversed().map(stage => step(stage, ({ object }) => note(stage, object)))
  return {
    deps: { admission, strategyFor: () => strategy },
    seen,
    /** Object at its first arrival there. */
    at: (place: Place): KubeObject => seen.find(each => each.place === place)!.object,
    /** Places in order; one after itself once. */
    places: () => seen.map(({ place }) => place).filter((place, i, all) => place !== all[i - 1]),
  }
}

t.test('a create', async t => {
  const { deps, places, at } = witnesses()
  const { registry, type } = await heart(t, { deps })
  const metadata = { name: 'c', uid: 'mine', namespace: 'elsewhere' }
  const asked: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, unknown: 1 }
  const made = objectOf(await registry.create(asking(), type('v1/configmaps'), 'n', asked))
  t.strictSame(places(), [
    'decode',
    'defaults',
    'gate',
    'mutate',
    'strategy',
    'prepare',
    'rules',
    'validate',
  ] satisfies Place[])
  t.notOk('unknown' in at('decode'), 'pruned')
  t.strictSame(at('gate').data, { by: 'default' })
  t.strictSame(at('gate').metadata, { name: 'c', namespace: 'n' }, 'nobody has given it an identity')
  t.equal(at('mutate').metadata.uid, undefined)
  t.match(at('strategy').metadata, { uid: 'uid-1', creationTimestamp: NOW, generation: 1 })
  t.match(at('validate').metadata, { managedFields: [{ time: NOW, operation: 'Update' }] })
  const { resourceVersion: _, ...stored } = made.metadata
  t.strictSame(at('validate'), { ...made, metadata: stored }, 'what is looked at last is what is stored')
})

t.test('of a large object whose metadata is too much nothing is worked out', async t => {
  const { deps, places } = witnesses()
  const { registry, type } = await heart(t, { deps: { ...deps, turns: endlessTurns() } })
  const labels = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`label-${i}`, 'v']))
  await t.rejects(registry.create(asking(), type('v1/configmaps'), 'n', configMap('c', {}, { labels })), {
    reason: 'Invalid',
    message: /metadata\.labels: Too long: may not be more than 262144 bytes/,
  })
  t.strictSame(places(), ['decode', 'defaults', 'gate'] satisfies Place[])
})

t.test('an update', async t => {
  const { deps, places, at, seen } = witnesses()
  const { registry, type } = await heart(t, { deps })
  const configMaps = type('v1/configmaps')
  const before = objectOf(await registry.create(asking(), configMaps, 'n', configMap('c', { a: '1' })))
  seen.splice(0)
  const change = (): KubeObject => ({ ...configMap('c', { a: '2' }, { uid: before.metadata.uid }), unknown: 1 })
  const now = objectOf(await registry.update(asking(), configMaps, 'n', 'c', { replacement: change }))
  t.strictSame(
    places().filter((place, i, all) => !(place === 'strategy' && all[i + 1] === 'mutate')),
    ['decode', 'defaults', 'gate', 'mutate', 'strategy', 'rules', 'prepare', 'validate'] satisfies Place[],
  )
  t.notOk('unknown' in at('decode'), 'pruned')
  const { uid, creationTimestamp, generation } = before.metadata
  t.match(at('gate').metadata, { uid, creationTimestamp, generation, namespace: 'n' }, 'it is the object that it was')
  t.equal(at('rules').metadata.generation, 2)
  const { resourceVersion: _, ...metadata } = now.metadata
  const last = at('validate')
  delete last.metadata.resourceVersion
  t.strictSame(last, { ...now, metadata })
})

for (const operation of ['CREATE', 'UPDATE'] as const) {
  t.test(`who refuses ends it: ${operation}`, async t => {
    const world = async (...admission: Admission[]) => {
      const here = await heart(t, {
        deps: {
          admission,
          strategyFor: () => ({ validate: ({ data }) => (data ? [] : [fieldError.required('data', '')]) }),
        },
      })
      const type = here.type('v1/configmaps')
      if (operation === 'UPDATE') await here.registry.create(asking(), type, 'n', configMap('c', { a: '1' }))
      const { revision } = here.store
      const write = (data: Record<string, string>, context = asking()) =>
        operation === 'CREATE'
          ? here.registry.create(context, type, 'n', configMap('c', data))
          : here.registry.update(context, type, 'n', 'c', current => ({ ...current, data }))
      return { write, written: () => here.store.revision - revision }
    }

    for (const [i, stage] of ADMISSION_STAGES.entries()) {
      const asked: AdmissionStage[] = []
      const steps = ADMISSION_STAGES.map(each =>
        step(
          each,
          ({ type, object }) => {
            asked.push(each)
            if (each === stage) throw statusError.forbidden(type, object.metadata.name ?? '', `not at ${stage}`)
          },
          operation,
        ),
      )
      const { write, written } = await world(...steps)
      for (const dryRun of [false, true])
        await t.rejects(write({ a: '2' }, asking({ dryRun })), { reason: 'Forbidden', message: RegExp(`at ${stage}`) })
      const until = ADMISSION_STAGES.slice(0, i + 1)
      t.strictSame(asked, [...until, ...until], 'nobody behind it is asked')
      t.equal(written(), 0)
    }

    const behind: string[] = []
    const { write, written } = await world(step('validate', () => void behind.push('validate'), operation))
    await t.rejects(write({}), { reason: 'Invalid', message: /^ConfigMap "c" is invalid: data: Required value/ })
    t.strictSame([behind, written()], [[], 0], 'what is wrong is shown to no validating step')
  })
}

const mutating = (change: (object: KubeObject) => void, operation?: 'CREATE' | 'UPDATE'): Admission =>
  step('mutate', ({ object }) => change(object), operation)

t.test('what admission adds is stored, and nobody owns it', async t => {
  const adding = mutating(object => {
    object.data = { ...(object.data as object), added: 'yes' }
  })
  const { registry, type } = await heart(t, { deps: { admission: [adding] } })
  const configMaps = type('v1/configmaps')
  const made = objectOf(await registry.create(asking(), configMaps, 'n', configMap('c', { a: '1' })))
  t.strictSame([made.data, claims(made)], [{ a: '1', added: 'yes' }, [claims(made)[0]]])
  t.match(claims(made)[0], /: \.data\.a$/)
  const changed = objectOf(
    await registry.update(asking({ fieldManager: 'other' }), configMaps, 'n', 'c', current => ({
      ...current,
      data: { b: '2' },
    })),
  )
  t.strictSame(changed.data, { b: '2', added: 'yes' })
  t.notMatch(claims(changed).join(), 'added')
})

t.test('what only the server can say admission cannot', async t => {
  const claiming = mutating(({ metadata }) => {
    metadata.managedFields = []
    Object.assign(metadata, { uid: 'claimed', creationTimestamp: '2001-01-01T00:00:00Z' })
  })
  const moving = mutating(({ metadata }) => {
    Object.assign(metadata, { namespace: 'elsewhere', deletionTimestamp: '2001-01-01T00:00:00Z' })
  }, 'CREATE')
  const { registry, type } = await heart(t, { deps: { admission: [claiming, moving] } })
  const configMaps = type('v1/configmaps')
  const made = objectOf(await registry.create(asking(), configMaps, 'n', configMap('c', { a: '1' })))
  const { deletionTimestamp, managedFields, ...metadata } = made.metadata
  t.match(metadata, { uid: 'uid-1', creationTimestamp: NOW, namespace: 'n' })
  t.equal(deletionTimestamp, undefined)
  t.equal(managedFields?.length, 1)
  const now = objectOf(await registry.update(asking(), configMaps, 'n', 'c', current => ({ ...current, data: {} })))
  t.match(now.metadata, { uid: 'uid-1', creationTimestamp: NOW, managedFields: [{}] })
})

t.test('what admission makes of an object is judged as what users make of it', async t => {
  const spoiling = mutating(({ metadata }) => {
    metadata.labels = { '/': 'x' }
  })
  const { registry, type, store } = await heart(t, { deps: { admission: [spoiling] } })
  await t.rejects(registry.create(asking(), type('v1/configmaps'), 'n', configMap('c')), refused('Invalid'))
  t.equal(store.revision, 0)
})

t.test('a second round begins with what the first one left, in shape', async t => {
  const rounds: unknown[] = []
  const webhook = step('mutate', ({ object, rounds: here }) => {
    const { round, settle, runAgain } = here!
    rounds.push([round, cloneJson(object.data)])
    object.data = { ...(object.data as object), [`round${round}`]: 'yes', nothing: null }
    object.unknown = 'x'
    settle(object)
    runAgain()
  })
  const { registry, type } = await heart(t, { deps: { admission: [webhook] } })
  const made = objectOf(await registry.create(asking(), type('v1/configmaps'), 'n', configMap('c', { a: '1' })))
  t.strictSame(rounds, [
    [1, { a: '1' }],
    [2, { a: '1', round1: 'yes', nothing: '' }],
  ])
  t.notOk('unknown' in made)
  const wrong = step('mutate', ({ object, rounds: here }) => {
    object.data = 7
    here!.settle(object)
  })
  const other = await heart(t, { deps: { admission: [wrong] } })
  await t.rejects(other.registry.create(asking(), type('v1/configmaps'), 'n', configMap('c')), {
    message: /cannot unmarshal number into Go struct field/,
  })
})
