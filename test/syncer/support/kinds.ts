/** Resources and small objects that the tests of the syncer use. */
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { STORE_ANNOTATION } from '../../../src/apimachinery/resources.ts'
import type { SpaceClient } from '../../../src/client/client.ts'

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })
const edge = (resource: string): GroupVersionResource => ({
  group: 'edge.kubestellar.io',
  version: 'v2alpha1',
  resource,
})
export const PLACEMENTS = edge('edgeplacements')
export const LOCATIONS = edge('locations')
export const TARGETS = edge('synctargets')
export const CONFIGS = edge('syncerconfigs')
export const WORKSPACES: GroupVersionResource = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
export const MAPS = core('configmaps')
export const NAMESPACES = core('namespaces')
export const ACCOUNTS = core('serviceaccounts')
export const JOBS: GroupVersionResource = { group: 'batch', version: 'v1', resource: 'jobs' }
export const DEPLOYMENTS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'deployments' }
export const AUTOSCALERS: GroupVersionResource = {
  group: 'autoscaling',
  version: 'v1',
  resource: 'horizontalpodautoscalers',
}
export const LEASES: GroupVersionResource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
export const CRDS: GroupVersionResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}

/** A space that stands for a cluster: one of another server, by what it tells its Pods to trust. */
export function asCluster(space: SpaceClient): SpaceClient {
  const get: SpaceClient['get'] = async (resource, ref) => {
    const object = await space.get(resource, ref)
    if (resource.resource === 'logicalclusters') return { ...object, metadata: withoutStore(object.metadata) }
    return ref.name === 'kube-root-ca.crt' ? { ...object, data: { 'ca.crt': 'of another server' } } : object
  }
  return {
    get,
    list: (...args) => space.list(...args),
    watch: (...args) => space.watch(...args),
    create: (...args) => space.create(...args),
    update: (...args) => space.update(...args),
    patch: (...args) => space.patch(...args),
    delete: (...args) => space.delete(...args),
    discover: () => space.discover(),
  }
}

function withoutStore({ annotations, ...metadata }: KubeObject['metadata']): KubeObject['metadata'] {
  const { [STORE_ANNOTATION]: _store, ...others } = annotations ?? {}
  return { ...metadata, annotations: others }
}

export function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

/** In the Namespace `app`, unless the metadata says otherwise. */
export function configMap(name: string, data: Record<string, string> = {}, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'app', name, ...metadata }, data }
}

export function syncerConfig(spec: object): KubeObject {
  return { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'SyncerConfig', metadata: { name: 'the-one' }, spec }
}
