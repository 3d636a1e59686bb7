/** The likeness of stored objects: equal for equal contents alone, and for all copies of one object. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { StoredLikeness } from '../../../src/apiserver/registry/likeness.ts'
import { Bodies } from '../../../src/storage/bodies.ts'
import type { SharedStored } from '../../../src/storage/sharedStored.ts'
import type { Stored } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'

const likenessOf = (stored: Stored) => new StoredLikeness().of(stored)
const bodies = new Bodies()

interface Identity {
  readonly uid: string
  readonly time: string
  readonly space: string
  readonly revision: number
}

const FIRST: Identity = { uid: 'aaaa-1', time: '2026-01-01T00:00:00Z', space: 'one', revision: 7 }
const SAME_LENGTH: Identity = { uid: 'cccc-3', time: '2026-03-03T00:00:00Z', space: 'two', revision: 8 }
const SECOND: Identity = { uid: 'bbbb-2', time: '2026-02-02T00:00:00Z', space: 'another', revision: 1234 }

/** As objects of many spaces are stored. */
function stored(object: KubeObject, { revision, space }: Identity): Stored {
  const key = { space, group: '', resource: 'things', namespace: '', name: object.metadata.name ?? '' }
  const own = bodies.declared(key, encodeObject(object, true))
  if (!own) throw new Error('the text has no gaps')
  return bodies.stored({ key, revision }, own)
}

/** `content` as it is stored for one identity. */
function made(content: KubeObject, { uid, time, space }: Identity, status?: unknown): KubeObject {
  const { metadata, ...rest } = content
  const managedFields = [
    { manager: 'a', operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
    { manager: 'b', operation: 'Apply', apiVersion: 'v1', time, fieldsType: 'FieldsV1', fieldsV1: {} },
  ]
  const annotations = { ...metadata.annotations, 'kcp.io/cluster': space }
  return {
    ...rest,
    metadata: { ...metadata, annotations, uid, creationTimestamp: time, managedFields },
    ...(status !== undefined && { status }),
  } as KubeObject
}

const plain = (spec: unknown): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x', labels: { app: 'a' } }, spec }) as KubeObject

t.test('copies of the same are alike, whatever their clusters report', async t => {
  const content = plain({ text: 'é }{ "quoted \\', status: { of: 'the author' }, list: [{ status: {} }] })
  const one = likenessOf(stored(made(content, FIRST), FIRST))!
  const two = likenessOf(stored(made(content, SECOND, { phase: '}"{', nested: { status: { x: '\\' } } }), SECOND))!
  t.equal(one.content, two.content)
  t.strictSame([one.uid, two.uid], ['aaaa-1', 'bbbb-2'])
  t.equal(two.hasStatus, true)
  t.equal(likenessOf(stored(made(plain({}), FIRST), FIRST))!.hasStatus, false)
})

t.test('a status that is no object has no likeness: its times are content', async t => {
  t.equal(likenessOf(stored(made(plain({}), FIRST, FIRST.time), FIRST)), undefined)
})

t.test('what its author calls status is no status', async t => {
  const [a, b] = [1, 2].map(n => likenessOf(stored(made(plain({ status: { n } }), FIRST), FIRST))!.content)
  t.not(a, b)
})

t.test('names that look like those of the server make no two alike that are not', async t => {
  const name = fc.constantFrom('uid', 'creationTimestamp', 'time', 'kcp.io/cluster', 'status', 'managedFields', 'x')
  const value = fc.constantFrom(
    FIRST.uid,
    SECOND.uid,
    FIRST.time,
    SECOND.time,
    'one',
    'another',
    '"uid":"',
    ',"status":{',
  )
  const words = fc.dictionary(name, value, { maxKeys: 3 })
  const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
    tree: fc.oneof({ maxDepth: 3 }, value, fc.dictionary(name, tie('tree'), { maxKeys: 3 })),
  }))
  const content = fc.record({
    labels: words,
    annotations: words,
    spec: tree,
    rest: fc.dictionary(name, tree, { maxKeys: 2 }),
  })
  const object = ({
    labels,
    annotations,
    spec,
    rest,
  }: {
    labels: object
    annotations: object
    spec: unknown
    rest: object
  }) =>
    ({
      ...rest,
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: { name: 'x', labels, annotations },
      spec,
      status: undefined,
    }) as unknown as KubeObject
  let alike = 0
  fc.assert(
    fc.property(content, fc.option(content, { nil: undefined }), tree, (first, other, status) => {
      const [a, b] = [object(first), object(other ?? first)]
      const one = likenessOf(stored(made(a, FIRST), FIRST))
      const two = likenessOf(stored(made(b, SECOND, { status }), SECOND))
      if (!one || !two || one.content !== two.content) return
      alike++
      if (!isDeepStrictEqual(spoken(a), spoken(b))) throw new Error(`${JSON.stringify([a, b])} are alike`)
    }),
    { numRuns: 2000 },
  )
  t.ok(alike > 100, `${alike} were alike`)
})

/** All but what the server overwrites. */
function spoken({ metadata: { labels, annotations = {} }, ...rest }: KubeObject): unknown {
  const { 'kcp.io/cluster': _, ...others } = annotations
  return JSON.parse(JSON.stringify({ labels, others, ...rest }))
}

t.test('the order of members and the manager of a status make no difference', async t => {
  const { metadata, ...rest } = made(plain({ text: 'the same' }), FIRST)
  const first = likenessOf(stored({ ...rest, metadata } as KubeObject, FIRST))!
  const managedFields = [...metadata.managedFields!, { manager: 'syncer', operation: 'Update', subresource: 'status' }]
  const reported = { apiVersion: 'v1', kind: 'Thing', metadata: { ...metadata, managedFields }, status: { n: 1 } }
  t.equal(likenessOf(stored({ ...reported, ...rest, status: { n: 1 } } as KubeObject, FIRST))?.content, first.content)
})

t.test('of objects with one body one is read, and none with a text of its own', async t => {
  const one = stored(made(plain({ text: 'one' }), FIRST), FIRST) as SharedStored
  const two = stored(made(plain({ text: 'one' }), SAME_LENGTH), SAME_LENGTH) as SharedStored
  t.equal(one.body, two.body)
  const likeness = new StoredLikeness()
  const first = likeness.of(one)!
  Object.defineProperty(one.body, 'blank', { get: () => t.fail('it is read again') })
  t.strictSame(likeness.of(two), { ...first, uid: SAME_LENGTH.uid })
  const { key, revision, bytes, headBytes } = one
  t.equal(likeness.of({ key, revision, bytes, headBytes }), undefined)
})
