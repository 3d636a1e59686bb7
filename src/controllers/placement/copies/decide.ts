/**
 * The one decision about an object in a mailbox. The work on one copy, batches, checks, the brake and previews ask {@link decide}; a
 * preview asks it over imagined claims. It reads facts, remembers nothing, and ends before content.
 *
 * A new gate is a line of {@link keptBy}, or of {@link mailboxGate} for a whole mailbox. It has a case of {@link CopyReconciler} and a
 * reason in previewedClusters.ts. `remove` and `pass` name a candidate only: {@link Brake.judge} judges candidates as a set.
 */
import { definitionKey, isNamespaceKey, namespaceKey, parseObjectKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'
import { byRight, isGivenUp, type OwnershipRules } from '../mailboxes/copyOwnership.ts'
import { type CopyFact, isEmptyIn, type Mailbox } from '../mailboxes/mailbox.ts'
import type { Pauses } from '../retention/pauses.ts'

export interface DecisionFacts {
  readonly join: Pick<PlacementJoin, 'sourcesOf' | 'unsureOf' | 'fact' | 'spec'>
  readonly rules: OwnershipRules
  readonly pauses: Pick<Pauses, 'locationOf' | 'holdsClaim' | 'holdsCopy'>
  /** Whether the mailbox's SyncTarget is going or gone. */
  isLeaving(mailbox: string): boolean
  /** Whether the mailbox takes no object that it does not hold yet. */
  isUnschedulable(mailbox: Mailbox, key: string): boolean
  /** Whether it is known what a space holds, pauses and hands over. */
  isFollowed(space: string): boolean
  /** Whether an object that is there needs a copy that nobody claims: a Namespace or a definition. */
  isNeeded(mailbox: Mailbox, key: string, copy: CopyFact): boolean
}

/** A closed gate keeps a copy as it is, or out of the mailbox. When it opens, the copy is decided again. */
export type Gate = 'leaving' | 'locationPaused' | 'paused' | 'unschedulable'

/** `claims`: the owner's first, then those that would follow. */
export type Decision =
  /** The copy gets the content of its owner's claim; where it has no owner, of the first claim that can be adapted. */
  | { readonly verb: 'write'; readonly claims: readonly Source[] }
  /** The owner claims the copy no more: `passes` where the gate of the next owner keeps it, `unwanted` where another gate does. */
  | {
      readonly verb: 'keep'
      readonly gate: Gate
      readonly claims: readonly Source[]
      readonly unwanted?: CopyFact
      readonly passes?: CopyFact
    }
  /** Nobody claims the copy. */
  | { readonly verb: 'remove'; readonly copy: CopyFact }
  /** Its owner claims the copy no more, and others do. */
  | { readonly verb: 'pass'; readonly copy: CopyFact; readonly claims: readonly Source[] }
  /** Consents of a claim, or the contents of `space`, which owns the copy, are not known yet. */
  | { readonly verb: 'wait'; readonly space?: string }
  /** Nothing is claimed, and nothing is there that could go. */
  | { readonly verb: 'none' }

const NONE: Decision = { verb: 'none' }
const WAIT: Decision = { verb: 'wait' }

export function decide(facts: DecisionFacts, mailbox: Mailbox, key: string): Decision {
  const gate = mailboxGate(facts, mailbox.name)
  return gate === undefined ? decideInOpen(facts, mailbox, key) : keptAt(gate, facts, mailbox, key)
}

/** The gate that keeps all in a mailbox as it is. */
export function mailboxGate(
  { isLeaving, pauses }: Pick<DecisionFacts, 'isLeaving' | 'pauses'>,
  mailbox: string,
): Gate | undefined {
  if (isLeaving(mailbox)) return 'leaving'
  return pauses.locationOf(mailbox) === undefined ? undefined : 'locationPaused'
}

/** Whether a gate keeps all in a mailbox as it is. */
export function isOfMailbox(gate: Gate): boolean {
  return gate === 'leaving' || gate === 'locationPaused'
}

/** The decision where {@link mailboxGate} keeps nothing. */
export function decideInOpen(facts: DecisionFacts, mailbox: Mailbox, key: string): Decision {
  const { join, rules, pauses } = facts
  const claims = join.sourcesOf(mailbox.name, key)
  const owner = mailbox.ownerOf(key)
  if (isUncertain(facts, mailbox, key, claims)) return WAIT
  const unwanted = unwantedCopy(facts, mailbox, key, claims)
  if (unwanted) {
    if (owner !== undefined && !facts.isFollowed(owner)) return { verb: 'wait', space: owner }
    if (pauses.holdsCopy(mailbox.name, key, owner, join)) return { verb: 'keep', gate: 'paused', claims, unwanted }
    if (claims.length === 0) return { verb: 'remove', copy: unwanted }
  }
  if (claims.length === 0) return NONE
  const ranked = byRight(claims, { mailbox: mailbox.name, owner, rules })
  const gate = keptBy(facts, mailbox, key, ranked[0]!)
  if (gate !== undefined) return { verb: 'keep', gate, claims: ranked, ...(unwanted && { passes: unwanted }) }
  return unwanted ? { verb: 'pass', copy: unwanted, claims: ranked } : { verb: 'write', claims: ranked }
}

/** The closed gate of the claim that comes first. */
function keptBy({ isUnschedulable, pauses, join }: DecisionFacts, mailbox: Mailbox, key: string, claim: Source) {
  if (isUnschedulable(mailbox, key)) return 'unschedulable'
  if (pauses.holdsClaim(claim, join)) return 'paused'
  return undefined
}

function keptAt(gate: Gate, facts: DecisionFacts, mailbox: Mailbox, key: string): Decision {
  const claims = facts.join.sourcesOf(mailbox.name, key)
  if (gate === 'leaving' || isUncertain(facts, mailbox, key, claims)) return { verb: 'keep', gate, claims }
  const unwanted = unwantedCopy(facts, mailbox, key, claims)
  return { verb: 'keep', gate, claims, ...(unwanted && { unwanted }) }
}

/** Whether the copy is there and has to go, or to pass from its owner to another space; `undefined`: that is not known. */
export function isUnwanted(facts: DecisionFacts, mailbox: Mailbox, key: string): boolean | undefined {
  const copy = mailbox.copies.get(key)
  if (!copy || copy.terminating) return false
  const claims = facts.join.sourcesOf(mailbox.name, key)
  if (isUncertain(facts, mailbox, key, claims)) return undefined
  return unwantedCopy(facts, mailbox, key, claims) !== undefined
}

/** Whether a claim whose consents are unknown may own the copy. */
function isUncertain({ join }: DecisionFacts, mailbox: Mailbox, key: string, claims: readonly Source[]): boolean {
  const unsure = join.unsureOf(mailbox.name, key)
  return unsure.size > 0 && (claims.length === 0 || unsure.has(mailbox.ownerOf(key) ?? ''))
}

function unwantedCopy(
  { join, rules, isNeeded }: DecisionFacts,
  mailbox: Mailbox,
  key: string,
  claims: readonly Source[],
): CopyFact | undefined {
  const copy = mailbox.copies.get(key)
  if (!copy || copy.terminating) return undefined
  if (claims.length === 0) return isNeeded(mailbox, key, copy) ? undefined : copy
  const at = { mailbox: mailbox.name, owner: copy.owner || undefined, rules }
  return isGivenUp(claims, at, owner => join.fact(owner, key)?.handOverTo) ? copy : undefined
}

export interface NeedFacts {
  readonly join: Pick<PlacementJoin, 'needsDefinition' | 'needsNamespace'>
  /** Whether the space is followed and the object is not in it, or the space is none that feeds others. */
  isGoneFrom(space: string, key: string): boolean
}

/**
 * {@link DecisionFacts.isNeeded} of the present. A Namespace goes when nothing needs it and nothing is left in it: copies that are
 * retained there go before it. One that its owner deleted takes with it what came from the cluster.
 */
export function isNeededThere({ join, isGoneFrom }: NeedFacts, mailbox: Mailbox, key: string, copy: CopyFact): boolean {
  if (!isNamespaceKey(key)) return join.needsDefinition(mailbox.name, key)
  const { name } = parseObjectKey(key)
  if (join.needsNamespace(mailbox.name, name)) return true
  if (isEmptyIn(mailbox, name)) return false
  return copy.owner === '' || mailbox.copies.hasIn(name) || !isGoneFrom(copy.owner, namespaceKey(name))
}

/** Copies that an object needs beside it, by key: its definition and its Namespace. They may go once it is gone. */
export function neededBy(key: string): readonly string[] {
  const object = parseObjectKey(key)
  const definition = definitionKey(object)
  return object.namespace === '' ? [definition] : [definition, namespaceKey(object.namespace)]
}
