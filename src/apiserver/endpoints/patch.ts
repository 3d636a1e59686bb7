/**
 * PATCH in its four forms: JSON (RFC 6902), merge (RFC 7396), strategic merge, server-side apply (KEP-555).
 */
import { applyServerSide } from '../../apimachinery/apply/managedFields.ts'
import { show } from '../../apimachinery/apply/validateTyped.ts'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { goPrint } from '../../apimachinery/go/goPrint.ts'
import { apiVersionOf, isRecord, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import { applyJsonPatch, jsonTypeName } from '../../apimachinery/patch/jsonPatch.ts'
import { applyMergePatch } from '../../apimachinery/patch/mergePatch.ts'
import { restoreError } from '../../apimachinery/patch/restoreError.ts'
import { applyStrategicMerge } from '../../apimachinery/patch/strategicMerge.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { invalidPatch, type PatchSource } from '../registry/objectRules.ts'
import { otherVersions } from '../registry/otherVersions.ts'
import { timestamp, unwritable } from '../registry/systemMetadata.ts'
import { objectOf, otherKind, parseBody, unsupportedMediaType } from './body.ts'
import { boolOption, type Exchange, optionInvalid, requireCreate, type Services, writeContext } from './exchange.ts'
import { requireSamePlace } from './place.ts'
import { sendObject } from './respond.ts'
import { repeatedInApply, tellingRepeats } from './strictText.ts'

const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'
const APPLY_PATCH = 'application/apply-patch+yaml'
/** Of built-in kinds; only they have strategic merges. */
export const PATCH_TYPES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH]

export async function patchEndpoint(services: Services, x: Exchange): Promise<void> {
  const media = (x.request.headers['content-type'] ?? '').split(';')[0]!.trim()
  const accepted = x.type.origin === 'builtin' ? PATCH_TYPES : PATCH_TYPES.filter(each => each !== STRATEGIC_PATCH)
  if (!accepted.includes(media)) throw unsupportedMediaType(accepted)
  const body = parseBody(x.request.body as Buffer | undefined, media, x.type.kind, x.request)
  if (media === APPLY_PATCH) return apply(services, x, body)
  if (x.info.query.has('force'))
    throw optionInvalid(x, fieldError.forbidden('force', 'may not be specified for non-apply patch'))
  const { stored } = await services.registry.update(
    tellingRepeats(writeContext(x), x, body),
    x.type,
    x.resource.namespace,
    x.resource.name,
    current => patched(x.type, current, media, body, x.resource),
    { subresource: x.resource.subresource, fromPatch: patchSource(media, body) },
  )
  await sendObject(services, x, stored)
}

/** How refusals show a patch: strategic merges as Go prints them, the others not at all. */
export function patchSource(media: string, body: unknown): PatchSource {
  return media === STRATEGIC_PATCH ? { shown: () => goPrint(body) } : {}
}

/**
 * The object that a patch makes of `current`; name, namespace and type cannot be patched away.
 * @param onto what of the object is patched; `scaled` is the kind that has the scale
 */
export function patched(
  type: ResourceType,
  current: KubeObject,
  media: string,
  body: unknown,
  onto: { subresource: string; scaled?: ResourceType },
): KubeObject {
  const result = applyPatch(type, current, media, body)
  if (media === STRATEGIC_PATCH && isRecord(result)) {
    const wrong = restoreError(result, type.schema)
    if (wrong !== undefined) throw invalidPatch(wrong, patchSource(media, body))
    // a struct knows what it is, whatever the patch says that it were
    Object.assign(result, { apiVersion: apiVersionOf(type), kind: type.kind })
  }
  if (!isRecord(result) || !isRecord(result.metadata ?? {})) {
    throw new StatusError('Invalid', 'the patch makes the object or its metadata something that is no JSON object')
  }
  if (type.origin === 'crd') keepCustomType(type, result, onto.subresource)
  else if (!result.apiVersion && onto.scaled?.origin !== 'crd') {
    const why = `the name of the object (${current.metadata.name} based on URL) was undeterminable: name must be provided`
    throw statusError.badRequest(why)
  }
  const object = asPatched(() => objectOf(result, type))
  requireSameUid(type, object, current)
  const { name = '', namespace = '' } = current.metadata
  requireSamePlace(object.metadata, { name, namespace })
  return object
}

/** `/status` takes nothing but the status from what a patch makes; on the object itself kind and version must be as they are. */
function keepCustomType(type: ResourceType, result: Record<string, unknown>, subresource: string): void {
  const { apiVersion, kind, metadata } = result
  if (typeof kind !== 'string' || kind === '' || typeof apiVersion !== 'string' || apiVersion === '') return
  if (subresource !== 'status') {
    if (apiVersion !== apiVersionOf(type)) throw otherKind(type, { apiVersion, kind, metadata })
  } else if (parseApiVersion(apiVersion) !== undefined)
    Object.assign(result, { apiVersion: apiVersionOf(type), kind: type.kind })
}

/** A patch with another uid is no precondition that fails, as it is for a PUT: it changes what cannot change. */
function requireSameUid(type: ResourceType, asked: KubeObject, current: KubeObject): void {
  const { uid } = asked.metadata
  if (!uid || uid === current.metadata.uid) return
  const error = fieldError.invalid('metadata.uid', uid, 'field is immutable')
  throw statusError.invalid(type, current.metadata.name ?? '', [error])
}

/** What a patch makes unreadable is the patch's fault: 422 instead of 400, as upstream. */
function asPatched(read: () => KubeObject): KubeObject {
  try {
    return read()
  } catch (error) {
    throw error instanceof StatusError && error.reason === 'BadRequest' ? invalidPatch(error.message) : error
  }
}

function applyPatch(type: ResourceType, current: KubeObject, media: string, body: unknown): unknown {
  if (media === JSON_PATCH) return applyJsonPatch(current, body)
  if (media === MERGE_PATCH) {
    if (isRecord(body)) return applyMergePatch(current, body)
    const why = `json: cannot unmarshal ${jsonTypeName(body)} into Go value of type map[string]interface {}`
    throw statusError.badRequest(`error decoding patch: ${why}`)
  }
  return applyStrategicMerge(current, body, type.schema)
}

async function apply(services: Services, x: Exchange, body: unknown): Promise<void> {
  const manager = x.info.query.get('fieldManager') ?? ''
  if (manager === '') throw optionInvalid(x, fieldError.required('fieldManager', 'is required for apply patch'))
  const context = writeContext(x)
  const expected = apiVersionOf(x.type)
  if (isRecord(body) && (body.apiVersion ?? '') !== expected) {
    throw statusError.badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${show(body.apiVersion ?? '')}, expected: ${expected}`,
    )
  }
  if (context.fieldValidation !== 'Ignore') {
    const repeats = repeatedInApply(x, body)
    if (repeats.length > 0 && context.fieldValidation === 'Strict') {
      const why = `yaml: unmarshal errors:\n  ${repeats.join('\n  ')}`
      throw statusError.badRequest(`error strict decoding YAML: error converting YAML to JSON: ${why}`)
    }
    for (const text of repeats) context.warn(text)
  }
  const applied = objectOf(body, x.type)
  const { name, namespace, subresource } = x.resource
  requireSamePlace({ ...applied.metadata, name: applied.metadata.name ?? name }, { name, namespace })
  services.deps.strategyFor(x.type)?.subresources?.[subresource]?.narrow?.(applied)
  applied.metadata.name = name
  if (x.type.namespaced) applied.metadata.namespace = namespace
  const run = (live: KubeObject | undefined): KubeObject => {
    if (live) requireSameUid(x.type, applied, live)
    return applyServerSide({
      live,
      applied: structuredClone(applied),
      schema: x.type.schema,
      manager,
      force: boolOption(x.info.query, 'force'),
      apiVersion: apiVersionOf(x.type),
      ...(subresource && { subresource }),
      now: timestamp(services.deps.clock()),
      gr: x.type,
      ignored: unwritable(x.type, subresource),
      ...otherVersions(services.deps.typeAt, x.space, x.type),
    })
  }
  const { stored, created } = await services.registry.update(context, x.type, namespace, name, run, {
    subresource,
    managesFields: true,
    create: subresource === '' ? () => run(undefined) : undefined,
    mayCreate: () => requireCreate(services, x),
  })
  await sendObject(services, x, stored, created ? 201 : 200)
}
