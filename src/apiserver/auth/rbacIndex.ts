/**
 * The roles and bindings of one space, compiled for questions: from a subject straight to the rules that it was granted.
 * Immutable; a change of a role or a binding makes a new index.
 */
import { objects } from '../../apimachinery/fields.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { atOnce, type Steps } from '../../apimachinery/steps.ts'
import { aggregatedRules, aggregationBudget } from './aggregation.ts'
import { type PolicyRule, rulesOf } from './rbacRules.ts'
import type { UserInfo } from './types.ts'
import { parseServiceAccountUserName, type ServiceAccountRef, serviceAccountUserName } from './users.ts'

const ACCOUNT = 'ServiceAccount'

export interface RbacObjects {
  clusterRoles: readonly KubeObject[]
  clusterRoleBindings: readonly KubeObject[]
  roles: readonly KubeObject[]
  roleBindings: readonly KubeObject[]
}

export interface RoleRef {
  kind: string
  name: string
}

/** Grant of one binding, to each of its subjects. */
interface Grant {
  /** Absent when the role does not exist. The same list for each binding to a role; gathered at first use. */
  readonly rules: readonly PolicyRule[] | undefined
  /** `clusterrole.rbac.authorization.k8s.io "x" not found`, when `rules` is absent. */
  readonly error: string
  /** The reason to give when a rule allows. */
  reasonFor(subject: Subject): string
  /** Name of the ClusterRoleBinding. */
  readonly binding: string | undefined
}

/** Somebody, by one of their names. */
interface Subject {
  /** Where what was granted to this name is filed. */
  readonly key: string
  /** As a reason names them. */
  readonly text: string
}

/** Grant to a user by one of their names. */
interface Granted {
  readonly subject: Subject
  readonly grants: readonly Grant[]
}

/**
 * By {@link Subject.key}. Bindings may have tens of thousands of subjects, so these have nothing of their own. The subjects of a binding
 * share a list of one until another binding names them, too.
 */
type Grants = Map<string, Grant[]>

/** Subjects of a binding that are filed between two rests. */
const AT_ONCE = 500

export class RbacIndex {
  readonly #clusterRoles = new Map<string, KubeObject>()
  /** By `namespace/name`. */
  readonly #roles = new Map<string, KubeObject>()
  readonly #resolved = new Map<KubeObject, readonly PolicyRule[]>()
  readonly #cluster: Grants = new Map()
  readonly #namespaced = new Map<string, Grants>()
  readonly #base: RbacIndex | undefined
  readonly #gathering = aggregationBudget()

  private constructor(base: RbacIndex | undefined) {
    this.#base = base
  }

  /**
   * `base`: roles and bindings that many spaces share, none of which is among `objects`. They are not copied, so an index
   * without own objects is tiny. Yields where others may have their turn.
   */
  static *of(objects: RbacObjects, base?: RbacIndex): Steps<RbacIndex> {
    const index = new RbacIndex(base)
    yield* index.#fill(objects)
    return index
  }

  *#fill(objects: RbacObjects): Steps<void> {
    for (const role of objects.clusterRoles) this.#clusterRoles.set(role.metadata.name!, role)
    yield
    for (const role of objects.roles) this.#roles.set(`${role.metadata.namespace}/${role.metadata.name}`, role)
    yield
    for (const binding of objects.clusterRoleBindings) yield* this.#add(this.#cluster, binding, '')
    for (const binding of objects.roleBindings) {
      const namespace = binding.metadata.namespace ?? ''
      const grants = getOrInsert(this.#namespaced, namespace, () => new Map())
      yield* this.#add(grants, binding, namespace)
    }
  }

  /** Grants of the user in the whole space and, unless `namespace` is `''`, in that namespace: by each of their names. */
  grants(user: UserInfo, namespace: string): readonly Granted[] {
    const found: Granted[] = []
    this.#gather(found, namesOf(user), namespace)
    return found
  }

  #gather(found: Granted[], names: readonly Subject[], namespace: string): void {
    if (this.#base !== undefined) this.#base.#gather(found, names, namespace)
    gatherFrom(this.#cluster, names, found)
    const local = namespace === '' ? undefined : this.#namespaced.get(namespace)
    if (local !== undefined) gatherFrom(local, names, found)
  }

  /** The rules that a binding in `namespace` refers to; `undefined` when there is no such role. */
  roleRules(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    if (ref.kind !== 'ClusterRole') {
      const role = this.#roles.get(`${namespace}/${ref.name}`)
      return role && this.#once(role, () => rulesOf(role))
    }
    // Own roles may add to what an aggregated role of the base gathers; without any, the base's answer serves all spaces.
    if (this.#clusterRoles.size === 0 && this.#base !== undefined) return this.#base.roleRules(ref, namespace)
    const role = this.#clusterRole(ref.name)
    return role && this.#once(role, () => atOnce(aggregatedRules(role, this.#allClusterRoles(), this.#gathering)))
  }

  #once(role: KubeObject, resolve: () => readonly PolicyRule[]): readonly PolicyRule[] {
    return getOrInsert(this.#resolved, role, resolve)
  }

  #clusterRole(name: string): KubeObject | undefined {
    return this.#clusterRoles.get(name) ?? (this.#base === undefined ? undefined : this.#base.#clusterRole(name))
  }

  *#allClusterRoles(): Generator<KubeObject> {
    if (this.#base !== undefined) yield* this.#base.#allClusterRoles()
    yield* this.#clusterRoles.values()
  }

  *#add(grants: Grants, binding: KubeObject, namespace: string): Steps<void> {
    const ref = roleRefOf(binding)
    const grant = grantOf(
      binding,
      ref,
      namespace,
      once(() => this.roleRules(ref, namespace)),
    )
    const alone = [grant]
    let filed = 0
    for (const subject of objects(binding.subjects)) {
      const key = subjectKey(subject, namespace)
      if (key === undefined) continue
      const others = grants.get(key)
      if (others === undefined) grants.set(key, alone)
      else if (others.length === 1) grants.set(key, [...others, grant])
      else others.push(grant)
      if (++filed % AT_ONCE === 0) yield
    }
    yield
  }
}

function grantOf(
  binding: KubeObject,
  ref: RoleRef,
  namespace: string,
  rules: () => readonly PolicyRule[] | undefined,
): Grant {
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
  const name = namespace === '' ? binding.metadata.name! : `${binding.metadata.name}/${namespace}`
  // the same subject asks again and again
  let last: { subject: Subject; reason: string } | undefined
  return {
    get rules() {
      return rules()
    },
    get error() {
      return `${ref.kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(ref.name)} not found`
    },
    reasonFor(subject) {
      if (last?.subject !== subject) {
        const of = `of ${ref.kind} ${JSON.stringify(ref.name)} to ${subject.text}`
        last = { subject, reason: `RBAC: allowed by ${kind} ${JSON.stringify(name)} ${of}` }
      }
      return last.reason
    },
    binding: namespace === '' ? name : undefined,
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** `roleRef` of a binding. */
export function roleRefOf(binding: KubeObject): RoleRef {
  const ref = isRecord(binding.roleRef) ? binding.roleRef : {}
  return { kind: String(ref.kind ?? ''), name: String(ref.name ?? '') }
}

// Follows from the user alone, who is the same object for each request of theirs.
const namesOfUsers = new WeakMap<UserInfo, readonly Subject[]>()

function namesOf(user: UserInfo): readonly Subject[] {
  return getOrInsert(namesOfUsers, user, () => {
    const account = parseServiceAccountUserName(user.name)
    return [
      subjectOf('User', user.name),
      ...(account === undefined ? [] : [accountSubject(user.name, account)]),
      ...user.groups.map(group => subjectOf('Group', group)),
    ]
  })
}

function subjectOf(kind: 'User' | 'Group', name: string): Subject {
  return { key: `${kind} ${name}`, text: `${kind} ${JSON.stringify(name)}` }
}

function accountSubject(userName: string, { namespace, name }: ServiceAccountRef): Subject {
  return { key: `${ACCOUNT} ${userName}`, text: `${ACCOUNT} ${JSON.stringify(`${name}/${namespace}`)}` }
}

function gatherFrom(filed: Grants, names: readonly Subject[], found: Granted[]): void {
  for (const subject of names) {
    const grants = filed.get(subject.key)
    if (grants !== undefined) found.push({ subject, grants })
  }
}

/** Where a subject is filed. */
function subjectKey(subject: Record<string, unknown>, namespace: string): string | undefined {
  const { kind, name } = subject
  if (typeof name !== 'string') return undefined
  if (kind === 'User' || kind === 'Group') return `${kind} ${name}`
  const home = typeof subject.namespace === 'string' && subject.namespace !== '' ? subject.namespace : namespace
  if (kind !== ACCOUNT || home === '') return undefined
  return `${ACCOUNT} ${serviceAccountUserName({ namespace: home, name })}`
}
