/** Updates of copies are, byte by byte, what the ordinary way makes of each; deletions leave what is more than one write. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { cloneJson } from '../../../../src/apimachinery/values.ts'
import { decodeObject } from '../../../../src/apiserver/registry/codec.ts'
import type { Stored } from '../../../../src/storage/store.ts'
import * as fc from '../../../support/fastCheck.ts'
import {
  asking,
  configMap,
  deployment,
  type HeartOptions,
  heart,
  refused,
  SPACE,
  step,
  widget,
  widgets,
} from '../support.ts'

const T0 = '2026-01-02T03:04:05Z'
const T1 = '2026-02-03T04:05:06Z'
const T2 = '2026-03-04T05:06:07Z'
/** Copies are compared with the object of this space, which goes the ordinary way. */
const ALONE = '0000000000spacez'

const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const MADE = configMap('x', { v: 'made' })

async function world(t: Test, kind: string, { deps, ...more }: HeartOptions = {}) {
  let now = T0
  let uids = 0
  let looks = 0
  const h = await heart(t, {
    ...more,
    deps: {
      uuid: () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`,
      annotateSpace: true,
      clock: () => new Date(now),
      parameterized: () => {
        looks++
        return undefined
      },
      ...deps,
    },
  })
  const type = h.type(kind)
  const key = (space: string, name: string) => ({ ...h.keyOf(type, 'n', name), space })
  const stored = async (space: string, name: string): Promise<Stored> => (await h.store.get(key(space, name)))!
  return {
    ...h,
    stored,
    at(time: string) {
      now = time
    },
    create: (space: string, object: KubeObject) =>
      h.registry.create(asking({ space }), type, 'n', cloneJson(object), { isShared: true }),
    /** Another manager claims a label. */
    label: (space: string, name: string, by: string) =>
      h.registry.update(asking({ space, fieldManager: by }), type, 'n', name, ({ metadata, ...rest }) => {
        const count = Number(metadata.labels?.[by] ?? 0) + 1
        return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, [by]: String(count) } } }
      }),
    status: (space: string, name: string, status: object) =>
      h.registry.update(
        asking({ space, fieldManager: 'syncer' }),
        type,
        'n',
        name,
        current => ({ ...current, status }),
        { subresource: 'status' },
      ),
    /** As the translator does it: the present copy, with some content replaced. Whether it went the ordinary way. */
    async change(space: string, content: KubeObject, more: object = {}): Promise<boolean> {
      const name = content.metadata.name!
      const context = asking({ space, ...more })
      const before = await stored(space, name)
      const { uid = '', resourceVersion = '' } = decodeObject(before).metadata
      const ordinary = async (): Promise<true> => {
        const object = replaced(content, decodeObject(before))
        await h.registry.update(context, type, 'n', name, { replacement: () => object }, { isShared: true })
        return true
      }
      if (space === ALONE) return await ordinary()
      looks = 0
      const replace = (copy: KubeObject) => replaced(content, copy)
      const update = { context, type, namespace: 'n', name, uid, resourceVersion, content, replace }
      const [changed] = await h.registry.copies.update([update])
      if (changed === undefined) return await ordinary()
      t.strictSame(
        besideWhich(changed.like),
        besideWhich(decodeObject(changed.stored)),
        'a like copy differs in its own values alone',
      )
      return looks > 1
    },
  }
}

function replaced(content: KubeObject, copy: KubeObject): KubeObject {
  const { metadata, ...fields } = cloneJson(content)
  const { annotations = {} } = copy.metadata
  // the server has set selector and labels of a Job
  const spec = copy.kind === 'Job' && { spec: { ...(copy.spec as object), ...(fields.spec as object) } }
  return { ...copy, ...fields, ...spec, metadata: { ...copy.metadata, ...metadata, annotations } }
}

/** The object without what tells it from others that say the same. */
function besideWhich(object: Readonly<KubeObject>): object {
  const { metadata, ...rest } = JSON.parse(JSON.stringify(object).replaceAll(object.metadata.uid!, 'UID')) as KubeObject
  const { creationTimestamp: _at, resourceVersion: _version, managedFields = [], annotations, ...more } = metadata
  const { 'kcp.io/cluster': _space, ...others } = annotations ?? {}
  const claims = managedFields.map(({ time: _time, ...claim }) => claim)
  // a status tells times of its own
  const timeless = JSON.parse(JSON.stringify(rest).replaceAll(/"20\d\d-[^"]*Z"/g, '"TIME"'))
  return { ...timeless, metadata: { ...more, annotations: others, managedFields: claims } }
}

/** The text without what tells objects of several spaces apart. */
function sameText({ key, bytes, headBytes, revision, note }: Stored): string {
  const head = bytes.toString('utf8', 0, headBytes)
  const tail = bytes.toString('utf8', headBytes + String(revision).length)
  const { uid } = JSON.parse(bytes.toString()).metadata
  return `${head.replace(`"uid":"${uid}"`, 'UID').replace(`"kcp.io/cluster":"${key.space}"`, 'SPACE')}|${tail}|${note}`
}

const SPACES = ['0000000000spacea', '0000000000spaceb', '0000000000spacec', ALONE]

t.test('changes one after the other, each made once', async t => {
  for (const part of [undefined, 'copy', 'source'] as const) {
    const w = await world(t, 'apps/v1/deployments', part && { deps: { travel: { partOf: () => part } } })
    for (const space of SPACES) await w.create(space, deployment('x'))
    for (const [time, replicas] of [
      [T1, 2],
      [T2, 3],
    ] as const) {
      w.at(time)
      const content = deployment('x', { replicas })
      const wholly: boolean[] = []
      for (const space of SPACES) wholly.push(await w.change(space, content))
      t.strictSame(wholly, [true, false, false, true])
      const texts = await Promise.all(SPACES.map(async space => sameText(await w.stored(space, 'x'))))
      t.strictSame(texts, Array(4).fill(texts[3]))
      t.match(decodeObject(await w.stored('0000000000spaceb', 'x')), {
        metadata: { generation: replicas },
        spec: { replicas },
      })
    }
  }
})

t.test('changed again within the second in which it was made or changed, and after it', async t => {
  const w = await world(t, 'v1/configmaps')
  for (const space of SPACES) await w.create(space, MADE)
  for (const [i, time] of [T0, T0, T1, T1, T1, T2].entries()) {
    w.at(time)
    const content = configMap('x', { v: String(i) })
    const wholly: boolean[] = []
    for (const space of SPACES) wholly.push(await w.change(space, content))
    t.strictSame(wholly, [true, false, false, true])
    const texts = await Promise.all(SPACES.map(async space => sameText(await w.stored(space, 'x'))))
    t.strictSame(texts, Array(4).fill(texts[3]))
    t.match(decodeObject(await w.stored('0000000000spaceb', 'x')), { metadata: { creationTimestamp: T0 } })
  }
})

t.test('whenever objects were made, changed and reported of', async t => {
  const time = fc.constantFrom(T0, T1, T2)
  const by = fc.constantFrom('nobody', 'syncer', 'anna', 'zoe')
  const history = fc.array(fc.record({ time, by, at: time }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(history, { minLength: 3, maxLength: 3 }), time, async (histories, last) => {
      const w = await world(t, 'apps/v1/deployments')
      const made = deployment('x')
      const content = deployment('x', { replicas: 2 })
      const again = deployment('x', { replicas: 3 })
      const changes: (() => Promise<unknown>)[] = []
      for (const [i, steps] of histories.entries()) {
        // the other one of each is changed for itself
        for (const space of [`0000000000space${'abc'[i]}`, `000000000000twn${i}`]) {
          w.at(steps[0]!.time)
          await w.create(space, made)
          for (const { time, by, at } of steps) {
            w.at(time)
            const conditions = [{ type: 'A', status: 'True', lastUpdateTime: at, lastTransitionTime: T1 }]
            if (by === 'syncer') await w.status(space, 'x', { replicas: 1, conditions })
            else if (by !== 'nobody') await w.label(space, 'x', by)
          }
          changes.push(async () => {
            for (const next of [content, again]) await w.change(space, space.includes('twn') ? cloneJson(next) : next)
          })
        }
      }
      w.at(last)
      for (const change of changes) await change()
      for (const i of histories.keys()) {
        const [one, twin] = [
          await w.stored(`0000000000space${'abc'[i]}`, 'x'),
          await w.stored(`000000000000twn${i}`, 'x'),
        ]
        t.equal(sameText(one), sameText(twin))
      }
    }),
    { numRuns: 25 },
  )
})

t.test('kinds whose spec holds the uid, and custom kinds', async t => {
  const containers = [{ name: 'main', image: 'example.com/main:1' }]
  const template = { spec: { containers, restartPolicy: 'Never' } }
  const job = (parallelism: number): KubeObject => {
    const spec = { parallelism, ...(parallelism === 1 && { template }) }
    return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x' }, spec }
  }
  const custom = { definitions: [widgets({ v1: { spec: ANYTHING } }, { subresources: { status: {} } })] }
  for (const [kind, options, sent] of [
    ['batch/v1/jobs', {}, job],
    ['example.com/v1/widgets', custom, (size: number) => widget('v1', 'x', { spec: { size } })],
  ] as const) {
    const w = await world(t, kind, options)
    for (const space of SPACES) {
      if (kind !== 'batch/v1/jobs')
        w.types.define(space, 'widgets.example.com', w.types.in(SPACE).versions('example.com', 'widgets'))
      await w.create(space, sent(1))
    }
    w.at(T1)
    const wholly: boolean[] = []
    const content = sent(2)
    for (const space of SPACES) wholly.push(await w.change(space, content))
    t.strictSame(wholly, [true, false, false, true], kind)
    const texts = await Promise.all(
      SPACES.map(async space => {
        const stored = await w.stored(space, 'x')
        return sameText(stored).replaceAll(decodeObject(stored).metadata.uid!, 'UID')
      }),
    )
    t.strictSame(texts, Array(4).fill(texts[3]), kind)
  }
})

t.test('a rule that looks at the status holds for each copy by its own', async t => {
  const claim = (storage: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'x' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  })
  const rule = { rule: '!has(self.status) || self.spec.size >= self.status.capacity' }
  const number = { type: 'integer' }
  const schema = {
    spec: { type: 'object', properties: { size: number } },
    status: { type: 'object', properties: { capacity: number } },
  }
  const defined = widgets({ v1: schema }, { subresources: { status: {} } })
  const version = (defined.spec as { versions: { schema: { openAPIV3Schema: object } }[] }).versions[0]!
  Object.assign(version.schema.openAPIV3Schema, { 'x-kubernetes-validations': [rule] })
  const kinds = {
    'v1/persistentvolumeclaims': {
      sent: (n: number) => claim(`${n}Gi`),
      status: (n: number) => ({ phase: 'Bound', capacity: { storage: `${n}Gi` } }),
    },
    'example.com/v1/widgets': {
      sent: (size: number) => widget('v1', 'x', { spec: { size } }),
      status: (capacity: number) => ({ capacity }),
    },
  }
  for (const [kind, { sent, status }] of Object.entries(kinds)) {
    const w = await world(t, kind, { definitions: [defined] })
    const capacities = { '0000000000spacea': 1, '0000000000spaceb': 5, '0000000000spacec': 2, [ALONE]: 5 }
    for (const [space, capacity] of Object.entries(capacities)) {
      w.types.define(space, 'widgets.example.com', w.types.in(SPACE).versions('example.com', 'widgets'))
      await w.create(space, sent(10))
      await w.status(space, 'x', status(capacity))
    }
    w.at(T1)
    const content = sent(3)
    for (const [space, capacity] of Object.entries(capacities)) {
      const changing = w.change(space, content)
      await (capacity < 3 ? changing : t.rejects(changing, refused('Invalid'), `${kind} in ${space}`))
      const { spec } = decodeObject(await w.stored(space, 'x'))
      t.strictSame(JSON.stringify(spec).includes('10'), capacity > 3, `${kind} in ${space}`)
    }
  }
})

t.test('what was made and reported at other times', async t => {
  const w = await world(t, 'apps/v1/deployments')
  for (const [space, time] of [
    ['0000000000spacea', T0],
    ['0000000000spaceb', T1],
    ['0000000000spacec', T1],
    [ALONE, T1],
  ] as const) {
    w.at(time)
    await w.create(space, deployment('x'))
    if (space !== '0000000000spacea') w.at('2026-02-09T00:00:00Z')
    await w.status(space, 'x', { replicas: 1 })
  }
  w.at(T2)
  const content = deployment('x', { replicas: 2 })
  const wholly: boolean[] = []
  for (const space of SPACES) wholly.push(await w.change(space, content))
  t.strictSame(wholly, [true, false, false, true])
  t.equal(sameText(await w.stored('0000000000spacec', 'x')), sameText(await w.stored(ALONE, 'x')))
  t.match(decodeObject(await w.stored('0000000000spacec', 'x')), { status: { replicas: 1 } })
})

t.test('what clusters report at times of their own stays, and is changed once', async t => {
  const times = [T0, T1, T2, '2026-02-09T00:00:00Z']
  const w = await world(t, 'apps/v1/deployments')
  const status = (i: number) => {
    const [one, other] = [times[i % 4]!, times[(i + 1) % 4]!]
    return { replicas: 1, conditions: [{ type: 'A', status: 'True', lastUpdateTime: one, lastTransitionTime: other }] }
  }
  w.at(T1)
  for (const space of SPACES) await w.create(space, deployment('x'))
  for (const [i, space] of SPACES.entries()) await w.status(space, 'x', status(i))
  for (const [replicas, time] of [
    [2, T2],
    [3, '2026-03-09T00:00:00Z'],
  ] as const) {
    w.at(time)
    const content = deployment('x', { replicas })
    const wholly: boolean[] = []
    for (const space of SPACES) wholly.push(await w.change(space, content))
    t.strictSame(wholly, [true, false, false, true])
    for (const [i, space] of SPACES.entries())
      t.match(decodeObject(await w.stored(space, 'x')), { spec: { replicas }, status: status(i) })
    const heads = await Promise.all(SPACES.map(async space => sameText(await w.stored(space, 'x')).split('|')[0]))
    t.strictSame(heads, Array(4).fill(heads[3]))
  }
})

t.test('a status that is sent with the object is what is written', async t => {
  const w = await world(t, 'example.com/v1/widgets', { definitions: [widgets({ v1: { status: ANYTHING } })] })
  for (const space of SPACES)
    w.types.define(space, 'widgets.example.com', w.types.in(SPACE).versions('example.com', 'widgets'))
  for (const [i, space] of SPACES.entries())
    await w.create(space, widget('v1', 'x', { status: { at: i === 2 ? T2 : T0 }, spec: {} }))
  w.at(T1)
  const content = widget('v1', 'x', { status: { at: T0 }, spec: { size: 1 } })
  for (const space of SPACES) {
    await w.change(space, content)
    t.match(decodeObject(await w.stored(space, 'x')), { status: { at: T0 } })
  }
})

t.test('what differs is changed for itself', async t => {
  const w = await world(t, 'v1/configmaps')
  const before = { '0000000000spacea': '1', '0000000000spaceb': '1', '0000000000spacec': 'other' }
  for (const [space, v] of Object.entries(before)) await w.create(space, configMap('x', { v }, { labels: { v } }))
  w.at(T1)
  const content = configMap('x', { v: '2' })
  t.ok(await w.change('0000000000spacea', content))
  t.notOk(await w.change('0000000000spaceb', content))
  t.ok(await w.change('0000000000spacec', content), 'the label that is there stays')
  t.match(decodeObject(await w.stored('0000000000spacec', 'x')), {
    data: { v: '2' },
    metadata: { labels: { v: 'other' } },
  })
})

t.test('who writes as another, and what steps may change', async t => {
  const w = await world(t, 'v1/configmaps')
  for (const space of SPACES) await w.create(space, configMap('x', { v: '1' }))
  w.at(T1)
  const content = configMap('x', { v: '2' })
  t.ok(await w.change('0000000000spacea', content))
  t.ok(await w.change('0000000000spaceb', content, { fieldManager: 'other' }))
  t.match(decodeObject(await w.stored('0000000000spaceb', 'x')).metadata.managedFields, [
    { manager: 'me' },
    { manager: 'other' },
  ])
  const change = step('mutate', ({ object, context }) => {
    object.data = { of: context.space }
  })
  const steps = await world(t, 'v1/configmaps', { deps: { admission: [change] } })
  for (const space of SPACES) await steps.create(space, configMap('x', { v: '1' }))
  steps.at(T1)
  for (const space of SPACES) {
    t.ok(await steps.change(space, content))
    t.strictSame(decodeObject(await steps.stored(space, 'x')).data, { of: space })
  }
})

t.test('whatever objects say, be it like a uid, a time or a space', async t => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      T0,
      T1,
      '0000000000spacea',
      '0000000000spaceb',
      '00000000-0000-4000-8000-000000000001',
      '"uid":"',
      'kcp.io/cluster',
    ),
  )
  const data = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), word)
  await fc.assert(
    fc.asyncProperty(data, data, data, async (first, second, labels) => {
      const w = await world(t, 'v1/configmaps')
      const metadata = { annotations: labels }
      for (const space of SPACES) await w.create(space, configMap('x', first, metadata))
      w.at(T1)
      for (const space of SPACES) await w.change(space, configMap('x', second))
      const texts = await Promise.all(SPACES.map(async space => sameText(await w.stored(space, 'x'))))
      t.strictSame(texts, Array(4).fill(texts[3]))
    }),
    { numRuns: 40 },
  )
})

t.test('many are changed or deleted at a time: not those that were written meanwhile, or are held', async t => {
  const w = await world(t, 'v1/configmaps')
  const type = w.type('v1/configmaps')
  const object = configMap('x', { v: '1' })
  for (const space of SPACES) await w.create(space, object)
  w.at(T1)
  const content = configMap('x', { v: '2' })
  const named = async (space: string, name = 'x') => {
    const { uid = '', resourceVersion = '' } = decodeObject(await w.stored(space, name)).metadata
    const replace = (copy: KubeObject) => replaced(content, copy)
    return { context: asking({ space }), type, namespace: 'n', name, uid, resourceVersion, content, replace }
  }
  const updates = await Promise.all(SPACES.map(space => named(space)))
  await w.create('0000000000spaced', object)
  await w.change('0000000000spaced', configMap('x', { v: 'theirs' }))
  await w.change('0000000000spacec', configMap('x', { v: 'theirs' }))
  const changed = await w.registry.copies.update(updates)
  t.strictSame(
    changed.map(one => one?.stored.key.space),
    ['0000000000spacea', '0000000000spaceb', undefined, ALONE],
  )
  for (const space of ['0000000000spaceb', ALONE])
    t.equal(sameText(await w.stored(space, 'x')), sameText(await w.stored('0000000000spacea', 'x')))
  t.match(decodeObject(await w.stored('0000000000spacec', 'x')), { data: { v: 'theirs' } })
  const right = await Promise.all(SPACES.slice(0, 2).map(space => named(space)))
  const unchanged = right.map(one => ({ ...one, replace: () => undefined }))
  const before = w.store.revision
  t.strictSame(await w.registry.copies.update(unchanged), [undefined, undefined], 'right already')

  t.strictSame(await w.registry.copies.delete(updates), Array(4).fill(false), 'of another version')
  const now = await Promise.all(SPACES.map(space => named(space)))
  t.strictSame(await w.registry.copies.delete(now.map(each => ({ ...each, uid: 'another' }))), Array(4).fill(false))
  t.equal(w.store.revision, before)
  t.strictSame(await w.registry.copies.delete(now), Array(4).fill(true))
  t.equal(await w.stored('0000000000spacea', 'x'), undefined)
  const held = configMap('held', {}, { finalizers: ['example.com/held'] })
  for (const space of SPACES) await w.create(space, held)
  const others = await Promise.all(SPACES.map(space => named(space, 'held')))
  t.strictSame(await w.registry.copies.delete(others), Array(4).fill(false))
})
