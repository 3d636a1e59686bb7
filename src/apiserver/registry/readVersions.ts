/**
 * What a resourceVersion of a request asks for, and the errors when there is no such state, or no longer.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { isStorageError, type Revision } from '../../storage/store.ts'

const MATCH = 'resourceVersionMatch'

export interface VersionQuery {
  limit?: number | undefined
  resourceVersion?: string | undefined
  resourceVersionMatch?: string | undefined
}

/**
 * The revision that a list from the beginning shows; `undefined`: the newest, `current`.
 * @throws StatusError BadRequest, Invalid, Timeout (it lies in the future)
 */
export function revisionOfList(query: VersionQuery, current: Revision): Revision | undefined {
  const { resourceVersion: rv = '', resourceVersionMatch: match = '' } = query
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw matchInvalid(fieldError.notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']))
  }
  if (match !== '' && rv === '') {
    throw matchInvalid(
      fieldError.forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    )
  }
  if (match === 'Exact' && rv === '0') {
    throw matchInvalid(fieldError.forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  const revision = parseResourceVersion(rv)
  if (revision > current) throw tooLarge(revision, current)
  const exact = match === 'Exact' || (match === '' && (query.limit ?? 0) > 0 && revision > 0)
  return exact ? revision : undefined
}

/** @throws StatusError BadRequest */
export function parseResourceVersion(text: string): number {
  if (text === '') return 0
  if (!/^\d{1,15}$/.test(text)) {
    throw new StatusError(
      'BadRequest',
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  return Number(text)
}

export function tooLarge(asked: number, current: number): StatusError {
  return new StatusError('Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}

/** Store errors of a watch from `after` as the API words them; `oldest` is where watches can begin. */
export function watchError(error: unknown, after: number, oldest: number): unknown {
  if (isStorageError(error, 'Compacted'))
    return new StatusError('Expired', `too old resource version: ${after} (${oldest})`, undefined, { cause: error })
  if (isStorageError(error, 'SlowWatcher')) {
    return new StatusError(
      'Expired',
      'the watcher was too slow to keep up and was dropped; watch again from the last resourceVersion',
      undefined,
      { cause: error },
    )
  }
  return error
}

function matchInvalid(error: FieldError): StatusError {
  return statusError.invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [error])
}
