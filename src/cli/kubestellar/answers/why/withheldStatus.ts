/** Why an object has no status in its space although a placement asks for it. Pure. */
import { at, records, str } from '../../../../apimachinery/fields.ts'
import { groupResourceName, type KubeObject } from '../../../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../../../client/client.ts'
import { STATUS_WITHHELD } from '../../../../controllers/placement/status/conditions/withheldStatuses.ts'
import { neverReturns } from '../../../../placement/content/returnedStatus.ts'
import { isCombined } from '../../../../placement/outcome/combinedStatus.ts'
import type { ClusterState } from '../workStatus.ts'

interface Selecting {
  readonly name: string
  readonly selects: boolean
  readonly implied?: string
}

/** Where the object is not, or is another's. */
const ELSEWHERE: ReadonlySet<string> = new Set(['NotPlaced', 'Conflict'])

/** `clusters`: all of the object's. */
export function withheldStatus(
  resource: DiscoveredResource,
  placements: readonly KubeObject[],
  { answers, clusters }: { answers: readonly Selecting[]; clusters: readonly ClusterState[] },
): { readonly reason: string; readonly message: string } | undefined {
  const several = clusters.filter(({ state }) => !ELSEWHERE.has(state)).length
  if (neverReturns(resource)) return undefined
  const selecting = new Set(answers.flatMap(({ name, selects, implied }) => (selects && !implied ? [name] : [])))
  const known = placements.filter(({ metadata }) => selecting.has(metadata.name ?? ''))
  // whether an object of such a kind has a status at all, only the center knows
  if (!resource.subresources.includes('status')) {
    return known.map(each => conditionOf(each, groupResourceName(resource))).find(found => found !== undefined)
  }
  if (several < 2) return undefined
  const specs = known.map(({ spec }) => spec)
  const ofAll = specs.some(spec => at(spec, 'wantMultiWECReportedState') === true)
  const ofOne = specs.some(spec => at(spec, 'wantSingletonReportedState') === true)
  const isOfAll = isCombined(resource)
  if ((!ofAll && !ofOne) || (ofAll && isOfAll)) return undefined
  const remedy = isOfAll ? '; spec.wantMultiWECReportedState of the placement brings back what all of them say' : ''
  return {
    reason: STATUS_WITHHELD,
    message: `it is in ${several} clusters, so no status comes back; what each of them reports its work status says${remedy}`,
  }
}

/** The placement's condition, where it names the kind. */
function conditionOf(placement: KubeObject, kind: string): { reason: string; message: string } | undefined {
  const found = records(placement, 'status', 'conditions').find(
    each =>
      each.type === STATUS_WITHHELD && each.status === 'True' && str(each, 'message').includes(`${kind} (such as `),
  )
  return found && { reason: STATUS_WITHHELD, message: str(found, 'message') }
}
