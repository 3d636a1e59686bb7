import t from 'tap'
import {
  defaultCrd,
  formatWarnings,
  namesConflicts,
  resourceTypesOf,
  shareSchemasOf,
  validateCrd,
  validateCrdUpdate,
} from '../../../src/apimachinery/crd/crd.ts'
import { formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { pruneUnknown } from '../../../src/apimachinery/structural/prune.ts'

interface Draft extends KubeObject {
  spec: {
    group: string
    scope?: string
    names: Record<string, unknown>
    versions: Record<string, unknown>[]
    [field: string]: unknown
  }
}

function draft(schema: unknown = { type: 'object' }, change: (crd: Draft) => void = () => {}): Draft {
  const crd: Draft = {
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
  change(crd)
  defaultCrd(crd)
  return crd
}
const errors = (crd: KubeObject) => validateCrd(crd).map(formatFieldError)
const schemaErrors = (properties: unknown, rest = {}) => errors(draft({ type: 'object', properties, ...rest }))
const at = 'spec.validation.openAPIV3Schema'

t.test('names that are left out are derived from the kind', async t => {
  const crd = draft()
  t.same(crd.spec.names, { plural: 'foos', kind: 'Foo', singular: 'foo', listKind: 'FooList' })
  t.same(crd.spec.conversion, { strategy: 'None' })
  t.same(errors(crd), [])
})

t.test('a bad definition is explained in the words of kube-apiserver', async t => {
  const cases: [(crd: Draft) => void, string[]][] = [
    [
      c => Object.assign(c.metadata, { name: 'x.y' }),
      ['metadata.name: Invalid value: "x.y": must be spec.names.plural+"."+spec.group'],
    ],
    [
      c => Object.assign(c.spec, { scope: 'Foo' }),
      ['spec.scope: Unsupported value: "Foo": supported values: "Cluster", "Namespaced"'],
    ],
    [c => Object.assign(c.spec, { scope: undefined }), ['spec.scope: Required value']],
    [
      c => Object.assign(c.spec.names, { listKind: 'Foo' }),
      ['spec.names.listKind: Invalid value: "Foo": kind and listKind may not be the same'],
    ],
    [c => delete c.spec.versions[0]?.schema, ['spec.versions[0].schema.openAPIV3Schema: Required value']],
    [
      c => c.spec.versions.push({ ...c.spec.versions[0], name: 'v2' }),
      [
        'spec.versions: Invalid value: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
      ],
    ],
    [
      c => Object.assign(c.spec, { preserveUnknownFields: true }),
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      c => Object.assign(c.spec, { conversion: { strategy: 'Foo' } }),
      ['spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"'],
    ],
    [
      c =>
        Object.assign(c.spec.versions[0]!, {
          subresources: { scale: { specReplicasPath: 'spec.r', statusReplicasPath: '.spec.r' } },
        }),
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: "spec.r": must be a simple json path starting with .',
        'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.r": should be a json path under .status',
      ],
    ],
    [
      c => Object.assign(c.spec.versions[0]!, { additionalPrinterColumns: [{ name: '', type: 'foo', jsonPath: 'x' }] }),
      [
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "x": must be a simple json path starting with .',
      ],
    ],
  ]
  for (const [change, expected] of cases) t.same(errors(draft(undefined, change)), expected)
  const approved = draft(undefined, c => {
    c.spec.group = 'edge.kubestellar.k8s.io'
    c.metadata.name = 'foos.edge.kubestellar.k8s.io'
  })
  t.match(errors(approved), [/metadata.annotations\[api-approved.kubernetes.io\]: Required value: protected groups/])
  approved.metadata.annotations = { 'api-approved.kubernetes.io': 'unapproved, experimental' }
  t.same(errors(approved), [])
})

t.test('a schema must be structural', async t => {
  const object = { type: 'object' }
  const cases: [unknown, string[]][] = [
    [{ spec: {} }, [`${at}.properties[spec].type: Required value: must not be empty for specified object fields`]],
    [{ spec: { type: 'array' } }, [`${at}.properties[spec].items: Required value: must be specified`]],
    [
      { spec: { ...object, anyOf: [{ properties: { z: { type: 'string' } } }] } },
      [`${at}.properties[spec].anyOf[0].properties[z].type: Forbidden: must be empty to be structural`],
    ],
    [
      { metadata: { ...object, properties: { labels: object } } },
      [
        `${at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
      ],
    ],
    [
      { metadata: object, a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] } },
      [],
    ],
    [
      { a: { ...object, properties: { b: object }, additionalProperties: object } },
      [`${at}.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    ],
    [
      { a: { type: 'integer', default: 'x' } },
      [`${at}.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"`],
    ],
    [
      { a: { ...object, default: { q: 1 } } },
      [`${at}.properties[a].default: Invalid value: {"q":1}: must not have unknown fields`],
    ],
    [
      { a: { type: 'array', items: object, 'x-kubernetes-list-type': 'map' } },
      [
        `${at}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
      ],
    ],
  ]
  for (const [properties, expected] of cases) t.same(schemaErrors(properties), expected)
  t.same(errors(draft({})), [`${at}.type: Required value: must not be empty at the root`])
  t.match(schemaErrors({ a: { type: 'string', pattern: '(' } }), [/must be a valid regular expression, but isn't/])
  t.same(schemaErrors({}, { anyOf: [{ properties: { z: { pattern: 'a' } } }] }), [
    `${at}.properties[z]: Required value: because it is defined in ${at}.anyOf[0].properties[z]`,
  ])
})

t.test('rules of a schema must compile', async t => {
  const spec = (rule: string, rest = {}) => ({
    type: 'object',
    properties: { a: { type: 'string' } },
    'x-kubernetes-validations': [{ rule, ...rest }],
  })
  t.same(schemaErrors({ spec: spec('self.a == "x"') }), [])
  t.match(schemaErrors({ spec: spec('self.b == "x"') }), [
    /rule: Invalid value: .*compilation failed: ERROR: .*undefined field 'b'/s,
  ])
  t.match(schemaErrors({ spec: spec('self.a + "x"') }), [/cel expression must evaluate to a bool/])
  t.match(schemaErrors({ spec: spec('  ') }), [
    /x-kubernetes-validations\[0\].rule: Required value: rule is not specified/,
  ])
  t.match(schemaErrors({ list: { type: 'array', maxItems: 5, items: spec('self.a == oldSelf.a') } }), [
    /oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties\[list\]/,
  ])
})

t.test('an update may not take away what stored objects rely on', async t => {
  const old = draft()
  old.status = { conditions: [{ type: 'Established', status: 'True' }] }
  const renamed = draft(undefined, c => Object.assign(c.spec.names, { kind: 'Bar' }))
  t.same(validateCrdUpdate(renamed, old).map(formatFieldError), [
    'spec.names.kind: Invalid value: "Bar": field is immutable',
  ])
  const dropped = draft(undefined, c => Object.assign(c.spec.versions[0]!, { name: 'v2' }))
  dropped.status = { storedVersions: ['v1', 'v2'] }
  t.match(errors(dropped), [/status.storedVersions\[0\]: Invalid value: "v1": missing/])
})

t.test('served versions become kinds', async t => {
  const crd = draft({ type: 'object', properties: { spec: { type: 'object' } } }, c => {
    Object.assign(c.spec.names, { shortNames: ['f'], categories: ['all'] })
    Object.assign(c.spec.versions[0]!, {
      subresources: { status: {}, scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' } },
      selectableFields: [{ jsonPath: '.spec.color' }],
    })
    c.spec.versions.push({
      name: 'v2',
      served: true,
      storage: false,
      schema: { openAPIV3Schema: { type: 'object' } },
      additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    })
    c.spec.versions.push({ name: 'v3', served: false, storage: false, schema: { openAPIV3Schema: { type: 'object' } } })
  })
  const [v1, v2, ...rest] = resourceTypesOf(crd)
  t.same(rest, [], 'what is not served is no kind')
  t.match(v1, {
    group: 'acme.example.com',
    version: 'v1',
    resource: 'foos',
    singular: 'foo',
    kind: 'Foo',
    listKind: 'FooList',
    shortNames: ['f'],
    categories: ['all'],
    namespaced: true,
    storageVersion: 'v1',
    subresources: ['status', 'scale'],
    scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' },
    selectableFields: ['.spec.color'],
    columns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
  })
  t.match(v2, { storageVersion: 'v1', columns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }] })
  const object = {
    apiVersion: 'acme.example.com/v1',
    kind: 'Foo',
    metadata: { name: 'x', labels: { a: 'b' } },
    status: {},
  }
  t.same(pruneUnknown(object, v1?.schema), ['status'])
  t.equal(resourceTypesOf(structuredClone(crd))[0]?.schema, v1?.schema, 'equal schemas are one object in all spaces')
})

t.test('a name belongs to who had it first', async t => {
  const first = draft(undefined, c => Object.assign(c.spec.names, { shortNames: ['f'] }))
  const { acceptedNames, conditions } = namesConflicts(first, [])
  t.same(conditions, [
    { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
    {
      type: 'Established',
      status: 'True',
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ])
  first.status = { acceptedNames, conditions }
  const second = draft(undefined, c => {
    c.metadata.name = 'fools.acme.example.com'
    Object.assign(c.spec.names, { plural: 'fools', kind: 'Fool', shortNames: ['f', 'fl'] })
  })
  t.match(namesConflicts(second, [first]), {
    acceptedNames: { plural: 'fools', kind: 'Fool' },
    conditions: [
      { type: 'NamesAccepted', status: 'False', reason: 'ShortNamesConflict', message: '"f" is already in use' },
      { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ],
  })
  t.match(namesConflicts(first, [second]).conditions[0], { status: 'True' }, 'the first keeps its names')
  second.spec.group = 'other.example.com'
  t.match(namesConflicts(second, [first]).conditions[0], { status: 'True' }, 'groups do not compete')
})

t.test('rules of the whole object know its name', async t => {
  const rule = (text: string) =>
    errors(draft({ type: 'object', 'x-kubernetes-validations': [{ rule: text, message: 'm' }] }))
  t.same(rule("self.metadata.name == 'cluster' && self.kind == 'Foo'"), [])
  t.match(rule("self.metadata.labels.a == 'b'"), [/undefined field 'labels'/])
})

t.test('an unreadable url of a conversion webhook is explained as Go does', async t => {
  const url = (given: string) =>
    errors(
      draft(undefined, c => {
        c.spec.conversion = {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: given }, conversionReviewVersions: ['v1'] },
        }
      }),
    ).map(text => text.replace(/^.*valid URL: |; desired.*$/g, ''))
  t.same(url('https://a.example.com:8443/x'), [])
  t.same(url('://'), ['parse "://": missing protocol scheme'])
  t.same(url('https://a b'), ['parse "https://a b": invalid character " " in host name'])
  t.same(url('https://a:x'), ['parse "https://a:x": invalid port ":x" after host'])
  t.same(url('https://a/%zz'), ['parse "https://a/%zz": invalid URL escape "%zz"'])
})

t.test('a schema is read once for all that is served of its definition, and beforehand where that is wanted', t => {
  let reads = 0
  const schema = {
    type: 'object',
    get description(): string {
      reads++
      return 'told'
    },
  }
  const crd = draft()
  Object.assign(crd.spec.versions[0]!, { schema: { openAPIV3Schema: schema } })
  shareSchemasOf(crd)
  t.ok(reads > 0)
  const before = reads
  const [first] = resourceTypesOf(crd)
  const [later] = resourceTypesOf({ ...crd, status: { acceptedNames: { plural: 'foos', kind: 'Foo' } } })
  t.equal(reads, before)
  t.equal(first!.schema, later!.schema)
  t.match(first!.schema, { type: 'object', description: 'told', properties: { metadata: {} } })
  t.end()
})

t.test('formats that nothing checks are warned of once', async t => {
  const crd = (format: string) => draft({ type: 'object', properties: { a: { type: 'string', format } } })
  t.same(formatWarnings(crd('whatever'), undefined), ['unrecognized format "whatever"'])
  t.same(formatWarnings(crd('date-time'), undefined), [])
  t.same(formatWarnings(crd('whatever'), crd('whatever')), [], 'who does not bring it in is not told')
})
