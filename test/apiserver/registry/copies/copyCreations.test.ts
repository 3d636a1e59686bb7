/** Copies are, byte by byte, what the ordinary way makes of their object in each space. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { cloneJson } from '../../../../src/apimachinery/values.ts'
import { decodeObject } from '../../../../src/apiserver/registry/codec.ts'
import type { Copied, CopyPlace } from '../../../../src/apiserver/registry/copies/copyWrites.ts'
import type { Part } from '../../../../src/apiserver/registry/provenance.ts'
import { strategyFor } from '../../../../src/kinds/strategyFor.ts'
import type { Stored } from '../../../../src/storage/store.ts'
import * as fc from '../../../support/fastCheck.ts'
import {
  asking,
  configMap,
  deployment,
  type Heart,
  type HeartOptions,
  heart,
  NOW,
  refused,
  SPACE,
  step,
  widget,
  widgets,
} from '../support.ts'

const LABELS = { 'edge.kubestellar.io/projected': 'yes' }
const JOB = { containers: [{ name: 'main', image: 'example.com/main:1' }], restartPolicy: 'Never' }

/** A heart that counts how often an object goes the whole way. */
async function counting(t: Test, { deps, ...more }: HeartOptions = {}) {
  let prepared = 0
  let uids = 0
  const made = await heart(t, {
    ...more,
    deps: {
      uuid: () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`,
      annotateSpace: true,
      strategyFor: type => {
        prepared++
        return strategyFor(type)
      },
      ...deps,
    },
  })
  return {
    ...made,
    /** Whether `work` went the ordinary way. */
    async wholly(work: () => Promise<unknown>): Promise<boolean> {
      prepared = 0
      await work()
      return prepared > 0
    },
  }
}

/** The object without what tells it from others that say the same. */
function said(object: Readonly<KubeObject>): object {
  const { uid: _uid, creationTimestamp: _at, resourceVersion: _version, annotations, ...rest } = object.metadata
  const { 'kcp.io/cluster': _space, ...others } = annotations ?? {}
  return { ...object, metadata: { ...rest, annotations: others } }
}

/** The text without what tells objects of several spaces apart. */
function sameText({ key, bytes, headBytes, revision, note }: Stored): string {
  const head = bytes.toString('utf8', 0, headBytes)
  const tail = bytes.toString('utf8', headBytes + String(revision).length)
  const { kind, metadata } = JSON.parse(bytes.toString())
  const text = `${head.replace(`"kcp.io/cluster":"${key.space}"`, 'SPACE')}|${tail}|${note}`
  // a Job says it in its spec, too
  return kind === 'Job' ? text.replaceAll(metadata.uid, 'UID') : text.replace(`"uid":"${metadata.uid}"`, 'UID')
}

type Counting = Heart & { wholly(work: () => Promise<unknown>): Promise<boolean> }

/** As a copy, or else in the ordinary way. */
async function copied(h: Heart, place: CopyPlace, object: KubeObject): Promise<Stored> {
  const [copy] = await h.registry.copies.create([{ ...place, object }])
  return copy?.stored ?? (await ordinary(h, place, object))
}

async function ordinary(h: Heart, { context, type, namespace }: CopyPlace, object: KubeObject): Promise<Stored> {
  return (await h.registry.create(context, type, namespace, cloneJson(object), { isShared: true })).stored
}

/** Makes it in three spaces and, in the ordinary way, in a fourth; whether the third was a copy. */
async function madeAlike(t: Test, h: Counting, kind: string, object: KubeObject): Promise<boolean> {
  const type = h.type(kind)
  const namespace = type.namespaced ? 'n' : ''
  const sent = JSON.stringify(object)
  const texts: string[] = []
  let whole = false
  for (const space of ['0000000000spacea', '0000000000spaceb', '0000000000spacec'])
    whole = await h.wholly(async () =>
      texts.push(sameText(await copied(h, { context: asking({ space }), type, namespace }, object))),
    )
  const alone = await h.registry.create(asking({ space: '0000000000spaced' }), type, namespace, cloneJson(object))
  t.strictSame(texts, Array(3).fill(sameText(alone.stored)))
  t.equal(JSON.stringify(object), sent, 'the sent object is as it was')
  return !whole
}

const travelling = (part: Part): HeartOptions => ({ deps: { travel: { partOf: () => part } } })

t.test('built-in kinds', async t => {
  const labelled = (object: KubeObject): KubeObject => {
    return { ...object, metadata: { ...object.metadata, namespace: 'n', labels: LABELS } }
  }
  const v1 = (kind: string, content: object): KubeObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name: 'x', labels: LABELS },
    ...content,
  })
  const cases: [kind: string, object: KubeObject, isCopied: boolean][] = [
    ['v1/configmaps', labelled(configMap('x', { key: 'value', umlaut: 'ä€😀' })), true],
    ['v1/secrets', labelled(v1('Secret', { stringData: { a: 'geheim' }, data: { b: 'Yg==' } })), true],
    ['v1/services', labelled(v1('Service', { spec: { ports: [{ port: 80 }], selector: { a: 'b' } } })), true],
    ['apps/v1/deployments', labelled(deployment('x')), true],
    ['v1/namespaces', v1('Namespace', {}), true],
    // its uid stands in its selector, too
    [
      'batch/v1/jobs',
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'x', labels: LABELS },
        spec: { template: { spec: JOB } },
      },
      true,
    ],
    // another version than that of the store
    [
      'autoscaling/v1/horizontalpodautoscalers',
      {
        apiVersion: 'autoscaling/v1',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'x' },
        spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
      },
      false,
    ],
  ]
  for (const options of [{}, travelling('copy'), travelling('source')])
    for (const [kind, object, isCopied] of cases) {
      const h = await counting(t, options)
      t.equal(await madeAlike(t, h, kind, object), isCopied, kind)
    }
})

t.test('custom kinds, as long as each space defines them alike', async t => {
  const properties = { spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } } }
  const h = await counting(t, { definitions: [widgets({ v1: properties }, { subresources: { status: {} } })] })
  const [spaceB, spaceC] = ['0000000000spaceb', '0000000000spacec']
  const define = (space: string): void =>
    h.types.define(space, 'widgets.example.com', h.types.in(SPACE).versions('example.com', 'widgets'))
  for (const space of [spaceB, spaceC]) define(space)
  const type = h.type('example.com/v1/widgets')
  const object = widget('v1', 'x', { spec: {}, status: { is: 'nobody wants this' } })
  const make = (space: string, of = type) => copied(h, { context: asking({ space }), type: of, namespace: 'n' }, object)
  const remove = async (): Promise<void> => {
    const key = { ...h.keyOf(type, 'n', 'x'), space: spaceC }
    await h.store.update(key, () => ({ type: 'delete' }))
  }
  t.ok(await h.wholly(() => make(spaceB)))
  t.notOk(await h.wholly(() => make(spaceC)))
  // the same definition in another space, at another generation: other types, equal schemas
  h.redefine(widgets({ v1: properties }, { subresources: { status: {} }, generation: 4 }))
  define(spaceC)
  await remove()
  t.notOk(await h.wholly(() => make(spaceC, h.type('example.com/v1/widgets'))))

  h.redefine(widgets({ v1: { spec: { ...properties.spec, properties: { size: { type: 'integer', default: 5 } } } } }))
  define(spaceC)
  const changed = h.type('example.com/v1/widgets')
  await remove()
  const again = (): Promise<unknown> => make(spaceC, changed)
  t.ok(await h.wholly(again), 'a definition that has changed asks for all of it again')
  const stored = await h.store.get({ ...h.keyOf(changed, 'n', 'x'), space: spaceC })
  t.match(JSON.parse(stored!.bytes.toString()), { spec: { size: 5 } })
  t.ok(await h.wholly(() => make(SPACE, changed)), 'an id of another length has no room in the text')
  await remove()
  t.notOk(await h.wholly(again), 'and leaves the body of the others as it is')
})

t.test('a custom kind whose definition goes meanwhile takes no copies', async t => {
  const h = await counting(t, { definitions: [widgets({ v1: { spec: { type: 'object' } } })] })
  const type = h.type('example.com/v1/widgets')
  const object = widget('v1', 'x', { spec: {} })
  const at = (space: string) => ({ context: asking({ space }), type, namespace: 'n', object })
  const [spaceB, spaceC] = ['0000000000spaceb', '0000000000spacec']
  const served = h.types.in(SPACE).versions('example.com', 'widgets')
  for (const space of [spaceB, spaceC]) h.types.define(space, 'widgets.example.com', served)
  t.ok((await h.registry.copies.create([at(spaceB)]))[0])
  const going = served.map(one => ({ ...one, verbs: one.verbs.filter(verb => verb !== 'create') }))
  h.types.define(spaceC, 'widgets.example.com', going)
  t.strictSame(await h.registry.copies.create([at(spaceC)]), [undefined])
  await t.rejects(ordinary(h, at(spaceC), object), refused('MethodNotAllowed'))
})

t.test('whatever an object says, be it like a uid, a time or a space', async t => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      NOW,
      '0000000000spacea',
      '0000000000spaceb',
      '00000000-0000-4000-8000-000000000001',
      '"uid":"',
      'kcp.io/cluster',
    ),
  )
  const key = fc.stringMatching(/^[a-z]{1,8}$/)
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        data: fc.dictionary(key, word),
        annotations: fc.dictionary(key, word),
        labels: fc.dictionary(key, fc.constantFrom('a', '0000000000spacea', '0000000000spaceb')),
      }),
      async ({ data, annotations, labels }) => {
        const h = await counting(t)
        await madeAlike(t, h, 'v1/configmaps', configMap('x', data, { annotations, labels }))
      },
    ),
    { numRuns: 60 },
  )
})

t.test('each is made at its own time', async t => {
  let now = NOW
  const h = await counting(t, { deps: { clock: () => new Date(now) } })
  const place = { type: h.type('v1/configmaps'), namespace: 'n' }
  const object = configMap('x', { a: 'b' })
  await copied(h, { ...place, context: asking({ space: '0000000000spacea' }) }, object)
  now = '2027-11-12T13:14:15Z'
  const { metadata } = decodeObject(
    await copied(h, { ...place, context: asking({ space: '0000000000spaceb' }) }, object),
  )
  t.strictSame([metadata.creationTimestamp, metadata.managedFields?.map(({ time }) => time)], [now, [now]])
})

t.test('where a step may judge or change the object, each goes the ordinary way', async t => {
  for (const stage of ['gate', 'mutate', 'prepare', 'validate'] as const) {
    let asked = 0
    const h = await counting(t, { deps: { admission: [step(stage, () => void asked++)] } })
    const place = { context: asking(), type: h.type('v1/configmaps'), namespace: 'n' }
    const object = configMap('x', { a: 'b' })
    t.strictSame(await h.registry.copies.create([{ ...place, object }]), [undefined], stage)
    t.equal(asked, 0)
    await ordinary(h, place, object)
    t.ok(asked > 0)
  }
})

t.test('one who writes as another, or an object that is as another there, is no repetition', async t => {
  let part: Part | undefined = 'copy'
  let expands: 'expanded' | undefined
  const h = await counting(t, { deps: { travel: { partOf: () => part }, parameterized: () => expands } })
  const type = h.type('apps/v1/deployments')
  const object = deployment('x')
  let count = 0
  const make = (more: object = {}) =>
    copied(h, { context: asking({ space: `space-${++count}`, ...more }), type, namespace: 'n' }, object)
  await make()
  t.notOk(await h.wholly(() => make()))
  t.ok(await h.wholly(() => make({ fieldManager: 'other' })))
  t.ok(await h.wholly(() => make({ user: { name: 'other', groups: [] }, fieldManager: 'other' })))
  t.ok(await h.wholly(() => make({ dryRun: true })))
  part = 'source'
  t.ok(await h.wholly(() => make()))
  expands = 'expanded'
  t.ok(await h.wholly(() => make()))
})

t.test('a name that is taken stays as it is', async t => {
  const h = await counting(t)
  const type = h.type('v1/configmaps')
  const object = configMap('x')
  const at = (space: string) => ({ context: asking({ space }), type, namespace: 'n', object })
  await ordinary(h, at('0000000000spaceb'), object)
  const { revision } = h.store
  t.strictSame(await h.registry.copies.create([at('0000000000spaceb')]), [undefined], 'also of the first')
  await h.registry.copies.create([at('0000000000spacea')])
  t.strictSame(await h.registry.copies.create([at('0000000000spaceb')]), [undefined])
  t.equal(h.store.revision, revision + 1)
  await t.rejects(ordinary(h, at('0000000000spaceb'), object), refused('AlreadyExists'))
})

t.test('many at a time are what each alone would be; those that need the ordinary way are left', async t => {
  const swift = {
    ...step('gate', ({ context }) => refusing(context.space, '00000000refusing')),
    judgesPlaces: true,
  } as const
  const slow = {
    ...step('validate', () => undefined),
    reaches: ({ space }: { space: string }) => space === 'space-slow',
  }
  const h = await counting(t, { deps: { admission: [swift, slow] } })
  const type = h.type('v1/configmaps')
  const first = configMap('x', { a: 'b' })
  const spaces = [
    '0000000000spaceb',
    '00000000refusing',
    '0000000000spacec',
    'space-slow',
    '0000000000spacea',
    '0000000000spaced',
  ]
  const all = spaces.map(space => ({ context: asking({ space }), type, namespace: 'n', object: first }))
  const there = ['0000000000spaceb', '0000000000spacec', '0000000000spacea', '0000000000spaced']
  const alone = await ordinary(h, { ...all[0]!, context: asking({ space: '0000000000spacez' }) }, first)
  let made: readonly (Copied | undefined)[] = []
  t.ok(await h.wholly(async () => (made = await h.registry.copies.create(all))), 'the first one shows the body')
  t.strictSame(
    made.map(one => one?.stored.key.space),
    spaces.map(space => (there.includes(space) ? space : undefined)),
  )
  const uids = new Set<string | undefined>()
  for (const one of made) {
    if (one === undefined) continue
    t.equal(sameText(one.stored), sameText(alone))
    const object = decodeObject(one.stored)
    t.strictSame(said(one.like), said(object), 'a like copy differs in its own values alone')
    t.equal(one.uid, object.metadata.uid)
    t.equal((await h.store.get(one.stored.key))?.revision, one.stored.revision)
    uids.add(one.uid)
  }
  t.equal(uids.size, there.length)
  for (const space of ['00000000refusing', 'space-slow'])
    t.equal(await h.store.get({ ...h.keyOf(type, 'n', 'x'), space }), undefined)
  const others = configMap('y')
  await copied(h, all[0]!, others)
  const again = all.slice(1).map(one => ({ ...one, object: others }))
  t.notOk(await h.wholly(async () => (made = await h.registry.copies.create(again))), 'its body is known')
  t.equal(made.filter(one => one !== undefined).length, there.length - 1)
})

function refusing(space: string, refused: string): void {
  if (space === refused) throw new Error('full')
}
