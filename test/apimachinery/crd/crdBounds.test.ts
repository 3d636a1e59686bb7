// Definitions that are more than anybody needs are refused by one short error, before anything is made of them.
import t from 'tap'
import { validateCrd } from '../../../src/apimachinery/crd/crd.ts'
import { crdBoundErrors } from '../../../src/apimachinery/crd/crdBounds.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'

const text: Schema = { type: 'string' }
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const properties = (count: number, make: (i: number) => Schema): Record<string, Schema> =>
  Object.fromEntries(many(count, i => [`p${i}`, make(i)]))
const spec = (schema: Schema): Schema => ({ type: 'object', properties: { spec: schema } })
const version = (schema: Schema, name = 'v1', more: object = {}): object => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: schema },
  ...more,
})
const crd = (versions: object[], names: object = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.io' },
  spec: {
    group: 'example.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', ...names },
    versions,
  },
  status: { storedVersions: ['v1'] },
})
function wrap(depth: number, make: (schema: Schema) => Schema): Schema {
  let schema = text
  for (let i = 0; i < depth; i++) schema = make(schema)
  return schema
}

t.test('too much of anything is told in one error at its place', t => {
  const root = 'spec.versions[0].schema.openAPIV3Schema'
  const rule = (i: number) => ({ rule: `self != "${i}"`, message: 'no' })
  const cases: [what: string, crd: KubeObject, field: RegExp, detail: RegExp][] = [
    ['versions', crd(many(101, i => version(text, `v${i + 1}`))), /^spec\.versions$/, /at most 100 items/],
    ['short names', crd([version(text)], { shortNames: many(101, i => `w${i}`) }), /shortNames$/, /at most 100/],
    [
      'columns',
      crd([version(text, 'v1', { additionalPrinterColumns: many(201, i => ({ name: `${i}` })) })]),
      /^spec\.versions\[0\]\.additionalPrinterColumns$/,
      /at most 200/,
    ],
    [
      'properties',
      crd([version(spec({ type: 'object', properties: properties(50_000, () => text) }))]),
      /\[p\d+\]$/,
      /50000 schemas/,
    ],
    [
      'branches',
      crd([version(spec({ ...text, anyOf: many(60_000, () => ({ minLength: 1 })) }))]),
      /anyOf\[\d+\]$/,
      /50000 schemas/,
    ],
    [
      'levels',
      crd([version(wrap(100_000, schema => ({ type: 'object', properties: { a: schema } })))]),
      /\.properties\[a\]$/,
      /100 levels deep/,
    ],
    [
      'levels of not',
      crd([version(spec({ ...text, not: wrap(100_000, schema => ({ not: schema })) }))]),
      /\.not$/,
      /100 levels/,
    ],
    ['values', crd([version(spec({ ...text, enum: many(200_001, i => `v${i}`) }))]), /\[spec\]$/, /200000 values/],
    [
      'rules',
      crd([version(spec({ ...text, 'x-kubernetes-validations': many(2001, rule) }))]),
      /x-kubernetes-validations$/,
      /2000 rules of 131072 characters together/,
    ],
    [
      'long rules',
      crd([version(spec({ ...text, 'x-kubernetes-validations': many(40, () => ({ rule: 'x'.repeat(4000) })) }))]),
      /validations$/,
      /131072/,
    ],
    [
      'patterns',
      crd([
        version(spec({ type: 'object', properties: properties(200, i => ({ ...text, pattern: `^a{0,500}${i}$` })) })),
      ]),
      /pattern$/,
      /65536 parts/,
    ],
    ['defaults', crd([version(spec({ ...text, default: 'x'.repeat(1024 * 1024) }))]), /default$/, /1048576 characters/],
    [
      'keys',
      crd([version(spec({ type: 'array', items: spec(text), 'x-kubernetes-list-map-keys': many(101, i => `k${i}`) }))]),
      /list-map-keys$/,
      /at most 100/,
    ],
  ]
  for (const [what, definition, field, detail] of cases) {
    const errors = validateCrd(definition)
    t.equal(errors.length, 1, what)
    t.match(errors[0]?.field, field, what)
    t.match(errors[0]?.detail, detail, what)
    t.ok(errors[0]!.field.startsWith('spec.'), root)
  }
  t.end()
})

t.test('a definition of more than a megabyte passes', t => {
  const description = 'What this field is about, in a sentence or two as generators write them. '.repeat(2)
  const leaf = (i: number): Schema => ({
    ...text,
    description,
    ...(i % 9 === 0 && { pattern: `^[a-z]{1,63}${i % 5}$` }),
  })
  const group = (i: number): Schema => ({
    type: 'object',
    description,
    properties: properties(20, leaf),
    required: [`p${i % 20}`],
  })
  const deep = wrap(25, schema => ({ type: 'object', properties: { a: schema } }))
  const whole = crd([version(spec({ type: 'object', properties: { ...properties(350, group), deep } }))])
  t.ok(JSON.stringify(whole).length > 1024 * 1024)
  t.same(validateCrd(whole), [])
  t.end()
})

t.test('what was stored without bounds may be written with its spec as it is', t => {
  const old = crd(many(101, i => version(spec(text), `v${i + 1}`)))
  t.same(atOnce(crdBoundErrors(structuredClone(old), old)), [])
  t.equal(atOnce(crdBoundErrors(crd(many(102, i => version(spec(text), `v${i + 1}`))), old)).length, 1)
  t.end()
})
