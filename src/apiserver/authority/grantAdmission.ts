/**
 * PlacementGrants: a space is granted by its id, so that whoever makes a space again under an old path gets nothing. Users write its path;
 * the id is filled in, and stays until they name another. An existing entry stays. A user who may not see whether there is such a space
 * gives the id, so that no grant reveals spaces.
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { objects } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import { type LabelSelectorObject, validateLabelSelector } from '../../apimachinery/selectors.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { isInMailbox, PLACEMENT_GRANTS } from '../../placement/words/placement.ts'
import type { UserInfo } from '../auth/types.ts'
import type { Admission } from '../registry/admission.ts'
import { requireNone, writesOf } from '../registry/admissionFrame.ts'
import type { AuthorityDeps } from './authorityDeps.ts'
import { maySee, pathProblems } from './spacePaths.ts'

/** Labels, expressions and values. Every Location is held against them. */
const MAX_SELECTOR_PARTS = 1000

type Fields = Readonly<Record<string, unknown>>

export function grantAdmission(deps: AuthorityDeps): Admission {
  return {
    // before the generation is counted: a manifest that is applied again without ids changes nothing
    stage: 'mutate',
    handles: writesOf(PLACEMENT_GRANTS),
    async admit(request) {
      const { object, old, context } = request
      const before = old === undefined ? {} : specOf(old)
      const spec = specOf(object)
      const entries = objects(before, 'spaces')
      const spaces = []
      for (const [i, entry] of objects(spec, 'spaces').entries())
        spaces.push(await placed(deps, context.user, entry, `spec.spaces[${i}]`, entries))
      requireNone(request, [
        ...spaces.flatMap(({ problems }) => problems),
        ...(equalJson(spec.locations, before.locations) ? [] : selectorProblems(spec.locations)),
        ...(equalJson(spec.upsync, before.upsync) ? [] : upsyncProblems(spec.upsync)),
      ])
      object.spec = { ...spec, spaces: spaces.map(({ entry }) => entry) }
    },
  }
}

/** An entry of `spec.spaces` with the id that it stands for. */
async function placed(
  deps: AuthorityDeps,
  user: UserInfo,
  entry: Fields,
  field: string,
  before: readonly Fields[],
): Promise<{ entry: Fields; problems: readonly FieldError[] }> {
  const { path, cluster } = entry
  const fine = (id: unknown) => ({ entry: { ...entry, ...(id !== undefined && { cluster: id }) }, problems: [] })
  const wrong = (...problems: FieldError[]) => ({ entry, problems })
  if (before.some(one => equalJson(one, entry))) return fine(cluster)
  if (typeof path !== 'string') {
    if (cluster !== undefined) return fine(cluster)
    return wrong(fieldError.required(`${field}.path`, 'the path of the space from the root, such as root:a:b'))
  }
  const malformed = pathProblems(`${field}.path`, path)
  if (malformed.length > 0) return wrong(...malformed)
  if (isInMailbox(path)) return wrong(fieldError.invalid(`${field}.path`, path, 'a mailbox places nothing'))
  const granted = before.find(one => one.path === path)?.cluster
  if (!(await maySee(deps, user, path))) {
    if (cluster !== undefined || granted !== undefined) return fine(cluster ?? granted)
    const detail = `you may not see whether there is such a space; say its id as ${field}.cluster: who administers it reads that from its LogicalCluster, annotation ${CLUSTER_ANNOTATION}`
    return wrong(fieldError.invalid(`${field}.path`, path, detail))
  }
  const found = deps.tree.idAt(path)
  if (cluster !== undefined) {
    if (found === undefined || found === cluster) return fine(cluster)
    return wrong(
      fieldError.invalid(`${field}.cluster`, cluster, `is not the id of ${path}; leave it out to have it filled in`),
    )
  }
  if (granted !== undefined && found !== undefined && granted !== found) {
    const detail = `is another space now than the one that was granted; if the new one is meant, say ${field}.cluster: ${found}`
    return wrong(fieldError.invalid(`${field}.path`, path, detail))
  }
  if (found === undefined && granted === undefined) {
    const detail = 'there is no such space, and a grant for a space that is gone is for nobody; make the space first'
    return wrong(fieldError.invalid(`${field}.path`, path, detail))
  }
  return fine(found ?? granted)
}

function selectorProblems(selector: unknown): FieldError[] {
  if (!isRecord(selector)) return []
  const parts = partsOf(selector)
  if (parts > MAX_SELECTOR_PARTS) return [fieldError.tooMany('spec.locations', parts, MAX_SELECTOR_PARTS)]
  return validateLabelSelector(selector as LabelSelectorObject, 'spec.locations')
}

function partsOf({ matchLabels, matchExpressions }: Fields): number {
  const labels = isRecord(matchLabels) ? Object.keys(matchLabels).length : 0
  return objects(matchExpressions).reduce(
    (sum, { values }) => sum + 1 + (Array.isArray(values) ? values.length : 0),
    labels,
  )
}

/** A rule that asks for all Secrets would be one for none. */
function upsyncProblems(upsync: unknown): FieldError[] {
  return objects(upsync).flatMap(({ resources, names }, i) => {
    const asksSecrets = Array.isArray(resources) && resources.includes('secrets')
    if (!asksSecrets || (Array.isArray(names) && !names.includes('*'))) return []
    return [fieldError.required(`spec.upsync[${i}].names`, 'Secrets are carried up by name only; name them')]
  })
}

function specOf({ spec }: KubeObject): Record<string, unknown> {
  return isRecord(spec) ? spec : {}
}
