/**
 * Content of one placement: the objects that it brings to its destinations. The live content follows the workload space change by change.
 * A staged placement has a content for each destination instead: the revision that the destination may have now.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { ObjectFact, Workload } from './workload.ts'

export interface LeadContent {
  /** An object that the placement selects. */
  get(key: string): ObjectFact | undefined
  /** Whether the placement selects an object for its own sake, and not only for others of the kind that it defines. */
  names(key: string): boolean
  /** Keys that the placement selects for their own sake. */
  named(): Iterable<string>
  /** Keys that the placement selects. */
  keys(): Iterable<string>
  /** Keys of the objects in a Namespace that the placement selects. */
  inNamespace(namespace: string): Iterable<string>
  /** Whether the placement selects, by name, an object of this kind. */
  uses(kind: string): boolean
  /** Whether the placement selects nothing for its own sake. */
  readonly isEmpty: boolean
}

/** Contents of a placement with a rollout strategy. */
export interface StagedContent {
  at(mailbox: string): LeadContent
  /** Something that the placement selects changed. Answers whether its destinations wait for a revision of that. */
  edited(): boolean
  /** Labels or annotations of a Location changed. Answers whether its destination waits for a revision of that. */
  locationEdited(way: Pick<Destination, 'cluster' | 'locationName'>, location: KubeObject | undefined): boolean
  /** Whether a destination may have an object. */
  has(key: string): boolean
  /** Keys of all that destinations may have. */
  keysInUse(): readonly string[]
}

/** Keys by which two contents differ. `gone`: those of `before` that `after` lacks. */
export function difference(
  before: LeadContent,
  after: LeadContent,
): { readonly changed: readonly string[]; readonly gone: readonly string[] } {
  const [changed, gone]: [string[], string[]] = [[], []]
  for (const key of before.keys()) {
    const [was, is] = [before.get(key), after.get(key)]
    if (!is) gone.push(key)
    else if (!was || !saysSame(was, is) || after.names(key) !== before.names(key)) changed.push(key)
  }
  for (const key of after.keys()) if (!before.get(key)) changed.push(key)
  return { changed, gone }
}

/** A revision and the live content may have the same version of an object. */
function saysSame(a: ObjectFact, b: ObjectFact): boolean {
  if (a === b) return true
  const isOneLive = a.stage === undefined || b.stage === undefined
  return isOneLive && a.revision === b.revision && a.uid === b.uid && a.isPaused === b.isPaused && !a.customized
}

/** A placement of a space as the workload selects its objects now. */
export class LiveContent implements LeadContent {
  readonly #workload: Workload
  readonly #name: string

  constructor(workload: Workload, name: string) {
    this.#workload = workload
    this.#name = name
  }

  get(key: string): ObjectFact | undefined {
    return this.#workload.selects(this.#name, key) ? this.#workload.get(key) : undefined
  }

  names(key: string): boolean {
    return this.#workload.names(this.#name, key)
  }

  named(): Iterable<string> {
    return this.#workload.namedBy(this.#name)
  }

  keys(): Iterable<string> {
    return this.#workload.selectedBy(this.#name)
  }

  *inNamespace(namespace: string): Generator<string> {
    for (const key of this.#workload.inNamespace(namespace)) if (this.#workload.selects(this.#name, key)) yield key
  }

  uses(kind: string): boolean {
    return this.#workload.uses(this.#name, kind)
  }

  get isEmpty(): boolean {
    return !this.#workload.selectsAny(this.#name)
  }
}
