/** Revisions as people name them, and what the server says of the difference between two of them. */
import { list, num, objects, str } from '../../../apimachinery/fields.ts'
import { apiVersionOf, isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import type { ComparedObject, RevisionsWish } from '../../../placement/desks/comparedRevisions.ts'
import { PLACEMENT_PREVIEWS } from '../../../placement/desks/placementPreview.ts'
import { PLACEMENT_REVISIONS } from '../../../placement/words/placement.ts'
import { CommandError } from '../../shell/commandError.ts'
import { ago, type TextOptions } from '../../shell/output.ts'
import { nameOfObject } from '../answers/objectArgument.ts'
import { diffOf } from '../answers/preview/preview.ts'
import { colourOf } from '../answers/preview/previewText.ts'
import { placementOf, revisionOf } from './rollouts.ts'

export interface RevisionHead {
  readonly placement: string
  readonly revision: number
  readonly by: string
  /** RFC 3339. */
  readonly at: string
}

/** An object of which two revisions, or one and the present, say something. */
interface RevisedAnswer extends ComparedObject {
  readonly kind: string
  readonly action: string
  /** The revision since which it is as in the first of the two; absent where it is not in that. */
  readonly since?: number
  readonly before?: unknown
  readonly after?: unknown
  readonly message?: string
}

export interface ComparisonAnswer {
  readonly objects: readonly RevisedAnswer[]
  /** Objects that may differ, and that the asker may not get. */
  readonly hidden: number
  /** Objects beyond the bound of an answer. */
  readonly more: number
}

const PAGE = 100
/** Placements with a revision of one number that are looked at. */
const MAX_NAMED = 20

export function headOf(revision: KubeObject): RevisionHead {
  const { spec } = revision
  return {
    placement: placementOf(revision),
    revision: revisionOf(revision),
    by: str(spec, 'by'),
    at: str(spec, 'at'),
  }
}

/** `revision 2 of placement web, by alice, 3h ago`. */
export function headText({ placement, revision, by, at }: RevisionHead, nowMs: number): string {
  const when = at === '' ? '' : `, ${ago(at, nowMs)} ago`
  return `revision ${revision} of placement ${placement}${by && `, by ${by}`}${when}`
}

/**
 * PlacementRevisions that somebody means by a number, or by the name of one such as `web.2`.
 * @throws CommandError where there is none, or where the number is that of many
 */
export async function namedRevisions(space: SpaceClient, requested: string): Promise<KubeObject[]> {
  if (!/^\d+$/.test(requested)) {
    if (!/\.\d+$/.test(requested))
      throw new CommandError(`${JSON.stringify(requested)} is no revision: give its number, or PLACEMENT.NUMBER`)
    return [await space.get(PLACEMENT_REVISIONS, { name: requested })]
  }
  const { items } = await listAll(space, PLACEMENT_REVISIONS, { limit: PAGE })
  const found = items.filter(one => revisionOf(one) === Number(requested))
  if (found.length > MAX_NAMED)
    throw new CommandError(
      `${found.length} placements have a revision ${requested}: name one, as PLACEMENT.${requested}`,
    )
  if (found.length > 0) return found
  const kept = 'kubectl kubestellar rollout history PLACEMENT shows those that a placement keeps'
  throw new CommandError(`no placement here has a revision ${requested}; ${kept}`)
}

export function noRevision(placement: string, revision: number | string, kept: readonly KubeObject[]): CommandError {
  const numbers = kept.length === 0 ? 'it keeps none' : `it keeps ${kept.map(revisionOf).join(', ')}`
  return new CommandError(`EdgePlacement "${placement}" has no revision ${revision}; ${numbers}`)
}

export async function compareRevisions(space: SpaceClient, revisions: RevisionsWish): Promise<ComparisonAnswer> {
  const [apiVersion, kind] = [apiVersionOf(PLACEMENT_PREVIEWS), 'PlacementPreview']
  const { status } = await space.create(PLACEMENT_PREVIEWS, { apiVersion, kind, metadata: {}, spec: { revisions } })
  return {
    objects: objects(status, 'objects').map(revisedOf),
    hidden: num(status, 'hidden'),
    more: num(status, 'more'),
  }
}

function revisedOf(one: Record<string, unknown>): RevisedAnswer {
  const [group] = list(one, 'groups')
  const { before, after } = isRecord(group) ? group : {}
  const [since, message] = [num(one, 'revision'), str(group, 'message')]
  return {
    group: str(one, 'group'),
    resource: str(one, 'resource'),
    kind: str(one, 'kind'),
    namespace: str(one, 'namespace'),
    name: str(one, 'name'),
    action: str(group, 'action'),
    ...(since > 0 && { since }),
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(message !== '' && { message }),
  }
}

const WORDS: Readonly<Record<string, string>> = {
  Create: 'is new',
  Update: 'differs',
  Delete: 'is gone',
  Unchanged: 'is the same',
}

/** @param sides names of the two that are compared */
export function comparisonText(
  { objects, hidden, more }: ComparisonAnswer,
  sides: readonly [string, string],
  { paint }: TextOptions,
): string[] {
  const lines = objects.flatMap(one => {
    const { action, message, namespace, name } = one
    const head = `${nameOfObject(one, namespace, name)} ${WORDS[action] ?? action}${message ? `: ${message}` : ''}`
    return [paint(head, 'bold'), ...diffOf(one, sides).map(line => paint(line, colourOf(line)))]
  })
  const plural = (count: number): string => `${count} ${count === 1 ? 'object' : 'objects'}`
  if (hidden > 0) lines.push(paint(`${plural(hidden)} that you may not get may differ, too`, 'warn'))
  if (more > 0) lines.push(paint(`${plural(more)} more were not compared`, 'warn'))
  return lines.length > 0 ? lines : ['no object differs']
}
