import t from 'tap'
import { defaultCrd, validateCrd } from '../../../src/apimachinery/crd/crd.ts'
import { formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { EXPRESSION_COST_LIMIT, estimateCost } from '../../../src/apimachinery/structural/celCost.ts'

const strings = (maxLength: number, maxItems: number): Schema => ({
  type: 'array',
  maxItems,
  items: { type: 'string', maxLength },
})

t.test('estimates agree with what kube-apiserver accepts', async t => {
  // the largest maxItems that v1.36 takes for this rule, by maxLength
  for (const [maxLength, maxItems] of [
    [16, 909_090],
    [63, 333_333],
    [253, 94_339],
    [1024, 24_154],
  ] as const) {
    const rule = "self.all(x, x.contains('gpu'))"
    const near = (cost: number): boolean => Math.abs(cost - EXPRESSION_COST_LIMIT) < EXPRESSION_COST_LIMIT / 10_000
    t.ok(near(estimateCost(rule, strings(maxLength, maxItems))), `maxLength ${maxLength}`)
  }
})

t.test('what a rule may cost depends on what the schema allows', async t => {
  const spec: Schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      short: { type: 'string', maxLength: 10 },
      level: { type: 'string', enum: ['low', 'high'] },
      n: { type: 'integer' },
      many: { type: 'array', items: { type: 'string', maxLength: 10 } },
      few: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 10 } },
      map: { type: 'object', maxProperties: 3, additionalProperties: { type: 'string', maxLength: 10 } },
    },
  }
  const cost = (rule: string): number => estimateCost(rule, spec)
  t.ok(cost('self.n > 0') < 10)
  t.ok(cost('has(self.n) && self.n > 0 || self.level == "low"') < 20)
  t.ok(cost('self.name.matches("^[a-z]+$")') > 100_000, 'a string without a limit may fill a request')
  t.ok(cost('self.short.matches("^[a-z]+$")') < 30)
  t.ok(cost('self.few.all(x, self.few.exists(y, x == y))') < 500)
  t.ok(cost('self.many.all(x, self.many.exists(y, x == y))') > EXPRESSION_COST_LIMIT, 'quadratic')
  t.ok(cost('self.map.all(k, self.map[k].size() < 5)') < 100)
  t.ok(cost('self.few.filter(x, x.size() > 1).map(x, x + "a").size() > 0') < 500)
  t.equal(cost('("a" + string(self.n)).size() > 1'), Number.POSITIVE_INFINITY, 'numbers as text have no known length')
  t.ok(cost('self.few.map(x, [x]).all(l, l.size() == 1)') < 1000)
  t.ok(cost('sets.contains(self.few, ["a", "b"])') < 100)
  t.ok(cost('self.?short.orValue("") == ""') < 20)
  t.ok(cost('self.n > 0 ? self.short : "abc"') < 20)
})

t.test('a definition whose rules cost too much is refused in the words of kube-apiserver', async t => {
  const errorsOf = (schema: Schema): string[] => {
    const crd: KubeObject = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'foos.acme.example.com' },
      spec: {
        group: 'acme.example.com',
        scope: 'Namespaced',
        names: { plural: 'foos', kind: 'Foo' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    }
    defaultCrd(crd)
    return validateCrd(crd).map(formatFieldError)
  }
  const tags: Schema = {
    type: 'array',
    items: { type: 'string' },
    'x-kubernetes-validations': [{ rule: "self.all(x, x.contains('gpu'))" }],
  }
  const whole = (tags: Schema): Schema => ({
    type: 'object',
    properties: { spec: { type: 'object', properties: { tags } } },
  })
  const at = 'spec.validation.openAPIV3Schema'
  const rule = `${at}.properties[spec].properties[tags].x-kubernetes-validations[0].rule`
  const advice =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'
  t.same(errorsOf(whole(tags)), [
    `${rule}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${advice}`,
    `${rule}: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
    `${at}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${advice}`,
  ])
  t.same(errorsOf(whole({ ...tags, maxItems: 2_000_000, items: { type: 'string', maxLength: 16 } })), [
    `${rule}: Forbidden: estimated rule cost exceeds budget by factor of 2.2x ${advice}`,
  ])
  t.same(errorsOf(whole({ ...tags, maxItems: 100, items: { type: 'string', maxLength: 16 } })), [])
  const inside = (maxItems: number | undefined): Schema =>
    whole({
      type: 'array',
      ...(maxItems !== undefined && { maxItems }),
      items: { type: 'string', 'x-kubernetes-validations': [{ rule: "self.startsWith('a')" }] },
    })
  t.same(errorsOf(inside(100)), [])
  t.match(errorsOf(inside(undefined)), [], 'short readings are cheap however many')
})
