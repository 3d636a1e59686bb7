/** Allowance of several grants together, with answers remembered: thousands of copies need few kinds and namespaces. */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { grantedKinds } from '../associated/associated.ts'
import { compileUpsync, type Matchable, type PlacementSpec, upsyncs } from '../select/placementSpec.ts'
import type { Reason } from '../words/reason.ts'
import { type Grant, type Placed, type Refusal, refusalOf } from './grant.ts'
import { cutUpsync, type UpsyncCut } from './upsyncGrants.ts'

/** Pairs of kind and namespace. */
const REMEMBERED = 2000

export class Allowance {
  readonly #grants: readonly Grant[]
  readonly #refuses: Reason | undefined
  /** Whether no object is ever refused. */
  readonly allowsAll: boolean
  /** Whether there may be more that is allowed: nothing that is there goes because of what is refused. */
  readonly isUncertain: boolean
  readonly #remembered = new BoundedCache<string, { readonly refusal: Refusal | undefined }>(REMEMBERED)
  readonly #cuts = new WeakMap<PlacementSpec, UpsyncCut>()
  /** Allowance of those grants alone that let objects take over others; absent where none does. */
  readonly #adopting: Allowance | undefined
  readonly #associated = new WeakMap<PlacementSpec, readonly string[]>()
  readonly #carried = new WeakMap<PlacementSpec, ReturnType<typeof compileUpsync>>()

  /** @param options `refuses`: why nothing at all is allowed, whatever the grants */
  constructor(
    grants: readonly Grant[],
    { refuses, isUncertain = false }: { refuses?: Reason; isUncertain?: boolean } = {},
  ) {
    this.isUncertain = isUncertain
    this.#grants = grants
    this.#refuses = refuses
    const adopting = refuses ? [] : grants.filter(({ adoptExisting }) => adoptExisting)
    if (adopting.length > 0) this.#adopting = adopting.length === grants.length ? this : new Allowance(adopting)
    this.allowsAll =
      !refuses &&
      grants.some(
        ({ namespaces, allow, deny, clusterScoped, grantingKinds }) =>
          !namespaces && !allow && deny.length === 0 && clusterScoped && grantingKinds,
      )
  }

  /** Why the object may not be placed; `undefined` when it may. */
  refusal(object: Placed): Reason | undefined {
    if (this.allowsAll) return undefined
    if (this.#refuses) return this.#refuses
    const { group, resource, namespace, name } = object
    const within = group === '' && resource === 'namespaces' ? name : namespace
    const key = `${group}|${resource}|${within}`
    const known = this.#remembered.peek(key)
    if (known) return known.refusal
    const refusal = refusalOf(this.#grants, object)
    this.#remembered.set(key, { refusal })
    return refusal
  }

  /** Whether an object that may be placed may take over what a cluster held before: one grant has to allow both. */
  adopts(object: Placed): boolean {
    return this.#adopting !== undefined && this.#adopting.refusal(object) === undefined
  }

  /** Whether Namespaces may say how their Pods are secured: that is about the cluster, not about what is in them. */
  get clusterScoped(): boolean {
    return !this.#refuses && this.#grants.some(grant => grant.clusterScoped)
  }

  /** The upsync sets of a placement, as far as they are allowed. */
  upsync(spec: PlacementSpec): UpsyncCut {
    if (spec.upsync.length === 0) return NOTHING
    let cut = this.#cuts.get(spec)
    if (!cut) {
      cut = cutUpsync(spec.upsync, this.#refuses ? [] : this.#grants)
      this.#cuts.set(spec, cut)
    }
    return cut
  }

  /** Kinds of associated objects that a placement asks for, as far as they are allowed. */
  associated(spec: PlacementSpec): readonly string[] {
    if (!spec.associated || this.#refuses) return []
    let kinds = this.#associated.get(spec)
    if (!kinds) {
      const granted = this.#grants.flatMap(grant => grant.associated)
      kinds = grantedKinds(spec.associated.kinds, granted)
      this.#associated.set(spec, kinds)
    }
    return kinds
  }

  /** Whether an object is carried up by the sets of a placement, as far as they are allowed. */
  carriesUp(spec: PlacementSpec, object: Omit<Matchable, 'labels'>): boolean {
    if (!upsyncs(spec.upsyncTests, object)) return false
    let tests = this.#carried.get(spec)
    if (!tests) {
      tests = compileUpsync(this.upsync(spec).sets.map(({ set }) => set))
      this.#carried.set(spec, tests)
    }
    return upsyncs(tests, object)
  }
}

const NOTHING: UpsyncCut = { sets: [], denied: [] }

/** Why no combination of grants lets an object be placed: what the first says, where all refuse. */
export function refusedByAll(allowances: Iterable<Allowance>, object: Placed): Reason | undefined {
  let first: Reason | undefined
  for (const allowance of allowances) {
    const refusal = allowance.refusal(object)
    if (!refusal) return undefined
    first ??= refusal
  }
  return first
}
