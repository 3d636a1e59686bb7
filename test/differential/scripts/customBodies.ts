/** Bodies of custom resources: the words and keys of YAML, numbers at their borders, wrong types in metadata, half JSON patches. */
import { json, merge, post, type Script, type Step } from '../script.ts'
import { of } from './bodies.ts'
import { made, pathOf } from './gadgets.ts'

const V = 'bodies.example.com/v1'
const P = pathOf('bodies')
const text = (body: string, type: string): Step => ({ method: 'POST', path: `${P}?dryRun=All`, body, type })
const HEAD = `apiVersion: ${V}\nkind: Body\nmetadata:\n  name: b\n`
const yaml = (value: string): Step => text(`${HEAD}spec:\n  free:\n    v: ${value}\n`, 'application/yaml')
const document = (body: string): Step => text(body, 'application/yaml')
const number = (field: string, value: string): Step => ({
  ...text(
    `{"apiVersion":"${V}","kind":"Body","metadata":{"name":"b"},"spec":{"${field}":${value}}}`,
    'application/json',
  ),
  ...(/^(text|time)$/.test(field) &&
    /^1(\.0|e3)$/.test(value) && { unlikeToday: { body: 'once it is read, 1.0 is not told from 1' } }),
})
const metadata = (value: unknown): Step => post(`${P}?dryRun=All`, { apiVersion: V, kind: 'Body', metadata: value })
const operations = (...each: unknown[]): Step => json(`${P}/a?dryRun=All`, each)

const SPEC = {
  type: 'object',
  properties: {
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
    whole: { type: 'integer' },
    small: { type: 'integer', format: 'int32' },
    large: { type: 'integer', format: 'int64' },
    number: { type: 'number' },
    float: { type: 'number', format: 'float' },
    either: { 'x-kubernetes-int-or-string': true },
    text: { type: 'string' },
    time: { type: 'string', format: 'date-time' },
    odd: { type: 'integer', format: 'odd' },
  },
}

const SCHEMA = { openAPIV3Schema: { type: 'object', properties: { spec: SPEC } } }

export const customBodies: Script = {
  name: 'custom-bodies',
  peers: ['apiextensions'],
  steps: [
    ...made('bodies', 'Body', { schema: SCHEMA }),
    // words
    yaml('[y, n, yes, no, Yes, YES, yEs, on, off, On, true, True, tRUE, Null, nULL, ~, null, ]'),
    yaml('[010, 08, 0o10, 0O17, -0o17, 0b101, 0B11, 0x1F, 0X1F, -0x1F, 0x, 0b2, 0o8, 0_1, 1_000, 1_, _1]'),
    yaml('[1e3, 1E+3, 1.5e3, .5, -.5, +.5, 5., 1e, e3, ., -., 1e1_0, 1.2.3, 1e-7, 1e21, 1e20, +1, -0]'),
    yaml('[12:30:45, 1:30, 2020-01-01, "2020-01-01", 2020-01-01T00:00:00Z, 1e400, -1e400, =, "<<"]'),
    yaml('.inf'),
    yaml('-.inf'),
    yaml('.nan'),
    // tags
    yaml('[!!str 1, !!int "3", !!float 3, !!bool "yes", !!null "", !!binary aGVsbG8=, !!timestamp 2020-01-01, !own x]'),
    yaml('!!int 1.5'),
    yaml('!!bool foo'),
    yaml('!!null x'),
    yaml('!!binary x'),
    // keys
    yaml('{1: a, 1.5: a, yes: a, 0x10: a, 1e3: a, .inf: a, "": a, 1e-7: a, 16777217.0: a, 2020-01-01: a}'),
    yaml('{a: 1, a: 2}'),
    { ...yaml('{null: a}'), only: ['reason'] },
    { ...yaml('{[a]: b}'), only: ['reason'] },
    // merges and aliases
    yaml('{x: &a {k: 1}, z: *a}'),
    yaml('{x: &a {k: 1}, z: {<<: *a, l: 2}}'),
    yaml('{x: &a {k: 1}, z: {<<: *a, k: 2}}'),
    yaml('{a: 1, <<: {a: 2, b: 3}}'),
    yaml('{<<: [{a: 1, b: 1}, {a: 2, c: 2}], d: 1}'),
    yaml('{<<: {a: 1}, <<: {b: 2}}'),
    yaml('{<<: 5}'),
    yaml('{"<<": {a: 1}}'),
    // documents
    document(`${HEAD}---\n${HEAD}`),
    document(`---\n${HEAD}...\nmore`),
    document(`%YAML 1.2\n---\n${HEAD}`),
    { ...document(`${HEAD}spec:\n\tfree: {}\n`), only: ['reason'] },
    document(`${HEAD}spec: {free: {a: "\u0001"}}\n`),
    { ...document(''), only: ['reason'] },
    { ...document('---'), only: ['reason'] },
    { ...document('- a'), only: ['reason'] },
    // numbers
    ...['whole', 'small', 'large', 'number', 'float', 'either', 'text', 'time', 'odd', 'any'].flatMap(field =>
      ['1.0', '1e3', '1.5', '-0', 'true', '{}', 'null', '2147483648', '1e300', '1e400'].map(value =>
        number(field, value),
      ),
    ),
    // metadata and patches
    post(P, of(V, 'Body', 'a', { spec: { free: { a: 1 } } })),
    ...[
      ...[null, [], 'x', 5, true, {}, { name: null }, { name: 5 }, { name: 'b', namespace: {} }, { name: 'b', uid: 5 }],
      ...[{ labels: [] }, { labels: { a: null } }, { labels: { a: 5 } }, { annotations: { a: true } }],
      ...[{ finalizers: 'x' }, { finalizers: [5] }, { ownerReferences: {} }, { ownerReferences: [5] }],
      ...[{ generation: 'x' }, { generation: 1.5 }, { creationTimestamp: 5 }, { creationTimestamp: 'x' }],
    ].map(value => metadata(value)),
    merge(`${P}/a?dryRun=All`, { kind: 'Other' }),
    merge(`${P}/a?dryRun=All`, { apiVersion: 'other.io/v1' }),
    merge(`${P}/a?dryRun=All`, { metadata: null }),
    operations({ op: 'none', path: '/spec' }),
    operations({ op: 'add' }),
    operations({ op: 'replace', path: '/spec' }),
    operations({ op: 'remove' }),
    operations({ op: 'move', path: '/spec/a' }),
    operations({ op: 'remove', path: '/spec/none' }, { op: 'none' }),
    operations({ op: 5, path: '/spec' }),
    operations({ op: 'remove', path: 5 }),
    operations(5),
    operations(null),
    json(`${P}/a?dryRun=All`, null),
    json(`${P}/a?dryRun=All`, '"x"'),
    json(`${P}/a?dryRun=All`, {}),
  ],
}
