import t from 'tap'
import { resourceTypesOf } from '../../../src/apimachinery/crd/resourceTypes.ts'
import { apiVersionOf, type KubeObject } from '../../../src/apimachinery/object.ts'
import { protobufCodec } from '../../../src/apimachinery/protobuf/protobufCodec.ts'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { FORMS } from '../../../src/apiserver/registry/forms.ts'
import { clearsStatus, keptByStatus, ObjectRules } from '../../../src/apiserver/registry/objectRules.ts'
import { CLIENT_METADATA } from '../../../src/kinds/strategy.ts'
import { strategyFor } from '../../../src/kinds/strategyFor.ts'
import { readProtobufFields } from '../../../src/program/dataFiles.ts'

const { types } = loadCatalog()
const typeOf = (group: string, resource: string): ResourceType =>
  types.find(type => type.group === group && type.resource === resource)!
const POD = typeOf('', 'pods')
const PLACEMENT = typeOf('edge.kubestellar.io', 'edgeplacements')
const WORKSPACE = typeOf('tenancy.kcp.io', 'workspaces')
const LOGICAL_CLUSTER = typeOf('core.kcp.io', 'logicalclusters')
const [WIDGET] = resourceTypesOf({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', default: {}, properties: { size: { type: 'integer', default: 3 } } },
            },
          },
        },
      },
    ],
  },
}) as [ResourceType]
const rules = new ObjectRules({ strategyFor, annotateSpace: false })

function objectOf(type: ResourceType, more: object = {}): KubeObject {
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: 'a' }, ...more }
}

t.test('the form is set where a type is made', async t => {
  t.equal(WIDGET.form, 'custom')
  const own = new Set(types.filter(({ form }) => form === 'own').map(({ group }) => group))
  t.same([...own].sort(), ['core.kcp.io', 'edge.kubestellar.io', 'tenancy.kcp.io'])
  for (const { group, form } of types) t.equal(form, own.has(group) ? 'own' : 'struct', group)
})

t.test('what the table says of structs is true of every one in the catalog', async t => {
  const protobuf = protobufCodec(readProtobufFields)
  for (const type of types) {
    const name = `${apiVersionOf(type)} ${type.kind}`
    t.equal(FORMS[type.form].inScheme, protobuf.supports(apiVersionOf(type), type.kind), `${name}: scheme`)
    if (type.form === 'struct') {
      t.same(type.columns, [], `${name}: printers know its columns`)
      // the strategies of the legacy groups set their defaults; elsewhere a schema with defaults needs a strategy for them
      const isLegacy = !type.group.includes('.')
      t.ok(isLegacy || strategyFor(type)?.applyDefaults || !hasDefaults(type.schema), `${name}: defaults`)
    } else t.equal(strategyFor(type)?.applyDefaults, undefined, `${name}: the schema has the defaults`)
  }
})

t.test('defaults: of a struct by its strategy, else by the schema', async t => {
  const pod = objectOf(POD)
  rules.applyDefaults(POD, undefined, pod)
  t.same(pod.spec, {}, 'a struct is there')
  const widget = objectOf(WIDGET)
  rules.applyDefaults(WIDGET, undefined, widget)
  t.same(widget.spec, { size: 3 })
  const placement = objectOf(PLACEMENT)
  rules.applyDefaults(PLACEMENT, undefined, placement)
  t.equal(placement.spec, undefined, 'no struct, no default')
})

t.test('empty fields: dropped and written of structs alone', async t => {
  const empty = { spec: { size: 0 }, status: {} }
  for (const type of [WIDGET, WORKSPACE]) {
    const object = objectOf(type, structuredClone(empty))
    rules.complete(type, object)
    rules.finish(type, object)
    t.same(object, objectOf(type, empty), type.kind)
    t.equal(rules.zeroOf(type), undefined, type.kind)
  }
  const pod = objectOf(POD)
  rules.complete(POD, pod)
  t.match(pod, { spec: { containers: null }, status: {} })
  t.match(rules.zeroOf(POD), { metadata: {}, spec: {}, status: {} })
  t.equal(rules.zeroOf(POD), rules.zeroOf(POD), 'made once')
})

t.test('status: who clears it at creation, and what its sub-resource leaves alone', async t => {
  const at = (type: ResourceType) => ({
    cleared: clearsStatus(type, strategyFor(type)),
    kept: keptByStatus(type, undefined),
  })
  t.same(at(POD), { cleared: false, kept: [] })
  t.same(at(WIDGET), { cleared: true, kept: CLIENT_METADATA })
  t.same(at(WORKSPACE), { cleared: true, kept: CLIENT_METADATA })
  t.same(at(LOGICAL_CLUSTER), { cleared: false, kept: CLIENT_METADATA }, 'whoever makes a space knows how it is')
})

t.test('names of finalizers: errors of structs, warnings of custom resources, nothing of our own', async t => {
  const metadata = { name: 'a', finalizers: ['plain'] }
  const told = (type: ResourceType) => ({
    errors: FORMS[type.form].finalizerErrors(type, metadata).length,
    warnings: FORMS[type.form].finalizerWarnings(metadata).length,
  })
  t.same(told(POD), { errors: 1, warnings: 0 })
  t.same(told(typeOf('apiextensions.k8s.io', 'customresourcedefinitions')), { errors: 0, warnings: 0 })
  t.same(told(WORKSPACE), { errors: 0, warnings: 0 })
  t.same(told(WIDGET), { errors: 0, warnings: 1 })
})

function hasDefaults(schema: Schema | undefined, seen = new Set<Schema>()): boolean {
  if (schema === undefined || seen.has(schema)) return false
  seen.add(schema)
  const { properties = {}, items, additionalProperties } = schema
  const children = [...Object.values(properties), items, additionalProperties].filter(
    child => typeof child === 'object',
  )
  return children.some(child => child.default !== undefined || hasDefaults(child, seen))
}
