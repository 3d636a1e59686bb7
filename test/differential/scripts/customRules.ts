/** Validation rules (CEL) of custom resources: which are refused and why, what they cost, what they say to objects. */
import { inWords, merge, noted, post, put, type Script, type Step } from '../script.ts'
import { of } from './bodies.ts'
import { CRDS, definition, made, pathOf } from './gadgets.ts'

const text = { type: 'string' }
const whole = { type: 'integer' }
const list = (items: object, rest: object = {}): object => ({ type: 'array', items, ...rest })
const map = (values: object, rest: object = {}): object => ({ type: 'object', additionalProperties: values, ...rest })
const object = (properties: object, rest: object = {}): object => ({ type: 'object', properties, ...rest })
const rules = (...each: unknown[]): object => ({
  'x-kubernetes-validations': each.map(rule => (typeof rule === 'string' ? { rule } : rule)),
})
/** A definition whose `spec` has this schema, checked and thrown away. */
const judged = (spec: object): Step =>
  post(`${CRDS}?dryRun=All`, definition('rulings', 'Ruling', { schema: { openAPIV3Schema: object({ spec }) } }), {
    only: ['kind', 'code', 'message', 'details.causes'],
  })
const SPEC = object({
  s: text,
  i: whole,
  n: { type: 'number' },
  b: { type: 'boolean' },
  l: list(text),
  m: map(whole),
  o: object({ x: text, 'with-dash': text, 'a.b': text, if: text, __x__: text }),
  t: { ...text, format: 'date-time' },
  d: { ...text, format: 'duration' },
  y: { ...text, format: 'byte' },
  x: { 'x-kubernetes-int-or-string': true },
  p: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  k: list(object({ name: text, v: whole }, { required: ['name'] }), {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  }),
  z: { ...text, nullable: true },
})
const one = (rule: unknown): Step => judged({ ...SPEC, ...rules(rule) })

export const customRules: Script = {
  name: 'custom-rules',
  peers: ['apiextensions'],
  steps: noted(
    [
      ...[
        '',
        ' ',
        'true',
        'self',
        '1',
        'self.s',
        'self.none == 1',
        'self.s == 1',
        'self.s + 1 == 2',
        'size(self.i) > 0',
        'self.s.size() > self.i',
        'self.i > 1.5',
        'self.n > 1',
        'self.n > 1.0',
        'self.s ==',
        'self.s = "x"',
        'self.s.none()',
        'none(self.s)',
        'self.l.all(x, x > 1)',
        'self.l.all(x, x.size() > 1)',
        'self.l.exists_one(x, x == "a")',
        'self.l.map(x, x)',
        'self.l.filter(x, x != "").size() == 0',
        'self.m.all(k, self.m[k] > 1)',
        'self.m.a == 1',
        'self.m["a"] == 1',
        'self.m[1] == 1',
        'self.o.with__dash__dash == "x"',
        'self.o.a__dot__b == "x"',
        'self.o.__if__ == "x"',
        'self.o.if == "x"',
        'self.o["x"] == "x"',
        'has(self.o.x)',
        'has(self.none)',
        'has(self.l[0])',
        'self.t > timestamp("2020-01-01T00:00:00Z")',
        'self.t == "2020"',
        'self.d < duration("1h")',
        'self.y.size() == 2',
        'self.y == b"hi"',
        'self.x == 5',
        'self.x == "5"',
        'type(self.x) == int',
        'type(self.x) == string ? self.x == "a" : self.x == 5',
        'self.p.anything == 1',
        'has(self.p.x)',
        'self.k[0].name == "a"',
        'self.k.exists(e, e.name == "a" && e.v > 1)',
        'self.k == []',
        'self.z == null',
        'self.z == "a"',
        'oldSelf.i <= self.i',
        'oldSelf == self',
        'old.i == 1',
        'self.s.matches("(")',
        'self.s.matches("^a+$")',
        'self.s.startsWith("a") || self.s.endsWith("b") || self.s.contains("c")',
        'self.s.lowerAscii() == "a" && self.s.split(",").size() > 1 && self.s.replace("a", "b") != ""',
        'self.s.find("[a-z]+") == "x" && self.s.findAll("[a-z]+", 2).size() == 2',
        'self.l.isSorted() && self.l.sum() == ""',
        'self.l.join(",") == "" && self.l.indexOf("x") == 0',
        'self.m.sum() == 1',
        'url(self.s).getHost() == "a" && isURL(self.s)',
        'ip(self.s).family() == 4 && isIP(self.s) && cidr(self.s).containsIP("10.0.0.1")',
        'quantity(self.s).isGreaterThan(quantity("1Gi")) && isQuantity(self.s)',
        'format.dns1123Label().validate(self.s).hasValue()',
        'format.none().validate(self.s).hasValue()',
        'semver(self.s).major() == 1 && isSemver(self.s)',
        'sets.contains(self.l, ["a"])',
        'self.s.charAt(0) == "a" && self.s.substring(1, 2) == "b"',
        'math.greatest(1, self.i) > 0',
        'self.l.sortBy(x, x).size() > 0',
        'cel.bind(a, self.i, a > 1)',
        'self.?s.orValue("") == "a"',
        'self.?none.hasValue()',
        'optional.of(self.s).hasValue()',
        'self.l.all(i, x, i > 0)',
        'self.l.transformList(i, x, x).size() > 0',
        'self.i / 0 == 1',
        'self.i in [1, 2]',
        '"a" in self.m',
        'self.s in self.l',
        'dyn(self.s) == 1',
        'int(self.s) == 1 && string(self.i) == "1"',
        'self.metadata.name == "x"',
        'apiVersion == "x"',
        "self.s == 'it\\'s'",
        'self.l[0] == self.l[self.l.size() - 1]',
        '[1, "a"].size() == 2',
        '{"a": 1}.a == 1',
        'self == {}',
        'authorizer.path("/").check("get").allowed()',
        'request.name == ""',
        'self.i > 9223372036854775807',
        'self.i > 9223372036854775808',
        'self.i == 1u',
        'self.b ? true : false',
        'self.b ? 1 : "a"',
        '!self.s',
        '-self.s == ""',
        'true && self.i',
        { rule: 'true', message: ' ' },
        { rule: 'true', message: 'a\nb' },
        { rule: 'true\n&& true' },
        { rule: 'true', messageExpression: '1' },
        { rule: 'true', messageExpression: '"a" + self.s' },
        { rule: 'true', messageExpression: 'self.none' },
        { rule: 'true', messageExpression: 'oldSelf.s' },
        { rule: 'true', messageExpression: ' ' },
        { rule: 'true', reason: 'Other' },
        { rule: 'true', reason: 'FieldValueForbidden' },
        { rule: 'true', fieldPath: '.none' },
        { rule: 'true', fieldPath: '.o.x' },
        { rule: 'true', fieldPath: ".o['a.b']" },
        { rule: 'true', fieldPath: '.m.key' },
        { rule: 'true', fieldPath: '.l[0]' },
        { rule: 'true', fieldPath: 's' },
        { rule: 'true', fieldPath: '.k.name' },
        { rule: 'true', fieldPath: ' ' },
        { rule: 'true', fieldPath: '.s\n' },
        { rule: 'oldSelf.hasValue()', optionalOldSelf: true },
        { rule: 'true', optionalOldSelf: true },
        { rule: 'oldSelf.i == 1', optionalOldSelf: true },
        { rule: 'oldSelf.orValue(self).i == self.i', optionalOldSelf: true },
      ].map(one),
      // where oldSelf may stand
      judged(object({ l: list({ ...text, ...rules('oldSelf == self') }) })),
      judged(
        object({ l: list({ ...text, ...rules('oldSelf == self') }, { 'x-kubernetes-list-type': 'set', maxItems: 5 }) }),
      ),
      judged(
        object({
          l: list(object({ name: text, v: { ...whole, ...rules('oldSelf <= self') } }, { required: ['name'] }), {
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            maxItems: 5,
          }),
        }),
      ),
      judged(object({ m: map({ ...whole, ...rules('oldSelf <= self') }, { maxProperties: 5 }) })),
      judged(
        object({ m: object({ a: { ...whole, ...rules('oldSelf <= self') } }, { 'x-kubernetes-map-type': 'atomic' }) }),
      ),
      // costs
      judged(object({ l: list({ ...text, ...rules('self.size() > 0') }) })),
      judged(object({ l: list({ ...text, ...rules('self.contains("a")') }) })),
      judged(object({ l: list({ ...text, maxLength: 10, ...rules('self.contains("a")') }, { maxItems: 10 }) })),
      judged(object({ l: list(text, rules('self.all(x, self.all(y, x == y))')) })),
      judged(
        object({ l: list({ ...text, maxLength: 10 }, { maxItems: 10, ...rules('self.all(x, self.all(y, x == y))') }) }),
      ),
      judged(
        object({
          l: list({ ...text, maxLength: 10 }, { maxItems: 1000, ...rules('self.all(x, self.all(y, x == y))') }),
        }),
      ),
      judged(object({ l: list(list(list(whole, rules('self.all(x, x > 0)')))) })),
      judged(object({ m: map({ ...text, ...rules('self.matches("^a.*b$")') }) })),
      judged(object({ m: map(map(text, rules('self.all(k, self[k] == "a")'))) })),
      judged(object({ s: { ...text, ...rules('self.matches("^a.*b$")') } })),
      judged(object({ s: { ...text, ...rules('self.split(",").all(x, x.matches("[a-z]+"))') } })),
      judged(object({ l: list({ ...whole, ...rules('self > 0') }) })),
      judged(object({ l: list({ ...whole, ...rules('self > 0') }, { maxItems: 10 }) })),
      judged(object({ l: list(object({ a: whole }, rules('self.a > 0', 'has(self.a)'))) })),
      judged(
        object({
          l: list(object({ a: list({ ...text, ...rules({ rule: 'true', messageExpression: '"x" + self' }) }) })),
        }),
      ),
      judged(
        object({
          a: list({ ...text, maxLength: 100, ...rules('self.contains("a")') }, { maxItems: 1000 }),
          b: list({ ...text, maxLength: 100, ...rules('self.contains("a")') }, { maxItems: 10000 }),
          c: list({ ...text, maxLength: 1000, ...rules('self.contains("a")') }, { maxItems: 10000 }),
          d: list({ ...text, maxLength: 1000, ...rules('self.contains("a")') }, { maxItems: 100000 }),
        }),
      ),
      judged(object({ e: { ...text, enum: ['a', 'b'], ...rules('self.matches(self)') } })),
      judged(object({ l: list(text, { maxItems: 100, ...rules('self.isSorted()', 'self.indexOf("a") >= 0') }) })),
      judged(object({ l: list(text, { ...rules('sets.intersects(self, self)') }) })),
      judged(object({ q: { ...text, ...rules('quantity(self).isInteger()') } })),
      judged(
        object({
          l: list({ ...text, ...rules('quantity(self).isInteger()', 'isURL(self)', 'ip(self).isLoopback()') }),
        }),
      ),
    ],
    {
      'words of the parser': [inWords(14, 15, 16, 17, 31, 34, 66, 70, 97)],
      'the estimate is rougher': [65, 77, inWords(22)],
      'reserved words are escaped': [30],
      'not known to be wrong before it runs': [61, 90, 122, inWords(59)],
      'the function is missing': [inWords(71)],
      'the function is there': [72],
    },
  ),
}

const R = pathOf('ruleds')
const RULED = object(
  {
    spec: object(
      {
        min: whole,
        max: whole,
        name: { ...text, ...rules({ rule: 'self == oldSelf', message: 'name is immutable' }) },
        kind: {
          ...text,
          ...rules({ rule: "self != 'bad'", reason: 'FieldValueForbidden', messageExpression: "'no ' + self" }),
        },
        list: list(
          object(
            { name: text, v: { ...whole, ...rules({ rule: 'self >= oldSelf', message: 'v must not shrink' }) } },
            { required: ['name'] },
          ),
          { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], maxItems: 10 },
        ),
        words: list({ ...text, maxLength: 5, ...rules('self.size() > 1') }, { maxItems: 5 }),
        map: map({ ...whole, ...rules('self > 0') }, { maxProperties: 5 }),
        when: { ...text, format: 'date-time' },
        either: { 'x-kubernetes-int-or-string': true },
        quoted: { ...text, ...rules({ rule: 'quantity(self).isGreaterThan(quantity("1"))' }) },
        path: object({ a: text, 'b.c': text }),
        failing: { ...whole, ...rules('10 / self > 1') },
        message: {
          ...text,
          ...rules({
            rule: 'false',
            messageExpression: "self == 'empty' ? '' : self == 'lines' ? 'a\\nb' : 'm'",
            message: 'fallback',
          }),
        },
        old: {
          ...whole,
          ...rules({ rule: 'oldSelf.hasValue() || self > 5', optionalOldSelf: true, message: 'begin above 5' }),
        },
        ratchet: { ...text, ...rules({ rule: "self.startsWith('a')", message: 'must begin with a' }) },
      },
      rules(
        'self.min <= self.max',
        { rule: "!has(self.path) || self.path.a == 'x'", fieldPath: '.path.a', reason: 'FieldValueRequired' },
        { rule: '!has(self.path) || !has(self.path.b__dot__c)', fieldPath: ".path['b.c']" },
        { rule: "!has(self.when) || self.when > timestamp('2020-01-01T00:00:00Z')", message: 'too early' },
        { rule: "!has(self.either) || (type(self.either) == int ? self.either > 1 : self.either == 'x')" },
      ),
    ),
    status: object({ n: { ...whole, ...rules({ rule: 'self >= oldSelf', message: 'n must not shrink' }) } }),
  },
  rules({ rule: "self.metadata.name.startsWith('r')", message: 'the name must begin with r' }),
)
const ruled = (spec: object, name = 'r'): object =>
  of('ruleds.example.com/v1', 'Ruled', name, { spec: { min: 1, max: 2, ...spec } })
const LOOSE = object({ spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } })

export const customRuleChecks: Script = {
  name: 'custom-rule-checks',
  peers: ['apiextensions'],
  steps: [
    ...made('ruleds', 'Ruled', { schema: { openAPIV3Schema: RULED }, subresources: { status: {} } }),
    ...[
      {},
      { min: 3 },
      { min: undefined },
      { min: 'x' },
      { kind: 'bad' },
      { list: [{ name: 'a', v: 1 }] },
      { words: ['a', 'bb', 'c'] },
      { words: ['toolong', 'b'] },
      { map: { a: 0, b: 1, 'c d': -1 } },
      { when: '2019-01-01T00:00:00Z' },
      { when: 'x' },
      { either: 1 },
      { either: 'y' },
      { quoted: 'x' },
      { quoted: '1' },
      { path: { a: 'y', 'b.c': 'z' } },
      { path: {} },
      { failing: 0 },
      { message: 'm' },
      { message: 'empty' },
      { message: 'lines' },
      { old: 3 },
      { old: 7 },
      { ratchet: 'b' },
      { min: 5, kind: 'bad', ratchet: 'b' },
    ].map(spec => post(`${R}?dryRun=All`, ruled(spec))),
    post(R, ruled({}, 'x')),
    post(
      R,
      ruled({
        name: 'n',
        list: [
          { name: 'a', v: 2 },
          { name: 'b', v: 2 },
        ],
        old: 7,
      }),
    ),
    merge(`${R}/r`, { spec: { name: 'm' } }),
    merge(`${R}/r`, { spec: { name: null } }),
    merge(`${R}/r`, { spec: { name: 'm' } }),
    merge(`${R}/r`, {
      spec: {
        list: [
          { name: 'b', v: 1 },
          { name: 'a', v: 3 },
        ],
      },
    }),
    merge(`${R}/r`, { spec: { list: [{ name: 'c', v: 1 }] } }, { only: ['spec.list'] }),
    merge(`${R}/r`, { spec: { old: 3 } }, { only: ['spec.old', 'code', 'message'] }),
    merge(`${R}/r`, { spec: { min: 9 } }),
    merge(`${R}/r/status`, { status: { n: 2 } }, { only: ['status'] }),
    merge(`${R}/r/status`, { status: { n: 1 } }),
  ],
}

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
    // one wrong thing in each object, so that what is told has one order
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
