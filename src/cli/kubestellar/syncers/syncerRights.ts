/**
 * The rights of a syncer in its cluster, made from what the cluster's owner allows it. RBAC knows no patterns of names and no "kinds
 * without a namespace". Where it lacks an exact rule it grants more, and the syncer itself keeps to the lists. Pure.
 */
import { groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { isAssociable, OWNER_KINDS } from '../../../placement/associated/associated.ts'
import { CLUSTER_RECORD } from '../../../placement/words/placement.ts'
import type { AllowLists } from '../../../syncer/mailbox/clusterAllowance.ts'
import { CommandError } from '../../shell/commandError.ts'

export interface SyncerLimits extends AllowLists {
  /** Objects are written in the name of the spaces that own them. */
  impersonate?: boolean
  adoptExisting?: boolean
}

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
  resourceNames?: string[]
}

const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'patch', 'delete']
const RBAC = 'rbac.authorization.k8s.io'

export function isLimited({ namespaces, kinds, clusterScoped, impersonate }: SyncerLimits): boolean {
  return impersonate === true || [namespaces, kinds, clusterScoped].some(list => list !== undefined)
}

/** Rules of the ClusterRole. @throws CommandError naming a pattern that no rule can say */
export function syncerRules(limits: SyncerLimits): Rule[] {
  if (!isLimited(limits)) return [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const { namespaces, kinds, clusterScoped = [], associated = [], impersonate } = limits
  const verbs = impersonate ? READ : [...READ, ...WRITE]
  const carried = [
    ...(kinds ?? ['*']).map(pattern => kindOf('--allow-kinds', pattern)),
    ...clusterScoped.map(pattern => kindOf('--allow-cluster-scoped', pattern)),
  ]
  const all = carried.some(({ group }) => group === '*')
  return [
    ...(all ? [{ apiGroups: ['*'], resources: ['*'], verbs }] : byGroup(carried, verbs)),
    ...(all ? [] : namespaceRules(impersonate ? [] : (namespaces ?? ['*']))),
    ...(all || associated.length === 0 ? [] : byGroup(reported(associated), READ)),
    // Which kinds there are to carry.
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: READ },
    ...(impersonate ? [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }] : []),
  ]
}

/** Kinds that are read to report them, with those that lead from them to copies. @throws CommandError for what never comes up */
function reported(associated: readonly string[]): { group: string; resource: string }[] {
  const kinds = associated.map(pattern => kindOf('--associated-kinds', pattern))
  for (const kind of kinds) {
    if (kind.group === '*')
      throw new CommandError(
        '--associated-kinds: a ClusterRole that reads all kinds reads Secrets; name them, as in pods,events,*.apps,*.batch',
      )
    if (!isAssociable(kind))
      throw new CommandError(`--associated-kinds: ${groupResourceName(kind)} are never reported; leave them out`)
  }
  return [...kinds, ...OWNER_KINDS]
}

/** Role and RoleBinding for what the syncer keeps in the cluster about itself; a ClusterRole would grant it everywhere. */
export function ownRecords(id: string): KubeObject[] {
  const { namespace, name } = CLUSTER_RECORD
  const records = (group: string, resource: string): Rule[] => [
    { apiGroups: [group], resources: [resource], verbs: ['create'] },
    { apiGroups: [group], resources: [resource], resourceNames: [name], verbs: [...READ, 'update', 'patch', 'delete'] },
  ]
  const metadata = { name: id, namespace }
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'Role',
      metadata,
      rules: [...records('', 'configmaps'), ...records('coordination.k8s.io', 'leases')],
    },
    roleBinding(metadata, id),
  ]
}

/** The Secret in which a syncer that joins keeps what it gets, empty at first, and the right to that one Secret. */
export function ownCredential(id: string, secret: string): KubeObject[] {
  const metadata = { name: `${id}-credential`, namespace: id }
  const rules: Rule[] = [
    { apiGroups: [''], resources: ['secrets'], resourceNames: [secret], verbs: [...READ, 'patch'] },
  ]
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace: id } },
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules },
    roleBinding(metadata, id),
  ]
}

function roleBinding(metadata: { name: string; namespace: string }, id: string): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: id, namespace: id }],
  }
}

/** In the form of the syncer's flags. */
export function limitArguments({
  namespaces,
  kinds,
  clusterScoped,
  associated,
  impersonate,
  adoptExisting,
}: SyncerLimits): string[] {
  const list = (flag: string, patterns: readonly string[] | undefined): string[] =>
    patterns === undefined ? [] : [`${flag}=${patterns.join(',')}`]
  return [
    ...list('--allow-namespaces', namespaces),
    ...list('--allow-kinds', kinds),
    ...list('--allow-cluster-scoped', clusterScoped),
    ...list('--associated-kinds', associated),
    ...(impersonate ? ['--impersonate'] : []),
    ...(adoptExisting ? ['--adopt-existing'] : []),
  ]
}

function namespaceRules(writable: readonly string[]): Rule[] {
  const namespaces = { apiGroups: [''], resources: ['namespaces'] }
  const read = { ...namespaces, verbs: READ }
  if (writable.length === 0) return [read]
  if (writable.some(name => name.includes('*'))) return [{ ...namespaces, verbs: [...READ, ...WRITE] }]
  return [
    { ...namespaces, verbs: [...READ, 'create'] },
    { ...namespaces, resourceNames: [...writable], verbs: ['patch', 'delete'] },
  ]
}

function byGroup(kinds: readonly { group: string; resource: string }[], verbs: string[]): Rule[] {
  const groups = new Map<string, Set<string>>()
  for (const { group, resource } of kinds) groups.set(group, (groups.get(group) ?? new Set()).add(resource))
  return [...groups].map(([group, resources]) => ({
    apiGroups: [group],
    resources: resources.has('*') ? ['*'] : [...resources],
    verbs,
  }))
}

/** `resource.group`, `*.group`, `resource` of the core group, or `*`. */
function kindOf(flag: string, pattern: string): { group: string; resource: string } {
  if (pattern === '*') return { group: '*', resource: '*' }
  const [resource = '', ...rest] = pattern.split('.')
  const group = rest.join('.')
  if (!group.includes('*') && (!resource.includes('*') || (resource === '*' && group !== '')))
    return { group, resource }
  throw new CommandError(
    `${flag}: a ClusterRole cannot say ${JSON.stringify(pattern)}; name each kind, as resource.group, or all of a group, as *.group`,
  )
}
