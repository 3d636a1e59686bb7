/**
 * Consequence of a write of an EdgePlacement, for its author's warning: whether it leads nowhere, and how many copies leave clusters. It is
 * counted as in a preview, over the present selection and within a bound of work: no write waits long for it.
 */
import { objects } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { inSlices, type Steps } from '../../../apimachinery/steps.ts'
import { type Clock, pause } from '../../../client/clock.ts'
import { MAX_CONSEQUENCE_WORK, type PlacementConsequence } from '../../../placement/desks/placementPreview.ts'
import type { PlacementSpec } from '../../../placement/select/placementSpec.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Workload } from '../join/workload.ts'
import { NO_LOCATION } from '../status/placementStages.ts'
import { type ImaginedPlacement, type ImaginedPlacementsDeps, imaginedPlacements } from './imaginedPlacements.ts'
import { type Moves, movesOf, type Stored } from './previewMoves.ts'
import { sumOf, type TotalsDeps, totalsOf } from './previewTotals.ts'

interface PlacementConsequenceDeps extends ImaginedPlacementsDeps {
  join: ImaginedPlacementsDeps['join'] & Pick<PlacementJoin, 'workload'>
  turns: WorkTurns
  clock: Clock
  nowhere: (space: string) => Reason | undefined
  counted: (placements: Moves['placements'], workload: TotalsDeps['workload'], pairs: number) => TotalsDeps
}

export async function consequenceOf(
  deps: PlacementConsequenceDeps,
  space: string,
  object: KubeObject,
): Promise<PlacementConsequence> {
  const { join, turns, counted } = deps
  const work = turns.begin({ owner: space })
  const { name = '' } = object.metadata
  const one = { resource: EDGE_PLACEMENTS, object, operation: 'update' as const }
  const imagine = () => imaginedPlacements(bounded(deps), { space, objects: [one], work })
  let placements = await imagine()
  for (let i = 0; i < SECOND_LOOKS && isNowhere(placements.get(name)) && selectorsIn(object) > 0; i++) {
    await pause(deps.clock, SECOND_LOOK_MS, new AbortController().signal)
    placements = await imagine()
  }
  const { spec, before } = placements.get(name)!
  const workload = join.workload(space)
  // upsync sets take away what other placements bring, too
  const carries = [before, spec].some(one => one !== undefined && one.upsync.length > 0)
  const selected = carries ? [...workload.keys()] : before ? workload.selectedBy(name) : []
  const some = selected.slice(0, most(testsIn(spec) + (before ? testsIn(before) : 0)))
  const moves = await inSlices(movesOf([one], placements, { workload: ofThese(some, workload) }), work)
  const totals = await inSlices(totalsOf(counted(placements, workload, most(1)), space, moves), work)
  const total = totals.get(one)!
  return {
    ...(isNowhere(placements.get(name)) && { nowhere: (deps.nowhere(space) ?? NO_LOCATION).message }),
    deletes: sumOf(total, ({ deletes }) => deletes),
    clusters: sumOf(total, ({ deletes }) => (deletes > 0 ? 1 : 0)),
    isPartial: total.isPartial || some.length < selected.length,
    isHeld: total.isHeld,
  }
}

/** Consents, Locations and SyncTargets that were written a moment before reach who resolves them a little later. */
const SECOND_LOOKS = 3
const SECOND_LOOK_MS = 100

function isNowhere(placement: ImaginedPlacement | undefined): boolean {
  return placement?.ways?.size === 0
}

/** Where it would lead is not known if there are too many Locations to judge. */
function bounded({ where, ...deps }: PlacementConsequenceDeps): ImaginedPlacementsDeps {
  return {
    ...deps,
    where: () => {
      const answer = where()
      return answer && ((space, placement) => atMost(answer(space, placement), most(selectorsIn(placement))))
    },
  }
}

function testsIn({ downsync, upsync }: PlacementSpec): number {
  return downsync.length + upsync.length
}

function selectorsIn({ spec }: KubeObject): number {
  return objects(spec, 'locationSelectors').length
}

/** How many steps there may be of such a weight. */
function most(weight: number): number {
  return Math.floor(MAX_CONSEQUENCE_WORK / (1 + weight))
}

/** Result of the steps; `undefined`: there are more. */
function* atMost<T>(steps: Steps<T>, count: number): Steps<T | undefined> {
  for (let i = 0; i < count; i++) {
    const { done, value } = steps.next()
    if (done) return value
    yield
  }
  return undefined
}

function ofThese(keys: readonly string[], workload: Workload): Stored['workload'] {
  return {
    keys: () => keys,
    get: key => workload.get(key),
    withCustomizer: reference => workload.withCustomizer(reference),
    selects: (name, key) => workload.selects(name, key),
  }
}
