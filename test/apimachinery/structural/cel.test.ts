import t from 'tap'
import { formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import type { Schema, ValidationRule } from '../../../src/apimachinery/schema.ts'
import { compileRules } from '../../../src/apimachinery/structural/cel.ts'
import { compileCel } from '../../../src/apimachinery/structural/celProgram.ts'
import { fullEffort } from '../../../src/apimachinery/structural/effort.ts'
import { compileValidator } from '../../../src/apimachinery/structural/validate.ts'

const text: Schema = { type: 'string' }
const integer: Schema = { type: 'integer' }

function ruled(schema: Schema, ...rules: (string | ValidationRule)[]): Schema {
  return { ...schema, 'x-kubernetes-validations': rules.map(rule => (typeof rule === 'string' ? { rule } : rule)) }
}
const object = (properties: Record<string, Schema>, ...rules: (string | ValidationRule)[]): Schema =>
  ruled({ type: 'object', properties }, ...rules)
const under = (spec: Schema): Schema => ({ type: 'object', properties: { spec } })
const errors = (spec: Schema, value: unknown, old?: unknown) =>
  (
    compileRules(under(spec))?.(
      { spec: value },
      old === undefined ? undefined : { spec: old },
      '',
      () => {},
      fullEffort(),
    ) ?? []
  ).map(formatFieldError)

t.test('a failed rule says what its author wrote', async t => {
  const limits = { min: integer, max: integer }
  const value = { min: 3, max: 1 }
  t.same(errors(object(limits, 'self.min <= self.max'), { min: 1, max: 3 }), [])
  t.same(errors(object(limits, 'self.min <= self.max'), value), [
    'spec: Invalid value: failed rule: self.min <= self.max',
  ])
  const rule = { rule: 'self.min <= self.max', message: 'upside down' }
  t.same(errors(object(limits, { ...rule, fieldPath: '.min', reason: 'FieldValueForbidden' }), value), [
    'spec.min: Forbidden: upside down',
  ])
  t.same(errors(object(limits, { ...rule, messageExpression: '"min is " + string(self.min)' }), value), [
    'spec: Invalid value: min is 3',
  ])
  t.same(errors(object(limits, { ...rule, messageExpression: 'string(1 / 0)' }), value), [
    'spec: Invalid value: upside down',
  ])
  t.same(errors(object(limits, rule), {}), [
    'spec: Invalid value: "object": no such key: min evaluating rule: upside down',
  ])
  t.same(errors(object({ a: ruled(text, 'self == "x"') }), { a: 'y' }), [
    'spec.a: Invalid value: "y": failed rule: self == "x"',
  ])
})

t.test('transition rules run where an old value stands for the new one', async t => {
  const immutable = object({ a: text }, { rule: 'self.a == oldSelf.a', message: 'fixed' })
  t.same(errors(immutable, { a: 'x' }), [], 'creation has no old value')
  t.same(errors(immutable, { a: 'x' }, { a: 'y' }), ['spec: Invalid value: fixed'])
  const item = object({ name: text, v: integer }, 'self.v >= oldSelf.v')
  const list: Schema = { type: 'array', items: item }
  const map: Schema = { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
  const before = [
    { name: 'a', v: 2 },
    { name: 'b', v: 1 },
  ]
  const after = [
    { name: 'b', v: 1 },
    { name: 'c', v: 0 },
    { name: 'a', v: 1 },
  ]
  t.same(errors(map, after, before), ['spec[2]: Invalid value: failed rule: self.v >= oldSelf.v'], 'matched by key')
  t.same(errors(list, after, before), [], 'elements of other lists have no old value')
  const optional = { rule: '!oldSelf.hasValue() || oldSelf.value() == self', optionalOldSelf: true, message: 'fixed' }
  t.same(errors(ruled(text, optional), 'x'), [])
  t.same(errors(ruled(text, optional), 'x', 'y'), ['spec: Invalid value: "x": fixed'])
})

/** Refusals and warnings of an update. */
const told = (spec: Schema, value: unknown, old: unknown) => {
  const warnings: string[] = []
  const found = compileRules(under(spec))?.(
    { spec: value },
    { spec: old },
    '',
    e => warnings.push(formatFieldError(e)),
    fullEffort(),
  )
  return { errors: (found ?? []).map(formatFieldError), warnings }
}

t.test('what an update leaves as it was may break rules, and is warned of', async t => {
  const small = ruled(integer, { rule: 'self < 5', message: 'small' })
  const schema = object({ a: small, b: text })
  t.same(told(schema, { a: 9, b: '2' }, { a: 9, b: '1' }), {
    errors: [],
    warnings: ['spec.a: Invalid value: 9: small'],
  })
  t.same(told(schema, { a: 8, b: '1' }, { a: 9, b: '1' }).errors, ['spec.a: Invalid value: 8: small'])
  t.same(told(schema, { a: 4 }, { a: 9 }), { errors: [], warnings: [] })
  t.same(
    told(ruled(integer, 'self < 5 || oldSelf < 5'), 9, 9).warnings,
    [],
    'what compares with the past is meant for it',
  )
  t.equal(told(ruled(integer, 'self < 5 || oldSelf < 5'), 9, 9).errors.length, 1)
  const broken = object({ a: integer }, '1 / self.a == 1')
  t.match(told(broken, { a: 0 }, { a: 0 }).errors, [/division by zero/], 'what cannot be judged at all is refused')
})

t.test('parts of what has no old value are as they were when the whole is', async t => {
  const small = ruled(integer, { rule: 'self < 5', message: 'small' })
  const list = (type?: 'atomic' | 'set'): Schema => ({
    type: 'array',
    items: small,
    ...(type && { 'x-kubernetes-list-type': type }),
  })
  for (const type of [undefined, 'atomic', 'set'] as const) {
    const both = object({ list: list(type), b: text })
    t.same(told(both, { list: [9, 1], b: '2' }, { list: [9, 1], b: '1' }), {
      errors: [],
      warnings: ['spec.list[0]: Invalid value: 9: small'],
    })
    t.same(told(both, { list: [9, 2] }, { list: [9, 1] }).errors, ['spec.list[0]: Invalid value: 9: small'])
    t.same(told(both, { list: [1, 9] }, { list: [9, 1] }).errors, ['spec.list[1]: Invalid value: 9: small'])
  }
  const map: Schema = {
    ...list(),
    items: object({ k: text, v: small }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  }
  const before = [
    { k: 'x', v: 9 },
    { k: 'y', v: 9 },
  ]
  t.same(told(map, before.toReversed(), before).errors, [], 'keys have places anywhere')
  t.same(told(map, [{ k: 'y', v: 8 }, before[0]], before), {
    errors: ['spec[0].v: Invalid value: 8: small'],
    warnings: ['spec[1].v: Invalid value: 9: small'],
  })
  const atomic: Schema = { ...object({ x: small, y: integer }), 'x-kubernetes-map-type': 'atomic' }
  t.same(told(atomic, { x: 9, y: 2 }, { x: 9, y: 1 }).errors, [])
})

t.test('what has members that no schema describes counts as changed', async t => {
  const open = { ...object({ a: integer }, { rule: 'self.a < 5', message: 'small' }) }
  t.same(told(open, { a: 9 }, { a: 9 }).errors, [])
  t.same(told(open, { a: 9, more: 1 }, { a: 9, more: 1 }).errors, ['spec: Invalid value: small'])
})

t.test('types follow the schema', async t => {
  const schema = object(
    {
      'a-b': integer,
      namespace: text,
      n: { type: 'number' },
      d: { ...text, format: 'duration' },
      t: { ...text, format: 'date-time' },
      p: { 'x-kubernetes-int-or-string': true },
      m: { type: 'object', additionalProperties: integer },
    },
    'self.a__dash__b == 1 && self.__namespace__ == "q"',
    'self.n / 2.0 == 0.5',
    'self.d < duration("1h") && self.t > timestamp("2020-01-01T00:00:00Z")',
    'type(self.p) == int ? self.p > 1 : self.p.endsWith("%")',
    'self.m.all(k, self.m[k] > 0) && "x-y" in self.m',
    '!has(self.zzz) || true',
  )
  schema.properties!.zzz = text
  const value = { 'a-b': 1, namespace: 'q', n: 1, d: '30m', t: '2024-01-01T00:00:00Z', p: '5%', m: { 'x-y': 1 } }
  t.same(errors(schema, value), [])
})

t.test('the functions that Kubernetes adds', async t => {
  const holds = [
    '[1,2,3].sum() == 6 && [3,1].max() == 3 && [3,1].min() == 1 && [1,2].isSorted() && ![2,1].isSorted()',
    '["a","b"].indexOf("b") == 1 && ["a"].lastIndexOf("z") == -1',
    '"a,b".split(",").join("-") == "a-b" && "AbC".lowerAscii() == "abc" && " x ".trim() == "x"',
    '"aXbX".replace("X", "") == "ab" && "aXbX".replace("X", "", 1) == "abX" && "hello".substring(1, 3) == "el"',
    '"hello".indexOf("l") == 2 && "abc".charAt(1) == "b"',
    '"abc 123 45".find("[0-9]+") == "123" && "abc 123 45".findAll("[0-9]+") == ["123", "45"] && "x1".matches("^x")',
    'quantity("1Gi").isGreaterThan(quantity("1G")) && isQuantity("5m") && !isQuantity("x") && quantity("2").add(quantity("500m")).compareTo(quantity("2500m")) == 0',
    'url("https://a.b:8/c?d=e").getHost() == "a.b:8" && url("https://a.b/c").getEscapedPath() == "/c" && !isURL("nope")',
    'isIP("::1") && ip("10.0.0.1").family() == 4 && isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0")',
  ]
  for (const rule of holds) t.same(errors(ruled({ type: 'object' }, rule), {}), [], rule)
})

t.test('no rule can hang the server', async t => {
  const list: Schema = { type: 'array', items: integer }
  const cubic = 'self.all(x, self.all(y, self.all(z, x + y + z >= 0)))'
  const limit = /'operation cancelled: actual cost limit exceeded': no further validation rules will be run/
  t.match(errors(ruled(list, cubic), Array(300).fill(1)), [limit])
  t.match(errors(ruled(list, cubic.replaceAll('all', 'exists').replace('>=', '<')), Array(300).fill(1)), [limit])
  const square = 'self.all(x, self.all(y, x + y >= 0))'
  const reading = ruled(text, '[1, 2, 3, 4, 5, 6, 7, 8, 9, 0].all(i, self.contains("z") || true)')
  t.match(errors({ type: 'array', items: reading }, Array(12).fill('x'.repeat(900_000))), [
    /^spec\[\d+\]: Invalid value: validation failed due to running out of cost budget, no further validation rules/,
  ])
  const doubling = { rule: '[self].map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).size() > 0' }
  t.match(errors(object({ a: ruled(text, doubling) }), { a: 'x'.repeat(1_000_000) }), [
    /^spec\.a: Invalid value: "string": 'operation cancelled: actual cost limit exceeded'.*call cost exceeds limit for rule: \[self\]/,
  ])
  const message = { rule: 'false', message: 'fixed', messageExpression: `${square} ? 'x' : 'y'` }
  t.match(errors(ruled(list, message), Array(1000).fill(1)), [
    /call cost exceeds limit for messageExpression: "self\.all/,
  ])
  t.same(errors(ruled(list, cubic), Array(20).fill(1)), [])
  t.equal(errors(ruled(text, 'self.matches("^(a+)+$")'), `${'a'.repeat(5000)}b`).length, 1)
  t.throws(() => compileCel(`"${'x'.repeat(110_000)}" == self`, undefined), { name: 'CelCompileError' })
})

t.test('a rule that cannot be compiled is shown with the place of its error', async t => {
  const schema: Schema = { type: 'object', properties: { a: text } }
  t.throws(() => compileCel('self.nope == "x"', schema), {
    name: 'CelCompileError',
    message: `ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == "x"\n | ....^`,
  })
  t.throws(() => compileCel('self.a ==', schema), { message: /ERROR: <input>:1:10: / })
  t.throws(() => compileCel('frobnicate(self)', schema), { message: /frobnicate/ })
  t.doesNotThrow(() => compileCel('[{"b": 1}].all(self, self.b == 1)', schema), 'a loop variable may hide self')
  t.equal(compileCel('self.a + "x"', schema).type, 'string')
  t.match(
    errors(ruled(schema, 'self.nope'), {}),
    [/rule compile error: ERROR/],
    'a stored rule that no longer compiles',
  )
})

t.test('rules run only on values that fit the schema', async t => {
  const validate = compileValidator(under(ruled(text, 'self.size() > 2')))
  t.match(validate({ spec: 5 }).map(formatFieldError), [/must be of type string/])
  t.match(validate({ spec: 'a' }).map(formatFieldError), [/failed rule/])
  t.same(validate({ spec: 'abc' }), [])
})
