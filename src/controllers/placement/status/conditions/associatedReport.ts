/** Report of a placement on its associated objects: kinds that are not reported, and objects that are left out. Pure. */

import {
  MAX_ASSOCIATED,
  MAX_ASSOCIATED_BYTES,
  MAX_ASSOCIATED_EVENTS,
  matchesKindNames,
} from '../../../../placement/associated/associated.ts'
import type { Allowance } from '../../../../placement/consent/allowance.ts'
import { type AssociatedStatus, type LeftOutCause, NOTHING_LEFT_OUT } from '../../../../placement/desks/syncerConfig.ts'
import type { PlacementSpec } from '../../../../placement/select/placementSpec.ts'
import { UPSYNC_FULL } from '../../../../placement/words/placement.ts'
import type { Reason } from '../../../../placement/words/reason.ts'
import type { Ways } from '../../../../placement/words/ways.ts'
import { namesOf } from './refusedCopies.ts'

export interface AssociatedReportDeps {
  allowance: (way: { mailbox: string; cluster: string; locationName: string }) => Allowance
  /** The report of a cluster's syncer; `undefined`: there is none. */
  reported: (mailbox: string) => AssociatedStatus | undefined
  /** Locations whose mailboxes are full. */
  full: readonly string[]
}

const KIB = 1024

export interface AssociatedFinding {
  /** Why not all of them are reported; absent: all are. */
  readonly reason?: string
  readonly message: string
}

/** `undefined`: the placement asks for none. */
export function associatedReport(
  deps: AssociatedReportDeps,
  { space, name }: { space: string; name: string },
  spec: PlacementSpec | undefined,
  ways: Ways,
): AssociatedFinding | undefined {
  const wish = spec?.associated
  if (!spec || !wish) return undefined
  const denied: Tally = new Map()
  const notAllowed: Tally = new Map()
  const counts = new Map<LeftOutCause, { count: number; at: string[] }>()
  for (const [mailbox, several] of ways) {
    const at = several[0]!.locationName
    const granted = new Set(several.flatMap(way => deps.allowance(way).associated(spec)))
    const reported = deps.reported(mailbox) ?? NOTHING_LEFT_OUT
    // a pattern stands for all that is granted of it
    for (const kind of wish.kinds)
      if (!granted.has(kind) && (granted.size === 0 || !kind.includes('*'))) tally(denied, kind, at)
    for (const kind of reported.notAllowed) if (matchesKindNames(wish.kinds, kind)) tally(notAllowed, kind, at)
    const mine = reported.leftOut.find(one => one.space === space && one.placement === name)
    for (const cause of mine ? CAUSES : [])
      if (mine![cause] > 0) {
        const { count, at: others } = counts.get(cause) ?? { count: 0, at: [] }
        counts.set(cause, { count: count + mine![cause], at: [...others, at] })
      }
  }
  const counted = (cause: LeftOutCause, remedy: string): string[] => {
    const { count, at } = counts.get(cause) ?? { count: 0, at: [] }
    return count > 0 ? [`${namesOf(at)}: ${count} ${remedy}`] : []
  }
  const reasons: Reason[] = [
    ...reasonOf(denied, 'AssociatedNotGranted', NOT_GRANTED),
    ...reasonOf(notAllowed, 'AssociatedNotAllowed', NOT_ALLOWED),
    ...(deps.full.length > 0 ? [{ reason: UPSYNC_FULL, message: `${namesOf(deps.full)}: ${FULL}` }] : []),
    ...counted('leftOut', LIMIT).map(message => ({ reason: 'AssociatedLimit', message })),
    ...counted('notAllowed', NO_NAMESPACE).map(message => ({ reason: 'AssociatedNotAllowed', message })),
    ...counted('notTaken', NOT_TAKEN).map(message => ({ reason: 'AssociatedNotTaken', message })),
  ]
  const [first] = reasons
  const message = [...reasons.map(({ message }) => message), ...counted('olderEvents', OLDER)].join('. ')
  return { ...(first && { reason: first.reason }), message }
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
  `objects are left out: a placement has ${MAX_ASSOCIATED} objects and ${MAX_ASSOCIATED_BYTES / KIB} KiB of each cluster; ` +
  'name fewer kinds, or place less by one EdgePlacement'
const NO_NAMESPACE =
  "objects are in namespaces that may not be read; ask who runs the cluster for the syncer's flag --allow-namespaces"
const NOT_TAKEN =
  'objects are of kinds that are not defined here, or are refused; place the CustomResourceDefinition, too, or set full: true'
const OLDER = `older Events are left out: an object has its ${MAX_ASSOCIATED_EVENTS} newest ones`
const CAUSES: readonly LeftOutCause[] = ['leftOut', 'olderEvents', 'notTaken', 'notAllowed']
