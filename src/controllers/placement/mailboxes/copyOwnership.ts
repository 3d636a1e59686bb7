/**
 * Ownership of the objects in a mailbox. Each has one owner, a workload space, and is that space's object alone: two are never merged. The
 * owner keeps it, whatever is written anywhere and however often the server starts. It loses it when its claim ends, the inventory's
 * administrator releases it, or the owner hands it over. Then the next claim takes the same copy over. Where a claim has ended, the brake
 * and pauses keep the copy from others as they keep it from being deleted.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { CONFLICT_ANNOTATION, EXECUTING_COUNT_ANNOTATION } from '../../../placement/words/placement.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'
import type { Mailbox } from './mailbox.ts'

export interface OwnershipRules {
  /** Whether a space has to give way in the mailbox to whoever else claims the same object. */
  isReleased(mailbox: string, space: string): boolean
  /** Whether `reference`, an id or a path, means this space. */
  isSpace(reference: string, space: string): boolean
}

/**
 * The claims on one object of one mailbox with the owner's first, then those that would follow. `claims` are in the order in
 * which they were made; `owner` is the owner so far.
 */
export function byRight(
  claims: readonly Source[],
  { mailbox, owner, rules }: { mailbox: string; owner: string | undefined; rules: OwnershipRules },
): readonly Source[] {
  if (claims.length < 2) return claims
  // who brings a definition along for objects of its kind gives way to who places the definition
  const meant = claims.filter(({ implied }) => !implied)
  const rivals = meant.length > 0 ? meant : claims
  const willing = rivals.filter(({ space }) => !rules.isReleased(mailbox, space))
  // where all have to give way, nobody does
  const eligible = willing.length > 0 ? willing : rivals
  const holder = eligible.find(({ space }) => space === owner) ?? eligible[0]!
  return [...new Set([heirOf(holder, eligible, rules), ...eligible, ...claims])]
}

/**
 * Whether the owner of an object claims it no more and no hand-over names another. The object then passes on as it would go without other
 * claims. `claims` are all others, one at least; `handOverTo` is that of the owner's object.
 */
export function isGivenUp(
  claims: readonly Source[],
  at: { mailbox: string; owner: string | undefined; rules: OwnershipRules },
  handOverTo: (owner: string) => string | undefined,
): boolean {
  const { mailbox, owner, rules } = at
  if (owner === undefined || claims.some(({ space }) => space === owner)) return false
  if (rules.isReleased(mailbox, owner)) return false
  const reference = handOverTo(owner)
  return reference === undefined || !rules.isSpace(reference, byRight(claims, at)[0]!.space)
}

/** The space that gets the holder's objects in the end; the holder itself, when that leads in a circle. */
function heirOf(holder: Source, eligible: readonly Source[], rules: OwnershipRules): Source {
  const seen = new Set([holder])
  for (let at = holder; ; ) {
    const { handOverTo } = at.fact
    const next = handOverTo && eligible.find(({ space }) => rules.isSpace(handOverTo, space))
    if (!next || next === at) return at
    if (seen.has(next)) return holder
    seen.add(next)
    at = next
  }
}

/** Standing of a space in the mailboxes where one of its objects goes. */
export interface Standing {
  /** It owns the object there, or nobody does yet. */
  readonly own: readonly Destination[]
  /** `isKept`: the owner places it no more, and has it until the brake or a pause lets go. */
  readonly others: readonly { readonly destination: Destination; readonly owner: string; readonly isKept: boolean }[]
  /** Whether all is known; each later finding is reported anew. */
  readonly certain: boolean
}

export interface StandingInputs {
  join: PlacementJoin
  /** As far as it is known. */
  mailbox: (name: string) => Mailbox | undefined
  /** Whether a copy stays its owner's although that one claims it no more. */
  isKept: (owner: string, mailbox: string, key: string) => boolean
}

export function standingOf({ join, mailbox: find, isKept }: StandingInputs, space: string, key: string): Standing {
  const own: Destination[] = []
  const others: { destination: Destination; owner: string; isKept: boolean }[] = []
  let certain = true
  for (const destination of join.destinationsOf(space, key).values()) {
    const mailbox = find(destination.mailbox)
    if (!mailbox?.synced && !mailbox?.copies.has(key)) certain = false
    const owner = mailbox?.ownerOf(key)
    if (owner === undefined || owner === space) own.push(destination)
    else if (join.destinationsOf(owner, key).has(destination.mailbox))
      others.push({ destination, owner, isKept: false })
    else if (isKept(owner, destination.mailbox, key)) others.push({ destination, owner, isKept: true })
    // a claim that has ended is about to be taken over; where its copy cannot be changed so, no other space can release it
    else if (mailbox?.refused.has(key)) own.push(destination)
    else certain = false
  }
  return { own, others, certain }
}

/** While facts are missing, an object in conflict keeps its count: the new one is reported when it is known. */
export function executingCount({ own, certain }: Standing, { metadata: { annotations = {} } }: KubeObject): string {
  const known = certain || annotations[CONFLICT_ANNOTATION] === undefined
  return known ? String(own.length) : (annotations[EXECUTING_COUNT_ANNOTATION] ?? '0')
}
