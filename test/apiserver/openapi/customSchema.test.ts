/** OpenAPI documents for schemas of CustomResourceDefinitions. Upstream says the same of those in `test/differential`. */
import t from 'tap'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { publishedObject } from '../../../src/apiserver/openapi/customSchema.ts'
import type { Dialect, SchemaDocument } from '../../../src/apiserver/openapi/schemaDocument.ts'

const FIELDS = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { $ref: 'ObjectMeta' } }
const PRESERVES = { 'x-kubernetes-preserve-unknown-fields': true } as const
const EMBEDDED = { 'x-kubernetes-embedded-resource': true } as const
const INT_OR_STRING = { 'x-kubernetes-int-or-string': true } as const
const TEXT: Schema = { type: 'string' }
const ALTERNATIVES: Schema[] = [{ type: 'integer' }, { type: 'string' }]

function published(field: Schema, dialect: Dialect): unknown {
  const schema: Schema = { type: 'object', properties: { field } }
  return (publishedObject(schema, dialect, FIELDS).properties as SchemaDocument).field
}

const cases: { name: string; field: Schema; v2: object; v3?: object }[] = [
  {
    name: 'what may be null has no type and no insides in version 2',
    field: { type: 'object', nullable: true, description: 'd', required: ['a'], properties: { a: TEXT } },
    v2: { description: 'd', required: ['a'] },
  },
  { name: 'a list that may be null', field: { type: 'array', nullable: true, items: TEXT }, v2: {} },
  {
    name: 'a map that may be null',
    field: { type: 'object', nullable: true, additionalProperties: TEXT },
    v2: { additionalProperties: TEXT },
  },
  {
    name: 'what may be null is not required in version 2',
    field: { type: 'object', required: ['a', 'b'], properties: { a: { ...TEXT, nullable: true }, b: TEXT } },
    v2: { type: 'object', required: ['b'], properties: { a: {}, b: TEXT } },
  },
  {
    name: 'nor the keys of a map whose values may be null',
    field: { type: 'object', required: ['a'], additionalProperties: { ...TEXT, nullable: true } },
    v2: { type: 'object', additionalProperties: {} },
  },
  {
    name: 'an object with unknown fields lists none in version 2',
    field: { type: 'object', ...PRESERVES, required: ['a'], properties: { a: TEXT } },
    v2: { ...PRESERVES, required: ['a'] },
  },
  {
    name: 'nor does a list say what is in it',
    field: { type: 'array', ...PRESERVES, items: TEXT },
    v2: { ...PRESERVES },
  },
  { name: 'anything at all', field: { ...PRESERVES, description: 'd' }, v2: { ...PRESERVES, description: 'd' } },
  {
    name: 'unknown fields in lists and maps',
    field: {
      type: 'array',
      items: { type: 'object', additionalProperties: { type: 'object', ...PRESERVES, properties: { a: TEXT } } },
    },
    v2: { type: 'array', items: { type: 'object', additionalProperties: PRESERVES } },
  },
  {
    name: 'alternatives, conditions and defaults are not for version 2',
    field: {
      type: 'object',
      default: {},
      properties: { a: { ...TEXT, default: '', enum: ['', 'x'] } },
      oneOf: [{ required: ['a'] }],
      anyOf: [{ properties: { a: { minLength: 1 } } }],
      allOf: [{ required: ['a'] }],
      not: { required: ['b'] },
    },
    v2: { type: 'object', properties: { a: { ...TEXT, enum: ['', 'x'] } } },
  },
  {
    name: 'rules in CEL are for both',
    field: { ...TEXT, 'x-kubernetes-validations': [{ rule: 'self != ""' }] },
    v2: { ...TEXT, 'x-kubernetes-validations': [{ rule: 'self != ""' }] },
  },
  {
    name: 'an integer or a string',
    field: { ...INT_OR_STRING, pattern: '^x' },
    v2: { ...INT_OR_STRING, pattern: '^x' },
    v3: { ...INT_OR_STRING, pattern: '^x', anyOf: ALTERNATIVES },
  },
  {
    name: 'an integer or a string that says so itself',
    field: { ...INT_OR_STRING, anyOf: ALTERNATIVES },
    v2: INT_OR_STRING,
  },
  {
    name: 'an integer or a string that says so behind a condition',
    field: { ...INT_OR_STRING, allOf: [{ anyOf: ALTERNATIVES }, { minimum: 2 }] },
    v2: INT_OR_STRING,
  },
  {
    name: 'an integer or a string with a condition',
    field: { ...INT_OR_STRING, anyOf: [{ minimum: 2 }], allOf: [{ maximum: 9 }] },
    v2: INT_OR_STRING,
    v3: { ...INT_OR_STRING, anyOf: [{ minimum: 2 }], allOf: [{ anyOf: ALTERNATIVES }, { maximum: 9 }] },
  },
  {
    name: 'an object inside has what every object has',
    field: { type: 'object', ...EMBEDDED, required: ['kind', 'spec'], properties: { kind: TEXT, spec: TEXT } },
    v2: {
      type: 'object',
      ...EMBEDDED,
      required: ['kind', 'spec', 'apiVersion'],
      properties: { ...FIELDS, spec: TEXT },
    },
    v3: {
      type: 'object',
      ...EMBEDDED,
      required: ['kind', 'spec', 'apiVersion'],
      properties: { ...FIELDS, spec: TEXT },
    },
  },
  {
    name: 'an object inside with unknown fields',
    field: { type: 'object', ...EMBEDDED, ...PRESERVES },
    v2: { ...EMBEDDED, ...PRESERVES },
    v3: { type: 'object', ...EMBEDDED, ...PRESERVES, required: ['kind', 'apiVersion'], properties: FIELDS },
  },
  {
    name: 'an object inside that may be null: kubectl would refuse its other fields',
    field: { type: 'object', nullable: true, ...EMBEDDED, properties: { spec: TEXT } },
    v2: { ...EMBEDDED },
    v3: {
      type: 'object',
      nullable: true,
      ...EMBEDDED,
      required: ['kind', 'apiVersion'],
      properties: { ...FIELDS, spec: TEXT },
    },
  },
  {
    name: 'how lists and maps are merged',
    field: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
      items: { type: 'object', 'x-kubernetes-map-type': 'atomic', required: ['a'], properties: { a: TEXT } },
    },
    v2: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
      items: { type: 'object', 'x-kubernetes-map-type': 'atomic', required: ['a'], properties: { a: TEXT } },
    },
  },
  {
    name: 'what says nothing is left out',
    field: { type: 'object', nullable: false, title: '', required: [], properties: {}, additionalProperties: true },
    v2: { type: 'object', additionalProperties: true },
    v3: { type: 'object', additionalProperties: true },
  },
]

for (const { name, field, v2, v3 = field } of cases) {
  t.test(name, async t => {
    t.strictSame(published(field, 'v2'), v2, 'version 2')
    t.strictSame(published(field, 'v3'), v3, 'version 3')
  })
}

t.test('of an object that is open at its root version 2 says that it is one', async t => {
  const open: Schema = { type: 'object', description: 'd', ...PRESERVES, properties: { spec: TEXT } }
  t.strictSame(publishedObject(open, 'v2', FIELDS), { type: 'object' })
  t.strictSame(publishedObject(open, 'v3', FIELDS), { ...open, properties: { ...FIELDS, spec: TEXT } })
  for (const dialect of ['v2', 'v3'] as const) {
    t.strictSame(publishedObject(undefined, dialect, FIELDS), { type: 'object' })
  }
})

t.test('what a definition says about metadata is for validation alone', async t => {
  const schema: Schema = { type: 'object', properties: { metadata: { type: 'object', properties: { name: TEXT } } } }
  t.strictSame(publishedObject(schema, 'v2', FIELDS), { type: 'object', properties: FIELDS })
})

t.test('what is published as it is, is not copied', async t => {
  const spec: Schema = {
    type: 'object',
    properties: { a: TEXT, list: { type: 'array', items: { type: 'object', properties: { b: TEXT } } } },
  }
  for (const dialect of ['v2', 'v3'] as const) t.equal(published(spec, dialect), spec, dialect)
  const left = { type: 'object', properties: { a: { ...TEXT, example: 'x' }, b: spec } } as Schema
  for (const dialect of ['v2', 'v3'] as const) {
    const { properties } = published(left, dialect) as { properties: Record<string, unknown> }
    t.strictSame(properties.a, TEXT)
    t.equal(properties.b, spec)
    t.strictSame(left.properties?.a, { ...TEXT, example: 'x' }, 'the definition stays as it was')
  }
})
