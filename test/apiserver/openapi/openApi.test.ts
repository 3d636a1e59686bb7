import protobuf from 'protobufjs'
import t from 'tap'
import { isRecord } from '../../../src/apimachinery/object.ts'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { servedGroups } from '../../../src/apiserver/discovery/groups.ts'
import { OpenApiDocuments } from '../../../src/apiserver/openapi/documents.ts'
import type { OpenApiV2Frame } from '../../../src/apiserver/openapi/openApiV2.ts'
import { openApiV3Index, openApiV3 as openApiV3Steps } from '../../../src/apiserver/openapi/openApiV3.ts'
import { OPENAPI_V2_PROTOBUF, ProtobufForm } from '../../../src/apiserver/openapi/protobuf.ts'
import type { SchemaDocument } from '../../../src/apiserver/openapi/schemaDocument.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

const catalog = loadCatalog()
const descriptions = catalog.loadDescriptions()
const foo: ResourceType = {
  group: 'ex.io',
  version: 'v1',
  resource: 'foos',
  singular: 'foo',
  kind: 'Foo',
  listKind: 'FooList',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  storageVersion: 'v1',
  subresources: ['scale', 'status'],
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          n: { type: 'integer', nullable: true, default: 3 },
          p: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  },
  columns: [],
  selectableFields: ['.spec.n'],
  form: 'custom',
}
const types = [...catalog.types, foo]
const openApiV3 = (...of: Parameters<typeof openApiV3Steps>) => atOnce(openApiV3Steps(...of))

interface OpenApiV2Document extends OpenApiV2Frame {
  paths: Record<string, SchemaDocument>
  definitions: Record<string, SchemaDocument>
}

async function openApiV2(types: readonly ResourceType[]): Promise<OpenApiV2Document> {
  const document = await new OpenApiDocuments(catalog, endlessTurns()).whole(types, 'json')
  return JSON.parse((await document.body()).toString())
}

function references(value: unknown, found: string[] = []): string[] {
  if (Array.isArray(value)) for (const item of value) references(item, found)
  else if (isRecord(value)) {
    for (const [key, child] of Object.entries(value)) {
      if (key === '$ref' && typeof child === 'string') found.push(child)
      else references(child, found)
    }
  }
  return found
}

/** Follows keys; fails loudly where there is nothing. */
function dig(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce((node, key) => {
    if (typeof node !== 'object' || node === null) throw new Error(`nothing at ${key} of ${path.join(' ')}`)
    return (node as Record<string | number, unknown>)[key]
  }, value)
}

function operations(paths: Record<string, Record<string, unknown>>): { path: string; method: string; id: string }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => ({ path, method, id: String(dig(operation, 'operationId')) })),
  )
}

t.test('each v3 document is whole: references resolve and operations have names of their own', async t => {
  for (const { group, versions } of servedGroups(types)) {
    for (const { version } of versions) {
      const document = openApiV3(types, { group, version, catalog, descriptions })!
      const schemas = document.components.schemas
      for (const reference of references(document)) {
        const name = reference.slice('#/components/schemas/'.length)
        if (!Object.hasOwn(schemas, name)) t.fail(`${group}/${version} refers to ${reference}`)
      }
      const ids = operations(document.paths).map(o => o.id)
      t.equal(new Set(ids).size, ids.length, `${group}/${version}`)
      if (Object.values(schemas).some(schema => Object.keys(schema).length === 0))
        t.fail(`empty schema in ${group}/${version}`)
    }
  }
  t.equal(openApiV3(types, { group: 'nobody', version: 'v1', catalog, descriptions }), undefined)
})

t.test('kubectl finds kinds, field validation and dry run', async t => {
  const document = openApiV3(types, { group: 'apps', version: 'v1', catalog, descriptions })!
  const patch = dig(document.paths, '/apis/apps/v1/namespaces/{namespace}/deployments/{name}', 'patch')
  t.equal(dig(patch, 'operationId'), 'patchAppsV1NamespacedDeployment')
  t.equal(dig(patch, 'x-kubernetes-action'), 'patch')
  t.same(dig(patch, 'x-kubernetes-group-version-kind'), { group: 'apps', kind: 'Deployment', version: 'v1' })
  const names = (dig(patch, 'parameters') as { name: string }[]).map(p => p.name)
  t.same(names, ['dryRun', 'fieldManager', 'fieldValidation', 'force'])
  const schema = document.components.schemas['io.k8s.api.apps.v1.Deployment']
  t.same(schema?.['x-kubernetes-group-version-kind'], [{ group: 'apps', kind: 'Deployment', version: 'v1' }])
  t.match(schema?.description, /^Deployment enables/)
  t.same(
    dig(
      document.paths,
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale',
      'get',
      'x-kubernetes-group-version-kind',
    ),
    { group: 'autoscaling', kind: 'Scale', version: 'v1' },
  )
})

t.test('merge facts and two-typed values are told in each dialect', async t => {
  const v3 = openApiV3(types, { group: 'apps', version: 'v1', catalog, descriptions })!.components.schemas
  const v2 = (await openApiV2(types)).definitions
  const pod = 'io.k8s.api.core.v1.PodSpec'
  t.match(dig(v3, pod, 'properties', 'containers'), {
    'x-kubernetes-patch-merge-key': 'name',
    'x-kubernetes-patch-strategy': 'merge',
  })
  t.match(dig(v2, 'io.k8s.api.apps.v1.DeploymentSpec', 'properties', 'strategy'), {
    'x-kubernetes-patch-strategy': 'retainKeys',
    $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentStrategy',
  })
  t.match(dig(v3, 'io.k8s.api.apps.v1.DeploymentSpec', 'properties', 'strategy'), {
    'x-kubernetes-patch-strategy': 'retainKeys',
    allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
  })
  t.match(v2['io.k8s.apimachinery.pkg.api.resource.Quantity'], { type: 'string' })
  t.match(v3['io.k8s.apimachinery.pkg.api.resource.Quantity'], { oneOf: [{ type: 'string' }, { type: 'number' }] })
  t.match(v2['io.k8s.apimachinery.pkg.util.intstr.IntOrString'], { type: 'string', format: 'int-or-string' })
})

t.test('a custom kind gets metadata, a list, and only what version 2 can say', async t => {
  const v2 = await openApiV2([foo])
  const spec = dig(v2.definitions, 'io.ex.v1.Foo', 'properties', 'spec', 'properties')
  t.same(dig(spec, 'n'), {})
  t.same(dig(spec, 'p'), { 'x-kubernetes-int-or-string': true })
  t.same(dig(spec, 'free'), { 'x-kubernetes-preserve-unknown-fields': true })
  t.match(dig(v2.definitions, 'io.ex.v1.Foo', 'properties', 'metadata'), {
    $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  })
  t.same(dig(v2.definitions, 'io.ex.v1.Foo', 'x-kubernetes-selectable-fields'), [{ fieldPath: 'spec.n' }])
  t.same(dig(v2.definitions, 'io.ex.v1.FooList', 'x-kubernetes-group-version-kind'), [
    { group: 'ex.io', kind: 'FooList', version: 'v1' },
  ])
  const patch = dig(v2.paths, '/apis/ex.io/v1/namespaces/{namespace}/foos/{name}', 'patch')
  t.notOk((dig(patch, 'consumes') as string[]).includes('application/strategic-merge-patch+json'))
  const v3 = openApiV3([foo], { group: 'ex.io', version: 'v1', catalog, descriptions })!.components.schemas
  t.same(dig(v3, 'io.ex.v1.Foo', 'properties', 'spec', 'properties', 'n'), {
    type: 'integer',
    nullable: true,
    default: 3,
  })
})

t.test('the v2 document is whole', async t => {
  const document = await openApiV2(types)
  for (const reference of references(document)) {
    if (!Object.hasOwn(document.definitions, reference.slice('#/definitions/'.length))) t.fail(reference)
  }
  const ids = operations(document.paths).map(o => o.id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('the hash of a group version changes with its schemas and with nothing else', async t => {
  const url = (list: readonly ResourceType[], path: string): string | undefined =>
    openApiV3Index(list, catalog).paths[path]?.serverRelativeURL
  t.match(url(types, 'apis/ex.io/v1'), /^\/openapi\/v3\/apis\/ex\.io\/v1\?hash=[0-9A-F]{64}$/)
  const changed = { ...foo, schema: { ...foo.schema, description: 'other' } }
  t.equal(url([changed], 'apis/ex.io/v1') === url(types, 'apis/ex.io/v1'), false)
  t.equal(url([...catalog.types, changed], 'apis/apps/v1'), url(types, 'apis/apps/v1'))
})

t.test('kubectl reads the protobuf form: numbers of the published message', async t => {
  const form = new ProtobufForm()
  const frame: OpenApiV2Frame = {
    swagger: '2.0',
    info: { title: 'T', version: 'v1' },
    securityDefinitions: {},
    security: [],
  }
  const schemaD = {
    type: 'object',
    properties: { a: { $ref: '#/definitions/D' } },
    externalDocs: { url: 'u' },
    'x-k': [{ b: 'c' }],
  }
  const definition = form.definition('D', schemaD)
  const { head, middle, tail } = form.frame(frame, { paths: 0, definitions: definition.length })
  const bytes = Buffer.concat([head, middle, definition, tail])
  const reader = protobuf.Reader.create(bytes)
  const tags: number[] = []
  let definitions = new Uint8Array()
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    tags.push(tag >>> 3)
    if (tag >>> 3 === 9) definitions = reader.bytes().slice()
    else reader.skipType(tag & 7)
  }
  t.same(
    tags.sort((a, b) => a - b),
    [1, 2, 8, 9, 13],
  )
  // Written by hand from OpenAPIv2.proto: Definitions{1: NamedSchema{1: name, 2: Schema{22: TypeItem, 25: Properties, 29: ExternalDocs, 31: NamedAny}}}
  const text = (field: number, value: string): Buffer => delimited(field, Buffer.from(value))
  const reference = delimited(2, text(1, '#/definitions/D'))
  const schema = Buffer.concat([
    delimited(22, text(1, 'object')),
    delimited(25, delimited(1, Buffer.concat([text(1, 'a'), reference]))),
    delimited(29, text(2, 'u')),
    delimited(31, Buffer.concat([text(1, 'x-k'), delimited(2, text(2, '[{"b":"c"}]\n'))])),
  ])
  t.same(Buffer.from(definitions), delimited(1, Buffer.concat([text(1, 'D'), delimited(2, schema)])))
  t.notMatch(OPENAPI_V2_PROTOBUF, /@/, 'Go clients refuse a content type with an @')
})

/** A length-delimited field. */
function delimited(number: number, content: Buffer): Buffer {
  const writer = protobuf.Writer.create()
  return Buffer.from(
    writer
      .uint32((number << 3) | 2)
      .bytes(content)
      .finish(),
  )
}

t.test('a group version of many kinds is written in small pieces, to the same bytes, once for all who ask', async t => {
  const types = Array.from({ length: 300 }, (_, i) => ({ ...foo, resource: `foos${i}`, kind: `Foo${i}` }))
  let turns = 0
  const work = new WorkTurns({
    sliceMs: 0,
    clock: () => 0,
    later: turn => {
      turns++
      setImmediate(turn)
    },
  })
  const documents = new OpenApiDocuments(catalog, work)
  const asked = await Promise.all([1, 2, 3].map(() => documents.groupVersion(types, 'ex.io', 'v1')))
  const whole = JSON.stringify(openApiV3(types, { group: 'ex.io', version: 'v1', catalog, descriptions }))
  for (const document of asked) t.ok(document!.body.toString() === whole)
  t.equal(new Set(asked.map(document => document!.body)).size, 1)
  t.ok(turns > 1000, `${turns} turns`)
})
