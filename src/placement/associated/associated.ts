/**
 * Associated objects: objects of a cluster whose owners lead back to a placed one, such as ReplicaSets and Pods. Events belong to the
 * object that they are about. A copy in a mailbox names the kinds that its placements ask for. The syncer carries them up with the way of owners
 * on each. Pure.
 */

import { at, objects, record, str, strings } from '../../apimachinery/fields.ts'
import { type GroupResource, groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { matchesPattern } from '../../apimachinery/starPattern.ts'
import { annotationJson } from '../content/annotationJson.ts'
import type { Health } from '../outcome/health.ts'
import { isNeverCarried, isPowerful } from '../select/upsyncSets.ts'
import { ASSOCIATED_ANNOTATION, ASSOCIATED_WITH } from '../words/placement.ts'

/** `spec.associated` of an EdgePlacement, as it stands there. */
export interface AssociatedWish {
  /** Patterns of `resource.group`. */
  readonly kinds: readonly string[]
  /** Whether objects are carried up whole. */
  readonly full: boolean
}

/** The wish of one placement, cut to the kinds that are granted. */
export interface AssociatedAsk extends AssociatedWish {
  readonly placement: string
}

/** An account of an associated object, on what of it is in the mailbox. */
export interface AssociatedWith {
  /** Object key of the copy that the owners lead to. */
  readonly root: string
  readonly rootUid: string
  /** That which it is charged to. */
  readonly placement: string
  /** In the cluster. */
  readonly uid: string
  /** Its owners there; of an Event, the object that it is about. */
  readonly owners: readonly AssociatedOwner[]
  readonly created?: string
  readonly health?: Health
  readonly message?: string
  /** Whether an upsync set names it, too, so that it is no summary. */
  readonly whole?: true
}

export interface AssociatedOwner {
  readonly kind: string
  readonly name: string
  readonly uid: string
}

/** Bounds of one placement in one cluster. */
export const MAX_ASSOCIATED = 1000
export const MAX_ASSOCIATED_BYTES = 1024 * 1024
/** Newest Events of one object. */
export const MAX_ASSOCIATED_EVENTS = 20
export const MAX_ASSOCIATED_KINDS = 64
/** Owners from an object to the one that was placed. */
export const MAX_OWNER_STEPS = 8

/** Kinds between an object and the placed one. A right to read any associated objects is a right to read their owners. */
export const OWNER_KINDS: readonly GroupResource[] = [
  ...['deployments', 'replicasets', 'statefulsets', 'daemonsets'].map(resource => ({ group: 'apps', resource })),
  { group: 'batch', resource: 'jobs' },
]

export const EVENTS: GroupResource = { group: '', resource: 'events' }

export function isEvents({ group, resource }: GroupResource): boolean {
  return group === EVENTS.group && resource === EVENTS.resource
}

/** When an Event happened last. */
export function eventTime(event: KubeObject): string {
  const times = [at(event, 'series', 'lastObservedTime'), event.lastTimestamp, event.eventTime]
  return times.find(time => typeof time === 'string') ?? event.metadata.creationTimestamp ?? ''
}

/** Secrets, and what others stand on: a Namespace goes with all that is in it. */
const NEVER_ASSOCIATED: ReadonlySet<string> = new Set(['secrets', ...[NAMESPACES, CRDS].map(groupResourceName)])

/** Whether objects of a kind may come up as associated ones. Secrets never do, nor what grants rights. */
export function isAssociable(kind: GroupResource): boolean {
  if (isEvents(kind)) return true
  return !isPowerful(kind) && !isNeverCarried(kind) && !NEVER_ASSOCIATED.has(groupResourceName(kind))
}

export function matchesKinds(patterns: readonly string[], kind: GroupResource): boolean {
  return matchesKindNames(patterns, groupResourceName(kind))
}

/** The same of a `resource.group`. */
export function matchesKindNames(patterns: readonly string[], name: string): boolean {
  return patterns.some(pattern => matchesPattern(pattern, name))
}

/** `undefined`: the placement asks for none. */
export function associatedWish(spec: Readonly<Record<string, unknown>>): AssociatedWish | undefined {
  const wish = record(spec, 'associated')
  const kinds = [...new Set(strings(wish.kinds))].sort().slice(0, MAX_ASSOCIATED_KINDS)
  return kinds.length === 0 ? undefined : { kinds, full: wish.full === true }
}

/** The kinds that patterns of a wish and patterns of grants have in common. One of two that meet has to hold all of the other. */
export function grantedKinds(kinds: readonly string[], granted: readonly string[]): string[] {
  const common = new Set<string>()
  for (const kind of kinds)
    for (const pattern of granted) {
      if (matchesPattern(pattern, kind)) common.add(kind)
      else if (matchesPattern(kind, pattern)) common.add(pattern)
    }
  return [...common].sort()
}

export function asksText(asks: readonly AssociatedAsk[]): string | undefined {
  return asks.length === 0 ? undefined : JSON.stringify(asks)
}

/** Those on a copy. */
export function asksOf(copy: Readonly<KubeObject>): AssociatedAsk[] {
  if (copy.metadata.annotations?.[ASSOCIATED_ANNOTATION] === undefined) return []
  const value = annotationJson(copy, ASSOCIATED_ANNOTATION)
  return objects(value).map(ask => ({
    placement: str(ask.placement),
    kinds: strings(ask.kinds),
    full: ask.full === true,
  }))
}

/** The first that wants a kind. */
export function askFor(asks: readonly AssociatedAsk[], kind: GroupResource): AssociatedAsk | undefined {
  if (asks.length === 0 || !isAssociable(kind)) return undefined
  return asks.find(({ kinds }) => matchesKinds(kinds, kind))
}

/** The account on an object that was carried up; `undefined`: it is no associated one. */
export function associatedWith(object: Readonly<KubeObject>): AssociatedWith | undefined {
  if (object.metadata.annotations?.[ASSOCIATED_WITH] === undefined) return undefined
  const value = annotationJson(object, ASSOCIATED_WITH)
  if (!isRecord(value)) return undefined
  const { root, rootUid, placement, uid } = value
  if (![root, rootUid, placement, uid].every(text => typeof text === 'string')) return undefined
  if ((root as string).split('|').length !== 4) return undefined
  const owners = objects(value.owners).map(one => ({ kind: str(one.kind), name: str(one.name), uid: str(one.uid) }))
  return { ...(value as unknown as AssociatedWith), owners }
}
