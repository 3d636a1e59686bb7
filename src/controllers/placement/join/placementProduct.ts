/**
 * Destinations and content, for one object or one mailbox at a time: the product of EdgePlacements, slices and workload, as {@link
 * PlacementJoin} keeps them. The product is never stored.
 *
 * An object goes only where a Location leads on which it may be placed; what is refused everywhere counts as not selected there. Nor does
 * it go where an upsync set of its space may carry it up, whichever placement has the set: it is born there.
 */
import { MapOfSets } from '../../../apimachinery/nestedMaps.ts'
import { groupResourceName } from '../../../apimachinery/object.ts'
import { CRDS } from '../../../apimachinery/resources.ts'
import type { AssociatedAsk } from '../../../placement/associated/associated.ts'
import type { PlacementSpec } from '../../../placement/select/placementSpec.ts'
import { type SpaceSets, shareUpsync, type UpsyncShare } from '../../../placement/select/upsyncShare.ts'
import { namespaceKey, parseObjectKey, resourceKey } from '../../../placement/words/names.ts'
import { SYNCER_CONFIGS } from '../../../placement/words/placement.ts'
import { type Destination, precedes, type Ways } from '../../../placement/words/ways.ts'
import type { LeadContent, StagedContent } from './leadContent.ts'
import { type Approach, type Consent, WayChoice } from './wayChoice.ts'
import type { ObjectFact, WantedState, Workload } from './workload.ts'

export interface Source {
  readonly space: string
  readonly fact: ObjectFact
  /** First by name of the Locations that lead to the mailbox with the object: the one whose parameters count. */
  readonly location: Destination
  /** The placements of the space that claim the object for the mailbox. */
  readonly placements: readonly string[]
  /** Creation time of the oldest of them. */
  readonly since: string
  /** Whether none of them selects it for its own sake: it defines the kind of what they select. */
  readonly implied: boolean
}

/** Reason of an object's presence in a mailbox: a placement of a space. */
export interface Cause {
  readonly space: string
  readonly placement?: string
}

/** A placement of a space. */
export interface Lead {
  readonly space: string
  readonly name: string
}

/** A placement that exists, with its content. */
export interface KnownLead extends Lead {
  spec: PlacementSpec
  /** Creation time. */
  created: string
  readonly live: LeadContent
  /** Absent where every destination has the live content. */
  stage?: StagedContent | undefined
}

export interface Space {
  readonly workload: Workload
  /** The placements that exist, each one object. */
  readonly leads: Map<string, KnownLead>
  /** Those with upsync sets. */
  readonly carriers: Set<KnownLead>
  /** By placement name. Kept whether or not the placement exists. */
  readonly slices: Map<string, Ways>
}

const NOWHERE: Ways = new Map()
const NONE: ReadonlySet<string> = new Set()
const NO_APPROACHES: readonly Approach[] = []
const NO_ASKS: readonly AssociatedAsk[] = []

export class PlacementProduct {
  protected readonly spaces = new Map<string, Space>()
  /** Mailbox → the placements whose slice names it, as {@link Space.leads} has them. */
  protected readonly byMailbox = new MapOfSets<KnownLead>()
  readonly #consent: Consent
  protected readonly choice: WayChoice

  constructor(consent: Consent) {
    this.#consent = consent
    this.choice = new WayChoice(consent)
  }

  fact(id: string, key: string): ObjectFact | undefined {
    return this.spaces.get(id)?.workload.get(key)
  }

  /** Whether objects of the space carry feedback that would stay there if the space were forgotten. */
  hasFeedback(id: string): boolean {
    return this.spaces.get(id)?.workload.hasFeedback ?? false
  }

  isWorkloadSpace(id: string): boolean {
    return (this.spaces.get(id)?.leads.size ?? 0) > 0
  }

  *workloadSpaces(): Generator<string> {
    for (const [id, { leads }] of this.spaces) if (leads.size > 0) yield id
  }

  placementNames(id: string): string[] {
    return [...(this.spaces.get(id)?.leads.keys() ?? [])]
  }

  /** Whether something is so of all spaces with a placement that leads to the mailbox. */
  areAllFor(mailbox: string, isSo: (space: string) => boolean): boolean {
    for (const { space } of this.byMailbox.of(mailbox)) if (!isSo(space)) return false
    return true
  }

  /** Where one object of one space goes. */
  destinationsOf(id: string, key: string): Map<string, Destination> {
    const space = this.spaces.get(id)
    const found = new Map<string, Destination>()
    if (!space) return found
    for (const { approach, mailbox, fact } of goings(space, key)) {
      const way = this.wayOn(approach, fact, this.carriersTo(id, mailbox))
      const old = way && found.get(way.mailbox)
      if (way && (!old || precedes(way, old))) found.set(way.mailbox, way)
    }
    return found
  }

  /** Spaces of which it is not known whether they claim an object of a mailbox, or by which Location. */
  unsureOf(mailbox: string, key: string): ReadonlySet<string> {
    if (!this.#consent.anyUncertain) return NONE
    const unsure = new Set<string>()
    for (const lead of this.byMailbox.of(mailbox)) {
      const fact = contentAt(lead, mailbox).get(key)
      if (fact && this.#isUnsure(this.#approach(lead, mailbox), fact, mailbox)) unsure.add(lead.space)
    }
    return unsure
  }

  /** Whether it is not known where one object of one space goes. */
  isUnsureOf(id: string, key: string): boolean {
    const space = this.spaces.get(id)
    if (!this.#consent.anyUncertain || !space) return false
    for (const { approach, mailbox, fact } of goings(space, key))
      if (this.#isUnsure(approach, fact, mailbox)) return true
    return false
  }

  /** Whether it is not known all that may go to a mailbox. */
  isUncertain(mailbox: string): boolean {
    if (!this.#consent.anyUncertain) return false
    for (const lead of this.byMailbox.of(mailbox)) {
      const { space, ways } = this.#approach(lead, mailbox)
      if (ways.some(way => this.#consent.allowance(space, way).isUncertain)) return true
    }
    return false
  }

  wantedState(id: string, key: string): WantedState | undefined {
    return this.spaces.get(id)?.workload.wantedState(key)
  }

  /** The claims on one object of a mailbox, one for each space, oldest first; empty when the mailbox should not hold it. */
  sourcesOf(mailbox: string, key: string): Source[] {
    let found: Source | undefined
    let others: Map<string, Source> | undefined
    for (const lead of this.byMailbox.of(mailbox)) {
      const content = contentAt(lead, mailbox)
      const fact = content.get(key)
      if (!fact) continue
      const location = this.#way(lead, mailbox, fact)
      if (!location) continue
      const { space: id, name, created: since } = lead
      const old = others ? others.get(id) : found?.space === id ? found : undefined
      // of several revisions of an object, that of the oldest placement goes there
      const isFirst = !old || old.fact === fact || this.#isOlder(id, name, old.placements)
      const source: Source = {
        space: id,
        fact: isFirst ? fact : old.fact,
        location: old && !precedes(location, old.location) ? old.location : location,
        placements: old ? [...old.placements, name] : [name],
        since: old && old.since < since ? old.since : since,
        implied: (old?.implied ?? true) && !content.names(key),
      }
      // nearly always one space alone claims it
      if (found && found.space !== id) others ??= new Map([[found.space, found]])
      if (others) others.set(id, source)
      else found = source
    }
    if (others) return [...others.values()].sort(byAge)
    return found ? [found] : []
  }

  /** Whether a placement is older than all of these. */
  #isOlder(id: string, name: string, others: readonly string[]): boolean {
    const { leads } = this.spaces.get(id)!
    const rank = (one: string): string => `${leads.get(one)?.created} ${one}`
    return others.every(other => rank(name) < rank(other))
  }

  /** Whether some placement of a space brings an object into a mailbox. */
  brings(id: string, mailbox: string, key: string): boolean {
    const space = this.spaces.get(id)
    if (!space) return false
    for (const lead of space.leads.values()) {
      if (!destinations(space, lead.name).has(mailbox)) continue
      const fact = contentAt(lead, mailbox).get(key)
      if (fact && this.#way(lead, mailbox, fact)) return true
    }
    return false
  }

  /** Steps over one object and cluster each; `true` once the placement brings something that counts. */
  *carrying(id: string, name: string, counts: (key: string) => boolean): Generator<boolean> {
    const space = this.spaces.get(id)
    const lead = space?.leads.get(name)
    if (!space || !lead) return
    for (const mailbox of destinations(space, name).keys()) {
      const [approach, carriers] = [this.#approach(lead, mailbox), this.carriersTo(id, mailbox)]
      const content = contentAt(lead, mailbox)
      for (const key of content.named()) {
        const fact = content.get(key)!
        const mayGo = () =>
          this.wayOn(approach, fact, carriers) !== undefined || this.#isUnsure(approach, fact, mailbox)
        yield counts(key) && mayGo()
      }
    }
  }

  /** The placements by which a mailbox holds an object, or a Namespace for others; the mailbox's, for what serves all of them. */
  causesOf(mailbox: string, key: string): Cause[] {
    const { group, resource, name: object } = parseObjectKey(key)
    const all = [...this.byMailbox.of(mailbox)]
    const causes = (wants: (content: LeadContent) => boolean): Cause[] =>
      all.flatMap(lead => (wants(contentAt(lead, mailbox)) ? [{ space: lead.space, placement: lead.name }] : []))
    if (group === SYNCER_CONFIGS.group && resource === SYNCER_CONFIGS.resource) return causes(() => true)
    const claims = this.sourcesOf(mailbox, key).flatMap(({ space, placements }) =>
      placements.map(placement => ({ space, placement })),
    )
    if (claims.length > 0 || key !== namespaceKey(object)) return claims
    return causes(content => holdsIn(content, object))
  }

  /** Everything that a mailbox should hold, one fact (of the oldest claim) for each object, unordered, and whose claim each is. */
  claimsIn(mailbox: string): Map<string, { readonly space: string; readonly fact: ObjectFact }> {
    const content = new Map<string, { space: string; fact: ObjectFact }>()
    for (const lead of this.#claimsOn(mailbox)) {
      const { space } = lead
      const [approach, carriers] = [this.#approach(lead, mailbox), this.carriersTo(space, mailbox)]
      const brought = contentAt(lead, mailbox)
      for (const key of brought.keys()) {
        if (content.has(key)) continue
        const fact = brought.get(key)!
        if (this.wayOn(approach, fact, carriers)) content.set(key, { space, fact })
      }
    }
    return content
  }

  /** Whether the object defines a kind of which the mailbox should hold objects, whoever brought it there. */
  needsDefinition(mailbox: string, key: string): boolean {
    if (!key.startsWith(`${resourceKey(CRDS)}|`)) return false
    const { name } = parseObjectKey(key)
    const dot = name.indexOf('.')
    const kind = resourceKey({ group: name.slice(dot + 1), resource: name.slice(0, dot) })
    for (const lead of this.byMailbox.of(mailbox)) if (contentAt(lead, mailbox).uses(kind)) return true
    return false
  }

  /** Upsync of a mailbox: the sets of every placement that leads there, as far as they are granted. */
  upsyncOf(mailbox: string): UpsyncShare {
    const bySpace = new Map<string, SpaceSets>()
    for (const lead of this.byMailbox.of(mailbox)) {
      const { space, spec, ways } = this.#approach(lead, mailbox)
      if (spec.upsync.length === 0) continue
      const allowances = new Set(ways.map(way => this.#consent.allowance(space, way)))
      const sets = [...allowances].flatMap(allowance => allowance.upsync(spec).sets)
      bySpace.set(space, (bySpace.get(space) ?? new Map()).set(lead.name, sets))
    }
    return shareUpsync(bySpace)
  }

  /** Spaces and names of the placements that lead to the mailbox. */
  placementsOf(mailbox: string): Lead[] {
    return [...this.byMailbox.of(mailbox)]
  }

  /** The placements that select an object and lead to the mailbox, granted or not. */
  *leadsFor(mailbox: string, key: string): Generator<Lead> {
    for (const lead of this.byMailbox.of(mailbox)) if (contentAt(lead, mailbox).get(key)) yield lead
  }

  /** Content of a placement for one of its mailboxes; `undefined`: there is no such placement. */
  contentAt(id: string, name: string, mailbox: string): LeadContent | undefined {
    const lead = this.spaces.get(id)?.leads.get(name)
    return lead && contentAt(lead, mailbox)
  }

  spec(id: string, name: string): PlacementSpec | undefined {
    return this.spaces.get(id)?.leads.get(name)?.spec
  }

  /** Where a placement leads; `undefined` as long as nobody knows. */
  waysOf(id: string, name: string): Ways | undefined {
    const space = this.spaces.get(id)
    return space?.leads.has(name) ? space.slices.get(name) : undefined
  }

  /**
   * By which of its ways to a mailbox a placement would bring an object; neither need be there. `undefined`: by none. `carriers`: the
   * ways there of all placements of the space with upsync sets.
   */
  wayOn(approach: Approach, fact: ObjectFact, carriers: readonly Approach[]): Destination | undefined {
    if (carriers.some(carrier => this.choice.carriesUp(carrier, fact))) return undefined
    return this.choice.first(approach, fact)
  }

  /** The ways to a mailbox of the placements of a space with upsync sets. */
  carriersTo(id: string, mailbox: string): readonly Approach[] {
    const space = this.spaces.get(id)
    if (!space || space.carriers.size === 0) return NO_APPROACHES
    const leading = [...space.carriers].filter(({ name }) => destinations(space, name).has(mailbox))
    return leading.map(lead => this.#approach(lead, mailbox))
  }

  /** Whether any placement of a space has upsync sets. */
  carriesUp(id: string): boolean {
    return (this.spaces.get(id)?.carriers.size ?? 0) > 0
  }

  /**
   * Whether the grants let what comes of a claim take over what the cluster held before. Never a definition: the cluster's may be
   * the richer one, and others' objects hang on it.
   */
  adopts({
    space,
    fact: { resource, namespace, name },
    location,
    implied,
  }: Omit<Source, 'placements' | 'since'>): boolean {
    if (implied || groupResourceName(resource) === groupResourceName(CRDS)) return false
    const { group, resource: plural } = resource
    return this.#consent.allowance(space, location).adopts({ group, resource: plural, namespace, name })
  }

  /** Wishes of the placements of a claim for associated objects, cut to what grants for its Location allow. */
  associatedOf({ space, location, placements, fact, implied }: Source): readonly AssociatedAsk[] {
    if (implied || groupResourceName(fact.resource) === groupResourceName(CRDS)) return NO_ASKS
    const wishes = placements.filter(placement => this.spec(space, placement)?.associated)
    if (wishes.length === 0) return NO_ASKS
    const asks: AssociatedAsk[] = []
    for (const placement of wishes) {
      const spec = this.spec(space, placement)!
      const kinds = this.#consent.allowance(space, location).associated(spec)
      if (kinds.length > 0) asks.push({ placement, kinds, full: spec.associated!.full })
    }
    return asks.sort((a, b) => (a.placement < b.placement ? -1 : 1))
  }

  /** Creation time of a placement. */
  createdAt(id: string, name: string): string {
    return this.spaces.get(id)?.leads.get(name)?.created ?? ''
  }

  /** Whether any placement leads to the mailbox. */
  isChosen(mailbox: string): boolean {
    return this.byMailbox.has(mailbox)
  }

  /** Whether some object in this Namespace should be in the mailbox, or may have to. */
  needsNamespace(mailbox: string, namespace: string): boolean {
    for (const lead of this.byMailbox.of(mailbox)) {
      const [approach, carriers] = [this.#approach(lead, mailbox), this.carriersTo(lead.space, mailbox)]
      const content = contentAt(lead, mailbox)
      for (const key of content.inNamespace(namespace)) {
        const fact = content.get(key)!
        if (this.wayOn(approach, fact, carriers) || this.#isUnsure(approach, fact, mailbox)) return true
      }
    }
    return false
  }

  /** By which way a placement that leads to the mailbox brings an object. */
  #way(lead: KnownLead, mailbox: string, fact: ObjectFact): Destination | undefined {
    return this.wayOn(this.#approach(lead, mailbox), fact, this.carriersTo(lead.space, mailbox))
  }

  #isUnsure(approach: Approach, fact: ObjectFact, mailbox: string): boolean {
    const carried = this.carriersTo(approach.space, mailbox).map(carrier => this.choice.carriesUp(carrier, fact))
    if (carried.includes(true)) return false
    return carried.includes(undefined) || this.choice.isUnsure(approach, fact)
  }

  /** Approach of a placement that leads to the mailbox. */
  #approach({ space, name, spec }: KnownLead, mailbox: string): Approach {
    return { space, spec, ways: this.spaces.get(space)!.slices.get(name)!.get(mailbox)! }
  }

  /** Placements that lead to the mailbox with something, the oldest first. */
  #claimsOn(mailbox: string): KnownLead[] {
    // thousands may lead there that select nothing
    const leads = [...this.byMailbox.of(mailbox)].filter(lead => !contentAt(lead, mailbox).isEmpty)
    return leads
      .map(lead => ({ lead, claim: claimOf({ space: lead.space, since: lead.created }) }))
      .sort((a, b) => (a.claim < b.claim ? -1 : 1))
      .map(({ lead }) => lead)
  }
}

/** Content of a placement for a mailbox. */
export function contentAt({ stage, live }: KnownLead, mailbox: string): LeadContent {
  return stage === undefined ? live : stage.at(mailbox)
}

function holdsIn(content: LeadContent, namespace: string): boolean {
  for (const _key of content.inNamespace(namespace)) return true
  return false
}

interface Going {
  readonly approach: Approach
  readonly mailbox: string
  readonly fact: ObjectFact
}

/** Mailboxes to which placements of a space lead with an object, whether or not it may go there. */
function* goings(space: Space, key: string): Generator<Going> {
  for (const lead of space.leads.values()) {
    const live = lead.live.get(key)
    if (!live && !lead.stage) continue
    for (const [mailbox, ways] of destinations(space, lead.name)) {
      const fact = lead.stage ? lead.stage.at(mailbox).get(key) : live
      if (fact) yield { approach: { space: lead.space, spec: lead.spec, ways }, mailbox, fact }
    }
  }
}

/** A slice counts only beside its placement. */
export function destinations(space: Space, name: string): Ways {
  return space.leads.has(name) ? (space.slices.get(name) ?? NOWHERE) : NOWHERE
}

/** Order of claims on one object. */
export function byAge(a: Source, b: Source): number {
  return claimOf(a) < claimOf(b) ? -1 : 1
}

/** Sorts the older claim first; of two made in the same second, the one of the space whose id is first. */
function claimOf({ since, space }: { readonly since: string; readonly space: string }): string {
  return `${since} ${space}`
}
