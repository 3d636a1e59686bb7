/**
 * Which objects of a workload description space may travel, of kinds that may (`reach.ts`). Objects that act in the center alone and
 * objects that a server makes for itself stay at home.
 */
import { isKubernetesService } from '../../apimachinery/kubernetesService.ts'
import { type GroupResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { OWNER_BINDING } from '../spaces/firstContent.ts'
import { isNatured } from '../spaces/nature.ts'
import { CLAIM_PREFIX } from '../spaces/syncerBootstrap.ts'
import { CREDENTIAL_PREFIX, SESSION_NAME } from '../spaces/syncerCredential.ts'
import { CLUSTER_RECORD, SYNCER_NAME } from '../words/placement.ts'
import { reachOf } from './reach.ts'

const RBAC = 'rbac.authorization.k8s.io'

/**
 * Objects for their own space: natured ones, and those that servers make for themselves in every space or cluster. Their copies would fight
 * the receiver's own.
 */
export function isSystemObject(gr: GroupResource, object: KubeObject): boolean {
  return isNatured(object) || isServersObject(gr, object)
}

/** Objects that servers make for themselves in every space or cluster. */
export function isServersObject(gr: GroupResource, object: KubeObject): boolean {
  const { name, namespace, labels } = object.metadata
  if (labels?.['kubernetes.io/bootstrapping'] !== undefined) return true
  if (isKubernetesService(gr, namespace ?? '', name ?? '')) return true
  if (gr.group === '') {
    if (gr.resource === 'secrets') {
      // The server's account of syncers' credentials is in the mailbox under such names.
      if (namespace === 'default' && isCredentialAccount(name ?? '')) return true
      return object.type === 'bootstrap.kubernetes.io/token'
    }
    if (gr.resource === 'configmaps') {
      if (name === 'kube-root-ca.crt') return true
      return namespace === CLUSTER_RECORD.namespace && name === CLUSTER_RECORD.name
    }
    if (gr.resource === 'serviceaccounts')
      return name === 'default' || (name === SYNCER_NAME && namespace === 'default')
    return false
  }
  // The syncer's own rights in a mailbox must not be overwritten by a workload of the same name.
  if (gr.group === RBAC) return (namespace ?? '') === '' && (name === SYNCER_NAME || isAdministration(gr, object))
  return labels?.['kube-aggregator.kubernetes.io/automanaged'] !== undefined
}

function isCredentialAccount(name: string): boolean {
  return name === SESSION_NAME || name.startsWith(CREDENTIAL_PREFIX) || name.startsWith(CLAIM_PREFIX)
}

/** Administrators of the space have no meaning in clusters. */
function isAdministration({ resource }: GroupResource, { metadata }: KubeObject): boolean {
  return resource === 'clusterrolebindings' && metadata.name === OWNER_BINDING
}

/**
 * The resource that the object defines: that of a CustomResourceDefinition, those bound by an APIBinding. A selected object brings its
 * definer along. The binding to Orrery's own API defines nothing that travels.
 */
export function definedBy(gr: GroupResource, object: KubeObject): GroupResource[] {
  if (gr.group === 'apiextensions.k8s.io' && gr.resource === 'customresourcedefinitions') {
    const { spec } = object
    if (!isRecord(spec) || typeof spec.group !== 'string' || !isRecord(spec.names)) return []
    return typeof spec.names.plural === 'string' ? [{ group: spec.group, resource: spec.names.plural }] : []
  }
  if (reachOf(gr) !== 'mailbox' || object.metadata.name === 'espw' || !isRecord(object.status)) return []
  const bound: unknown = object.status.boundResources
  if (!Array.isArray(bound)) return []
  return bound.flatMap((entry: unknown) =>
    isRecord(entry) && typeof entry.group === 'string' && typeof entry.resource === 'string'
      ? [{ group: entry.group, resource: entry.resource }]
      : [],
  )
}
