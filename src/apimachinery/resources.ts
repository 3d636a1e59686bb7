/** Resources that several rooms work with. Where only group and resource count, the version does no harm. */
import type { GroupVersionResource } from './object.ts'

export const NAMESPACES: GroupVersionResource = { group: '', version: 'v1', resource: 'namespaces' }
export const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' }
export const SERVICE_ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
export const CRDS: GroupVersionResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}

/** In a space: the spaces below it. */
export const WORKSPACES: GroupVersionResource = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
/** In a space: itself. */
export const LOGICAL_CLUSTERS: GroupVersionResource = {
  group: 'core.kcp.io',
  version: 'v1alpha1',
  resource: 'logicalclusters',
}

/** On what client-side `kubectl apply` wrote: what it stated last. */
export const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'

/** Whether a key of annotations or labels is the server's own: each space has its own values. */
export function isServersKey(key: string): boolean {
  return key.startsWith('kcp.io/') || key.includes('.kcp.io/')
}

/** On every object: the id of its space. */
export const CLUSTER_ANNOTATION = 'kcp.io/cluster'
/** On the LogicalCluster: the path of its space from the root. */
export const PATH_ANNOTATION = 'kcp.io/path'
/** On the LogicalCluster of a space: id of the store that holds it, made at the store's first start. */
export const STORE_ANNOTATION = 'orrery/store'
