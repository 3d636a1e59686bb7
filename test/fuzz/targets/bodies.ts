/** Bodies in every format, broken in every way: YAML, JSON and protobuf, under right and wrong content types. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { FIXTURES, QUESTIONS } from '../fixtures.ts'
import { hostileValue, spoiled, textOf } from '../hostile.ts'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

interface Recorded {
  name: string
  json: { apiVersion: string; kind: string }
  hex: string
}
const fixtures = new URL('../../apimachinery/protobuf/fixtures/', import.meta.url)
const recorded = JSON.parse(readFileSync(new URL('kubectl.json', fixtures), 'utf8')) as Recorded[]

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bodies\n'
const many = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n')
const YAMLS = [
  `${head}data: &a {x: y}\n`,
  `${head}data: {<<: &a {x: y}, z: "1"}\n`,
  `${head}data: &d {x: *d}\n`,
  `a: &a [x,x,x,x,x,x,x,x,x]\n${many(9, i => `${'bcdefghij'[i]}: &${'bcdefghij'[i]} [${`*${'abcdefghi'[i]},`.repeat(9)}]`)}\n`,
  `a: &a\n${many(3000, i => `  k${i}: v`)}\nb:\n${many(900, () => '- *a')}\n`,
  `a: &a\n${many(3000, i => `  k${i}: v`)}\nb:\n${many(900, () => '- {<<: *a}')}\n`,
  `${head}data:\n${many(20_000, i => `  k${i}: "v"`)}\n`,
  '? '.repeat(3000),
  `${'[ '.repeat(2000)}`,
  `${'{a: '.repeat(2000)}`,
  '- '.repeat(2000),
  '}'.repeat(30_000),
  `--- ${head}\n--- ${head}`,
  `${head}...\n`,
  `%YAML 1.2\n%TAG ! tag:x,2000:\n---\n${head}`,
  `!!js/function 'x'`,
  `!!binary "////"`,
  `!!set {a, b}`,
  `!!omap [a: 1]`,
  `!!python/object:x {}`,
  `!!timestamp 2020-01-01`,
  `2020-01-01`,
  `${head}data: {1: 2, yes: no, ~: x, [a]: b, {c: d}: e}\n`,
  `${head}data: {__proto__: {x: y}, constructor: z}\n`,
  `${head}data: {a: 0x1F, b: 0o7, c: 1_000, d: 1:30, e: .inf, f: .NaN, g: 1e999}\n`,
  `${head}data: {a: "\\ud800", b: "\\x00", c: "\\q"}\n`,
  `${head}data:\n\ta: b\n`,
  `${head}data: {a: b, a: c}\n`,
  '\ufeff{}',
  '',
  '\u0000',
  '#'.repeat(50_000),
  '&a '.repeat(3000),
  `"${'\\\n'.repeat(5000)}"`,
]
const JSONS = [
  '[]',
  'null',
  '1',
  '"x"',
  '{}',
  '{"a":',
  '{}{}',
  `${'['.repeat(100_000)}`,
  `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  `{"metadata":{"name":"x"},"metadata":{"name":"y"}}`,
  `{"kind":"List","apiVersion":"v1","items":[]}`,
  '{"kind":"Status"}',
  '{"kind":{},"apiVersion":[]}',
  '{"apiVersion":"v1/v2/v3","kind":"ConfigMap"}',
]

const object = fc
  .constantFrom(...FIXTURES, ...QUESTIONS, ...QUESTIONS)
  .chain(({ path, object: honest }) =>
    fc.tuple(fc.constant(path), fc.oneof(spoiled(honest), fc.constant(honest as unknown), hostileValue)),
  )

/** Bytes changed, cut out, repeated and put in. */
function mutated(bytes: Buffer): fc.Arbitrary<Buffer> {
  const change = fc.record({
    how: fc.constantFrom('flip', 'flip', 'set', 'cut', 'repeat', 'insert'),
    at: fc.nat({ max: Math.max(0, bytes.length - 1) }),
    byte: fc.oneof(fc.constantFrom(0, 0xff, 0x7f, 0x80, 0x0a, 0x22), fc.integer({ min: 0, max: 255 })),
    length: fc.integer({ min: 1, max: 16 }),
  })
  return fc.array(change, { maxLength: 6 }).map(changes => {
    let out = Buffer.from(bytes)
    for (const { how, at, byte, length } of changes) {
      const [before, after] = [out.subarray(0, at), out.subarray(at)]
      if (how === 'flip' && at < out.length) out[at]! ^= 1 << (byte & 7)
      else if (how === 'set' && at < out.length) out[at] = byte
      else if (how === 'cut') out = Buffer.concat([before, after.subarray(length)])
      else if (how === 'repeat')
        out = Buffer.concat([before, ...Array<Buffer>(length).fill(after.subarray(0, length)), after])
      else out = Buffer.concat([before, Buffer.alloc(length, byte), after])
    }
    return out
  })
}

/** As it is, so that it gets behind the parser; broken now and then. */
function mostly(bytes: Buffer): fc.Arbitrary<Buffer> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(bytes) }, { weight: 1, arbitrary: mutated(bytes) })
}

interface Body {
  method: string
  path: string
  type: string
  body: Buffer
}
const JSON_TYPE = 'application/json'
const YAML_TYPE = 'application/yaml'
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'

const recordedBody = fc.constantFrom(...recorded).chain(({ name, hex }) => {
  const [method = 'POST', path = '/'] = name.split(' ')
  return fc.record({
    method: fc.constant(method),
    path: fc.constant(path),
    type: fc.constant(PROTOBUF_TYPE),
    body: mutated(Buffer.from(hex, 'hex')),
  })
})
const textBody = fc.oneof(
  fc.constantFrom(...YAMLS).chain(text =>
    fc.record({
      method: fc.constant('POST'),
      path: fc.constant(CONFIG_MAPS),
      type: fc.constant(YAML_TYPE),
      body: fc.oneof(
        fc.constant(Buffer.from(text)),
        text.length < 2000 ? mutated(Buffer.from(text)) : fc.constant(Buffer.from(text)),
      ),
    }),
  ),
  fc
    .constantFrom(...JSONS)
    .map(text => ({ method: 'POST', path: CONFIG_MAPS, type: JSON_TYPE, body: Buffer.from(text) })),
  object.chain(([path, value]) =>
    fc.record({
      method: fc.constant('POST'),
      path: fc.constant(path),
      type: fc.constantFrom(JSON_TYPE, YAML_TYPE),
      body: mostly(Buffer.from(textOf(value))),
    }),
  ),
  fc
    .uint8Array({ maxLength: 64 })
    .map(bytes => ({ method: 'POST', path: CONFIG_MAPS, type: YAML_TYPE, body: Buffer.from(bytes) })),
)
const cases = fc.record({
  sent: fc.oneof(recordedBody, textBody) as fc.Arbitrary<Body>,
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('PUT', 'DELETE', 'PATCH', 'GET') },
  ),
  type: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'text/plain',
        'application/json; charset=utf-16',
        'application/json;;;',
        '',
        ';',
        'x',
        JSON_TYPE,
        YAML_TYPE,
        PROTOBUF_TYPE,
        `${PROTOBUF_TYPE};type=x`,
        'multipart/form-data; boundary=x',
        'application/x+json',
        'application/apply-patch+cbor',
        'application/cbor',
      ),
    },
  ),
  accept: fc.constantFrom(undefined, undefined, YAML_TYPE, PROTOBUF_TYPE),
  encoding: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('gzip', 'identity', 'br, gzip', 'nonsense') },
  ),
})

async function play(world: World, one: typeof cases extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const { method, path, type, body } = one.sent
  const url = `/clusters/${world.spaces.two}${path}${path.includes('?') ? '&' : '?'}dryRun=All&fieldManager=f`
  await world.ask({
    method: one.method ?? method,
    path: one.method === 'DELETE' ? url.replace(/\?.*/, '/none') : url,
    type: one.type ?? type,
    body,
    headers: { ...(one.accept && { accept: one.accept }), ...(one.encoding && { 'Content-Encoding': one.encoding }) },
  })
}

export const bodies: Target = {
  name: 'bodies',
  runs: 200,
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
