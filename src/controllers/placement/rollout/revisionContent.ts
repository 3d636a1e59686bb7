/**
 * Content of one revision, as destinations of a staged placement read it. It has only objects whose names its space holds: a deletion
 * by name is obeyed at once, in all clusters. An object that is made anew under its name is an edit like others.
 */
import { resourceKey } from '../../../placement/words/names.ts'
import type { LeadContent } from '../join/leadContent.ts'
import type { ObjectFact } from '../join/workload.ts'

/** Facts about the object in the space now. */
type Live = Pick<{ get(key: string): ObjectFact | undefined }, 'get'>

export interface RevisedObject {
  readonly fact: ObjectFact
  readonly implied: boolean
}

export class RevisionContent implements LeadContent {
  readonly #objects: ReadonlyMap<string, RevisedObject>
  readonly #live: Live
  readonly #uses: ReadonlySet<string>
  #byNamespace: ReadonlyMap<string, readonly string[]> | undefined
  /** Facts of objects that are paused, handed over or made anew since: that stages nothing. */
  readonly #marked = new WeakMap<ObjectFact, ObjectFact>()

  constructor(objects: ReadonlyMap<string, RevisedObject>, live: Live) {
    this.#objects = objects
    this.#live = live
    this.#uses = new Set([...objects.values()].flatMap(one => (one.implied ? [] : resourceKey(one.fact.resource))))
  }

  get(key: string): ObjectFact | undefined {
    const fact = this.#objects.get(key)?.fact
    const live = fact && this.#live.get(key)
    if (!live) return undefined
    return isMarkedAs(fact, live) ? fact : this.#asLive(fact, live)
  }

  /** An object as the revision has it, whether or not it is in the space. */
  revised(key: string): ObjectFact | undefined {
    return this.#objects.get(key)?.fact
  }

  /** Keys of the revision, whether or not the objects are in the space. */
  revisedKeys(): Iterable<string> {
    return this.#objects.keys()
  }

  names(key: string): boolean {
    return this.#objects.get(key)?.implied === false && this.get(key) !== undefined
  }

  *named(): Generator<string> {
    for (const key of this.#objects.keys()) if (this.names(key)) yield key
  }

  *keys(): Generator<string> {
    for (const key of this.#objects.keys()) if (this.get(key)) yield key
  }

  *inNamespace(namespace: string): Generator<string> {
    this.#byNamespace ??= groupedByNamespace(this.#objects)
    for (const key of this.#byNamespace.get(namespace) ?? []) if (this.get(key)) yield key
  }

  uses(kind: string): boolean {
    return this.#uses.has(kind)
  }

  get isEmpty(): boolean {
    return this.#uses.size === 0
  }

  #asLive(fact: ObjectFact, live: ObjectFact): ObjectFact {
    const known = this.#marked.get(fact)
    if (known && isMarkedAs(known, live)) return known
    const { isPaused: _paused, handOverTo: _owner, ...rest } = fact
    const { isPaused, handOverTo, uid } = live
    const marked = { ...rest, uid, ...(isPaused && { isPaused }), ...(handOverTo && { handOverTo }) }
    this.#marked.set(fact, marked)
    return marked
  }
}

function isMarkedAs(fact: ObjectFact, live: ObjectFact): boolean {
  return live.uid === fact.uid && live.isPaused === fact.isPaused && live.handOverTo === fact.handOverTo
}

function groupedByNamespace(objects: ReadonlyMap<string, RevisedObject>): ReadonlyMap<string, readonly string[]> {
  const grouped = new Map<string, string[]>()
  for (const [key, { fact }] of objects) {
    if (fact.namespace === '') continue
    const keys = grouped.get(fact.namespace)
    if (keys) keys.push(key)
    else grouped.set(fact.namespace, [key])
  }
  return grouped
}
