/**
 * How much a review or a TokenRequest may say. The answer repeats the question, policies look at it, and each group is looked for in all
 * bindings. People's questions have some dozens of groups and one audience.
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { hasMoreValues } from '../../apimachinery/objectSize.ts'

/** Groups; keys and values of `extra` together; requirements of selectors and their values together. */
export const REVIEW_ITEMS = 10_000
/** A token names them all, and has to fit into a header. */
export const AUDIENCES = 100
/** In characters; an audience is a URL or a name. */
export const AUDIENCE_LENGTH = 1024
/** Bound on the token of a TokenReview, in characters: a header can carry no more. */
export const TOKEN_LENGTH = 64 * 1024
/** Metadata of a review has no meaning. */
const METADATA_VALUES = 1000

/**
 * To be called before any pass over the body, whose types are still unchecked.
 * @throws StatusError Invalid
 */
export function checkReviewSize({ metadata, spec }: KubeObject, kind: { group: string; kind: string }): void {
  const errors = isRecord(spec) ? specErrors(spec) : []
  if (hasMoreValues(metadata, METADATA_VALUES))
    errors.push({ ...fieldError.invalid('metadata', undefined, 'must be empty'), omitValue: true })
  if (errors.length > 0) throw invalid(kind, errors)
}

function specErrors({
  groups,
  extra,
  audiences,
  token,
  resourceAttributes: attributes,
}: Record<string, unknown>): FieldError[] {
  const errors = [...tooMany('spec.groups', lengthOf(groups), REVIEW_ITEMS), ...audienceErrors(audiences)]
  if (typeof token === 'string' && token.length > TOKEN_LENGTH)
    errors.push(fieldError.tooLong('spec.token', TOKEN_LENGTH))
  if (isRecord(extra)) errors.push(...tooMany('spec.extra', Object.keys(extra).length + itemsOf(extra), REVIEW_ITEMS))
  if (!isRecord(attributes)) return errors
  for (const name of ['fieldSelector', 'labelSelector']) {
    const selector = attributes[name]
    if (!isRecord(selector) || !Array.isArray(selector.requirements)) continue
    const { requirements } = selector
    const values = requirements.reduce((sum: number, each) => sum + (isRecord(each) ? lengthOf(each.values) : 0), 0)
    errors.push(...tooMany(`spec.resourceAttributes.${name}.requirements`, requirements.length + values, REVIEW_ITEMS))
  }
  return errors
}

function audienceErrors(audiences: unknown): FieldError[] {
  if (!Array.isArray(audiences)) return []
  if (audiences.length > AUDIENCES) return tooMany('spec.audiences', audiences.length, AUDIENCES)
  return audiences.flatMap((audience, i) =>
    typeof audience === 'string' && audience.length > AUDIENCE_LENGTH
      ? [fieldError.tooLong(`spec.audiences[${i}]`, AUDIENCE_LENGTH)]
      : [],
  )
}

function itemsOf(lists: Record<string, unknown>): number {
  return Object.values(lists).reduce((sum: number, list) => sum + lengthOf(list), 0)
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}

function tooMany(field: string, count: number, limit: number): FieldError[] {
  return count > limit ? [fieldError.tooMany(field, count, limit)] : []
}

/** Upstream leaves the kind of access reviews out: `.authorization.k8s.io "" is invalid`. */
function invalid({ group, kind }: { group: string; kind: string }, errors: readonly FieldError[]): StatusError {
  if (group !== 'authorization.k8s.io') return statusError.invalid({ group, kind }, '', errors)
  const error = statusError.invalid({ group, kind: '' }, '', errors)
  const { kind: _, ...details } = error.details ?? {}
  return new StatusError('Invalid', error.message, details)
}
