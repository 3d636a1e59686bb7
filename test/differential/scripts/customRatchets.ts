/** Faults from before a definition became stricter: those that may stay, and the warnings. */
import { merge, post, put, type Script } from '../script.ts'
import { of } from './bodies.ts'
import { CRDS, made, pathOf } from './gadgets.ts'
import { list, map, object, rules, text, whole } from './schemaParts.ts'

const LOOSE = object({ spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } })
const T = pathOf('ratchets')
const ratcheted = (spec: object): object => of('ratchets.example.com/v1', 'Ratchet', 'x', { spec })
const STRICT = object({
  spec: object(
    {
      a: { ...text, maxLength: 2 },
      b: { ...whole, maximum: 5 },
      e: { ...text, enum: ['x'] },
      f: { ...text, format: 'date-time' },
      l: list(object({ name: text, v: { ...whole, maximum: 5 } }, { required: ['name', 'v'] }), {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
      s: list({ ...text, maxLength: 2 }, { 'x-kubernetes-list-type': 'set' }),
      t: list({ ...text, maxLength: 2 }),
      m: map({ ...whole, maximum: 5 }),
      o: object({ p: text, q: text }, { required: ['p'] }),
      c: { ...text, maxLength: 20, ...rules({ rule: "self.startsWith('a')", message: 'begin with a' }) },
      n: list(text, { maxItems: 1 }),
      any: object({ u: { type: 'string', anyOf: [{ maxLength: 1 }, { pattern: '^z' }] } }),
    },
    { required: ['req'], ...rules({ rule: '!has(self.c) || self.c.size() < 3', message: 'short c' }) },
  ),
})
const BAD = {
  a: 'aaa',
  b: 9,
  e: 'y',
  f: 'x',
  l: [{ name: 'k', v: 9 }, { name: 'w' }],
  s: ['aaa', 'b'],
  t: ['aaa', 'b'],
  m: { k: 9, j: 1 },
  o: { q: '1' },
  c: 'bbbb',
  n: ['1', '2'],
  any: { u: 'yy' },
}

const K = pathOf('keepers')
const keeper = (name: string, spec: object): object => of('keepers.example.com/v1', 'Keeper', name, { spec })
const small = { ...whole, ...rules({ rule: 'self < 5', message: 'small' }) }
const KEEPER = object({
  spec: object({
    other: text,
    atoms: list(object({ v: small }), { maxItems: 9 }),
    set: list(
      { ...text, maxLength: 9, ...rules({ rule: "self == 'a'", message: 'a' }) },
      {
        'x-kubernetes-list-type': 'set',
        maxItems: 9,
      },
    ),
    keyed: list(object({ k: text, v: small }, { required: ['k'] }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      maxItems: 9,
    }),
    atomic: object({ x: small, y: whole }, { 'x-kubernetes-map-type': 'atomic' }),
    counts: map(small, { maxProperties: 9 }),
    unknown: object(
      { x: whole },
      {
        'x-kubernetes-preserve-unknown-fields': true,
        ...rules({ rule: 'self.x < 5', message: 'small x' }),
      },
    ),
    few: map(whole, { minProperties: 3 }),
    open: object({}, { 'x-kubernetes-preserve-unknown-fields': true, minProperties: 3 }),
    divided: object({ z: whole }, rules({ rule: '1 / self.z == 1', message: 'one' })),
    compared: { ...whole, ...rules({ rule: 'self < 5 || oldSelf < 5', message: 'was or is small' }) },
    computed: { ...text, ...rules({ rule: "self == 'good'", messageExpression: "self + ' is not good'" }) },
    forbidden: { ...text, ...rules({ rule: "self == 'good'", message: 'be good', reason: 'FieldValueForbidden' }) },
    elsewhere: object({ q: text }, rules({ rule: "self.q == 'good'", message: 'be good', fieldPath: '.q' })),
  }),
})
const KEPT = {
  atoms: { atoms: [{ v: 9 }, { v: 1 }] },
  set: { set: ['a', 'b'] },
  keyed: { keyed: [{ k: 'y', v: 9 }] },
  atomic: { atomic: { x: 9, y: 1 } },
  counts: { counts: { a: 9 } },
  unknown: { unknown: { x: 9, y: 1 } },
  few: { few: { a: 1 } },
  open: { open: { a: 1 } },
  divided: { divided: { z: 0 } },
  compared: { compared: 9 },
  computed: { computed: 'bad' },
  forbidden: { forbidden: 'bad' },
  elsewhere: { elsewhere: { q: 'bad' } },
}

export const customRatchets: Script = {
  name: 'custom-ratchets',
  peers: ['apiextensions'],
  steps: [
    ...made('ratchets', 'Ratchet', { schema: { openAPIV3Schema: LOOSE } }),
    post(T, ratcheted(BAD), { only: ['code', 'spec'] }),
    merge(
      `${CRDS}/ratchets.ratchets.example.com`,
      { spec: { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: STRICT } }] } },
      { only: ['code', 'message', 'metadata.generation'] },
    ),
    post(`${T}?dryRun=All`, ratcheted({}), { only: ['code'], late: 422 }),
    ...[
      { metadata: { labels: { touched: '1' } } },
      { spec: { a: 'bbb' } },
      { spec: { a: 'b' } },
      { spec: { b: 8 } },
      { spec: { e: 'z' } },
      { spec: { f: 'z' } },
      { spec: { l: [{ name: 'k', v: 9 }, { name: 'w' }, { name: 'n', v: 1 }] } },
      { spec: { l: [{ name: 'w' }, { name: 'k', v: 8 }] } },
      { spec: { s: ['aaa', 'c'] } },
      { spec: { s: ['aab', 'c'] } },
      { spec: { t: ['aaa', 'c'] } },
      { spec: { m: { k: 9, j: 2 } } },
      { spec: { m: { k: 8 } } },
      { spec: { o: { q: '2' } } },
      { spec: { c: 'bbbb' } },
      { spec: { c: 'bbbbb' } },
      { spec: { c: 'ab' } },
      { spec: { n: ['1', '3'] } },
      { spec: { any: { u: 'yyy' } } },
      { spec: { any: { u: 'yy' } } },
      { spec: { req: 1 } },
    ].map(change => merge(`${T}/x?dryRun=All`, change)),
    put(`${T}/x?dryRun=All`, ratcheted(BAD)),
    // one fault in each object, so that the errors have one order
    ...made('keepers', 'Keeper', { schema: { openAPIV3Schema: LOOSE } }),
    ...Object.entries(KEPT).map(([name, spec]) => post(K, keeper(name, spec), { only: ['code'] })),
    merge(
      `${CRDS}/keepers.keepers.example.com`,
      { spec: { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: KEEPER } }] } },
      { only: ['code', 'message', 'metadata.generation'] },
    ),
    post(`${K}?dryRun=All`, keeper('new', { counts: { a: 9 } }), { only: ['code'], late: 422 }),
    ...Object.keys(KEPT).map(name => merge(`${K}/${name}?dryRun=All`, { spec: { other: 'x' } })),
    ...(
      [
        ['atoms', [{ v: 9 }, { v: 2 }]],
        ['atoms', [{ v: 1 }, { v: 9 }]],
        ['set', ['b', 'a']],
        ['keyed', [{ k: 'x' }, { k: 'y', v: 9 }]],
        ['keyed', [{ k: 'y', v: 8 }]],
        ['atomic', { y: 2 }],
        ['atomic', { x: 8 }],
        ['counts', { a: 9, b: 1 }],
        ['unknown', { z: 1 }],
        ['compared', 8],
      ] as const
    ).map(([name, value]) => merge(`${K}/${name}?dryRun=All`, { spec: { [name]: value } })),
  ],
}
