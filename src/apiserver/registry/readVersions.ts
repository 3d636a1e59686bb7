/**
 * Meaning of a request's resourceVersion, and the errors when there is no such state, or no longer.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { goInteger } from '../../apimachinery/go/goIntegers.ts'
import { quotedAsGo } from '../../apimachinery/go/goPrint.ts'
import { isStorageError, type Revision } from '../../storage/store.ts'

const MATCH = 'resourceVersionMatch'

interface VersionQuery {
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
  const revision = knownRevision(rv, current)
  const exact = match === 'Exact' || (match === '' && (query.limit ?? 0) > 0 && revision > 0)
  return exact ? revision : undefined
}

/** Revision for a read; none is 0. @throws StatusError BadRequest; Timeout when it lies in the future */
export function knownRevision(text: string, current: Revision): Revision {
  const requested = text === '' ? 0n : goInteger(text, 'ParseUint')
  if (typeof requested === 'string') {
    throw new StatusError('BadRequest', `resourceVersion: Invalid value: ${quotedAsGo(text)}: ${requested}`)
  }
  if (requested > current) throw tooLarge(requested, current)
  return Number(requested)
}

export function tooLarge(requested: number | bigint, current: Revision): StatusError {
  return new StatusError('Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
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
  return statusError.invalidOptions('ListOptions', error)
}
