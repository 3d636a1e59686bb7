/**
 * The resourceVersion and the uid that a write brings along: whether they mean the object that is there.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { goInteger } from '../../apimachinery/go/goIntegers.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** A new object must not claim a version; one that says nothing (`0`, or what is no number) passes. @throws StatusError */
export function refuseVersion({ metadata }: KubeObject): void {
  const { resourceVersion = '' } = metadata
  if (/^\d+$/.test(resourceVersion) && /[^0]/.test(resourceVersion)) {
    throw statusError.badRequest('resourceVersion should not be set on objects to be created')
  }
}

/**
 * The client's change must be based on `old`. No version, or `0`, means any, except for kinds that require one.
 * @throws StatusError Conflict; BadRequest for what is no version; Invalid for a missing one
 */
export function requireSameObject(type: ResourceType, requested: KubeObject, old: KubeObject, required: boolean): void {
  const name = old.metadata.name ?? ''
  const { uid, resourceVersion = '' } = requested.metadata
  if (uid && uid !== old.metadata.uid) throw otherUid(type, name, uid, old.metadata.uid)
  if (resourceVersion === old.metadata.resourceVersion) return
  const version = parseVersion(resourceVersion)
  if (version === 0n) {
    if (!required) return
    // Upstream names the resource here, not the kind.
    const missing = fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update')
    throw statusError.invalid({ group: type.group, kind: type.resource }, name, [missing])
  }
  if (version !== parseVersion(old.metadata.resourceVersion ?? '')) throw statusError.conflict(type, name, MODIFIED)
}

/**
 * An update that makes its object because there is none: it cannot mean a certain one. The version that it brings does not
 * count, once it can be read; it is removed. @throws StatusError Conflict, BadRequest
 */
export function requireNoObject(type: ResourceType, name: string, { metadata }: KubeObject, applies: boolean): void {
  const { uid, resourceVersion } = metadata
  if (uid && !applies) throw otherUid(type, name, uid)
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
    throw statusError.conflict(type, name, why)
  }
  if (resourceVersion) parseVersion(resourceVersion)
  delete metadata.resourceVersion
}

/** `found` is empty where nothing is. */
export function otherUid(type: ResourceType, name: string, requested: string, found = ''): StatusError {
  const why = `Precondition failed: UID in precondition: ${requested}, UID in object meta: ${found}`
  return statusError.conflict(type, name, why)
}

/**
 * 409 for a name that is taken. A request for a generated name gets the advice to retry; one that meets an object on its way out learns
 * that.
 */
export function nameTaken(
  type: ResourceType,
  name: string,
  wanted: KubeObject,
  found: KubeObject | undefined,
): StatusError {
  const error = statusError.alreadyExists(type, name)
  let { message, details } = error
  if (wanted.metadata.generateName) {
    message += ', the server was not able to generate a unique name for the object'
    details = { ...details, retryAfterSeconds: 1 }
  }
  if (found?.metadata.deletionTimestamp !== undefined) message = `object is being deleted: ${message}`
  return new StatusError('AlreadyExists', message, details)
}

function parseVersion(text: string): bigint {
  if (text === '') return 0n
  const version = goInteger(text, 'ParseUint')
  if (typeof version === 'string') throw statusError.badRequest(version)
  return version
}
