/**
 * Role-based access control, for each space on its own.
 *
 * A space's index is built at the first question about it and dropped inside the commit that changes one of its roles or bindings. A change
 * of a right is visible with the next request after that commit's answer. Spaces that nobody but administrators visits cost nothing.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { statusError } from '../../apimachinery/errors.ts'
import { joinedAsGo } from '../../apimachinery/go/goPrint.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { atOnce, inSlices } from '../../apimachinery/steps.ts'
import { EVERYTHING_ACTS, type Nature } from '../../placement/spaces/nature.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Store, StoreEvent } from '../../storage/store.ts'
import { bootstrapObjects, EVERYBODYS_READER } from './bootstrapRoles.ts'
import { RbacIndex, type RbacObjects, type RoleRef } from './rbacIndex.ts'
import { MOST_BYTES, RbacReader, WEIGHT_OF_A_BYTE } from './rbacReader.ts'
import { isForNames, type PolicyRule, RBAC_GROUP, ruleAllows, ruleConcerns } from './rbacRules.ts'
import type { Attributes, Authorizer, BuiltinRules, Decision, UserInfo } from './types.ts'
import { effectiveUser, GROUPS, isServiceAccount } from './users.ts'

export interface RbacOptions {
  store: Pick<Store, 'list' | 'project'>
  /** Whether users need verb `access` on `/` inside a space before anything else counts. Default true. */
  requireSpaceAccess?: boolean
  /** Which roles and bindings grant anything. Default: all. Its provider reports changes by `forget`. */
  nature?: Nature
  /** Whether the bootstrap roles speak of Orrery's own kinds. Default true. */
  ownKinds?: boolean
  /** Id of the root space. Default `root`. */
  rootSpace?: string
  /** Evaluated before any role. Default: none. */
  builtin?: BuiltinRules
  /** Bound on the memory of all indexes, about; the least recently used goes first. Default 128 MiB. */
  maxIndexBytes?: number
  /** Where roles and bindings of a space are read in slices. */
  turns: WorkTurns
  /** Called once for a space whose roles and bindings exceed the bound. */
  onLeftOut?: (space: string) => void
  /** Called with each space whose rights may be others now, inside the commit that changed them; `undefined`: those of all. */
  onForgotten?: (space: string | undefined) => void
}

interface GrantedRules {
  rules: PolicyRule[]
  /** Roles that bindings name and that do not exist. */
  errors: string[]
}

const RESOURCES = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const
const ALLOWED: Decision = { allowed: true, reason: '' }
const ENTRY = { verb: 'access', path: '/' }
/** Bytes of an entry that shares everything. */
const LEAST_BYTES = 500
/** More than the bytes allow for. */
const MOST_SPACES = 1_000_000
/**
 * Number of grants beyond which each role is evaluated once, however many bindings name it: to remember fewer costs more than the
 * evaluation.
 */
const MANY_GRANTS = 16
/** Decisions of one user that an index remembers, and their length: thousands of credentials may be in use. */
const MOST_REMEMBERED = 32
const REMEMBERED_LENGTH = 128
const LEFT_OUT = `the roles and bindings of this space are more than ${MOST_BYTES / 1024 / 1024} MiB: those behind grant nothing until others are deleted`
const NO_RULES: BuiltinRules = { decide: () => undefined }
const ANYTHING = { group: '*', version: '*', resource: '*', subresource: '', namespace: '', name: '' }

export class RbacAuthorizer implements Authorizer {
  readonly #options: Required<RbacOptions>
  /** A failed or outdated build is not in here. */
  readonly #indexes: BoundedCache<string, Known>
  readonly #layers: { plain: Layer; root: Layer }
  readonly #reader: RbacReader
  /** By space: what is being built. */
  readonly #running = new Map<string, Running>()
  /** Users who may enter, by index: each request checks it twice. */
  readonly #entrants = new WeakMap<RbacIndex, WeakMap<UserInfo, boolean>>()
  /** Remembered grants by index, whatever the object's name: most requests repeat an earlier question. */
  readonly #allowed = new WeakMap<RbacIndex, WeakMap<UserInfo, Map<string, Decision>>>()
  /** Indexes that do not have all that their space has. */
  readonly #incomplete = new WeakSet<RbacIndex>()
  /** Spaces that were reported for that. */
  readonly #reported = new BoundedCache<string, true>({ entries: 1000 })

  constructor(options: RbacOptions) {
    this.#options = {
      requireSpaceAccess: true,
      nature: EVERYTHING_ACTS,
      ownKinds: true,
      rootSpace: 'root',
      maxIndexBytes: 128 * 1024 * 1024,
      builtin: NO_RULES,
      onLeftOut: () => undefined,
      onForgotten: () => undefined,
      ...options,
    }
    const weight = { limit: this.#options.maxIndexBytes, of: ({ bytes }: Known) => bytes }
    this.#indexes = new BoundedCache({ entries: MOST_SPACES, weight })
    const { store, nature, maxIndexBytes, ownKinds } = this.#options
    this.#reader = new RbacReader({ store, nature, maxBytes: maxIndexBytes / 2 })
    this.#layers = {
      plain: layerOf(bootstrapObjects({ ownKinds })),
      root: layerOf(bootstrapObjects({ ownKinds, root: true })),
    }
    // A change behind the reads of a build arrives, too, and drops it.
    const forget = {
      reset: () => {
        this.#indexes.clear()
        this.#reader.reset()
        this.#options.onForgotten(undefined)
      },
      apply: ({ key }: StoreEvent) => this.forget(key.space),
    }
    for (const resource of RESOURCES) options.store.project({ group: RBAC_GROUP, resource }, forget)
  }

  /** The acting objects of a space have changed. */
  forget(space: string): void {
    this.#indexes.delete(space)
    this.#options.onForgotten(space)
  }

  authorize(given: Attributes): Soon<Decision> {
    const user = effectiveUser(given.user, given.space)
    if (user.groups.includes(GROUPS.masters)) return ALLOWED
    if (given.space === '*') return { allowed: false, reason: 'only system:masters may look across spaces' }
    const attributes = user === given.user ? given : { ...given, user }
    return whenKnown(this.#options.builtin.decide(attributes), settled =>
      settled === undefined ? whenKnown(this.#index(given.space), index => this.#decide(index, attributes)) : settled,
    )
  }

  /** Whether the user may enter a space at all: a ServiceAccount its own, others with verb `access` on `/`. */
  mayAccessSpace(user: UserInfo, space: string): Soon<boolean> {
    const local = effectiveUser(user, space)
    if (local.groups.includes(GROUPS.masters)) return true
    if (space === '*') return false
    return whenKnown(this.#options.builtin.decide({ user: local, space, ...ENTRY }), settled =>
      settled === undefined
        ? whenKnown(this.#index(space), index => this.#mayEnter(index, local, space))
        : settled.allowed,
    )
  }

  /** Everything that the user was granted in a space and one namespace (`''`: only what counts in the whole space). */
  async rulesFor(user: UserInfo, space: string, namespace: string): Promise<GrantedRules> {
    const granted: GrantedRules = { rules: [], errors: [] }
    const local = effectiveUser(user, space)
    const settled = await this.#options.builtin.decide({ user: local, space, verb: '*', resource: ANYTHING, path: '' })
    if (settled !== undefined) {
      granted.errors.push(`what ${JSON.stringify(user.name)} may do here is decided by the server, not by roles`)
      return granted
    }
    const index = await this.#index(space)
    if (!local.groups.includes(GROUPS.masters) && !this.#mayEnter(index, local, space)) return granted
    // ten thousand bindings may name one role of ten thousand rules: its rules are listed once
    const roles = new Set<readonly PolicyRule[]>()
    const errors = new Set<string>(this.#incomplete.has(index) ? [LEFT_OUT] : [])
    for (const { rules, error } of index.grants(local, namespace).flatMap(({ grants }) => grants)) {
      if (rules !== undefined) roles.add(rules)
      else errors.add(error)
    }
    return { rules: [...roles].flat(), errors: [...errors] }
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

  #decide(index: RbacIndex, attributes: Attributes): Decision {
    const question = questionIn(attributes)
    const known = question === undefined ? undefined : this.#allowed.get(index)?.get(attributes.user)?.get(question)
    if (known !== undefined) return known
    if (!this.#mayEnter(index, attributes.user, attributes.space)) {
      return { allowed: false, reason: 'no verb=access permission on /' }
    }
    const { decision, isForAll } = decide(index, attributes)
    if (isForAll && question !== undefined) this.#remember(index, attributes.user, question, decision)
    if (decision.allowed || !this.#incomplete.has(index)) return decision
    return { allowed: false, reason: decision.reason === '' ? `RBAC: ${LEFT_OUT}` : `${decision.reason}; ${LEFT_OUT}` }
  }

  #remember(index: RbacIndex, user: UserInfo, question: string, decision: Decision): void {
    let users = this.#allowed.get(index)
    if (users === undefined) {
      users = new WeakMap()
      this.#allowed.set(index, users)
    }
    const known = users.get(user)
    if (known === undefined) {
      users.set(user, new Map([[question, decision]]))
      return
    }
    if (known.size >= MOST_REMEMBERED) known.clear()
    known.set(question, decision)
  }

  #mayEnter(index: RbacIndex, user: UserInfo, space: string): boolean {
    if (!this.#options.requireSpaceAccess) return true
    let known = this.#entrants.get(index)
    const remembered = known?.get(user)
    if (remembered !== undefined) return remembered
    known ??= new WeakMap()
    const may = isServiceAccount(user) || decide(index, { user, space, ...ENTRY }).decision.allowed
    this.#entrants.set(index, known.set(user, may))
    return may
  }

  /** One is built at a time for each space. Callers behind a change meanwhile wait for the next, which serves all of them. */
  #index(space: string): Soon<RbacIndex> {
    const known = this.#indexes.get(space)
    if (known !== undefined) return known.index ?? known.built
    const running = this.#running.get(space)
    if (running === undefined) return this.#begin(space)
    running.next ??= running.over.then(() => this.#index(space))
    return running.next
  }

  #begin(space: string): Promise<RbacIndex> {
    const building = this.#build(space)
    const over = (): void => void this.#running.delete(space)
    this.#running.set(space, { over: building.then(over, over), next: undefined })
    const built = building.then(({ index }) => index)
    const begun: Known = { built, index: undefined, bytes: LEAST_BYTES }
    this.#indexes.set(space, begun)
    const isCurrent = () => this.#indexes.peek(space) === begun
    building.then(
      ({ index, bytes }) => {
        // nothing of an index that an event has dropped meanwhile may come back
        if (isCurrent()) this.#indexes.set(space, { built, index, bytes: LEAST_BYTES + WEIGHT_OF_A_BYTE * bytes })
      },
      // The caller gets a failure through the promise itself; here it only must not stay.
      () => {
        if (isCurrent()) this.#indexes.delete(space)
      },
    )
    return built
  }

  async #build(space: string): Promise<{ index: RbacIndex; bytes: number }> {
    const { index, bytes, isWhole } = await this.#read(space)
    if (isWhole) this.#reported.delete(space)
    else {
      this.#incomplete.add(index)
      if (this.#reported.get(space) === undefined) this.#options.onLeftOut(space)
      this.#reported.set(space, true)
    }
    return { index, bytes }
  }

  async #read(space: string): Promise<{ index: RbacIndex; bytes: number; isWhole: boolean }> {
    const work = this.#options.turns.begin({ owner: space })
    const { objects: own, bytes, isWhole } = await this.#reader.read(space, work)
    const layer = space === this.#options.rootSpace ? this.#layers.root : this.#layers.plain
    const { objects } = layer
    const changed = [
      own.clusterRoles.some(isIn(objects.clusterRoles)),
      own.clusterRoleBindings.some(isIn(objects.clusterRoleBindings)),
    ]
    // most spaces have nothing of their own but what made somebody their administrator, and many not even that
    if (Object.values(own).every(({ length }) => length === 0)) return { index: layer.index, bytes, isWhole }
    if (!changed.includes(true)) {
      return { index: await inSlices(RbacIndex.of(own, layer.index), work), bytes, isWhole }
    }
    // Objects of the layer that a space has changed count in its place: then nothing of the layer can be shared.
    const without = (shared: readonly KubeObject[], mine: readonly KubeObject[]) => {
      const isMine = isIn(mine)
      return shared.filter(each => !isMine(each))
    }
    const all: RbacObjects = {
      ...own,
      clusterRoles: [...without(objects.clusterRoles, own.clusterRoles), ...own.clusterRoles],
      clusterRoleBindings: [
        ...without(objects.clusterRoleBindings, own.clusterRoleBindings),
        ...own.clusterRoleBindings,
      ],
    }
    return { index: await inSlices(RbacIndex.of(all), work), bytes: bytes + layer.bytes, isWhole }
  }
}

/** Retained state of a space. */
interface Known {
  built: Promise<RbacIndex>
  /** Once it is built. */
  index: RbacIndex | undefined
  /** About as many. */
  bytes: number
}

interface Running {
  /** Its end, good or bad. */
  over: Promise<void>
  /** The index that who asks now waits for, where that is another. */
  next: Promise<RbacIndex> | undefined
}

/** Common start of all spaces. */
interface Layer {
  objects: RbacObjects
  index: RbacIndex
  bytes: number
}

function layerOf(bootstrap: readonly KubeObject[]): Layer {
  const ofKind = (kind: string) => bootstrap.filter(object => object.kind === kind)
  const objects: RbacObjects = {
    clusterRoles: ofKind('ClusterRole'),
    clusterRoleBindings: ofKind('ClusterRoleBinding'),
    roles: [],
    roleBindings: [],
  }
  return { objects, index: atOnce(RbacIndex.of(objects)), bytes: Buffer.byteLength(JSON.stringify(bootstrap)) }
}

function isIn(objects: readonly KubeObject[]): (object: KubeObject) => boolean {
  const names = new Set(objects.map(({ metadata }) => metadata.name))
  return ({ metadata }) => names.has(metadata.name)
}

/** A question that may be remembered: about objects, whatever their names. */
function questionIn({ verb, resource, ownOnly }: Attributes): string | undefined {
  if (resource === undefined || ownOnly) return undefined
  const { group, resource: of, subresource, namespace } = resource
  const question = `${verb} ${group}/${of}/${subresource} ${namespace}`
  return question.length <= REMEMBERED_LENGTH ? question : undefined
}

/** `isForAll`: it is allowed, and would be for objects of any other name, by the same grant. */
function decide(index: RbacIndex, attributes: Attributes): { decision: Decision; isForAll: boolean } {
  let isForAll = true
  let errors: Set<string> | undefined
  let evaluated: Set<readonly PolicyRule[]> | undefined
  let count = 0
  for (const { subject, grants } of index.grants(attributes.user, attributes.resource?.namespace ?? '')) {
    for (const grant of grants) {
      if (attributes.ownOnly && grant.binding === EVERYBODYS_READER) continue
      const { rules } = grant
      if (rules === undefined) {
        errors ??= new Set()
        errors.add(grant.error)
        continue
      }
      if (++count > MANY_GRANTS) {
        evaluated ??= new Set()
        if (evaluated.has(rules)) continue
        evaluated.add(rules)
      }
      for (const rule of rules) {
        if (!ruleConcerns(rule, attributes)) continue
        if (isForNames(rule, attributes)) isForAll = false
        if (!ruleAllows(rule, attributes)) continue
        return { decision: { allowed: true, reason: grant.reasonFor(subject) }, isForAll }
      }
    }
  }
  const reason = errors === undefined ? '' : `RBAC: ${joinedAsGo([...errors])}`
  return { decision: { allowed: false, reason }, isForAll: false }
}
