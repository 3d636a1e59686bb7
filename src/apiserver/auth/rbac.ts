/**
 * Role-based access control, for each space on its own.
 *
 * A space's index is built at the first question about it and dropped when one of its roles or bindings changes, which the
 * store's log tells. Spaces that nobody but administrators visits cost nothing.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { statusError } from '../../apimachinery/errors.ts'
import type { LogFields } from '../../apimachinery/logFields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { isStorageError, type Revision, type Store } from '../../storage/store.ts'
import { bootstrapObjects } from './bootstrapRoles.ts'
import { RbacIndex, type RbacObjects, type RoleRef } from './rbacIndex.ts'
import { type PolicyRule, RBAC_GROUP, ruleAllows } from './rbacRules.ts'
import type { Attributes, Authorizer, Decision, UserInfo } from './types.ts'
import { effectiveUser, GROUPS, isServiceAccount } from './users.ts'

export interface RbacOptions {
  store: Pick<Store, 'list' | 'watch' | 'revision'>
  /** Whether users need verb `access` on `/` inside a space before anything else counts. Default true. */
  requireSpaceAccess?: boolean
  /** Id of the root space. Default `root`. */
  rootSpace?: string
  /** Indexes kept at most; the least recently used goes first. Default 10000. */
  maxSpaces?: number
  /** Hears of watches that ended early; they start again with the next question. */
  log?: { warn(details: LogFields, message: string): void }
}

export interface GrantedRules {
  rules: PolicyRule[]
  /** Roles that bindings name and that do not exist. */
  errors: string[]
}

const RESOURCES = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const
const ALLOWED: Decision = { allowed: true, reason: '' }
const ENTRY = { verb: 'access', path: '/' }

export class RbacAuthorizer implements Authorizer {
  readonly #options: Required<Omit<RbacOptions, 'log'>> & Pick<RbacOptions, 'log'>
  /** A failed or outdated build is not in here. */
  readonly #indexes: BoundedCache<string, Promise<RbacIndex>>
  readonly #layers: { plain: Layer; root: Layer }
  #watching = new Set<string>()
  readonly #closed = new AbortController()

  constructor(options: RbacOptions) {
    this.#options = { requireSpaceAccess: true, rootSpace: 'root', maxSpaces: 10_000, ...options }
    this.#indexes = new BoundedCache(this.#options.maxSpaces)
    this.#layers = { plain: layerOf(bootstrapObjects()), root: layerOf(bootstrapObjects({ root: true })) }
  }

  async authorize(attributes: Attributes): Promise<Decision> {
    const user = effectiveUser(attributes.user, attributes.space)
    if (user.groups.includes(GROUPS.masters)) return ALLOWED
    if (attributes.space === '*') return { allowed: false, reason: 'only system:masters may look across spaces' }
    const index = await this.#index(attributes.space)
    if (!this.#mayEnter(index, user, attributes.space)) {
      return { allowed: false, reason: 'no verb=access permission on /' }
    }
    return decide(index, { ...attributes, user })
  }

  /** Whether the user may enter a space at all: a ServiceAccount its own, others with verb `access` on `/`. */
  async mayAccessSpace(user: UserInfo, space: string): Promise<boolean> {
    const local = effectiveUser(user, space)
    if (local.groups.includes(GROUPS.masters)) return true
    return space !== '*' && this.#mayEnter(await this.#index(space), local, space)
  }

  /** Everything that the user was granted in a space and one namespace (`''`: only what counts in the whole space). */
  async rulesFor(user: UserInfo, space: string, namespace: string): Promise<GrantedRules> {
    const granted: GrantedRules = { rules: [], errors: [] }
    const local = effectiveUser(user, space)
    const index = await this.#index(space)
    if (!local.groups.includes(GROUPS.masters) && !this.#mayEnter(index, local, space)) return granted
    for (const grant of index.grants(local, namespace)) {
      if (grant.rules !== undefined) granted.rules.push(...grant.rules)
      else if (!granted.errors.includes(grant.error)) granted.errors.push(grant.error)
    }
    return granted
  }

  /**
   * The rules of a role that a binding names.
   * @throws StatusError NotFound
   */
  async roleRules(ref: RoleRef, space: string, namespace: string): Promise<readonly PolicyRule[]> {
    const rules = (await this.#index(space)).roleRules(ref, namespace)
    if (rules !== undefined) return rules
    const resource = ref.kind === 'ClusterRole' ? 'clusterroles' : 'roles'
    throw statusError.notFound({ group: RBAC_GROUP, resource }, ref.name)
  }

  /** Forgets what is known of one space, or of all. Writers may call it to see their own change at once. */
  invalidate(space?: string): void {
    if (space === undefined) this.#indexes.clear()
    else this.#indexes.delete(space)
  }

  /** Ends the watches. */
  close(): void {
    this.#closed.abort()
    this.#indexes.clear()
  }

  #mayEnter(index: RbacIndex, user: UserInfo, space: string): boolean {
    if (!this.#options.requireSpaceAccess || isServiceAccount(user)) return true
    return decide(index, { user, space, ...ENTRY }).allowed
  }

  #index(space: string): Promise<RbacIndex> {
    this.#startWatches()
    const known = this.#indexes.get(space)
    if (known !== undefined) return known
    const built = this.#build(space)
    this.#indexes.set(space, built)
    // Who asked hears of a failure through the promise itself; here it only must not stay.
    built.catch(() => {
      if (this.#indexes.peek(space) === built) this.#indexes.delete(space)
    })
    return built
  }

  async #build(space: string): Promise<RbacIndex> {
    const [clusterRoles, clusterRoleBindings, roles, roleBindings] = await Promise.all(
      RESOURCES.map(async resource => {
        const page = await this.#options.store.list({ space, group: RBAC_GROUP, resource })
        return page.items.map(item => JSON.parse(item.bytes.toString()) as KubeObject)
      }),
    )
    const layer = space === this.#options.rootSpace ? this.#layers.root : this.#layers.plain
    const own: RbacObjects = {
      clusterRoles: clusterRoles!,
      clusterRoleBindings: clusterRoleBindings!,
      roles: roles!,
      roleBindings: roleBindings!,
    }
    const { objects } = layer
    const changed = [
      own.clusterRoles.some(isIn(objects.clusterRoles)),
      own.clusterRoleBindings.some(isIn(objects.clusterRoleBindings)),
    ]
    if (!changed.includes(true)) return new RbacIndex(own, layer.index)
    // What a space has changed of the layer counts in its place: then nothing of the layer can be shared.
    const without = (shared: readonly KubeObject[], mine: readonly KubeObject[]) =>
      shared.filter(each => !isIn(mine)(each))
    return new RbacIndex({
      ...own,
      clusterRoles: [...without(objects.clusterRoles, own.clusterRoles), ...own.clusterRoles],
      clusterRoleBindings: [
        ...without(objects.clusterRoleBindings, own.clusterRoleBindings),
        ...own.clusterRoleBindings,
      ],
    })
  }

  /** Before any index is built: a change behind a build's reads is then always heard of, and drops it. */
  #startWatches(): void {
    for (const resource of RESOURCES) {
      if (this.#watching.has(resource) || this.#closed.signal.aborted) continue
      this.#watching.add(resource)
      this.invalidate()
      void this.#follow(resource, this.#options.store.revision)
    }
  }

  async #follow(resource: string, after: Revision): Promise<void> {
    const { signal } = this.#closed
    try {
      const range = { group: RBAC_GROUP, resource }
      for await (const events of this.#options.store.watch(range, { after, signal })) {
        for (const event of events) this.#indexes.delete(event.key.space)
      }
    } catch (error) {
      if (!isStorageError(error, 'Closed')) {
        this.#options.log?.warn({ err: error, resource }, 'watch of access rules ended early, starting again')
      }
    } finally {
      this.#watching.delete(resource)
      this.invalidate()
    }
  }
}

/** What all spaces start with. */
interface Layer {
  objects: RbacObjects
  index: RbacIndex
}

function layerOf(bootstrap: readonly KubeObject[]): Layer {
  const ofKind = (kind: string) => bootstrap.filter(object => object.kind === kind)
  const objects: RbacObjects = {
    clusterRoles: ofKind('ClusterRole'),
    clusterRoleBindings: ofKind('ClusterRoleBinding'),
    roles: [],
    roleBindings: [],
  }
  return { objects, index: new RbacIndex(objects) }
}

function isIn(objects: readonly KubeObject[]): (object: KubeObject) => boolean {
  const names = new Set(objects.map(({ metadata }) => metadata.name))
  return ({ metadata }) => names.has(metadata.name)
}

function decide(index: RbacIndex, attributes: Attributes): Decision {
  const errors = new Set<string>()
  for (const grant of index.grants(attributes.user, attributes.resource?.namespace ?? '')) {
    if (grant.rules === undefined) errors.add(grant.error)
    else if (grant.rules.some(rule => ruleAllows(rule, attributes))) return { allowed: true, reason: grant.reason }
  }
  return { allowed: false, reason: errors.size === 0 ? '' : `RBAC: ${joined([...errors])}` }
}

/** One message as it is, several in brackets: how upstream prints a list of errors. */
export function joined(messages: readonly string[]): string {
  return messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
}
