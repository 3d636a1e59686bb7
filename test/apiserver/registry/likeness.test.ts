/** What stored objects are like: equal only where they say the same, and equal wherever copies were made of the same. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { StoredLikeness } from '../../../src/apiserver/registry/likeness.ts'
import { Bodies } from '../../../src/storage/bodies.ts'
import type { SharedStored } from '../../../src/storage/sharedStored.ts'
import type { Stored } from '../../../src/storage/store.ts'
import { declared } from '../../storage/declared.ts'
import * as fc from '../../support/fastCheck.ts'

const likenessOf = (stored: Stored) => new StoredLikeness().of(stored)

interface Identity {
  readonly uid: string
  readonly time: string
  readonly space: string
  readonly revision: number
}

const FIRST: Identity = { uid: 'aaaa-1', time: '2026-01-01T00:00:00Z', space: 'one', revision: 7 }
const SECOND: Identity = { uid: 'bbbb-2', time: '2026-02-02T00:00:00Z', space: 'another', revision: 1234 }

function stored(object: KubeObject, { revision, space }: Identity): Stored {
  const { head, tail } = encodeObject(object)
  const key = { space, group: '', resource: 'things', namespace: '', name: object.metadata.name ?? '' }
  return { key, revision, bytes: Buffer.from(`${head}${revision}${tail}`), headBytes: Buffer.byteLength(head) }
}

/** `said` as it is stored for somebody. */
function made(said: KubeObject, { uid, time, space }: Identity, status?: unknown): KubeObject {
  const { metadata, ...rest } = said
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
  const said = plain({ text: 'é }{ "quoted \\', status: { of: 'the author' }, list: [{ status: {} }] })
  const one = likenessOf(stored(made(said, FIRST), FIRST))!
  const two = likenessOf(stored(made(said, SECOND, { phase: '}"{', nested: { status: { x: '\\' } } }), SECOND))!
  t.equal(one.text, two.text)
  t.strictSame([one.uid, two.uid], ['aaaa-1', 'bbbb-2'])
  t.equal(two.hasStatus, true)
  t.equal(likenessOf(stored(made(plain({}), FIRST), FIRST))!.hasStatus, false)
})

t.test('what its author calls status is no status', async t => {
  const [a, b] = [1, 2].map(n => likenessOf(stored(made(plain({ status: { n } }), FIRST), FIRST))!.text)
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
  const said = fc.record({
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
    fc.property(said, fc.option(said, { nil: undefined }), tree, (first, other, status) => {
      const [a, b] = [object(first), object(other ?? first)]
      const one = likenessOf(stored(made(a, FIRST), FIRST))
      const two = likenessOf(stored(made(b, SECOND, { status }), SECOND))
      if (!one || !two || one.text !== two.text) return
      alike++
      if (!isDeepStrictEqual(spoken(a), spoken(b))) throw new Error(`${one.text} is of both`)
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

t.test('of texts that are kept once one is cut, unless they differ in more than who they are', async t => {
  const likeness = new StoredLikeness()
  const uids = ['11111111-2222-4333-8444-000000000001', '11111111-2222-4333-8444-000000000002'] as const
  const [one, two] = [
    { ...FIRST, uid: uids[0], space: 'aaaaaaaaaaaaaaaa' },
    { ...SECOND, uid: uids[1], space: 'bbbbbbbbbbbbbbbb' },
  ] as const
  const said = plain({ text: 'the same' })
  const first = stored(made(said, one), one)
  const bodies = new Bodies()
  const sharing = (object: KubeObject, { uid, time, space, revision }: Identity): SharedStored => {
    const key = { space, group: '', resource: 'things', namespace: '', name: 'x' }
    const text = declared(encodeObject(object), { uid, space, times: [time] })
    return bodies.stored({ key, revision }, bodies.declared(key, text)!)
  }
  let joined = 0
  const shared = (who: Identity) => {
    const whole = stored(made(said, who), who)
    const one = sharing(made(said, who), who)
    const get = (): Buffer => {
      joined++
      return whole.bytes
    }
    return Object.defineProperty(one, 'bytes', { get })
  }
  const [a, b] = [likeness.of(shared(one))!, likeness.of(shared(two))!]
  t.strictSame([a.uid, b.uid], uids)
  t.equal(a.text, b.text)
  t.equal(joined, 1)
  t.equal(a.text, likenessOf(first)?.text)

  const other = new StoredLikeness()
  const dated = [one, two].map(who => sharing(made(plain({ day: who.time }), who), who))
  t.equal(dated[0]?.body, dated[1]?.body)
  const [c, d] = dated.map(each => other.of(each)!.text)
  t.not(c, d)
})
