/**
 * The roles and bindings of one space, compiled for questions: from a subject straight to the rules that it was granted.
 * Immutable; a change of a role or a binding makes a new index.
 */
import { objects } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { atOnce, type Steps } from '../../apimachinery/steps.ts'
import { aggregatedRules, aggregationBudget } from './aggregation.ts'
import { type PolicyRule, rulesOf } from './rbacRules.ts'
import type { UserInfo } from './types.ts'
import { serviceAccountUserName } from './users.ts'

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

/** One subject of one binding. */
export interface Grant {
  /** Absent when the role does not exist. The same list for each binding to a role; gathered when first asked for. */
  readonly rules: readonly PolicyRule[] | undefined
  /** `clusterrole.rbac.authorization.k8s.io "x" not found`, when `rules` is absent. */
  error: string
  /** The reason to give when a rule allows. */
  reason: string
  /** Of a ClusterRoleBinding of this name. */
  binding: string | undefined
}

type Grants = Map<string, Grant[]>

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
    for (const binding of objects.clusterRoleBindings) {
      this.#add(this.#cluster, binding, '')
      yield
    }
    for (const binding of objects.roleBindings) {
      const namespace = binding.metadata.namespace ?? ''
      let grants = this.#namespaced.get(namespace)
      if (grants === undefined) {
        grants = new Map()
        this.#namespaced.set(namespace, grants)
      }
      this.#add(grants, binding, namespace)
      yield
    }
  }

  /** What the user was granted in the whole space and, unless `namespace` is `''`, in that namespace: lists one behind the other. */
  grants(user: UserInfo, namespace: string): readonly (readonly Grant[])[] {
    const found: (readonly Grant[])[] = []
    this.#gather(found, keysOf(user), namespace)
    return found
  }

  #gather(found: (readonly Grant[])[], keys: readonly string[], namespace: string): void {
    if (this.#base !== undefined) this.#base.#gather(found, keys, namespace)
    gatherFrom(this.#cluster, keys, found)
    const local = namespace === '' ? undefined : this.#namespaced.get(namespace)
    if (local !== undefined) gatherFrom(local, keys, found)
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
    let rules = this.#resolved.get(role)
    if (rules === undefined) {
      rules = resolve()
      this.#resolved.set(role, rules)
    }
    return rules
  }

  #clusterRole(name: string): KubeObject | undefined {
    return this.#clusterRoles.get(name) ?? (this.#base === undefined ? undefined : this.#base.#clusterRole(name))
  }

  *#allClusterRoles(): Generator<KubeObject> {
    if (this.#base !== undefined) yield* this.#base.#allClusterRoles()
    yield* this.#clusterRoles.values()
  }

  #add(grants: Grants, binding: KubeObject, namespace: string): void {
    const ref = roleRefOf(binding)
    const rulesOfRole = once(() => this.roleRules(ref, namespace))
    const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
    const name = namespace === '' ? binding.metadata.name! : `${binding.metadata.name}/${namespace}`
    const subjects = objects(binding.subjects)
    for (const subject of subjects) {
      const found = subjectKey(subject, namespace)
      if (found === undefined) continue
      const grant: Grant = {
        get rules() {
          return rulesOfRole()
        },
        error: `${ref.kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(ref.name)} not found`,
        reason: `RBAC: allowed by ${kind} ${JSON.stringify(name)} of ${ref.kind} ${JSON.stringify(ref.name)} to ${found.text}`,
        binding: namespace === '' ? name : undefined,
      }
      const list = grants.get(found.key)
      if (list === undefined) grants.set(found.key, [grant])
      else list.push(grant)
    }
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
const keysOfUsers = new WeakMap<UserInfo, readonly string[]>()

/** Where what somebody was granted is filed. */
function keysOf(user: UserInfo): readonly string[] {
  let keys = keysOfUsers.get(user)
  if (keys === undefined) {
    keys = [`User ${user.name}`, ...user.groups.map(group => `Group ${group}`)]
    keysOfUsers.set(user, keys)
  }
  return keys
}

function gatherFrom(grants: Grants, keys: readonly string[], found: (readonly Grant[])[]): void {
  for (const key of keys) {
    const list = grants.get(key)
    if (list !== undefined) found.push(list)
  }
}

/** Where a subject is filed, and how a reason names it. ServiceAccounts are filed under their user name. */
function subjectKey(subject: Record<string, unknown>, namespace: string): { key: string; text: string } | undefined {
  const { kind, name } = subject
  if (typeof name !== 'string') return undefined
  if (kind === 'User' || kind === 'Group') return { key: `${kind} ${name}`, text: `${kind} ${JSON.stringify(name)}` }
  const home = typeof subject.namespace === 'string' && subject.namespace !== '' ? subject.namespace : namespace
  if (kind !== 'ServiceAccount' || home === '') return undefined
  return {
    key: `User ${serviceAccountUserName({ namespace: home, name })}`,
    text: `ServiceAccount ${JSON.stringify(`${name}/${home}`)}`,
  }
}
