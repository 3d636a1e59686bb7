/**
 * Number of copies that EdgePlacements of a question would make and take away, by cluster. It covers all objects that they move, of which
 * few are shown. Membership alone is judged, no content. Pure.
 */

import type { Steps } from '../../../apimachinery/steps.ts'
import {
  MAX_GROUP_LOCATIONS,
  type MovedCopies,
  type PreviewedObject,
} from '../../../placement/desks/placementPreview.ts'
import { downsyncs } from '../../../placement/select/placementSpec.ts'
import { isShared, namespaceKey, resourceKey } from '../../../placement/words/names.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { ObjectFact, Workload } from '../join/workload.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { KeysByMailbox } from '../retention/brakeFacts.ts'
import { type ImaginedPlacement, imaginedCarriers } from './imaginedPlacements.ts'
import { previewLocation } from './previewGroups.ts'
import { carriesOtherwise, type Moves } from './previewMoves.ts'

export interface TotalsDeps {
  join: Pick<PlacementJoin, 'spec' | 'waysOf' | 'wayOn' | 'carriersTo' | 'placementNames'>
  /** Content of the space. */
  workload: Pick<Workload, 'get' | 'keys' | 'selectionOf'>
  mailbox: (name: string) => Pick<Mailbox, 'synced' | 'copies' | 'ownerOf'> | undefined
  /** Whether a copy that nobody wants any more stays all the same. */
  keeps: (mailbox: string, key: string) => boolean
  wouldHold: (going: KeysByMailbox, kept: KeysByMailbox) => boolean
  /** Units of work: a pair of an object and a cluster that is looked at, a test of an object. */
  pairs: number
}

interface Count {
  readonly way: Destination
  creates: number
  deletes: number
  /** Namespaces and definitions among the deletions. */
  shared: number
  unknown: number
}

/** Totals of one EdgePlacement. */
export interface Total {
  readonly byMailbox: ReadonlyMap<string, Readonly<Count>>
  readonly isPartial: boolean
  /** Whether the removals would be held. */
  readonly isHeld: boolean
}

export function* totalsOf(
  { join, workload, mailbox, keeps, wouldHold, pairs }: TotalsDeps,
  space: string,
  { placements, movers, counts }: Pick<Moves, 'placements' | 'movers' | 'counts'>,
): Steps<ReadonlyMap<PreviewedObject, Total>> {
  const totals = new Map<PreviewedObject, { byMailbox: Map<string, Count>; isPartial: boolean; isHeld: boolean }>()
  const byName = new Map<string, Map<string, Count>>()
  for (const one of counts.keys()) {
    if (resourceKey(one.resource) !== resourceKey(EDGE_PLACEMENTS)) continue
    const byMailbox = new Map<string, Count>()
    totals.set(one, { byMailbox, isPartial: false, isHeld: false })
    byName.set(one.object.metadata.name ?? '', byMailbox)
  }
  const [going, kept] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()]
  const budget = { left: pairs }
  const carriersThen = imaginedCarriers(join, space, placements)
  const wayTo = (names: Iterable<string>, box: string, fact: ObjectFact, isThen: boolean): Destination | undefined => {
    const carriers = isThen ? carriersThen(box) : join.carriersTo(space, box)
    for (const name of names) {
      const imagined = isThen ? placements.get(name) : undefined
      const ways = (imagined?.ways ?? join.waysOf(space, name))?.get(box)
      const spec = imagined?.spec ?? join.spec(space, name)
      const way = ways && spec && join.wayOn({ space, spec, ways }, fact, carriers)
      if (way) return way
    }
    return undefined
  }
  moving: for (const key of movers) {
    yield
    const fact = workload.get(key)
    if (!fact) continue
    const labels = workload.get(namespaceKey(fact.namespace))?.labels
    const now = workload.selectionOf(key).placements
    const then = new Set(now)
    /** Mailboxes where something may change, and the placements whose doing that may be. */
    const mailboxes = new Map<string, string[]>()
    for (const [name, placement] of placements) {
      const [was, is] = [now.includes(name), selectsThen(placement, fact, labels, now.includes(name))]
      if (is) then.add(name)
      else then.delete(name)
      const isCarried = carriesOtherwise(placement, fact)
      for (const one of isCarried ? led(placement) : touched(placement, was, is))
        mailboxes.set(one, [...(mailboxes.get(one) ?? []), name])
    }
    for (const [one, names] of mailboxes) {
      yield
      if (budget.left-- <= 0) {
        for (const each of totals.values()) each.isPartial = true
        break moving
      }
      const to = wayTo(then, one, fact, true)
      const from = wayTo(now, one, fact, false)
      const way = to ?? from
      if (!way) continue
      const box = mailbox(one)
      const by = names.find(name => wayTo([name], one, fact, to !== undefined)) ?? names[0]!
      const byMailbox = byName.get(by)!
      const count = byMailbox.get(one) ?? { way, creates: 0, deletes: 0, shared: 0, unknown: 0 }
      const isOurs = box?.ownerOf(key) === space
      if (!box?.synced) count.unknown++
      else if (to && !box.copies.has(key)) count.creates++
      else if (to || !isOurs) continue
      else if (keeps(one, key)) {
        kept.set(one, (kept.get(one) ?? new Set()).add(key))
        continue
      } else {
        count.deletes++
        if (isShared(key)) count.shared++
        going.set(one, (going.get(one) ?? new Set()).add(key))
      }
      byMailbox.set(one, count)
    }
  }
  const isHeld = going.size > 0 && wouldHold(going, kept)
  for (const [by, total] of totals) {
    if (sumOf(total, deletesIn) === 0) continue
    const placement = placements.get(by.object.metadata.name ?? '')
    const deps = { join, workload, space, carriersThen, budget }
    const carries = isHeld || !placement ? undefined : yield* carriesThen(placement, deps)
    total.isHeld = isHeld || carries === false
    if (carries === 'unknown') total.isPartial = true
    if (total.isHeld) withoutShared(total.byMailbox)
  }
  return totals
}

/** They stay as long as what is held needs them, and the brake counts none of them. */
function withoutShared(byMailbox: ReadonlyMap<string, Count>): void {
  for (const count of byMailbox.values()) if (count.deletes > count.shared) count.deletes -= count.shared
}

interface CarriesDeps extends Pick<TotalsDeps, 'join' | 'workload'> {
  readonly space: string
  readonly carriersThen: ReturnType<typeof imaginedCarriers>
  /** The same for all that is counted. */
  readonly budget: { left: number }
}

/** Whether a placement would bring something somewhere: else all that it takes away is held. */
function* carriesThen(
  { spec, ways, waysBefore }: ImaginedPlacement,
  { join, workload, space, carriersThen, budget }: CarriesDeps,
): Steps<boolean | 'unknown'> {
  const approaches = [...(ways ?? waysBefore)]
  if (approaches.length === 0 || spec.downsync.length === 0) return false
  for (const key of workload.keys()) {
    yield
    budget.left -= spec.downsync.length
    if (budget.left < 0) return 'unknown'
    const fact = workload.get(key)!
    if (isShared(key) || !downsyncs(spec, fact, workload.get(namespaceKey(fact.namespace))?.labels)) continue
    for (const [mailbox, several] of approaches) {
      yield
      if (budget.left-- <= 0) return 'unknown'
      if (join.wayOn({ space, spec, ways: several }, fact, carriersThen(mailbox))) return true
    }
  }
  return false
}

/** Objects that it selects as the definition of other selected ones, judged by labels and names. */
function selectsThen(
  { before, spec }: ImaginedPlacement,
  fact: ObjectFact,
  labels: Readonly<Record<string, string>> | undefined,
  was: boolean,
): boolean {
  if (downsyncs(spec, fact, labels)) return true
  return was && fact.defines.length > 0 && before !== undefined && !downsyncs(before, fact, labels)
}

/** Wherever it leads, now or then. */
function led({ waysBefore, ways }: ImaginedPlacement): Iterable<string> {
  return new Set([...waysBefore.keys(), ...(ways?.keys() ?? [])])
}

function touched({ waysBefore, ways, changed }: ImaginedPlacement, was: boolean, is: boolean): Iterable<string> {
  if (was && is) return changed
  return was ? waysBefore.keys() : is ? (ways ?? waysBefore).keys() : []
}

const deletesIn = ({ deletes }: Count): number => deletes

export function sumOf({ byMailbox }: Total, of: (count: Count) => number): number {
  let sum = 0
  for (const count of byMailbox.values()) sum += of(count)
  return sum
}

/** As a preview tells it. */
export function movedCopies(total: Total): MovedCopies {
  const { byMailbox, isPartial, isHeld } = total
  const counts = [...byMailbox.values()].sort((a, b) => (a.way.locationName < b.way.locationName ? -1 : 1))
  return {
    creates: sumOf(total, ({ creates }) => creates),
    deletes: sumOf(total, deletesIn),
    unknown: sumOf(total, ({ unknown }) => unknown),
    clusters: counts.length,
    ...(isPartial && { isPartial }),
    ...(isHeld && { isHeld }),
    locations: counts.slice(0, MAX_GROUP_LOCATIONS).map(({ way, creates, deletes, unknown }) => ({
      ...previewLocation(way),
      creates,
      deletes,
      unknown,
    })),
  }
}
