/** Report of a placement on its associated objects: kinds that are not reported, and objects that are left out. Pure. */

import {
  MAX_ASSOCIATED,
  MAX_ASSOCIATED_BYTES,
  MAX_ASSOCIATED_EVENTS,
  matchesKindNames,
} from '../../../placement/associated/associated.ts'
import type { Allowance } from '../../../placement/consent/allowance.ts'
import { type AssociatedStatus, NOTHING_LEFT_OUT } from '../../../placement/desks/syncerConfig.ts'
import type { PlacementSpec } from '../../../placement/select/placementSpec.ts'
import { UPSYNC_FULL } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Ways } from '../../../placement/words/ways.ts'
import { namesOf } from './refusedCopies.ts'

export interface AssociatedReportDeps {
  allowance: (way: { mailbox: string; cluster: string; locationName: string }) => Allowance
  /** The report of a cluster's syncer; `undefined`: there is none. */
  reported: (mailbox: string) => AssociatedStatus | undefined
  /** Locations whose mailboxes are full. */
  full: readonly string[]
}

const KIB = 1024

/** `undefined`: the placement asks for none; `all`: all of them are reported. */
export function associatedReport(
  deps: AssociatedReportDeps,
  { space, name }: { space: string; name: string },
  spec: PlacementSpec | undefined,
  ways: Ways,
): Reason | 'all' | undefined {
  const wish = spec?.associated
  if (!spec || !wish) return undefined
  const denied: Tally = new Map()
  const notAllowed: Tally = new Map()
  const crowded: string[] = []
  let leftOut = 0
  for (const [mailbox, several] of ways) {
    const at = several[0]!.locationName
    const granted = new Set(several.flatMap(way => deps.allowance(way).associated(spec)))
    const reported = deps.reported(mailbox) ?? NOTHING_LEFT_OUT
    // a pattern stands for all that is granted of it
    for (const kind of wish.kinds)
      if (!granted.has(kind) && (granted.size === 0 || !kind.includes('*'))) tally(denied, kind, at)
    for (const kind of reported.notAllowed) if (matchesKindNames(wish.kinds, kind)) tally(notAllowed, kind, at)
    const mine = reported.leftOut.find(one => one.space === space && one.placement === name)
    if (!mine) continue
    leftOut += mine.leftOut
    crowded.push(at)
  }
  const reasons: Reason[] = [
    ...reasonOf(denied, 'AssociatedNotGranted', NOT_GRANTED),
    ...reasonOf(notAllowed, 'AssociatedNotAllowed', NOT_ALLOWED),
    ...(deps.full.length > 0 ? [{ reason: UPSYNC_FULL, message: `${namesOf(deps.full)}: ${FULL}` }] : []),
    ...(leftOut > 0 ? [{ reason: 'AssociatedLimit', message: `${namesOf(crowded)}: ${leftOut} ${LIMIT}` }] : []),
  ]
  const [first] = reasons
  return first ? { reason: first.reason, message: reasons.map(({ message }) => message).join('. ') } : 'all'
}

/** Locations by kind. */
type Tally = Map<string, Set<string>>

function tally(of: Tally, kind: string, at: string): void {
  of.set(kind, (of.get(kind) ?? new Set()).add(at))
}

function reasonOf(of: Tally, reason: string, remedy: string): Reason[] {
  if (of.size === 0) return []
  const at = [...new Set([...of.values()].flatMap(names => [...names]))]
  return [{ reason, message: `${namesOf(at)}: ${namesOf([...of.keys()].sort())} ${remedy}` }]
}

const NOT_GRANTED =
  'may not be carried up from there; ask who administers the inventory to extend its PlacementGrant (spec.associated)'
const NOT_ALLOWED =
  "may not be read there; ask who runs the cluster for the syncer's flag --associated-kinds and a role that reads them"
const FULL = 'as much is carried up from there as may be; ask who administers the inventory for a larger budget'
const LIMIT =
  `objects are left out: a placement has ${MAX_ASSOCIATED} objects and ${MAX_ASSOCIATED_BYTES / KIB} KiB of each cluster, and an ` +
  `object its ${MAX_ASSOCIATED_EVENTS} newest Events; name fewer kinds, or place less by one EdgePlacement`
