/**
 * Content of one placement: the objects that it brings to its destinations. The live content follows the workload space change by change.
 * A staged placement has a content for each destination instead: the revision that the destination may have now.
 */
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

/** Contents of a staged placement. */
export interface StagedContent {
  at(mailbox: string): LeadContent
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
