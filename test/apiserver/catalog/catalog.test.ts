import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mistakableKeyIn } from '../../../src/apimachinery/jsonParse.ts'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { catalogOf, loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { readGenerated } from '../../../src/program/dataFiles.ts'

const catalog = loadCatalog()

function type(resource: string, group: string, version: string): ResourceType {
  const found = catalog.types.find(t => t.resource === resource && t.group === group && t.version === version)
  if (found === undefined) throw new Error(`no ${resource} in ${group}/${version}`)
  return found
}

function at(schema: Schema | undefined, ...path: string[]): Schema {
  let node = schema
  for (const step of path) node = step === '[]' ? node?.items : node?.properties?.[step]
  if (node === undefined) throw new Error(`no schema at ${path.join('.')}`)
  return node
}

t.test('what is read without a look at its keys has none that V8 mistakes', async t => {
  for (const name of ['catalog.json', 'descriptions.json']) t.equal(mistakableKeyIn(readGenerated(name)), undefined)
})

t.test('a built-in kind is described as kubectl users know it', async t => {
  t.match(type('deployments', 'apps', 'v1'), {
    kind: 'Deployment',
    listKind: 'DeploymentList',
    singular: 'deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    namespaced: true,
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: ['scale', 'status'],
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    form: 'struct',
  })
  t.equal(type('namespaces', '', 'v1').namespaced, false)
  t.notOk(type('namespaces', '', 'v1').verbs.includes('deletecollection'))
  t.same(type('subjectaccessreviews', 'authorization.k8s.io', 'v1').verbs, ['create'])
  t.same(type('componentstatuses', '', 'v1').verbs, ['get', 'list'])
  t.match(type('workstatuses', 'edge.kubestellar.io', 'v1alpha1'), {
    verbs: ['get', 'list', 'watch'],
    answered: true,
    form: 'own',
  })
  t.equal(type('horizontalpodautoscalers', 'autoscaling', 'v1').storageVersion, 'v2')
})

t.test('tunnels to a kubelet are not promised', async t => {
  t.same(type('pods', '', 'v1').subresources, ['binding', 'ephemeralcontainers', 'eviction', 'resize', 'status'])
})

t.test('only stable Kubernetes versions are served', async t => {
  const unstable = catalog.types.filter(t => /alpha|beta/.test(t.version)).map(t => t.group)
  t.same([...new Set(unstable)].sort(), ['core.kcp.io', 'edge.kubestellar.io', 'tenancy.kcp.io'])
})

t.test('no reference is left, and shared definitions are one node', async t => {
  const pod = type('pods', '', 'v1').schema
  const template = at(type('deployments', 'apps', 'v1').schema, 'spec', 'template', 'spec')
  t.equal(at(pod, 'spec'), template)
  const seen = new Set<Schema>()
  const visit = (node: Schema): void => {
    if (seen.has(node)) return
    seen.add(node)
    if (Object.hasOwn(node, '$ref')) t.fail(`left over in ${catalog.definitionName(node)}`)
    for (const property of Object.values(node.properties ?? {})) visit(property)
    if (node.items) visit(node.items)
    if (typeof node.additionalProperties === 'object') visit(node.additionalProperties)
  }
  for (const { schema } of catalog.types) if (schema) visit(schema)
  t.ok(seen.size > 1000)
})

t.test('a recursive type refers to itself', async t => {
  const crd = type('customresourcedefinitions', 'apiextensions.k8s.io', 'v1').schema
  const props = at(crd, 'spec', 'versions', '[]', 'schema', 'openAPIV3Schema')
  t.equal(at(props, 'not'), props)
  t.equal(at(props, 'properties').additionalProperties, props)
})

t.test('what is said beside a reference holds there only', async t => {
  const strategy = at(type('deployments', 'apps', 'v1').schema, 'spec', 'strategy')
  const definition = catalog.definitions.get('io.k8s.api.apps.v1.DeploymentStrategy')!
  t.equal(strategy['x-kubernetes-patch-strategy'], 'retainKeys')
  t.equal(definition['x-kubernetes-patch-strategy'], undefined)
  t.equal(strategy.properties, definition.properties)
  t.equal(catalog.definitionName(strategy), 'io.k8s.api.apps.v1.DeploymentStrategy')
})

t.test('definitions are found by schema', async t => {
  const pods = type('pods', '', 'v1')
  t.equal(catalog.definitionName(pods.schema!), 'io.k8s.api.core.v1.Pod')
  t.equal(catalog.listDefinitionName(pods), 'io.k8s.api.core.v1.PodList')
  t.equal(catalog.definitionName({ type: 'object' }), undefined)
})

t.test('the kinds of placement have the names, columns and sub-resources of their reference', async t => {
  const edge = catalog.types.filter(t => t.group === 'edge.kubestellar.io')
  t.same(
    edge.map(t => [t.kind, t.shortNames.join(), t.namespaced, t.subresources.join()]),
    [
      ['EdgePlacement', 'epl', false, 'status'],
      ['SinglePlacementSlice', 'sps', false, ''],
      ['PlacementContent', '', false, ''],
      ['Customizer', '', true, ''],
      ['SyncerConfig', 'escfg', false, 'outcome,status'],
      ['EdgeSyncConfig', 'esc', false, 'status'],
      ['SyncTarget', '', false, 'status'],
      ['Location', '', false, 'status'],
      ['PlacementGrant', 'pgrant', false, 'status'],
      ['InventoryBinding', 'ibind', false, 'status'],
      ['GrantedLocation', 'gloc', false, ''],
      ['PlacementPreview', '', false, ''],
      ['WorkStatus', 'wst', true, ''],
      ['ClusterWorkStatus', 'cwst', false, ''],
      ['StatusCollector', 'scol', false, ''],
      ['CombinedStatus', 'cst', true, ''],
      ['PlacementRevision', 'prev', false, ''],
      ['PlacementRollout', 'prol', false, 'status'],
      ['NoticeSink', 'nsink', false, 'status'],
    ],
  )
  t.same(
    type('synctargets', 'edge.kubestellar.io', 'v2alpha1').columns.map(c => [c.name, c.priority ?? 0]),
    [
      ['Location', 1],
      ['Ready', 0],
      ['Incompatible', 3],
      ['Key', 4],
      ['Kubernetes', 1],
      ['Syncer', 1],
      ['Supported', 1],
      ['Reachable', 0],
      ['Lag', 0],
      ['Behind', 0],
      ['Failures', 0],
      ['Age', 0],
    ],
  )
  t.same(
    type('locations', 'edge.kubestellar.io', 'v2alpha1').columns.map(c => [c.name, c.priority ?? 0]),
    [
      ['Resource', 1],
      ['Ready', 0],
      ['Instances', 0],
      ['Paused', 0],
      ['Age', 0],
    ],
  )
  t.same(
    type('edgeplacements', 'edge.kubestellar.io', 'v2alpha1').columns.map(c => c.name),
    [
      'Placed',
      'Reason',
      'Paused',
      'Held',
      'Clusters',
      'Copies',
      'Applied',
      'Done',
      'Healthy',
      'Rollout',
      'Refused',
      'Stale',
      'Age',
    ],
  )
  const placement = type('edgeplacements', 'edge.kubestellar.io', 'v2alpha1').schema
  t.notOk(at(placement, 'spec', 'downsync', '[]').required)
  t.same(at(placement, 'spec', 'upsync', '[]').required, ['resources'])
  t.equal(at(placement, 'metadata'), catalog.definitions.get('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'))
  const customizer = type('customizers', 'edge.kubestellar.io', 'v2alpha1').schema
  // no list by path, as in the reference: one path has several values, by Location
  t.equal(at(customizer, 'replacements')['x-kubernetes-list-type'], 'atomic')
})

t.test('a space shows its address under a capital key', async t => {
  const workspace = type('workspaces', 'tenancy.kcp.io', 'v1alpha1')
  t.same(workspace.shortNames, ['ws'])
  t.equal(at(workspace.schema, 'spec', 'URL').type, 'string')
  t.same(
    workspace.columns.map(c => c.name),
    ['Type', 'Region', 'Phase', 'URL', 'Age'],
  )
})

t.test('missing files say how to make them', async t => {
  const missing = (name: string): string => readFileSync(join(t.testdirName, name), 'utf8')
  t.throws(() => catalogOf(missing), /run "npm run prepareClone" in \/.* to write it/)
})
