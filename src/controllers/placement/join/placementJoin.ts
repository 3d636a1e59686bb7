/**
 * The placement join: EdgePlacement × object → selections (in each {@link Workload}), EdgePlacement × SinglePlacementSlice →
 * mailboxes; their product is what each mailbox should hold. The product is never stored: every change names the copies,
 * SyncerConfigs and source objects that it may have touched, and {@link PlacementProduct} answers for one of them at a time.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { type PlacementSpec, upsyncs } from '../../../placement/select/placementSpec.ts'
import { readsOtherwise } from '../../../placement/words/topology.ts'
import { type Destination, sameWays, type Ways, waysOf } from '../../../placement/words/ways.ts'
import type { Signals } from '../signals/signals.ts'
import { LiveContent } from './leadContent.ts'
import { ObservedContent } from './observedContent.ts'
import { destinations, PlacementProduct, type Space } from './placementProduct.ts'
import type { Tasks } from './tasks.ts'
import type { Consent } from './wayChoice.ts'
import { addTo, type Departure, type ObjectFact, removeFrom, Workload } from './workload.ts'

/** Tasks that follow from a change, beside copies. They may be drawn by and by, as each only names what to look at. */
type JoinTasks = Pick<Tasks, 'report' | 'reports' | 'sources' | 'configs'>
type JoinSignals = Pick<Signals, 'claimsChanged' | 'claimsLost' | 'spaceChanged'>

export class PlacementJoin extends PlacementProduct {
  readonly observed: ObservedContent
  readonly #tasks: JoinTasks
  readonly #signals: JoinSignals
  readonly #customizers = new Map<string, KubeObject>()
  #version = 0
  /** Told again for each object that a placement selects. */
  readonly #mailboxes = new WeakMap<Ways, readonly string[]>()

  constructor(tasks: JoinTasks, signals: JoinSignals, consent: Consent) {
    super(consent)
    this.#tasks = tasks
    this.#signals = signals
    this.observed = new ObservedContent(signals.spaceChanged)
  }

  /** Another after each change of where placements lead, or may. */
  get version(): number {
    return this.#version
  }

  workload(id: string): Workload {
    return this.#space(id).workload
  }

  /** `created` is the placement's creation time: the older claim goes first. */
  setPlacement(id: string, name: string, spec: PlacementSpec, created = ''): void {
    const space = this.#space(id)
    const before = space.specs.get(name)
    const isNew = before === undefined
    if (isNew) this.#waysChanged(id)
    const lead = space.leads.get(name) ?? { space: id, name, live: new LiveContent(space.workload, name) }
    space.leads.set(name, lead)
    space.specs.set(name, spec)
    space.created.set(name, created)
    if (spec.upsync.length > 0) space.carriers.add(name)
    else space.carriers.delete(name)
    if (isNew) for (const mailbox of destinations(space, name).keys()) addTo(this.byMailbox, mailbox, lead)
    space.workload.setPlacement(name, spec)
    if (!equalJson(before?.upsync ?? [], spec.upsync))
      this.#touchCarried(id, [before, spec], this.#mailboxesOf(destinations(space, name)))
    this.#tasks.configs(this.#mailboxesOf(destinations(space, name)), id)
    this.#tasks.report(id, name)
  }

  removePlacement(id: string, name: string): void {
    const space = this.spaces.get(id)
    const spec = space?.specs.get(name)
    if (!space || !spec) return
    const gone = destinations(space, name)
    space.workload.removePlacement(name)
    this.observed.forget(id, name)
    space.specs.delete(name)
    space.carriers.delete(name)
    space.created.delete(name)
    for (const mailbox of gone.keys()) removeFrom(this.byMailbox, mailbox, space.leads.get(name)!)
    space.leads.delete(name)
    this.#waysChanged(id)
    this.#touchCarried(id, [spec], this.#mailboxesOf(gone))
    this.#tasks.configs(this.#mailboxesOf(gone), id)
  }

  /** What the slice of the same name as the placement says; `undefined` when there is none. */
  setDestinations(id: string, name: string, list: readonly Destination[] | undefined): void {
    const space = this.#space(id)
    this.#waysChanged(id)
    const before = destinations(space, name)
    if (list) space.slices.set(name, waysOf(list))
    else space.slices.delete(name)
    const after = destinations(space, name)
    const released = space.workload.matchAgain(name)
    // what is to be made comes before what is to go, so that a move seldom waits
    const touched = new Set<string>()
    const lost: string[] = []
    for (const [mailbox, ways] of after) {
      const old = before.get(mailbox)
      if (!old) addTo(this.byMailbox, mailbox, space.leads.get(name)!)
      if (old && sameWays(old, ways)) continue
      touched.add(mailbox)
      if (old) lost.push(mailbox)
    }
    for (const mailbox of before.keys()) {
      if (after.has(mailbox)) continue
      removeFrom(this.byMailbox, mailbox, space.leads.get(name)!)
      touched.add(mailbox)
      lost.push(mailbox)
    }
    if (space.specs.has(name)) this.#tasks.report(id, name)
    const keys = this.#touch(id, name, [...touched], released)
    if (lost.length > 0) this.#signals.claimsLost.send(id, name, { mailboxes: lost, keys, how: 'taken' })
    this.#touchCarried(id, [space.specs.get(name)], [...touched])
  }

  /** What a space, or any, may place on some ways may be another now. */
  touchConsent(id: string | undefined, through: (way: Destination) => boolean): void {
    this.choice.forget()
    this.#version++
    for (const one of id === undefined ? this.spaces.keys() : [id]) {
      const space = this.spaces.get(one)
      if (!space || space.specs.size === 0) continue
      this.#signals.spaceChanged.send(one, 'ways', '')
      for (const name of space.specs.keys()) {
        const touched: string[] = []
        for (const [mailbox, ways] of destinations(space, name)) if (ways.some(through)) touched.push(mailbox)
        if (touched.length === 0) continue
        const released = space.workload.matchAgain(name)
        const keys = this.#touch(one, name, touched, released)
        this.#signals.claimsLost.send(one, name, { mailboxes: touched, keys, how: 'taken' })
        this.#touchCarried(one, [space.specs.get(name)], touched)
      }
      this.#tasks.reports(one, [...space.specs.keys()])
    }
  }

  /** All that a placement has to do with some mailboxes, and what it had to do with them. Answers with the keys of these. */
  #touch(id: string, name: string, mailboxes: readonly string[], released: readonly string[] = []): readonly string[] {
    if (mailboxes.length === 0) return []
    const { workload } = this.spaces.get(id)!
    const selected = [...workload.selectedBy(name), ...released]
    this.#tasks.configs(mailboxes, id)
    this.#signals.claimsChanged.send(id, mailboxes, workload.dependents.with(selected))
    this.#tasks.sources(id, selected)
    return selected
  }

  /** What upsync sets of a placement name may be carried up from some mailboxes now, or no more: whatever else places it there. */
  #touchCarried(id: string, specs: readonly (PlacementSpec | undefined)[], mailboxes: readonly string[]): void {
    const carrying = specs.filter(spec => spec !== undefined && spec.upsync.length > 0)
    if (carrying.length === 0 || mailboxes.length === 0) return
    this.#waysChanged(id)
    const { workload, specs: all } = this.spaces.get(id)!
    const named = [...workload.keys()].filter(key => {
      const fact = workload.get(key)!
      return carrying.some(spec => upsyncs(spec!.upsyncTests, fact)) && workload.isSelected(key)
    })
    this.#signals.claimsChanged.send(id, mailboxes, workload.dependents.with(named))
    this.#tasks.sources(id, named)
    for (const name of all.keys()) {
      const keys = named.filter(key => workload.selects(name, key))
      if (keys.length === 0) continue
      this.#tasks.report(id, name)
      // what is born there is carried up from there
      this.#signals.claimsLost.send(id, name, { mailboxes, keys, how: 'left' })
    }
  }

  /** A Location's labels or annotations changed: its customized objects are to be projected anew. */
  touchLocation(cluster: string, locationName: string): void {
    for (const [id, space] of this.spaces) {
      for (const name of space.specs.keys()) {
        const mailboxes: string[] = []
        for (const [mailbox, ways] of destinations(space, name)) {
          if (ways.some(way => way.cluster === cluster && way.locationName === locationName)) mailboxes.push(mailbox)
        }
        if (mailboxes.length === 0) continue
        const keys = space.workload.selectedBy(name).filter(key => space.workload.get(key)?.customized)
        this.#signals.claimsChanged.send(id, mailboxes, keys)
        this.#tasks.sources(id, keys)
      }
    }
  }

  /** `reference` is `namespace/name`. */
  customizer(id: string, reference: string): KubeObject | undefined {
    return this.#customizers.get(`${id} ${reference}`)
  }

  /** What it customizes is projected anew where it reads otherwise. */
  setCustomizer(id: string, reference: string, object: KubeObject | undefined): void {
    const before = this.customizer(id, reference)
    if (object) this.#customizers.set(`${id} ${reference}`, object)
    else this.#customizers.delete(`${id} ${reference}`)
    if (readsOtherwise(before, object)) this.#touchCustomizer(id, reference)
  }

  #touchCustomizer(id: string, reference: string): void {
    const space = this.spaces.get(id)
    if (!space) return
    for (const key of space.workload.withCustomizer(reference)) {
      this.#signals.claimsChanged.send(id, [...this.destinationsOf(id, key).keys()], [key])
      this.#tasks.sources(id, [key])
    }
  }

  /** A Customizer was written: what it customizes is placed by it. */
  noteCustomizer(id: string, reference: string, revision: number): void {
    const workload = this.spaces.get(id)?.workload
    for (const key of workload?.withCustomizer(reference) ?? [])
      for (const name of workload!.selectionOf(key).placements) this.observed.note(id, name, revision)
  }

  /** The slices of a spec of this generation, which was written as this revision, are taken in. */
  settle(id: string, name: string, generation: number, revision: number): void {
    this.observed.note(id, name, revision)
    if (this.observed.settle(id, name, generation)) this.#tasks.report(id, name)
  }

  /** Forgets a space's objects once it has no placements; its slices stay known. */
  dropWorkload(id: string): void {
    const space = this.spaces.get(id)
    if (!space || space.specs.size > 0) return
    for (const key of [...space.workload.keys()]) space.workload.removeObject(key)
    this.observed.unfollowed(id)
    if (space.slices.size === 0) this.spaces.delete(id)
  }

  #waysChanged(id: string): void {
    this.#version++
    this.#signals.spaceChanged.send(id, 'ways', '')
  }

  #space(id: string): Space {
    let space = this.spaces.get(id)
    if (!space) {
      const created: Space = {
        workload: new Workload(
          (name, key, change, revision) => {
            this.observed.note(id, name, revision)
            this.#selectionChanged(id, name, key, change)
          },
          (name, fact) => this.#isCarriedUp(id, name, fact),
        ),
        leads: new Map(),
        specs: new Map(),
        carriers: new Set(),
        created: new Map(),
        slices: new Map(),
      }
      space = created
      this.spaces.set(id, space)
    }
    return space
  }

  /** A placement that leads nowhere yet has nothing to place either. */
  #isCarriedUp(id: string, name: string, fact: ObjectFact): boolean {
    const space = this.spaces.get(id)!
    const spec = space.specs.get(name)
    return spec !== undefined && this.choice.isCarriedUp({ space: id, spec, ways: destinations(space, name) }, fact)
  }

  #selectionChanged(id: string, name: string, key: string, change: 'joined' | 'changed' | Departure): void {
    const space = this.spaces.get(id)!
    const mailboxes = this.#mailboxesOf(destinations(space, name))
    this.#tasks.sources(id, [key])
    const touched = change === 'changed' ? [key] : space.workload.dependents.with([key])
    this.#signals.claimsChanged.send(id, mailboxes, touched)
    if (change !== 'changed') this.#tasks.report(id, name)
    if (change === 'left' || change === 'taken')
      this.#signals.claimsLost.send(id, name, { mailboxes, keys: [key], how: change })
  }

  #mailboxesOf(ways: Ways): readonly string[] {
    const known = this.#mailboxes.get(ways)
    if (known) return known
    const mailboxes = [...ways.keys()]
    this.#mailboxes.set(ways, mailboxes)
    return mailboxes
  }
}
