import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { SchemaNode } from '../../openapi/catalogFormat.ts'
import { splitModelName } from '../../openapi/derive/names.ts'
import { derive } from '../../openapi/derive.ts'

const { catalog, descriptions } = derive(
  join(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')), 'gen'),
)
const CORE = 'io.k8s.api.core.v1'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

function field(definition: string, name: string): SchemaNode {
  const found = catalog.definitions[definition]?.properties?.[name]
  if (found === undefined) throw new Error(`no ${definition}.${name}`)
  return found
}

t.test('definitions have the names that upstream gives them', async t => {
  for (const name of [
    `${CORE}.ContainerPort`,
    `${CORE}.Event`,
    'io.k8s.api.events.v1.Event',
    'io.k8s.api.rbac.v1.Subject',
    'io.k8s.api.flowcontrol.v1.Subject',
    'io.k8s.api.authentication.v1.TokenRequest',
    'io.k8s.api.autoscaling.v1.Scale',
    'io.k8s.api.policy.v1.Eviction',
    `${CORE}.TopologySelectorTerm`,
    `${META}.ObjectMeta`,
    `${META}.WatchEvent`,
    'io.k8s.apimachinery.pkg.version.Info',
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
    'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
    'io.kubestellar.edge.v2alpha1.EdgePlacement',
  ]) {
    t.ok(catalog.definitions[name], name)
  }
  t.same(splitModelName('V1APIService'), { prefix: '', version: 'v1', kind: 'APIService' })
  t.same(splitModelName('RbacV1Subject'), { prefix: 'rbac', version: 'v1', kind: 'Subject' })
  t.throws(() => splitModelName('VersionInfo'), /cannot read the model name/)
})

t.test('values have their types: integers, times, quantities, bytes, maps', async t => {
  t.same(field(`${CORE}.ContainerPort`, 'containerPort'), { type: 'integer', format: 'int32' })
  t.same(field(`${CORE}.ServicePort`, 'targetPort'), { $ref: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString' })
  t.same(field('io.k8s.api.coordination.v1.LeaseSpec', 'renewTime'), { $ref: `${META}.MicroTime` })
  t.same(field(`${META}.ObjectMeta`, 'creationTimestamp'), { $ref: `${META}.Time` })
  t.same(field(`${CORE}.Secret`, 'data'), {
    type: 'object',
    additionalProperties: { type: 'string', format: 'byte' },
  })
  t.same(field(`${CORE}.ResourceRequirements`, 'limits'), {
    type: 'object',
    additionalProperties: { $ref: 'io.k8s.apimachinery.pkg.api.resource.Quantity' },
  })
  t.same(field(`${CORE}.PodSecurityContext`, 'supplementalGroups').items, { type: 'integer', format: 'int64' })
  t.same(catalog.definitions['io.k8s.api.apps.v1.DeploymentSpec']?.required, ['selector', 'template'])
})

t.test('lists say how they merge', async t => {
  t.match(field(`${CORE}.PodSpec`, 'containers'), {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    'x-kubernetes-patch-merge-key': 'name',
    'x-kubernetes-patch-strategy': 'merge',
  })
  t.match(field(`${CORE}.Container`, 'ports'), {
    'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
    'x-kubernetes-patch-merge-key': 'containerPort',
  })
  t.equal(field(`${CORE}.ContainerPort`, 'protocol').default, 'TCP')
  t.equal(field(`${CORE}.PodSpec`, 'volumes')['x-kubernetes-patch-strategy'], 'merge,retainKeys')
  t.equal(field(`${CORE}.PodSpec`, 'tolerations')['x-kubernetes-list-type'], 'atomic')
  t.match(field(`${META}.ObjectMeta`, 'finalizers'), {
    'x-kubernetes-list-type': 'set',
    'x-kubernetes-patch-strategy': 'merge',
  })
  t.equal(catalog.definitions[`${META}.LabelSelector`]?.['x-kubernetes-map-type'], 'atomic')
})

t.test('every map list has its keys in its items', async t => {
  for (const [name, definition] of Object.entries(catalog.definitions)) {
    for (const [property, node] of Object.entries(definition.properties ?? {})) {
      const keys = (node['x-kubernetes-list-map-keys'] ?? []) as string[]
      const items = node.items?.$ref === undefined ? node.items : catalog.definitions[node.items.$ref]
      for (const key of keys)
        if (items?.properties?.[key] === undefined) t.fail(`${name}.${property} lacks the key ${key}`)
    }
  }
})

t.test('every list inside a built-in kind says how it merges', async t => {
  for (const [name, definition] of Object.entries(catalog.definitions)) {
    if (!name.startsWith('io.k8s') || name.endsWith('List')) continue
    for (const [property, node] of Object.entries(definition.properties ?? {})) {
      if (node.type === 'array' && node['x-kubernetes-list-type'] === undefined) t.fail(`${name}.${property} is silent`)
    }
  }
})

t.test('descriptions read as their authors wrote them', async t => {
  t.match(descriptions[`${CORE}.Pod`]?.[''], /^Pod is a collection of containers/)
  t.match(descriptions[`${CORE}.ContainerPort`]?.protocol, 'Defaults to "TCP".')
  t.match(descriptions['io.k8s.api.rbac.v1.PolicyRule']?.verbs, /'\*' represents all verbs/)
  for (const texts of Object.values(descriptions)) {
    for (const text of Object.values(texts)) if (text.includes('*_/')) t.fail(`an escape is left in: ${text}`)
  }
})
