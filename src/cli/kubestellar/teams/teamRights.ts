/** Rights of members and leads in a team's space: roles and bindings that act there. */
import { list, objects, str } from '../../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { isNatured, NATURED_LABEL } from '../../../placement/spaces/nature.ts'
import { CommandError } from '../../shell/commandError.ts'
import type { Ensured } from '../grants/grants.ts'

const RBAC = 'rbac.authorization.k8s.io'
const CLUSTER_ROLES: GroupVersionResource = { group: RBAC, version: 'v1', resource: 'clusterroles' }
export const CLUSTER_ROLE_BINDINGS: GroupVersionResource = {
  group: RBAC,
  version: 'v1',
  resource: 'clusterrolebindings',
}
const OPTIONS = { fieldManager: 'kubectl-kubestellar' }

/** The binding with the team's members; a space without it is no team's. */
export const MEMBERS_BINDING = 'team-edits'
const LEADS_BINDING = 'leads-administer'
const NAMESPACES_ROLE = 'team-makes-namespaces'
const NAMESPACES_RULES = [
  { apiGroups: [''], resources: ['namespaces'], verbs: ['create', 'update', 'patch', 'delete'] },
]
const USER = 'user:'

/** A group or a user of a binding. */
type Subject = Readonly<Record<string, unknown>>

export interface Team {
  readonly members: readonly Subject[]
  readonly leads: readonly Subject[]
}

/** Names of groups, comma-separated; `user:mia` is a user. @throws CommandError for an empty list */
export function subjectsIn(flag: string, text: string): Subject[] {
  const names = text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && name !== USER)
  if (names.length === 0) throw new CommandError(`${flag} is empty; name groups, or users as user:NAME`)
  return [...new Set(names)].map(name =>
    name.startsWith(USER)
      ? { apiGroup: RBAC, kind: 'User', name: name.slice(USER.length) }
      : { apiGroup: RBAC, kind: 'Group', name },
  )
}

/** As the flags have it. */
export function subjectsText(subjects: readonly Subject[]): string {
  const texts = subjects.map(subject => `${subject.kind === 'User' ? USER : ''}${str(subject, 'name')}`)
  return texts.join(',') || '<none>'
}

/** The team that a space has; nobody where there is none. */
export async function teamIn(space: SpaceClient): Promise<Team> {
  const [members, leads] = await Promise.all(
    [MEMBERS_BINDING, LEADS_BINDING].map(name => unlessGone(space.get(CLUSTER_ROLE_BINDINGS, { name }))),
  )
  return { members: objects(members, 'subjects'), leads: objects(leads, 'subjects') }
}

/**
 * Makes roles and bindings, or gives them the subjects of the team; others that a binding has beside the former team stay.
 * @throws CommandError for a binding of that name to another role
 */
export async function ensureTeamRights(
  space: SpaceClient,
  team: Team,
  former: Team,
  report: (resource: GroupVersionResource, ensured: Ensured) => void,
): Promise<KubeObject[]> {
  const all = [...team.members, ...team.leads]
  const before = [...former.members, ...former.leads]
  const role = { ...head('ClusterRole', NAMESPACES_ROLE), rules: NAMESPACES_RULES }
  const made: KubeObject[] = []
  const ensure = async (resource: GroupVersionResource, wanted: KubeObject, replaced: readonly Subject[]) => {
    const ensured = await ensureOne(space, resource, wanted, replaced)
    report(resource, ensured)
    made.push(ensured.object)
  }
  await ensure(CLUSTER_ROLE_BINDINGS, binding('team-enters', 'system:kcp:workspace:access', all), before)
  await ensure(CLUSTER_ROLES, role, [])
  await ensure(CLUSTER_ROLE_BINDINGS, binding(NAMESPACES_ROLE, NAMESPACES_ROLE, all), before)
  if (team.leads.length > 0)
    await ensure(CLUSTER_ROLE_BINDINGS, binding(LEADS_BINDING, 'admin', team.leads), former.leads)
  // the last one: where it is, the others are
  await ensure(CLUSTER_ROLE_BINDINGS, binding(MEMBERS_BINDING, 'edit', team.members), former.members)
  return made
}

function binding(name: string, role: string, subjects: readonly Subject[]): KubeObject {
  return {
    ...head('ClusterRoleBinding', name),
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: distinct(subjects),
  }
}

function head(kind: string, name: string): KubeObject {
  return { apiVersion: `${RBAC}/v1`, kind, metadata: { name, labels: { [NATURED_LABEL]: 'true' } } }
}

async function ensureOne(
  space: SpaceClient,
  resource: GroupVersionResource,
  wanted: KubeObject,
  replaced: readonly Subject[],
): Promise<Ensured> {
  const { name = '' } = wanted.metadata
  const found = await unlessGone(space.get(resource, { name }))
  if (found === undefined) return { object: await space.create(resource, wanted, OPTIONS), made: 'created' }
  const role = str(found, 'roleRef', 'name')
  if (role !== str(wanted, 'roleRef', 'name'))
    throw new CommandError(`ClusterRoleBinding "${name}" is there for another role, ${role}; delete it, and try again`)
  const was = objects(found, 'subjects')
  const gone = new Set(replaced.map(keyOf))
  const subjects = distinct([...was.filter(subject => !gone.has(keyOf(subject))), ...objects(wanted, 'subjects')])
  const isSame =
    isNatured(found) &&
    equalJson(list(found, 'rules'), list(wanted, 'rules')) &&
    equalJson(was.map(keyOf).sort(), subjects.map(keyOf).sort())
  if (isSame) return { object: found, made: 'unchanged' }
  const labels = { ...found.metadata.labels, ...wanted.metadata.labels }
  const changed: KubeObject = { ...found, ...wanted, metadata: { ...found.metadata, labels } }
  if (wanted.subjects !== undefined) changed.subjects = subjects
  return { object: await space.update(resource, changed, OPTIONS), made: 'configured' }
}

function distinct(subjects: readonly Subject[]): Subject[] {
  return [...new Map(subjects.map(subject => [keyOf(subject), subject])).values()]
}

function keyOf(subject: Subject): string {
  return ['kind', 'namespace', 'name'].map(field => str(subject, field)).join('/')
}
