import t from 'tap'
import { formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import { typeErrors } from '../../../src/apimachinery/go/typeErrors.ts'
import { type Schema, STRUCT_NAME } from '../../../src/apimachinery/schema.ts'
import { objectMetaSchema } from '../../../src/apimachinery/structural/objectMetaSchema.ts'
import { compileValidator } from '../../../src/apimachinery/structural/validate.ts'

const text: Schema = { type: 'string' }
const integer: Schema = { type: 'integer' }
const either: Schema[] = [{ required: ['a'] }, { required: ['b'] }]
const ab = { a: text, b: text }

/** Errors of a value at `spec.x`. */
const errors = (schema: Schema, value: unknown) => compileValidator(schema)(value, 'spec.x').map(formatFieldError)

t.test('values that do not fit are explained in the words of kube-apiserver', async t => {
  const cases: [Schema, unknown, string[]][] = [
    [text, 5, ['spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"']],
    [integer, 'x', ['spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"']],
    [
      integer,
      1.5,
      [
        'spec.x: Invalid value: "number": spec.x in body must be of type integer: "number"',
        'spec.x: Invalid value: "": Checked value must be of type integer (default format) in spec.x',
      ],
    ],
    [
      { ...integer, format: 'int32' },
      3e9,
      ['spec.x: Invalid value: "": Checked value must be of type integer with format int32 in spec.x'],
    ],
    [
      { type: 'array', items: text },
      [null],
      ['spec.x[0]: Invalid value: "null": spec.x[0] in body must be of type string: "null"'],
    ],
    [{ ...integer, minimum: 1 }, 0, ['spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1']],
    [
      { type: 'number', maximum: 5, exclusiveMaximum: true },
      5,
      ['spec.x: Invalid value: 5: spec.x in body should be less than 5'],
    ],
    [{ ...integer, multipleOf: 3 }, 4, ['spec.x: Invalid value: 4: spec.x in body should be a multiple of 3']],
    [{ type: 'number', multipleOf: 0.1 }, 0.3, []],
    [{ ...text, enum: ['a', 'b'] }, 'z', ['spec.x: Unsupported value: "z": supported values: "a", "b"']],
    [{ ...integer, enum: [1, 2] }, 7, ['spec.x: Unsupported value: 7: supported values: "1", "2"']],
    [{ type: 'object', enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 }, []],
    [{ ...text, minLength: 2 }, 'b', ['spec.x: Invalid value: "b": spec.x in body should be at least 2 chars long']],
    [{ ...text, maxLength: 3 }, 'bbbb', ['spec.x: Too long: may not be more than 3 bytes']],
    [{ ...text, maxLength: 2, minLength: 2 }, '🙂🙂', []],
    [{ ...text, pattern: '^a$' }, 'b', ['spec.x: Invalid value: "b": spec.x in body should match \'^a$\'']],
    [
      { ...text, format: 'date-time' },
      'x',
      ['spec.x: Invalid value: "x": spec.x in body must be of type date-time: "x"'],
    ],
    [{ ...text, format: 'nobody-knows-it' }, 'x', []],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      ['spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"'],
    ],
    [{ 'x-kubernetes-int-or-string': true }, '5%', []],
    [
      { type: 'array', items: text, minItems: 2 },
      ['a'],
      ['spec.x: Invalid value: 1: spec.x in body should have at least 2 items'],
    ],
    [{ type: 'array', items: text, maxItems: 1 }, ['a', 'b'], ['spec.x: Too many: 2: must have at most 1 item']],
    [
      { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      ['a', 'a', 'a'],
      ['spec.x[1]: Duplicate value: "a"'],
    ],
    [
      {
        type: 'array',
        items: { type: 'object' },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'l'],
      },
      [
        { k: 'a', l: 1, v: 1 },
        { k: 'a', l: 2 },
        { l: 1, k: 'a' },
      ],
      ['spec.x[2]: Duplicate value: {"k":"a","l":1}'],
    ],
    [
      { type: 'object', minProperties: 1 },
      {},
      ['spec.x: Invalid value: 0: spec.x in body should have at least 1 properties'],
    ],
    [{ type: 'object', required: ['a'], properties: ab }, {}, ['spec.x.a: Required value']],
    [
      { type: 'object', additionalProperties: integer },
      { 'd/e': 'x' },
      ['spec.x.d/e: Invalid value: "string": spec.x.d/e in body must be of type integer: "string"'],
    ],
    [
      { type: 'object', properties: ab, oneOf: either },
      {},
      [
        '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
        'spec.x.a: Required value',
      ],
    ],
    [
      { type: 'object', properties: ab, oneOf: either },
      { a: '1', b: '2' },
      ['<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      { type: 'object', properties: ab, anyOf: either },
      {},
      ['<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)', 'spec.x.a: Required value'],
    ],
    [
      { type: 'object', properties: ab, allOf: either },
      { a: 'x' },
      ['spec.x.b: Required value', '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf)'],
    ],
    [
      { type: 'object', not: { required: ['a'] } },
      { a: 'x' },
      ['<nil>: Invalid value: "": "spec.x" must not validate the schema (not)'],
    ],
    [{ ...text, nullable: true }, null, []],
    [
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      { kind: 'A' },
      ['spec.x.apiVersion: Required value'],
    ],
  ]
  for (const [schema, value, expected] of cases)
    t.same(errors(schema, value), expected, JSON.stringify([schema, value]))
})

t.test('formats', async t => {
  const good: Record<string, string[]> = {
    'date-time': ['2024-02-29T12:00:00Z', '2024-01-01t00:00:00.123+01:00'],
    date: ['2024-02-29'],
    duration: ['1h30m', '300ms', '5 days', 'P1D'],
    byte: ['aGk='],
    uuid: ['123e4567-e89b-12d3-a456-426614174000'],
    uuid4: ['123e4567-e89b-42d3-a456-426614174000'],
    ipv4: ['10.0.0.1', '010.0.0.1'],
    ipv6: ['::1'],
    cidr: ['10.0.0.0/8', 'fd00::/64'],
    mac: ['01:23:45:67:89:ab', '0123.4567.89ab', '01-23-45-67-89-ab-cd-ef'],
    email: ['a.b@example.com'],
    hostname: ['example.com', 'host', 'a-b'],
    uri: ['https://example.com/x', '/x'],
    isbn10: ['0306406152'],
    isbn13: ['978-0-306-40615-7'],
    creditcard: ['4111 1111 1111 1111'],
    hexcolor: ['#fff'],
    rgbcolor: ['rgb(1,2,255)'],
  }
  const bad: Record<string, string[]> = {
    'date-time': ['2023-02-29T12:00:00Z', '2024-01-01', '2024-01-01T25:00:00Z', '2024-12-31T23:59:60Z'],
    date: ['2024-13-01'],
    duration: ['1x', ''],
    byte: ['', '%', 'aGk'],
    uuid: ['123'],
    uuid4: ['123e4567-e89b-12d3-a456-426614174000'],
    ipv4: ['10.0.0.256', '::1'],
    ipv6: ['10.0.0.1', 'fe80::1%eth0'],
    cidr: ['10.0.0.0/33', '10.0.0.0'],
    mac: ['01:23', '01:23-45:67:89:ab'],
    email: ['a', '@b', 'a b@c'],
    hostname: ['_', 'a..b', 'example.com.', 'a.b1'],
    uri: ['x', 'a b:c'],
    isbn10: ['0306406153'],
    isbn13: ['9780306406158'],
    creditcard: ['4111111111111112', '9999999999999995'],
    hexcolor: ['#ggg'],
    rgbcolor: ['rgb(1,2,256)'],
  }
  for (const [format, values] of Object.entries(good)) {
    for (const value of values) t.same(errors({ ...text, format }, value), [], `${format}: ${value}`)
  }
  for (const [format, values] of Object.entries(bad)) {
    for (const value of values) t.equal(errors({ ...text, format }, value).length, 1, `${format}: ${value}`)
  }
})

t.test('a pattern that would backtrack for hours is answered at once', async t => {
  t.equal(errors({ ...text, pattern: '^(a+)+$' }, `${'a'.repeat(5000)}b`).length, 1)
})

t.test('a schema that contains itself is compiled as deep as the value goes', async t => {
  const node: Schema = { type: 'object', properties: { v: integer } }
  node.properties!.next = node
  t.same(errors(node, { next: { next: { v: 'x' } } }), [
    'spec.x.next.next.v: Invalid value: "string": spec.x.next.next.v in body must be of type integer: "string"',
  ])
})

t.test('wrong types in built-in kinds are told as Go tells them', async t => {
  const int32: Schema = { type: 'integer', format: 'int32' }
  const schema: Schema = {
    type: 'object',
    properties: {
      metadata: objectMetaSchema,
      spec: {
        [STRUCT_NAME]: 'v1.DeploymentSpec',
        type: 'object',
        properties: {
          replicas: int32,
          memory: { format: 'quantity', 'x-kubernetes-int-or-string': true },
          when: { ...text, format: 'date-time' },
          data: { ...text, format: 'byte' },
          containers: {
            type: 'array',
            items: { [STRUCT_NAME]: 'v1.Container', type: 'object', properties: { image: text } },
          },
        },
      },
    },
  }
  const told = (rest: object) => typeErrors({ kind: 'Deployment', ...rest }, schema)
  t.equal(
    told({ spec: { replicas: 1, memory: 5, when: '2024-01-01T00:00:00Z', data: 'aGk=', containers: null } }),
    undefined,
  )
  const prefix = 'json: cannot unmarshal'
  const cases: [object, string][] = [
    [{ spec: { replicas: 'x' } }, `${prefix} string into Go struct field DeploymentSpec.spec.replicas of type int32`],
    [
      { spec: { replicas: 1.5 } },
      `${prefix} number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32`,
    ],
    [
      { spec: { replicas: 3e9 } },
      `${prefix} number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32`,
    ],
    [
      { metadata: { labels: { a: 5 } } },
      `${prefix} number into Go struct field ObjectMeta.metadata.labels of type string`,
    ],
    [
      { metadata: { labels: [] } },
      `${prefix} array into Go struct field ObjectMeta.metadata.labels of type map[string]string`,
    ],
    [
      { spec: { containers: [{}, { image: true }] } },
      `${prefix} bool into Go struct field Container.spec.containers.image of type string`,
    ],
    [{ spec: { when: 'x' } }, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    [
      { spec: { memory: '1KB' } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [{ spec: { data: 'a%==' } }, 'illegal base64 data at input byte 1'],
  ]
  for (const [rest, message] of cases) t.equal(told(rest), message)
})

t.test('a rule without a text fails values and nothing else: definitions are checked as they come', async t => {
  const lacking = { type: 'object', 'x-kubernetes-validations': [{ message: 'm' }] } as unknown as Schema
  const validate = compileValidator({ type: 'object', additionalProperties: lacking })
  t.match(validate({ a: {} }).map(formatFieldError).join(), /^\[a\]: Invalid value: rule compile error/)
})
