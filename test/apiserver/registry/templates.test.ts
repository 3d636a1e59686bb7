/** An object that goes into many spaces: made by a template it is what it would be without one, byte by byte. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { cloneJson } from '../../../src/apimachinery/values.ts'
import type { Part } from '../../../src/apiserver/registry/provenance.ts'
import { strategyFor } from '../../../src/kinds/strategyFor.ts'
import type { Stored } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'
import {
  asking,
  configMap,
  deployment,
  type Heart,
  type HeartOptions,
  heart,
  NOW,
  objectOf,
  refused,
  SPACE,
  step,
  widget,
  widgets,
} from './support.ts'

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
    /** Whether `work` went the whole way. */
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

/** Makes it in three spaces and, without templates, in a fourth; whether the third was made by a template. */
async function madeAlike(t: Test, h: Counting, kind: string, object: KubeObject, namespace = 'n'): Promise<boolean> {
  const type = h.type(kind)
  const at = type.namespaced ? namespace : ''
  const sent = JSON.stringify(object)
  const texts: string[] = []
  let whole = false
  for (const space of ['0000000000spacea', '0000000000spaceb', '0000000000spacec'])
    whole = await h.wholly(async () => {
      const made = await h.registry.createShared(asking({ space }), type, at, object)
      texts.push(sameText(made.stored))
      if (made.object) t.strictSame(made.object, objectOf(made), 'what is answered is what is stored')
    })
  const alone = await h.registry.create(asking({ space: '0000000000spaced' }), type, at, cloneJson(object))
  t.strictSame(texts, Array(3).fill(sameText(alone.stored)))
  t.equal(JSON.stringify(object), sent, 'what was sent is as it was')
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
  const cases: [kind: string, object: KubeObject, byTemplate: boolean][] = [
    ['v1/configmaps', labelled(configMap('x', { key: 'value', umlaut: 'ä€😀' })), true],
    ['v1/secrets', labelled(v1('Secret', { stringData: { a: 'geheim' }, data: { b: 'Yg==' } })), true],
    ['v1/services', labelled(v1('Service', { spec: { ports: [{ port: 80 }], selector: { a: 'b' } } })), true],
    ['apps/v1/deployments', labelled(deployment('x')), true],
    ['v1/namespaces', v1('Namespace', {}), true],
    // it says its uid in its selector
    [
      'batch/v1/jobs',
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'x', labels: LABELS },
        spec: { template: { spec: JOB } },
      },
      false,
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
    for (const [kind, object, byTemplate] of cases) {
      const h = await counting(t, options)
      t.equal(await madeAlike(t, h, kind, object), byTemplate, kind)
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
  const make = (space: string, of = type) => h.registry.createShared(asking({ space }), of, 'n', object)
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
  const type = h.type('v1/configmaps')
  const object = configMap('x', { a: 'b' })
  await h.registry.createShared(asking({ space: '0000000000spacea' }), type, 'n', object)
  now = '2027-11-12T13:14:15Z'
  const made = await h.registry.createShared(asking({ space: '0000000000spaceb' }), type, 'n', object)
  const { metadata } = objectOf(made)
  t.strictSame([metadata.creationTimestamp, metadata.managedFields?.map(({ time }) => time)], [now, [now]])
  t.strictSame(made.object, objectOf(made))
})

t.test('what judges without changing is asked each time', async t => {
  const seen: unknown[] = []
  const judge = step('validate', ({ context, object }) => {
    seen.push([context.space, object.metadata.uid, object.data])
    if (context.space === '0000000000spacec') throw new Error('full')
  })
  const h = await counting(t, { deps: { admission: [judge] } })
  const type = h.type('v1/configmaps')
  const object = configMap('x', { a: 'b' })
  const make = (space: string) => h.registry.createShared(asking({ space }), type, 'n', object)
  await make('0000000000spacea')
  const made = await make('0000000000spaceb')
  t.strictSame(seen.at(-1), ['0000000000spaceb', objectOf(made).metadata.uid, { a: 'b' }])
  await t.rejects(make('0000000000spacec'), { message: 'full' })
  t.equal(await h.store.get({ ...h.keyOf(type, 'n', 'x'), space: '0000000000spacec' }), undefined)
})

t.test('where a step may change the object, all of it is done for each', async t => {
  for (const stage of ['mutate', 'prepare'] as const) {
    const change = step(stage, ({ context, object }) => {
      object.data = { of: context.space }
    })
    const h = await counting(t, { deps: { admission: [change] } })
    const type = h.type('v1/configmaps')
    const object = configMap('x', { a: 'b' })
    for (const space of ['0000000000spacea', '0000000000spaceb']) {
      const made = await h.registry.createShared(asking({ space }), type, 'n', object)
      t.strictSame(objectOf(made).data, { of: space })
    }
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
    h.registry.createShared(asking({ space: `space-${++count}`, ...more }), type, 'n', object)
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

t.test('a name that is taken is refused as ever', async t => {
  const h = await counting(t)
  const type = h.type('v1/configmaps')
  const object = configMap('x')
  const make = (space: string) => h.registry.createShared(asking({ space }), type, 'n', object)
  await make('0000000000spacea')
  await make('0000000000spaceb')
  await t.rejects(make('0000000000spaceb'), refused('AlreadyExists'))
  await t.rejects(make('0000000000spaceb'), { message: 'configmaps "x" already exists' })
})

t.test('many at a time are what each alone would be; what is not as simple is left', async t => {
  const swift = {
    ...step('gate', ({ context }) => refusing(context.space, 'space-refusing')),
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
    'space-refusing',
    '0000000000spacec',
    'space-slow',
    '0000000000spacea',
    '0000000000spaced',
  ]
  const all = spaces.map(space => ({ context: asking({ space }), type, namespace: 'n', sent: first }))
  t.strictSame(
    await h.registry.createManyShared(all),
    spaces.map(space => (space === 'space-refusing' || space === 'space-slow' ? undefined : 'first')),
    'the first one goes alone',
  )
  const alone = await h.registry.createShared(asking({ space: '0000000000spacea' }), type, 'n', first)

  let made: Awaited<ReturnType<typeof h.registry.createManyShared>> = []
  t.notOk(await h.wholly(async () => (made = await h.registry.createManyShared(all))))
  const there = ['0000000000spaceb', '0000000000spacec', '0000000000spaced']
  t.strictSame(
    made.map(one => (typeof one === 'object' ? one.stored.key.space : one)),
    spaces.map(space => (there.includes(space) ? space : undefined)),
  )
  const uids = new Set<string | undefined>()
  for (const one of made) {
    if (typeof one !== 'object') continue
    t.equal(sameText(one.stored), sameText(alone.stored))
    t.strictSame(said(one.like), said(objectOf(one)), 'what is answered is what is stored, but for which one it is')
    t.equal(one.uid, objectOf(one).metadata.uid)
    t.equal((await h.store.get(one.stored.key))?.revision, one.stored.revision)
    uids.add(one.uid)
  }
  t.equal(uids.size, there.length)
  for (const space of ['space-refusing', 'space-slow'])
    t.equal(await h.store.get({ ...h.keyOf(type, 'n', 'x'), space }), undefined)
})

function refusing(space: string, refused: string): void {
  if (space === refused) throw new Error('full')
}
