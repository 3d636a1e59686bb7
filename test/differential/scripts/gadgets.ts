/** A kind with everything that a schema can say; several scripts use it. */
import { get, post, type Step } from '../script.ts'
import { of } from './bodies.ts'

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const text = { type: 'string' }
const whole = { type: 'integer' }
const named = (rest: object = {}): object => ({
  type: 'object',
  required: ['name'],
  properties: { name: text, value: text, port: whole },
  ...rest,
})
const FORMATS = [
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'uuid4',
  'isbn',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'date',
  'duration',
  'datetime',
  'date-time',
  'k8s-short-name',
  'k8s-long-name',
]

const SPEC = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 0, maximum: 100 },
    small: { type: 'integer', format: 'int32' },
    ratio: { type: 'number', exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
    flag: { type: 'boolean' },
    color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
    word: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
    maybe: { type: 'string', nullable: true },
    maybeDefault: { type: 'string', nullable: true, default: 'x' },
    either: { 'x-kubernetes-int-or-string': true },
    eitherPattern: {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: '^[0-9]+%$',
    },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: whole } },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
    map: { type: 'object', additionalProperties: whole, maxProperties: 3 },
    maps: { type: 'object', additionalProperties: { type: 'object', properties: { a: { ...text, default: 'd' } } } },
    atoms: { type: 'array', items: text, minItems: 1, maxItems: 3 },
    set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    list: { type: 'array', items: named(), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: {
        type: 'object',
        required: ['port'],
        properties: { port: whole, protocol: { ...text, default: 'TCP' }, name: text },
      },
    },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text, b: text } },
    deep: {
      type: 'object',
      default: {},
      properties: {
        level: { type: 'object', default: { n: 1 }, properties: { n: whole, m: { ...whole, default: 2 } } },
      },
    },
    formats: { type: 'object', properties: Object.fromEntries(FORMATS.map(format => [format, { ...text, format }])) },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    shaped: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { a: text } } },
    },
    oneOf: {
      type: 'object',
      properties: { a: text, b: text, c: text },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
      not: { required: ['c'] },
    },
    anyOf: { type: 'string', anyOf: [{ pattern: '^a' }, { maxLength: 1 }] },
    allOf: { type: 'string', allOf: [{ pattern: '^a' }, { maxLength: 3 }] },
    password: { ...text, format: 'password' },
    secret: { ...text, maxLength: 3 },
    objects: { type: 'array', items: { type: 'object', required: ['a', 'b'], properties: { a: text, b: text } } },
    matrix: { type: 'array', items: { type: 'array', items: whole } },
    tags: { type: 'array', items: { type: 'string', enum: ['x', 'y'] }, uniqueItems: false },
    literal: { type: 'object', enum: [{ a: 1 }], 'x-kubernetes-preserve-unknown-fields': true },
  },
}
const STATUS = {
  type: 'object',
  properties: {
    replicas: whole,
    selector: text,
    phase: text,
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: { type: text, status: text, reason: text, lastTransitionTime: { ...text, format: 'date-time' } },
      },
    },
  },
}
export const GADGET = {
  type: 'object',
  properties: { spec: SPEC, status: STATUS, data: { type: 'object', additionalProperties: text } },
}

/** A definition of `plural` in a group of its own, so that scripts do not meet. */
export const definition = (plural: string, kind: string, version: object = {}, spec: object = {}): object =>
  of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${plural}.${plural}.example.com`, {
    spec: {
      group: `${plural}.example.com`,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: GADGET }, ...version }],
      ...spec,
    },
  })

/** Makes the kind and waits until it is served. */
export const made = (plural: string, kind: string, version: object = {}, spec: object = {}): Step[] => [
  post(CRDS, definition(plural, kind, version, spec), {
    only: ['code', 'message', 'kind'],
    save: { crdVersion: 'metadata.resourceVersion' },
  }),
  get(`${CRDS}?watch=1&resourceVersion={crdVersion}&fieldSelector=metadata.name%3D${plural}.${plural}.example.com`, {
    until: 'the initial names have been accepted',
  }),
]
export const pathOf = (plural: string, version = 'v1'): string =>
  `/apis/${plural}.example.com/${version}/namespaces/{ns}/${plural}`
export const FORMAT_NAMES = FORMATS
