import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs/minimal.js'
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { protobufCodec, type WireObject } from '../../../src/apimachinery/protobuf/protobufCodec.ts'
import { readProtobufFields } from '../../../src/program/dataFiles.ts'

interface Fixture {
  name: string
  hex: string
  json: WireObject
}

const codec = protobufCodec(readProtobufFields)
/** Answers of kube-apiserver 1.20 to the same request in both forms. */
const server = fixture('kube-apiserver.json') as {
  answers: Fixture[]
  watch: { hex: string; json: { type: string; object: WireObject } }
}
/** Requests of kubectl 1.32 and 1.33; the JSON is their output with `--dry-run=client -o json`. */
const kubectl = fixture('kubectl.json') as Fixture[]

t.test('what kube-apiserver says in protobuf is what it says in JSON', async t => {
  for (const { name, hex, json } of server.answers) {
    t.strictSame(withoutNullCreation(codec.decode(Buffer.from(hex, 'hex'))), withoutNullCreation(json), name)
  }
})

t.test('an object survives the way to a client and back', async t => {
  for (const { name, json } of [...server.answers, ...kubectl]) {
    t.strictSame(withoutNullCreation(codec.decode(codec.encode(json))), withoutNullCreation(json), name)
  }
})

t.test('a reference to a parameter where a number is wanted breaks no list: it is told as nothing', async t => {
  const spec = { replicas: '%(replicas)', paused: '%(paused)' }
  const read = codec.decode(codec.encode({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec }))
  t.match(read.spec, { replicas: 0 })
  const wrong = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, spec: { replicas: 'three' } }
  t.throws(() => codec.encode(wrong), /cannot write "three" as a number/)
})

t.test('kubectl create configmap a --from-literal=x=1', async t => {
  const { hex } = kubectl.find(request => request.name.endsWith('/configmaps'))!
  t.strictSame(codec.decode(Buffer.from(hex, 'hex')), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { x: '1' },
  })
})

t.test('requests of kubectl are read, and written byte by byte as kubectl writes them', async t => {
  for (const { name, hex, json } of kubectl) {
    t.strictSame(codec.decode(Buffer.from(hex, 'hex')), json, name)
    t.equal(codec.encode(json).toString('hex'), hex, name)
  }
})

t.test('a watch frame of kube-apiserver', async t => {
  const { hex, json } = server.watch
  t.strictSame(codec.decodeWatchFrame(Buffer.from(hex, 'hex')), json)
  const frame = codec.encodeWatchFrame(json.type, json.object)
  t.equal(frame.readUInt32BE(0), frame.length - 4, 'starts with its length')
  t.strictSame(codec.decodeWatchFrame(frame), json)
})

t.test('watches carry bookmarks and errors', async t => {
  const bookmark = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { resourceVersion: '7' },
    spec: { containers: null },
    status: {},
  }
  t.strictSame(codec.decodeWatchFrame(codec.encodeWatchFrame('BOOKMARK', bookmark)), {
    type: 'BOOKMARK',
    object: bookmark,
  })
  const error = new StatusError('Expired', 'too old').toStatus() as unknown as WireObject
  t.strictSame(codec.decodeWatchFrame(codec.encodeWatchFrame('ERROR', error)), { type: 'ERROR', object: error })
})

t.test('pointers keep an explicit zero, other fields lose it unless JSON always has them', async t => {
  const scaled = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {},
    spec: { replicas: 0, minReadySeconds: 0, paused: false },
  }
  const spec = codec.decode(codec.encode(scaled)).spec as Record<string, unknown>
  t.equal(spec.replicas, 0)
  t.notOk('minReadySeconds' in spec || 'paused' in spec)
  t.equal(spec.selector, null, 'required, but a pointer that is not set')
  const container = codec.decode(
    codec.encode({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: [{ name: '', image: '' }] } }),
  )
  t.strictSame(container.spec, { containers: [{ name: '', resources: {} }] })
})

t.test('options of a request are understood under the version of any group', async t => {
  const options = {
    kind: 'DeleteOptions',
    gracePeriodSeconds: 0,
    propagationPolicy: 'Foreground',
    preconditions: { uid: 'u' },
  }
  for (const apiVersion of ['v1', 'apps/v1', 'meta.k8s.io/v1', 'edge.kubestellar.io/v2alpha1']) {
    t.strictSame(codec.decode(codec.encode({ apiVersion, ...options })), { apiVersion, ...options })
  }
})

t.test('only kinds with a published message are supported', async t => {
  t.ok(codec.supports('v1', 'PodList'))
  t.ok(codec.supports('autoscaling/v1', 'Scale'))
  t.ok(codec.supports('policy/v1', 'Eviction'))
  t.ok(codec.supports('meta.k8s.io/v1', 'PartialObjectMetadataList'))
  t.notOk(codec.supports('edge.kubestellar.io/v2alpha1', 'EdgePlacement'))
  t.notOk(codec.supports('example.com/v1', 'Widget'))
  t.notOk(codec.supports('v1', 'constructor'))
  t.throws(() => codec.encode({ apiVersion: 'example.com/v1', kind: 'Widget' }), { message: /no protobuf form/ })
})

t.test('an empty list is a list, not null', async t => {
  const list = { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items: [] }
  t.strictSame(codec.decode(codec.encode(list)), list)
})

t.test('labels may have any name', async t => {
  const labels = JSON.parse('{"__proto__":"a","constructor":"b","":"c"}') as Record<string, string>
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels } }
  const read = codec.decode(codec.encode(map))
  t.equal(
    JSON.stringify(Object.entries((read.metadata as typeof map.metadata).labels).sort()),
    JSON.stringify(Object.entries(labels).sort()),
  )
})

t.test(
  'large objects one after the other need no new memory but their own, whatever became of the one before',
  async t => {
    const map = (data: Record<string, unknown>): WireObject => ({ apiVersion: 'v1', kind: 'ConfigMap', data })
    const own = protobufCodec(readProtobufFields)
    const first = own.encodePart(map({ a: 'x'.repeat(300_000) }))
    const kept = Buffer.from(first)
    t.throws(() => own.encodePart(map({ a: 'y'.repeat(300_000), b: 1 })), TypeError, 'half way')
    const { alloc } = protobuf.BufferWriter as unknown as { alloc: (size: number) => Buffer }
    own.encodePart(map({ a: 'z'.repeat(300_000) }))
    const sizes: number[] = []
    t.capture(protobuf.BufferWriter as unknown as { alloc: typeof alloc }, 'alloc', (size: number) => {
      sizes.push(size)
      return alloc(size)
    })
    const again = own.encodePart(map({ a: 'x'.repeat(300_000) }))
    t.strictSame(sizes, [first.length])
    t.ok(again.equals(first))
    t.ok(first.equals(kept), 'what was handed out stays as it is')
  },
)

t.test('errors are worded as those of kube-apiserver', async t => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace' }
  const cases: [body: string, message: string][] = [
    ['', 'the object provided is unrecognized (must be of type Namespace): empty data (<empty>)'],
    ['6b387300', 'the object provided is unrecognized (must be of type Namespace): empty body (6b387300)'],
    [
      '67617262616765',
      'the object provided is unrecognized (must be of type Namespace): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (67617262616765)',
    ],
    [
      '6b38730067617262616765',
      'the object provided is unrecognized (must be of type Namespace): proto: illegal wireType 7 (6b38730067617262616765)',
    ],
    [
      `${envelope('v1', 'Namespace')}12030a0978`,
      'Namespace in version "v1" cannot be handled as a Namespace: unexpected EOF',
    ],
    [
      `${envelope('v1', 'Namespace')}12030809780a`.slice(0, -2),
      'Namespace in version "v1" cannot be handled as a Namespace: proto: wrong wireType = 0 for field ObjectMeta',
    ],
    [
      `${envelope('v1', 'Namespaze')}1200`,
      'Namespaze in version "v1" cannot be handled as a Namespace: no kind "Namespaze" is registered for version "v1"',
    ],
  ]
  for (const [hex, message] of cases) {
    t.throws(() => codec.decode(Buffer.from(hex, 'hex'), namespace), {
      name: 'StatusError',
      reason: 'BadRequest',
      message,
    })
  }
})

t.test('a body that names no kind is read as the kind that the URL asks for', async t => {
  const body = Buffer.from(`${Buffer.from('k8s\0').toString('hex')}12070a050a036162630a`.slice(0, -2), 'hex')
  t.strictSame(codec.decode(body, { apiVersion: 'v1', kind: 'Namespace' }), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'abc' },
  })
})

t.test('fields that came after this release are skipped', async t => {
  const plain = codec.encode({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
  // Fields 500 to 502 of the envelope: a varint, a string and eight bytes.
  const later = Buffer.from('a01f07aa1f03616263b11f0000000000000000', 'hex')
  t.strictSame(codec.decode(Buffer.concat([plain, later])), codec.decode(plain))
})

t.test('messages nested without end are refused', async t => {
  let not: object = { type: 'string' }
  for (let depth = 0; depth < 200; depth++) not = { not }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: not } }]
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {},
    spec: { versions },
  }
  t.throws(() => codec.decode(codec.encode(crd)), { reason: 'BadRequest', message: /nested more than 100 levels/ })
})

t.test('all fields and elements of a body count, wherever they are', async t => {
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)])
  const field = (number: number, content: string | Buffer): Buffer =>
    Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]), Buffer.from(content)])
  const unknown = Buffer.alloc(2000, Buffer.from([0x78, 0]))
  const whole = (apiVersion: string, kind: string, raw: Buffer): Buffer => {
    const typeMeta = field(1, Buffer.concat([field(1, apiVersion), field(2, kind)]))
    return Buffer.concat([Buffer.from('k8s\0'), typeMeta, field(2, raw)])
  }
  const metadata = (more: Buffer): Buffer => field(1, Buffer.concat([field(1, 'a'), more]))
  const claims = (json: string): Buffer => field(17, field(7, field(1, json)))
  const revision = (data: Buffer | string): Buffer =>
    whole('apps/v1', 'ControllerRevision', Buffer.concat([field(1, field(1, 'a')), field(2, field(1, data))]))
  const map = whole('v1', 'ConfigMap', metadata(Buffer.alloc(0)))
  const bodies: Readonly<Record<string, Buffer>> = {
    'in the message': whole('v1', 'ConfigMap', Buffer.concat([metadata(Buffer.alloc(0)), unknown])),
    'beside it': Buffer.concat([map, unknown]),
    'names of kinds': Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(6000, field(1, field(1, 'v1')))]),
    'JSON within': whole('v1', 'ConfigMap', metadata(claims(`{"f:a":[${'{},'.repeat(1000)}{}]}`))),
    'some JSON in each of many': whole(
      'v1',
      'ConfigMap',
      metadata(Buffer.concat(Array.from({ length: 20 }, () => claims('[1,2,3,4,5,6,7,8,9,10]')))),
    ),
    'an object within': revision(Buffer.concat([map, unknown])),
    'JSON of an object within': revision(`[${'1,'.repeat(1000)}1]`),
  }
  t.equal(codec.decode(map, undefined, 100).kind, 'ConfigMap')
  for (const [name, body] of Object.entries(bodies)) {
    t.throws(
      () => codec.decode(body, undefined, 100),
      { name: 'StatusError', message: /more than 100000 fields/ },
      name,
    )
    t.doesNotThrow(() => codec.decode(body, { apiVersion: 'v1', kind: 'ConfigMap' }), name)
  }
})

function envelope(apiVersion: string, kind: string): string {
  const text = (number: number, value: string): Buffer =>
    Buffer.from([(number << 3) | 2, value.length, ...Buffer.from(value)])
  const typeMeta = Buffer.concat([text(1, apiVersion), text(2, kind)])
  return Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x0a, typeMeta.length]), typeMeta]).toString('hex')
}

/** Since 1.34 servers leave out a creation time that is not set; earlier ones wrote null. */
function withoutNullCreation<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      key === 'creationTimestamp' && member === null ? undefined : member,
    ),
  ) as T
}

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8'))
}
