/**
 * Which kinds and objects a syncer may ever write in its mailbox, whatever its upsync sets name. What grants rights or steers a
 * server is never a report of a cluster. Pure.
 */
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'
import {
  EDGE_GROUP,
  EDGE_SYNC_CONFIGS,
  SYNCER_CONFIGS,
  SYNCER_NAME,
  SYNCER_NAMESPACE,
} from '../../apimachinery/placement.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import {
  setCovers,
  setMatches,
  setsWantDefinition,
  setsWantNamespace,
  type UpsyncSet,
} from '../../apimachinery/upsyncSets.ts'
import { serviceAccountUserName } from '../auth/users.ts'

export interface Target {
  resource: GroupResource
  namespace: string
  /** `''` while it is not known. */
  name: string
}

/** Under which name a syncer acts in its mailbox. */
export const SYNCER_USER = serviceAccountUserName({ namespace: SYNCER_NAMESPACE, name: SYNCER_NAME })

const POWERFUL_GROUPS: ReadonlySet<string> = new Set([
  EDGE_GROUP,
  'admissionregistration.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'rbac.authorization.k8s.io',
])
const SERVICE_ACCOUNTS = 'serviceaccounts'
const SECRETS = 'secrets'
const ALL = '*'

/** Whether a kind grants rights or steers: RBAC, admission, API services, certificates, spaces, placement, identities. */
export function isPowerful(resource: GroupResource): boolean {
  const { group } = resource
  return POWERFUL_GROUPS.has(group) || group.endsWith('.kcp.io') || groupResourceName(resource) === SERVICE_ACCOUNTS
}

/** Kinds by which the center speaks to the syncer: it reports in their status. */
export function isReport(resource: GroupResource): boolean {
  const name = groupResourceName(resource)
  return name === groupResourceName(SYNCER_CONFIGS) || name === groupResourceName(EDGE_SYNC_CONFIGS)
}

/** Kinds whose status tells about the server that they are in. */
export function hasOwnStatus(resource: GroupResource): boolean {
  const name = groupResourceName(resource)
  return name === groupResourceName(NAMESPACES) || name === groupResourceName(CRDS)
}

/**
 * Whether upsync sets ask for an object, or for what it needs first: its Namespace, its definition. Secrets are asked for by
 * name only. Without a name: whether they can ask for any of the kind.
 */
export function isDemanded(all: readonly UpsyncSet[], { resource, namespace, name }: Target): boolean {
  if (isPowerful(resource)) return false
  const sets = all.filter(({ group, resources }) => resources.some(each => !isPowerful({ group, resource: each })))
  const kind = groupResourceName(resource)
  if (kind === SECRETS) {
    const named = sets.filter(set => set.resources.includes(SECRETS) && set.names.some(each => each !== ALL))
    if (name === '') return named.length > 0
    return named.some(set => set.names.includes(name) && setMatches(set, resource, namespace, name))
  }
  if (kind === groupResourceName(NAMESPACES) && (name === '' ? sets.length > 0 : setsWantNamespace(sets, name)))
    return true
  if (kind === groupResourceName(CRDS) && (name === '' ? sets.length > 0 : setsWantDefinition(sets, name))) return true
  if (name === '') return sets.some(set => setCovers(set, resource))
  return sets.some(set => setMatches(set, resource, namespace, name))
}
