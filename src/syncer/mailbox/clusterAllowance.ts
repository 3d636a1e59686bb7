/**
 * Allowance of the cluster's owner to the syncer, whatever the center says: namespaces, kinds, cluster-scoped kinds, each a
 * list of patterns with `*`. Pure.
 *
 * Without lists everything is allowed. As soon as one says something, cluster-scoped objects are allowed only where their list
 * names them: a ClusterRoleBinding would undo all the others. Namespaces are there for what is in them: they follow the list of
 * namespaces.
 */
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import { matchesPattern } from '../../apimachinery/starPattern.ts'
import type { VERSION_NOT_SERVED } from '../../placement/outcome/outcome.ts'
import type { UPSYNC_FULL } from '../../placement/words/placement.ts'
import type { SyncKey } from './mirror.ts'

type RefusalReason =
  /** The flags of the syncer do not allow it. */
  | 'NotAllowed'
  /** It was in the cluster before, and nothing lets it be adopted. */
  | 'AlreadyInCluster'
  /** The cluster's own definition of its kind does not serve its version. */
  | typeof VERSION_NOT_SERVED
  /** Its annotation is no wave. */
  | 'InvalidWave'
  /** Nothing says in whose name it would be done. */
  | 'NoOwner'
  /** The cluster's own access control says no. */
  | 'Forbidden'
  /** The mailbox holds as much as may be carried up there. */
  | typeof UPSYNC_FULL

/** Why the syncer does not carry an object. */
export interface Refusal {
  readonly reason: RefusalReason
  /** With the remedy. */
  readonly message: string
}

export interface AllowLists {
  namespaces?: readonly string[]
  /** Names as `resource.group`, `resource` alone for the core group; namespaced kinds. */
  kinds?: readonly string[]
  /** The same for cluster-scoped kinds. */
  clusterScoped?: readonly string[]
  /** Kinds, as `resource.group`, of objects that the cluster makes for copies and that are reported, beside those that are carried. */
  associated?: readonly string[]
}

const PATTERN = /^[a-z0-9*]([a-z0-9*.-]*[a-z0-9*])?$/

export class ClusterAllowance {
  readonly #lists: AllowLists
  readonly #any: boolean

  /** @throws Error naming the flag and the pattern that cannot match anything */
  constructor(lists: AllowLists = {}) {
    this.#lists = lists
    this.#any = [lists.namespaces, lists.kinds, lists.clusterScoped].every(list => list === undefined)
    for (const [flag, list] of this.#flags())
      for (const pattern of list) {
        if (PATTERN.test(pattern)) continue
        throw new Error(`${flag}: ${JSON.stringify(pattern)} matches nothing; ${EXAMPLES[flag]}`)
      }
  }

  /** Why the syncer keeps its hands off an object; `undefined` when it may carry it. */
  refusalOf(key: SyncKey): Refusal | undefined {
    const flag = this.#missing(key)
    if (flag === undefined) return undefined
    return { reason: 'NotAllowed', message: `is not allowed by ${flag} of this cluster's syncer` }
  }

  /** Whether any object of a kind may be carried. */
  mayCarry(resource: GroupResource, namespaced: boolean): boolean {
    if (this.#any || isNamespaces(resource)) return true
    return allows(namespaced ? this.#lists.kinds : (this.#lists.clusterScoped ?? []), groupResourceName(resource))
  }

  /** Whether any object of a kind may be reported that the cluster made for a copy. */
  mayReport(resource: GroupResource, namespaced: boolean): boolean {
    return this.mayCarry(resource, namespaced) || allows(this.#lists.associated ?? [], groupResourceName(resource))
  }

  /** Whether owners of objects may be read, to find those that may be reported. */
  get readsOwners(): boolean {
    return (this.#lists.associated ?? []).length > 0
  }

  /** Whether one of a kind that may be reported is in a namespace that is allowed. */
  reportsFrom({ namespace }: SyncKey): boolean {
    return this.#any || namespace === '' || allows(this.#lists.namespaces, namespace)
  }

  /** Patterns for kinds that match none of these, by flag. */
  unmatched(served: Iterable<GroupResource & { namespaced: boolean }>): string[] {
    const all = [...served]
    const named = (namespaced: boolean): string[] =>
      all.filter(resource => resource.namespaced === namespaced).map(groupResourceName)
    const { kinds = [], clusterScoped = [] } = this.#lists
    const without = (flag: string, patterns: readonly string[], names: string[]): string[] =>
      patterns
        .filter(pattern => !names.some(name => matchesPattern(pattern, name)))
        .map(pattern => `${flag} ${pattern}`)
    return [
      ...without('--allow-kinds', kinds, named(true)),
      ...without('--allow-cluster-scoped', clusterScoped, named(false)),
    ]
  }

  /** The flag that would have to name the object. */
  #missing(key: SyncKey): string | undefined {
    const { namespaces, kinds, clusterScoped = [] } = this.#lists
    if (this.#any) return undefined
    if (isNamespaces(key)) return allows(namespaces, key.name) ? undefined : '--allow-namespaces'
    const kind = groupResourceName(key)
    if (key.namespace === '') return allows(clusterScoped, kind) ? undefined : '--allow-cluster-scoped'
    if (!allows(namespaces, key.namespace)) return '--allow-namespaces'
    return allows(kinds, kind) ? undefined : '--allow-kinds'
  }

  #flags(): [keyof typeof EXAMPLES, readonly string[]][] {
    const { namespaces = [], kinds = [], clusterScoped = [], associated = [] } = this.#lists
    return [
      ['--allow-namespaces', namespaces],
      ['--allow-kinds', kinds],
      ['--associated-kinds', associated],
      ['--allow-cluster-scoped', clusterScoped],
    ]
  }
}

const EXAMPLES = {
  '--allow-namespaces': 'write names such as shop or team-*',
  '--allow-kinds': 'write resource.group such as deployments.apps, *.apps or configmaps',
  '--associated-kinds': 'write resource.group such as pods, replicasets.apps or events',
  '--allow-cluster-scoped': 'write resource.group such as customresourcedefinitions.apiextensions.k8s.io',
} as const

function allows(patterns: readonly string[] | undefined, text: string): boolean {
  return patterns === undefined || patterns.some(pattern => matchesPattern(pattern, text))
}

function isNamespaces(resource: GroupResource): boolean {
  return groupResourceName(resource) === groupResourceName(NAMESPACES)
}
