/** One cluster as one space sees it, for a moment: it gives the state of each of the space's copies there. */
import { type Allowance, refusedByAll } from '../../../placement/consent/allowance.ts'
import { type ClusterOutcome, isInDoubt, UNREPORTED } from '../../../placement/outcome/clusterOutcome.ts'
import {
  CARRIED_UP,
  type ClusterSight,
  type CopyVerdict,
  commonVerdict,
  copyVerdict,
  type OutcomeMailbox,
} from '../../../placement/outcome/copyState.ts'
import { parseObjectKey } from '../../../placement/words/names.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import { UNSECURED } from '../copies/adaptations.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { PendingChanges } from '../mailboxes/pendingChanges.ts'
import type { Remarks } from '../mailboxes/remarks.ts'
import type { Pauses } from '../retention/pauses.ts'

/** A mailbox with what is on its way to its cluster. */
export interface SightedMailbox extends OutcomeMailbox {
  readonly changes: PendingChanges
}

export interface SpaceClusterDeps {
  join: Pick<PlacementJoin, 'workload' | 'placementsOf' | 'spec' | 'brings' | 'contentAt'>
  /** The mailbox, once all that it holds is known. */
  mailbox: (name: string) => SightedMailbox | undefined
  /** Outcome that its syncer reported, by the mailbox's space. */
  outcome: (space: string) => ClusterOutcome
  /** Whether all copies of a space, or in a mailbox, that may have to change are named. */
  isNamed: (owner: string) => boolean
  /** Whether all grants that lead the space there allow everything. */
  allowsAll: (space: string, mailbox: string) => boolean
  /** Why nothing lets the space's placements bring an object there; `undefined`: something does. */
  refusal: (space: string, mailbox: string, key: string) => Reason | undefined
  /** Reasons of the center. */
  remarks: Pick<Remarks, 'of'>
  pauses: Pick<Pauses, 'locationOf'>
}

const PAUSED_PLACEMENT: Reason = { reason: 'PlacementPaused', message: 'what places it is paused' }
const PAUSED_OBJECT: Reason = { reason: 'ObjectPaused', message: 'the object is paused' }
const pausedLocation = (name: string): Reason => ({
  reason: 'LocationPaused',
  message: `the Location "${name}" is paused`,
})

export class SpaceCluster {
  readonly space: string
  readonly name: string
  /** Names of the space's placements that lead there. */
  readonly placements: readonly string[]
  readonly sight: ClusterSight<SightedMailbox>
  /** Whether every object may go there: grants allow all, and nothing is carried up from there. */
  readonly isOpen: boolean
  readonly #deps: SpaceClusterDeps
  readonly #paused: Reason | undefined

  constructor(deps: SpaceClusterDeps, space: string, name: string) {
    this.#deps = deps
    this.space = space
    this.name = name
    const { join } = deps
    this.placements = join.placementsOf(name).flatMap(placement => (placement.space === space ? [placement.name] : []))
    const mailbox = deps.mailbox(name)
    this.sight = {
      mailbox,
      outcome: mailbox ? deps.outcome(mailbox.space) : UNREPORTED,
      projecting: !deps.isNamed(space) || !deps.isNamed(name),
    }
    this.isOpen =
      deps.allowsAll(space, name) && this.placements.every(one => (join.spec(space, one)?.upsync.length ?? 0) === 0)
    const location = deps.pauses.locationOf(name)
    const isPaused = this.placements.length > 0 && this.placements.every(one => join.spec(space, one)?.isPaused)
    this.#paused = location !== undefined ? pausedLocation(location) : isPaused ? PAUSED_PLACEMENT : undefined
    const { outcome } = this.sight
    if (outcome.compared) this.sight.mailbox?.changes.processed(outcome.processed, isInDoubt(outcome))
  }

  /** Verdict on all copies there without a finding of their own. */
  get common(): CopyVerdict {
    return commonVerdict(this.sight, this.#paused)
  }

  /** Whether some of the placements that lead there are paused, and others are not. */
  get isMixed(): boolean {
    const { join } = this.#deps
    return this.#paused === undefined && this.placements.some(one => join.spec(this.space, one)?.isPaused)
  }

  /** Placements that lead there and select an object. */
  selecting(key: string): readonly string[] {
    const { join } = this.#deps
    return this.placements.filter(name => join.contentAt(this.space, name, this.name)?.get(key) !== undefined)
  }

  /** Whether a placement that leads there selects an object, and no revision there has it yet. */
  #isStagedThere(key: string): boolean {
    const workload = this.#deps.join.workload(this.space)
    return this.placements.some(name => workload.selects(name, key))
  }

  verdict(key: string): CopyVerdict {
    const { join, refusal, remarks } = this.#deps
    const { space, name } = this
    const selecting = this.selecting(key)
    if (selecting.length === 0 && this.#isStagedThere(key)) return STAGED
    const denied = this.isOpen || join.brings(space, name, key) ? undefined : (refusal(space, name, key) ?? CARRIED_UP)
    if (denied) return copyVerdict(space, key, this.sight, { denied })
    const remark = selecting.length > 0 ? remarks.of(name, space, key) : undefined
    // the rest of an unsecured copy is there
    if (remark && remark !== UNSECURED) return copyVerdict(space, key, this.sight, { remark })
    const isPaused = selecting.length > 0 && selecting.every(one => join.spec(space, one)?.isPaused)
    const own = join.workload(space).get(key)?.isPaused ? PAUSED_OBJECT : isPaused ? PAUSED_PLACEMENT : undefined
    return copyVerdict(space, key, this.sight, { paused: this.#paused ?? own })
  }
}

const STAGED: CopyVerdict = {
  state: 'Pending',
  reason: 'NotItsTurn',
  message: 'a rollout has not come to this cluster with it; see its PlacementRollout',
}

/** Findings about grants, all placements of a space together. */
export function grantFindings(
  join: Pick<PlacementJoin, 'placementNames' | 'placementsOf' | 'waysOf' | 'contentAt'>,
  consents: { allowance(space: string, way: Destination): Allowance },
): Pick<SpaceClusterDeps, 'allowsAll' | 'refusal'> {
  const waysTo = (space: string, mailbox: string, wants: (placement: string) => boolean): Allowance[] =>
    join
      .placementsOf(mailbox)
      .filter(placement => placement.space === space && wants(placement.name))
      .flatMap(({ name }) => join.waysOf(space, name)?.get(mailbox) ?? [])
      .map(way => consents.allowance(space, way))
  return {
    allowsAll: (space, mailbox) => waysTo(space, mailbox, () => true).every(({ allowsAll }) => allowsAll),
    refusal: (space, mailbox, key): Reason | undefined => {
      const selects = (name: string) => join.contentAt(space, name, mailbox)?.get(key) !== undefined
      const allowances = waysTo(space, mailbox, selects)
      return refusedByAll(allowances, parseObjectKey(key))
    },
  }
}
