/**
 * The placement join: EdgePlacement × object → selections (in each {@link Workload}), EdgePlacement × SinglePlacementSlice → mailboxes;
 * their product is what each mailbox should hold. The product is never stored. Every change names the copies, SyncerConfigs and source
 * objects that it may have touched, and {@link PlacementProduct} answers for one of them at a time.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { changesCopies, type PlacementSpec, upsyncs } from '../../../placement/select/placementSpec.ts'
import { readsOtherwise } from '../../../placement/words/topology.ts'
import { type Destination, sameWays, type Ways, waysOf } from '../../../placement/words/ways.ts'
import type { Signals } from '../signals/signals.ts'
import { difference, type LeadContent, LiveContent, type StagedContent } from './leadContent.ts'
import { ObservedContent } from './observedContent.ts'
import { contentAt, destinations, type KnownLead, type Lead, PlacementProduct, type Space } from './placementProduct.ts'
import type { Tasks } from './tasks.ts'
import type { Consent } from './wayChoice.ts'
import { type Departure, type ObjectFact, Workload } from './workload.ts'

/** Tasks that follow from a change, beside copies. They may be drawn by and by, as each only names what to look at. */
type JoinTasks = Pick<Tasks, 'report' | 'reports' | 'sources' | 'configs'>
type JoinSignals = Pick<Signals, 'claimsChanged' | 'claimsLost' | 'spaceChanged'>

export class PlacementJoin extends PlacementProduct {
  readonly observed: ObservedContent
  readonly #tasks: JoinTasks
  readonly #signals: JoinSignals
  readonly #customizers = new Map<string, KubeObject>()
  #version = 0
  /** Read again for each object that a placement selects. */
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

  /** `created` is the placement's creation time: the older claim goes first. `stage`: of one with a rollout strategy. */
  setPlacement(id: string, name: string, spec: PlacementSpec, created = '', stage?: StagedContent): void {
    const space = this.#space(id)
    const known = space.leads.get(name)
    const before = known?.spec
    if (!known) this.#waysChanged(id)
    const lead = known ?? { space: id, name, spec, created, live: new LiveContent(space.workload, name), stage }
    const setStage = (): void => {
      lead.stage = stage
    }
    // of an earlier placement of the name, whose end was not seen
    if (lead.stage && lead.stage !== stage) this.restage(id, name, setStage)
    else setStage()
    Object.assign(lead, { spec, created })
    space.leads.set(name, lead)
    if (spec.upsync.length > 0) space.carriers.add(lead)
    else space.carriers.delete(lead)
    if (!known) for (const mailbox of destinations(space, name).keys()) this.byMailbox.add(mailbox, lead)
    space.workload.setPlacement(name, spec)
    if (before && lead.stage && changesCopies(before, spec))
      this.#touch(id, name, this.#mailboxesOf(destinations(space, name)))
    if (!equalJson(before?.upsync ?? [], spec.upsync))
      this.#touchCarried(id, [before, spec], this.#mailboxesOf(destinations(space, name)))
    this.#tasks.configs(this.#mailboxesOf(destinations(space, name)), id)
    this.#tasks.report(id, name)
  }

  removePlacement(id: string, name: string): void {
    const space = this.spaces.get(id)
    const lead = space?.leads.get(name)
    if (!space || !lead) return
    const gone = destinations(space, name)
    const staged = keysInUse(lead)
    this.unstage(id, name)
    space.workload.removePlacement(name)
    this.observed.forget(id, name)
    space.leads.delete(name)
    space.carriers.delete(lead)
    for (const mailbox of gone.keys()) this.byMailbox.delete(mailbox, lead)
    this.#waysChanged(id)
    if (staged.length > 0) this.#taken(id, name, this.#mailboxesOf(gone), staged)
    this.#touchCarried(id, [lead.spec], this.#mailboxesOf(gone))
    this.#tasks.configs(this.#mailboxesOf(gone), id)
  }

  /** Destinations in the slice of the placement's name; `undefined` without one. */
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
      if (!old) this.byMailbox.add(mailbox, space.leads.get(name)!)
      if (old && sameWays(old, ways)) continue
      touched.add(mailbox)
      if (old) lost.push(mailbox)
    }
    for (const mailbox of before.keys()) {
      if (after.has(mailbox)) continue
      this.byMailbox.delete(mailbox, space.leads.get(name)!)
      touched.add(mailbox)
      lost.push(mailbox)
    }
    if (space.leads.has(name)) this.#tasks.report(id, name)
    const keys = this.#touch(id, name, [...touched], released)
    if (lost.length > 0) this.#signals.claimsLost.send(id, name, { mailboxes: lost, keys, how: 'taken' })
    this.#touchCarried(id, [this.spec(id, name)], [...touched])
  }

  /** The rights of a space, or of any, on some ways may have changed. */
  touchConsent(id: string | undefined, through: (way: Destination) => boolean): void {
    this.choice.forget()
    this.#version++
    for (const one of id === undefined ? this.spaces.keys() : [id]) {
      const space = this.spaces.get(one)
      if (!space || space.leads.size === 0) continue
      this.#signals.spaceChanged.send(one, 'ways', '')
      for (const { name, spec } of space.leads.values()) {
        const touched: string[] = []
        for (const [mailbox, ways] of destinations(space, name)) if (ways.some(through)) touched.push(mailbox)
        if (touched.length === 0) continue
        const released = space.workload.matchAgain(name)
        const keys = this.#touch(one, name, touched, released)
        this.#signals.claimsLost.send(one, name, { mailboxes: touched, keys, how: 'taken' })
        this.#touchCarried(one, [spec], touched)
      }
      this.#tasks.reports(one, this.placementNames(one))
    }
  }

  /** All that a placement has to do with some mailboxes, and what it had to do with them. Answers with the keys of these. */
  #touch(id: string, name: string, mailboxes: readonly string[], released: readonly string[] = []): readonly string[] {
    if (mailboxes.length === 0) return []
    const { workload, leads } = this.spaces.get(id)!
    const selected = [...new Set([...workload.selectedBy(name), ...released, ...keysInUse(leads.get(name))])]
    this.#tasks.configs(mailboxes, id)
    this.#signals.claimsChanged.send(id, mailboxes, workload.dependents.with(selected))
    this.#tasks.sources(id, selected)
    return selected
  }

  /**
   * The objects that a placement's upsync sets name may have changed their right to go up from some mailboxes, whatever else places them
   * there.
   */
  #touchCarried(id: string, specs: readonly (PlacementSpec | undefined)[], mailboxes: readonly string[]): void {
    const carrying = specs.filter(spec => spec !== undefined && spec.upsync.length > 0)
    if (carrying.length === 0 || mailboxes.length === 0) return
    this.#waysChanged(id)
    const { workload, leads } = this.spaces.get(id)!
    const named = [...workload.keys()].filter(key => {
      const fact = workload.get(key)!
      return carrying.some(spec => upsyncs(spec!.upsyncTests, fact)) && workload.isSelected(key)
    })
    this.#signals.claimsChanged.send(id, mailboxes, workload.dependents.with(named))
    this.#tasks.sources(id, named)
    for (const name of leads.keys()) {
      const keys = named.filter(key => workload.selects(name, key))
      if (keys.length === 0) continue
      this.#tasks.report(id, name)
      // what is born there is carried up from there
      this.#signals.claimsLost.send(id, name, { mailboxes, keys, how: 'left' })
    }
  }

  /** Labels, annotations or parameters of a Location changed: its customized objects are to be projected anew. Answers with the placements that lead there. */
  touchLocation(cluster: string, locationName: string, location?: KubeObject): readonly Lead[] {
    const leads: Lead[] = []
    for (const [id, space] of this.spaces) {
      for (const lead of space.leads.values()) {
        const { name, stage } = lead
        const mailboxes: string[] = []
        for (const [mailbox, ways] of destinations(space, name)) {
          if (ways.some(way => way.cluster === cluster && way.locationName === locationName)) mailboxes.push(mailbox)
        }
        if (mailboxes.length === 0) continue
        leads.push(lead)
        const keys = customizedKeys(space, name)
        if (keys.length > 0 && stage?.locationEdited({ cluster, locationName }, location)) continue
        this.#signals.claimsChanged.send(id, mailboxes, keys)
        this.#tasks.sources(id, keys)
      }
    }
    return leads
  }

  /** `reference` is `namespace/name`. */
  customizer(id: string, reference: string): KubeObject | undefined {
    return this.#customizers.get(`${id} ${reference}`)
  }

  /** Its objects are projected anew where its content has changed. */
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
      this.#signals.claimsChanged.send(id, this.#unstagedOf(id, space, key), [key])
      this.#tasks.sources(id, [key])
    }
  }

  /** Mailboxes of an object that wait for no revision of what has changed. */
  #unstagedOf(id: string, { leads, workload }: Space, key: string): readonly string[] {
    let isStaged = false
    const unstaged = new Set<string>()
    for (const name of workload.selectionOf(key).placements) {
      if (leads.get(name)?.stage?.edited()) isStaged = true
      else for (const mailbox of destinations(this.spaces.get(id)!, name).keys()) unstaged.add(mailbox)
    }
    const all = [...this.destinationsOf(id, key).keys()]
    return isStaged ? all.filter(mailbox => unstaged.has(mailbox)) : all
  }

  /** An object of a space came, or was made anew: revisions that have its name bring it. */
  objectCame(id: string, key: string): void {
    const space = this.spaces.get(id)
    if (!space) return
    for (const { name, stage } of space.leads.values()) {
      if (!stage?.has(key)) continue
      const touched = space.workload.dependents.with([key])
      this.#signals.claimsChanged.send(id, this.#mailboxesOf(destinations(space, name)), touched)
    }
  }

  /** An object of a space is gone: no revision brings it any more. `revision`: as in {@link Workload.removeObject}. */
  objectGone(id: string, key: string, revision = 0): void {
    const space = this.spaces.get(id)
    if (!space) return
    for (const { name, stage } of space.leads.values())
      if (stage?.has(key))
        this.#taken(id, name, this.#mailboxesOf(destinations(space, name)), [key], revision === 0 ? 'taken' : 'left')
  }

  /** Copies of a placement may be brought no more. */
  #taken(id: string, name: string, mailboxes: readonly string[], keys: readonly string[], how: Departure = 'taken') {
    const touched = this.spaces.get(id)!.workload.dependents.with(keys)
    this.#signals.claimsChanged.send(id, mailboxes, touched)
    this.#signals.claimsLost.send(id, name, { mailboxes, keys, how })
    this.#tasks.sources(id, keys)
  }

  /**
   * Runs a change of what destinations of a placement may have, and names the copies that it changes. `among`: the mailboxes that it is
   * about; absent: all.
   */
  restage(id: string, name: string, change: () => void, among?: readonly string[]): void {
    const space = this.spaces.get(id)
    const lead = space?.leads.get(name)
    if (!space || !lead) {
      change()
      return
    }
    const ways = destinations(space, name)
    const mailboxes = among?.filter(mailbox => ways.has(mailbox)) ?? this.#mailboxesOf(ways)
    const before = mailboxes.map(mailbox => contentAt(lead, mailbox))
    change()
    const moves = new Map<LeadContent, Map<LeadContent, string[]>>()
    for (const [i, mailbox] of mailboxes.entries()) {
      const after = contentAt(lead, mailbox)
      if (before[i] === after) continue
      const from = moves.get(before[i]!) ?? new Map<LeadContent, string[]>()
      moves.set(before[i]!, from)
      const there = from.get(after)
      if (there) there.push(mailbox)
      else from.set(after, [mailbox])
    }
    for (const [was, afters] of moves)
      for (const [is, moved] of afters) {
        const { changed, gone } = difference(was, is)
        const keys = [...changed, ...gone]
        if (keys.length === 0) continue
        this.#signals.claimsChanged.send(id, moved, space.workload.dependents.with(keys))
        if (gone.length > 0) this.#signals.claimsLost.send(id, name, { mailboxes: moved, keys: gone, how: 'taken' })
        this.#tasks.sources(id, keys)
      }
    if (moves.size > 0) this.#tasks.report(id, name)
  }

  /** Destinations of a placement read the live content from now on, which they have already. */
  unstage(id: string, name: string): void {
    const lead = this.spaces.get(id)?.leads.get(name)
    if (lead) lead.stage = undefined
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
    if (!space || space.leads.size > 0) return
    for (const key of [...space.workload.keys()]) space.workload.removeObject(key)
    this.observed.unfollowed(id)
    if (space.slices.size === 0) this.spaces.delete(id)
  }

  #waysChanged(id: string): void {
    this.#version++
    this.#signals.spaceChanged.send(id, 'ways', '')
  }

  #space(id: string): Space {
    const known = this.spaces.get(id)
    if (known) return known
    const workload = new Workload(
      (name, key, change, revision) => {
        this.observed.note(id, name, revision)
        this.#selectionChanged(id, name, key, change)
      },
      (name, fact) => this.#isCarriedUp(id, name, fact),
    )
    const space: Space = { workload, leads: new Map(), carriers: new Set(), slices: new Map() }
    this.spaces.set(id, space)
    return space
  }

  /** A placement that leads nowhere yet has nothing to place either. */
  #isCarriedUp(id: string, name: string, fact: ObjectFact): boolean {
    const space = this.spaces.get(id)!
    const spec = space.leads.get(name)?.spec
    return spec !== undefined && this.choice.isCarriedUp({ space: id, spec, ways: destinations(space, name) }, fact)
  }

  #selectionChanged(id: string, name: string, key: string, change: 'joined' | 'changed' | Departure): void {
    const space = this.spaces.get(id)!
    const mailboxes = this.#mailboxesOf(destinations(space, name))
    this.#tasks.sources(id, [key])
    if (space.leads.get(name)?.stage?.edited()) {
      if (change !== 'changed') this.#tasks.report(id, name)
      return
    }
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

function keysInUse(lead: KnownLead | undefined): readonly string[] {
  return lead?.stage?.keysInUse() ?? []
}

/** Keys of a placement whose copies depend on Locations. */
function customizedKeys(space: Space, name: string): readonly string[] {
  const isCustomized = (content: LeadContent | undefined, key: string): boolean =>
    content?.get(key)?.customized === true
  const lead = space.leads.get(name)
  const keys = new Set([...space.workload.selectedBy(name), ...keysInUse(lead)])
  const contents = new Set(
    lead?.stage && [...destinations(space, name).keys()].map(mailbox => contentAt(lead, mailbox)),
  )
  return [...keys].filter(key => isCustomized(lead?.live, key) || [...contents].some(one => isCustomized(one, key)))
}
