import protobufjs from 'protobufjs'
import t from 'tap'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import {
  aggregatedContentType,
  aggregatedDiscovery,
  aggregatedWanted,
} from '../../../src/apiserver/discovery/aggregated.ts'
import { aggregatedProtobuf } from '../../../src/apiserver/discovery/aggregatedProtobuf.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../../../src/apiserver/discovery/discovery.ts'
import { compareVersions } from '../../../src/apiserver/discovery/groups.ts'
import * as fc from '../../support/fastCheck.ts'

const { types } = loadCatalog()

const PROTO = `syntax = "proto2";
  message TypeMeta { optional string apiVersion = 1; optional string kind = 2; }
  message Unknown { optional TypeMeta typeMeta = 1; optional bytes raw = 2; }
  message Meta { optional string name = 1; }
  message Kind { optional string group = 1; optional string version = 2; optional string kind = 3; }
  message Sub { optional string subresource = 1; optional Kind responseKind = 2; repeated string verbs = 4; }
  message Resource {
    optional string resource = 1; optional Kind responseKind = 2; optional string scope = 3;
    optional string singularResource = 4; repeated string verbs = 5; repeated string shortNames = 6;
    repeated string categories = 7; repeated Sub subresources = 8;
  }
  message Version { optional string version = 1; repeated Resource resources = 2; optional string freshness = 3; }
  message Group { optional Meta metadata = 1; repeated Version versions = 2; }
  message List { repeated Group items = 2; }`

function custom(version: string, group = 'ex.io'): ResourceType {
  return {
    group,
    version,
    resource: 'foos',
    singular: 'foo',
    kind: 'Foo',
    listKind: 'FooList',
    shortNames: ['fo'],
    categories: [],
    namespaced: true,
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    storageVersion: 'v1',
    subresources: ['status', 'scale'],
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    schema: { type: 'object' },
    columns: [],
    selectableFields: [],
    form: 'custom',
  }
}

t.test('/api and /apis', async t => {
  t.same(apiVersions(types, 'h:6443'), {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'h:6443' }],
  })
  t.same(apiVersions([custom('v1')], 'h:6443').versions, [])
  const groups = apiGroupList([...types, custom('v1', 'a.example')]).groups.map(g => g.name)
  t.same(groups.slice(0, 5), [
    'apiregistration.k8s.io',
    'apps',
    'events.k8s.io',
    'authentication.k8s.io',
    'authorization.k8s.io',
  ])
  t.same(groups.slice(-5), ['resource.k8s.io', 'a.example', 'core.kcp.io', 'edge.kubestellar.io', 'tenancy.kcp.io'])
})

t.test('a group prefers its best version', async t => {
  t.same(apiGroup(types, 'autoscaling')?.preferredVersion, { groupVersion: 'autoscaling/v2', version: 'v2' })
  const group = apiGroup([custom('v1beta1'), custom('v1'), custom('v2alpha1')], 'ex.io')
  t.same(
    group?.versions.map(v => v.version),
    ['v1', 'v1beta1', 'v2alpha1'],
  )
  t.equal(group?.preferredVersion.groupVersion, 'ex.io/v1')
  t.equal(apiGroup(types, 'nobody.example'), undefined)
})

t.test('versions are ordered as kube-apiserver orders them', async t => {
  const documented = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10']
  t.same([...documented].reverse().sort(compareVersions), documented)
  const version = fc.oneof(fc.stringMatching(/^v[1-9]\d?((alpha|beta)[1-9])?$/), fc.stringMatching(/^[a-z0-9]{1,5}$/))
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      t.equal(Math.sign(compareVersions(a, b)), -Math.sign(compareVersions(b, a)) + 0)
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) t.ok(compareVersions(a, c) <= 0)
    }),
    { numRuns: 200 },
  )
})

t.test('resources come with sub-resources that name their own kinds', async t => {
  const apps = apiResourceList(types, 'apps', 'v1')!
  t.equal(apps.groupVersion, 'apps/v1')
  const named = (name: string) => apps.resources.find(r => r.name === name)
  t.same(named('deployments'), {
    name: 'deployments',
    singularName: 'deployment',
    namespaced: true,
    kind: 'Deployment',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['deploy'],
    categories: ['all'],
    storageVersionHash: '8aSe+NMegvE=',
  })
  t.same(named('deployments/scale'), {
    name: 'deployments/scale',
    singularName: '',
    namespaced: true,
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: ['get', 'patch', 'update'],
  })
  t.same(named('deployments/status')?.kind, 'Deployment')
  const core = apiResourceList(types, '', 'v1')!
  t.match(
    core.resources.find(r => r.name === 'pods/eviction'),
    { group: 'policy', kind: 'Eviction', verbs: ['create'] },
  )
  t.match(
    core.resources.find(r => r.name === 'serviceaccounts/token'),
    { group: 'authentication.k8s.io', kind: 'TokenRequest' },
  )
  t.same(core.resources.find(r => r.name === 'namespaces/finalize')?.verbs, ['update'])
  t.equal(apiResourceList(types, 'apps', 'v2'), undefined)
})

t.test('storage version hashes are those of kube-apiserver', async t => {
  const hash = (resource: string, group: string): string | undefined =>
    apiResourceList([...types, custom('v1')], group, 'v1')?.resources.find(r => r.name === resource)?.storageVersionHash
  t.equal(hash('configmaps', ''), 'qFsyl6wFWjQ=')
  t.equal(hash('foos', 'ex.io'), 'Ic0/Fpq4BGQ=')
  t.equal(hash('events', ''), 'r2yiGXH7wu8=')
  t.equal(hash('events', 'events.k8s.io'), 'r2yiGXH7wu8=', 'both APIs show the same stored events')
  t.equal(hash('bindings', ''), undefined, 'not stored')
})

t.test('aggregated discovery says what the single documents say', async t => {
  const all = [...types, custom('v1'), custom('v1beta1')]
  for (const version of ['v2', 'v2beta1'] as const) {
    const core = aggregatedDiscovery(all, { root: 'api', version })
    const rest = aggregatedDiscovery(all, { root: 'apis', version })
    t.equal(rest.apiVersion, `apidiscovery.k8s.io/${version}`)
    t.same(
      core.items.map(item => item.metadata),
      [{}],
    )
    t.same(
      rest.items.map(item => item.metadata.name),
      apiGroupList(all).groups.map(g => g.name),
    )
    for (const item of [...core.items, ...rest.items]) {
      for (const served of item.versions) {
        const single = apiResourceList(all, item.metadata.name ?? '', served.version)!
        const flat = served.resources.flatMap(r => [
          [r.resource, r.responseKind.kind, r.scope === 'Namespaced', r.verbs],
          ...(r.subresources ?? []).map(s => [
            `${r.resource}/${s.subresource}`,
            s.responseKind.kind,
            r.scope === 'Namespaced',
            s.verbs,
          ]),
        ])
        t.same(
          flat,
          single.resources.map(r => [r.name, r.kind, r.namespaced, r.verbs]),
        )
      }
    }
  }
  t.equal(
    aggregatedContentType({ version: 'v2', format: 'json' }),
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  )
})

t.test('what a client accepts decides, in its order; what nobody serves is passed over', async t => {
  const as = (media: string, version: string) => `${media};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const [json, protobuf] = ['application/json', 'application/vnd.kubernetes.protobuf']
  const shown = (accept: string | undefined): string | undefined => {
    const form = aggregatedWanted(accept)
    return form && `${form.format} ${form.version}`
  }
  t.equal(shown(undefined), undefined)
  t.equal(shown('*/*'), undefined)
  t.equal(shown(`${as(json!, 'v2')},${as(json!, 'v2beta1')},application/json`), 'json v2', 'kubectl')
  t.equal(shown(`${as(json!, 'v2beta1')},application/json`), 'json v2beta1')
  t.equal(shown(as(protobuf!, 'v2')), 'protobuf v2')
  t.equal(shown(`${as(protobuf!, 'v2')},${as(json!, 'v2')}`), 'protobuf v2')
  t.equal(shown(`${as('application/cbor', 'v2')}, ${as(json!, 'v2')}`), 'json v2', 'as clients that know CBOR ask')
  t.equal(shown(`${as(json!, 'v9')},${as(json!, 'v2')}`), 'json v2')
  t.equal(shown(`application/json, ${as(json!, 'v2')}`), undefined, 'plain JSON comes first')
  t.equal(shown(`application/vnd.kubernetes.protobuf, ${as(json!, 'v2')}`), undefined)
})

t.test('as protobuf it says the same', async t => {
  const { root } = protobufjs.parse(PROTO)
  const all = [...types, custom('v1'), custom('v1beta1')]
  const document = aggregatedDiscovery(all, { root: 'apis', version: 'v2' })
  const bytes = atOnce(aggregatedProtobuf(document))
  t.equal(bytes.toString('latin1', 0, 4), 'k8s\0')
  const envelope = root.lookupType('Unknown').decode(bytes.subarray(4)) as unknown as {
    typeMeta: object
    raw: Uint8Array
  }
  t.match(envelope.typeMeta, { apiVersion: 'apidiscovery.k8s.io/v2', kind: 'APIGroupDiscoveryList' })
  const list = root.lookupType('List')
  const { items } = list.toObject(list.decode(envelope.raw)) as { items: unknown }
  t.same(items, document.items)
})
