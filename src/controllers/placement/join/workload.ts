/**
 * One workload description space: its objects joined with its EdgePlacements, kept up to date change by change.
 *
 * Selected explicitly: the placement's downsync matches. Selected implicitly: the object defines (a CRD) the kind of
 * something that the same placement selects explicitly. Implicit selection is never stored; it follows from how many
 * selected objects each placement has of each resource.
 */

import { MapOfSets } from '../../../apimachinery/nestedMaps.ts'
import type { GroupResource, GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import { NAMESPACES } from '../../../apimachinery/resources.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { changesCopies, downsyncs, type PlacementSpec } from '../../../placement/select/placementSpec.ts'
import { resourceKey } from '../../../placement/words/names.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import { Dependents } from './dependents.ts'
import { KindNames } from './kindNames.ts'

/** Retained facts about each object of the space. */
export interface ObjectFact {
  readonly key: string
  readonly uid: string
  readonly resource: GroupVersionResource
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Place of this version in the server's one order. */
  readonly revision: number
  /** Asks for expansion or names a Customizer: its copies depend on Locations. */
  readonly customized: boolean
  /** `namespace/name` of its Customizer, or `''`. */
  readonly customizer: string
  /** Carries feedback that the translator wrote: count, error, conflict or status. */
  readonly annotated: boolean
  /** Says that its copies are to stay as they are. */
  readonly isPaused?: true
  /** Feedback was written since this version. */
  readonly isOld?: true
  readonly defines: readonly GroupResource[]
  /** As {@link Dependents} has them; absent when it has none. */
  readonly owners?: readonly string[]
  /** Name of the ServiceAccount, for a Secret that requests a token. */
  readonly account?: string
  /** Id or path of the space that is to own it where this one does; absent when it is to stay. */
  readonly handOverTo?: string
  /** Set where a revision of a placement has the object: the space may hold it otherwise now. */
  readonly stage?: StagedObject
}

/** An object as a revision has it. */
export interface StagedObject {
  /** Name of the stored content. */
  readonly id: string
  read(): Promise<KubeObject | undefined>
  /** As the revision has it. */
  readonly customizer: KubeObject | undefined
  /** As the revision has it; `undefined`: it has none, and the Location is read as it is. */
  location(way: Pick<Destination, 'cluster' | 'locationName'>): KubeObject | undefined
}

/** How a selection ends: `left` by an edit or the deletion of the object itself or of its Namespace, `taken` by anything else. */
export type Departure = 'left' | 'taken'
/** A selection came or went, or what is selected changed. */
type OnSelection = (
  placement: string,
  key: string,
  change: 'joined' | 'changed' | Departure,
  /** Revision of the change, and of the selection. */
  revision: number,
) => void
/** Whether the placement carries an object up: such an object is not placed, although its downsync matches. */
export type IsCarriedUp = (placement: string, fact: ObjectFact) => boolean

/** Where the state of an object comes back: while it runs in one cluster only, or in how many soever. */
export type WantedState = 'of one' | 'of all'

export interface Selection {
  readonly placements: string[]
  readonly wantedState: WantedState | undefined
}

interface Placement {
  spec: PlacementSpec
  readonly explicit: Set<string>
  /** Count of explicit selections by resource key. */
  readonly uses: Map<string, number>
}

export class Workload {
  readonly kinds = new KindNames()
  readonly dependents = new Dependents()
  readonly #objects = new Map<string, ObjectFact>()
  readonly #placements = new Map<string, Placement>()
  readonly #byNamespace = new MapOfSets<string>()
  readonly #byCustomizer = new MapOfSets<string>()
  readonly #definers = new MapOfSets<string>()
  readonly #annotated = new Set<string>()
  readonly #paused = new Set<string>()
  /** ServiceAccounts that act in the space and stay there, as `namespace/name`. */
  readonly #acting = new Set<string>()
  #version = 0
  /** Revision of the change that is being taken in; 0: none of an object. */
  #cause = 0
  readonly #onSelection: OnSelection
  readonly #isCarriedUp: IsCarriedUp

  constructor(onSelection: OnSelection, isCarriedUp: IsCarriedUp) {
    this.#onSelection = onSelection
    this.#isCarriedUp = isCarriedUp
  }

  get(key: string): ObjectFact | undefined {
    return this.#objects.get(key)
  }

  /** Another when an object has come or gone. */
  get version(): number {
    return this.#version
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys()
  }

  /** Whether some object carries feedback. */
  get hasFeedback(): boolean {
    return this.#annotated.size > 0
  }

  /** Feedback was written as this revision, which the space's stream may be yet to tell. */
  noteFeedback(key: string, revision: number): void {
    const fact = this.#objects.get(key)
    if (!fact || fact.revision >= revision) return
    this.#objects.set(key, { ...fact, annotated: true, isOld: true })
    this.#annotated.add(key)
  }

  /** Whether some object is paused. */
  get hasPaused(): boolean {
    return this.#paused.size > 0
  }

  /** How many of the objects that a placement selects are paused. */
  pausedIn(name: string): number {
    let count = 0
    for (const key of this.#paused) if (this.selects(name, key)) count++
    return count
  }

  /** Whether a definition in the space is the kind's. */
  isDefined(gr: GroupResource): boolean {
    return this.#definers.has(resourceKey(gr))
  }

  namespaces(): Iterable<string> {
    return this.#byNamespace.keys()
  }

  /** Keys of the objects that are in no Namespace. */
  *clusterScoped(): Generator<string> {
    for (const { key, namespace } of this.#objects.values()) if (namespace === '') yield key
  }

  /** Whether any placement selects an object. */
  isSelected(key: string): boolean {
    const fact = this.#objects.get(key)
    if (!fact) return false
    for (const placement of this.#placements.values()) if (isSelected(placement, fact)) return true
    return false
  }

  /** Keys of the objects that are paused. */
  paused(): Iterable<string> {
    return this.#paused
  }

  /** A token of an account that acts is the space's, and its Secret stays, too. */
  setActing(namespace: string, name: string, acts: boolean): void {
    const account = `${namespace}/${name}`
    if (acts === this.#acting.has(account)) return
    if (acts) this.#acting.add(account)
    else this.#acting.delete(account)
    for (const key of this.inNamespace(namespace)) {
      const fact = this.#objects.get(key)!
      if (fact.account === name) this.#rematch(fact)
    }
  }

  inNamespace(namespace: string): Iterable<string> {
    return this.#byNamespace.of(namespace)
  }

  withCustomizer(reference: string): Iterable<string> {
    return this.#byCustomizer.of(reference)
  }

  setObject(fact: ObjectFact): void {
    this.#cause = fact.revision
    const old = this.#objects.get(fact.key)
    if (!old) this.#version++
    if (old && equalJson(old.defines, fact.defines)) {
      this.#unindex(old)
      this.#index(fact)
      this.#announce(fact, 'changed')
    } else {
      if (old) this.#removeDefinitions(old)
      this.#index(fact)
      this.#announceImplicit(fact, 'joined')
    }
    this.#rematch(fact)
    if (isNamespace(fact) && !equalJson(old?.labels, fact.labels)) this.#rematchNamespace(fact.name, 'left')
  }

  /** @param revision of the deletion; 0: not known, nor who deleted it */
  removeObject(key: string, revision = 0): void {
    const how = revision === 0 ? 'taken' : 'left'
    const fact = this.#objects.get(key)
    if (!fact) return
    this.#cause = revision
    this.#version++
    for (const [name, placement] of this.#placements)
      if (placement.explicit.has(key)) this.#drop(name, placement, fact, how)
    this.#removeDefinitions(fact, how)
    if (isNamespace(fact)) this.#rematchNamespace(fact.name, how)
  }

  /** Takes the object out of the indexes, telling the placements that selected it implicitly. */
  #removeDefinitions(fact: ObjectFact, how: Departure = 'left'): void {
    const implicit = [...this.#placements].filter(([, p]) => !p.explicit.has(fact.key) && definesUsed(p, fact))
    this.#unindex(fact)
    for (const [name] of implicit) this.#notify(name, fact.key, how)
  }

  setPlacement(name: string, spec: PlacementSpec): void {
    this.#cause = 0
    const old = this.#placements.get(name)
    if (!old) {
      const placement = { spec, explicit: new Set<string>(), uses: new Map<string, number>() }
      this.#placements.set(name, placement)
      for (const fact of this.#objects.values()) this.#match(name, placement, fact)
      return
    }
    const before = old.spec
    const flipped =
      before.wantSingletonReportedState !== spec.wantSingletonReportedState ||
      before.wantMultiWECReportedState !== spec.wantMultiWECReportedState
    old.spec = spec
    if (changesCopies(before, spec) || !equalJson(before.associated, spec.associated))
      for (const key of this.selectedBy(name)) this.#notify(name, key, 'changed')
    else if (flipped) for (const key of [...old.explicit]) this.#notify(name, key, 'changed')
    for (const fact of this.#objects.values()) this.#match(name, old, fact)
  }

  /**
   * The held removals of a placement may have changed. Answers with the objects that it selected before and selects no more.
   */
  matchAgain(name: string): string[] {
    this.#cause = 0
    const placement = this.#placements.get(name)
    if (!placement || placement.spec.upsync.length === 0) return []
    const before = this.selectedBy(name)
    for (const fact of this.#objects.values()) this.#match(name, placement, fact)
    return before.filter(key => !this.selects(name, key))
  }

  removePlacement(name: string): void {
    this.#cause = 0
    const placement = this.#placements.get(name)
    if (!placement) return
    for (const key of [...placement.explicit]) this.#drop(name, placement, this.#objects.get(key)!, 'taken')
    this.#placements.delete(name)
  }

  selects(name: string, key: string): boolean {
    const placement = this.#placements.get(name)
    const fact = this.#objects.get(key)
    return placement !== undefined && fact !== undefined && isSelected(placement, fact)
  }

  /** Whether a placement selects an object for its own sake, and not only for others of the kind that it defines. */
  names(name: string, key: string): boolean {
    return this.#placements.get(name)?.explicit.has(key) ?? false
  }

  /** Whether a placement selects, by name, an object of this kind. */
  uses(name: string, kind: string): boolean {
    return this.#placements.get(name)?.uses.has(kind) ?? false
  }

  /** Whether a placement selects anything: what it selects all the same is there for what it selects by name. */
  selectsAny(name: string): boolean {
    return (this.#placements.get(name)?.explicit.size ?? 0) > 0
  }

  /** Keys that a placement selects for their own sake. */
  namedBy(name: string): Iterable<string> {
    return this.#placements.get(name)?.explicit ?? []
  }

  /** Keys that a placement selects, explicitly or not. */
  selectedBy(name: string): string[] {
    const placement = this.#placements.get(name)
    if (!placement) return []
    const keys = new Set(placement.explicit)
    for (const used of placement.uses.keys()) for (const key of this.#definers.of(used)) keys.add(key)
    return [...keys]
  }

  /** Names of the placements that select an object, and what those that name it want of its state. */
  selectionOf(key: string): Selection {
    const fact = this.#objects.get(key)
    const placements: string[] = []
    if (!fact) return { placements, wantedState: undefined }
    for (const [name, placement] of this.#placements) if (isSelected(placement, fact)) placements.push(name)
    return { placements, wantedState: this.wantedState(key) }
  }

  /** Wishes about an object's state, of the placements that name it. */
  wantedState(key: string): WantedState | undefined {
    let wanted: WantedState | undefined
    for (const { explicit, spec } of this.#placements.values()) {
      if (!explicit.has(key)) continue
      if (spec.wantMultiWECReportedState) return 'of all'
      if (spec.wantSingletonReportedState) wanted = 'of one'
    }
    return wanted
  }

  #rematchNamespace(namespace: string, how: Departure): void {
    for (const key of this.inNamespace(namespace)) {
      const fact = this.#objects.get(key)!
      for (const [name, placement] of this.#placements) {
        if (placement.spec.readsNamespaceLabels) this.#match(name, placement, fact, how)
      }
    }
  }

  #rematch(fact: ObjectFact): void {
    for (const [name, placement] of this.#placements) this.#match(name, placement, fact, 'left')
  }

  #match(name: string, placement: Placement, fact: ObjectFact, how: Departure = 'taken'): void {
    const namespaceLabels = this.#objects.get(`${resourceKey(NAMESPACES)}||${fact.namespace}`)?.labels
    const isSpaces = fact.account !== undefined && this.#acting.has(`${fact.namespace}/${fact.account}`)
    const wanted = downsyncs(placement.spec, fact, namespaceLabels) && !this.#isCarriedUp(name, fact) && !isSpaces
    if (wanted === placement.explicit.has(fact.key)) return
    if (wanted) this.#take(name, placement, fact)
    else this.#drop(name, placement, fact, how)
  }

  #take(name: string, placement: Placement, fact: ObjectFact): void {
    placement.explicit.add(fact.key)
    this.#notify(name, fact.key, definesUsed(placement, fact) ? 'changed' : 'joined')
    const used = resourceKey(fact.resource)
    const count = placement.uses.get(used) ?? 0
    placement.uses.set(used, count + 1)
    if (count === 0) this.#definersFollow(name, placement, used, 'joined')
  }

  #drop(name: string, placement: Placement, fact: ObjectFact, how: Departure): void {
    placement.explicit.delete(fact.key)
    const used = resourceKey(fact.resource)
    const count = placement.uses.get(used)! - 1
    if (count > 0) placement.uses.set(used, count)
    else placement.uses.delete(used)
    this.#notify(name, fact.key, definesUsed(placement, fact) ? 'changed' : how)
    if (count === 0) this.#definersFollow(name, placement, used, how)
  }

  /** The first or last use of a resource: its definers come or go unless something else holds them. */
  #definersFollow(name: string, placement: Placement, used: string, change: 'joined' | Departure): void {
    for (const key of this.#definers.of(used)) {
      if (placement.explicit.has(key)) continue
      const others = this.#objects
        .get(key)!
        .defines.some(gr => resourceKey(gr) !== used && placement.uses.has(resourceKey(gr)))
      if (!others) this.#notify(name, key, change)
    }
  }

  #announce(fact: ObjectFact, change: 'changed'): void {
    for (const [name, placement] of this.#placements) {
      if (isSelected(placement, fact)) this.#notify(name, fact.key, change)
    }
  }

  #announceImplicit(fact: ObjectFact, change: 'joined'): void {
    for (const [name, placement] of this.#placements) {
      if (placement.explicit.has(fact.key)) this.#notify(name, fact.key, 'changed')
      else if (definesUsed(placement, fact)) this.#notify(name, fact.key, change)
    }
  }

  #notify(name: string, key: string, change: 'joined' | 'changed' | Departure): void {
    const revision = change === 'left' || change === 'taken' ? 0 : (this.#objects.get(key)?.revision ?? 0)
    this.#onSelection(name, key, change, Math.max(this.#cause, revision))
  }

  #index(fact: ObjectFact): void {
    this.#objects.set(fact.key, fact)
    if (fact.annotated) this.#annotated.add(fact.key)
    if (fact.isPaused) this.#paused.add(fact.key)
    if (fact.namespace !== '') this.#byNamespace.add(fact.namespace, fact.key)
    if (fact.customizer !== '') this.#byCustomizer.add(fact.customizer, fact.key)
    for (const gr of fact.defines) this.#definers.add(resourceKey(gr), fact.key)
    this.dependents.add(fact)
  }

  #unindex(fact: ObjectFact): void {
    this.#objects.delete(fact.key)
    this.#annotated.delete(fact.key)
    this.#paused.delete(fact.key)
    if (fact.namespace !== '') this.#byNamespace.delete(fact.namespace, fact.key)
    if (fact.customizer !== '') this.#byCustomizer.delete(fact.customizer, fact.key)
    for (const gr of fact.defines) this.#definers.delete(resourceKey(gr), fact.key)
    this.dependents.remove(fact)
  }
}

function definesUsed(placement: Placement, fact: ObjectFact): boolean {
  return fact.defines.some(gr => placement.uses.has(resourceKey(gr)))
}

function isSelected(placement: Placement, fact: ObjectFact): boolean {
  return placement.explicit.has(fact.key) || definesUsed(placement, fact)
}

function isNamespace(fact: ObjectFact): boolean {
  return fact.resource.group === '' && fact.resource.resource === 'namespaces'
}
