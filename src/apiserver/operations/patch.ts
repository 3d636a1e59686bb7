/** A patch in one of three forms: JSON (RFC 6902), merge (RFC 7396), strategic merge. The fourth is `apply.ts`. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { noMapError } from '../../apimachinery/go/goJson.ts'
import { goPrint } from '../../apimachinery/go/goPrint.ts'
import { restoreError } from '../../apimachinery/go/restoreError.ts'
import { apiVersionOf, isRecord, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import { jsonPatchInSteps } from '../../apimachinery/patch/jsonPatch.ts'
import { applyMergePatch } from '../../apimachinery/patch/mergePatch.ts'
import { strategicMergeInSteps } from '../../apimachinery/patch/strategicMerge.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { atOnce, type Steps } from '../../apimachinery/steps.ts'
import { FORMS } from '../registry/forms.ts'
import { invalidPatch, type PatchSource } from '../registry/objectRules.ts'
import { standIn } from '../registry/parameters.ts'
import type { Registry, Written } from '../registry/registry.ts'
import { objectOf, otherKind } from './objectOf.ts'
import { requireSamePlace } from './place.ts'
import type { Target } from './target.ts'

export type PatchForm = 'json' | 'merge' | 'strategic'

/** @throws StatusError */
export async function patch(
  registry: Pick<Registry, 'update' | 'deps'>,
  { context, type, namespace, name, subresource }: Target,
  form: PatchForm,
  body: unknown,
): Promise<Written> {
  const { parameterized } = registry.deps
  const readable = (object: Record<string, unknown>): Record<string, unknown> =>
    type.schema && isObject(object) && parameterized?.(context.space, type, object) === 'described'
      ? standIn(object, type.schema)
      : object
  const change = {
    steps: (current: KubeObject) => patchedInSteps(type, current, form, body, { subresource, readable }),
  }
  return await registry.update(context, type, namespace, name, change, {
    subresource,
    fromPatch: { ...patchSource(form, body), spares: sparesRest(form, body), grows: grows(form, body) },
  })
}

/** Whether a patch leaves alone all that an author describes. */
function sparesRest(form: PatchForm, body: unknown): boolean {
  const fields =
    form === 'json'
      ? (Array.isArray(body) ? body : ['']).map(step => (isRecord(step) ? String(step.path).split('/')[1] : ''))
      : Object.keys(isRecord(body) ? body : {})
  return fields.every(field => field === 'metadata' || field === 'status')
}

function grows(form: PatchForm, body: unknown): boolean {
  if (form !== 'json' || !Array.isArray(body)) return false
  return body.filter(step => isRecord(step) && step.op === 'copy').length > 1
}

/** How refusals show a patch: strategic merges as Go prints them, the others not at all. */
export function patchSource(form: PatchForm, body: unknown): PatchSource {
  return form === 'strategic' ? { shown: () => goPrint(body) } : {}
}

/** Target of a patch. */
interface Onto {
  subresource: string
  /** The kind that has the scale. */
  scaled?: ResourceType
  /** Part of an object that the struct of the kind can hold. */
  readable?: (object: Record<string, unknown>) => unknown
}

/** The object that a patch makes of `current`; name, namespace and type cannot be patched away. */
export function patched(
  type: ResourceType,
  current: KubeObject,
  form: PatchForm,
  body: unknown,
  onto: Onto,
): KubeObject {
  return atOnce(patchedInSteps(type, current, form, body, onto))
}

function* patchedInSteps(
  type: ResourceType,
  current: KubeObject,
  form: PatchForm,
  body: unknown,
  onto: Onto,
): Steps<KubeObject> {
  // they may be most of an object, and are neither copied nor compared where the patch says nothing of them
  const claims = sparesClaims(form, body) ? current.metadata.managedFields : undefined
  const from = claims === undefined ? current : withoutClaims(current)
  const result =
    form === 'merge'
      ? merged(from, body)
      : yield* form === 'json' ? jsonPatchInSteps(from, body) : strategicMergeInSteps(from, body, type.schema)
  yield
  if (form === 'strategic' && isRecord(result)) {
    const wrong = restoreError(onto.readable?.(result) ?? result, type.schema)
    if (wrong !== undefined) throw invalidPatch(wrong, patchSource(form, body))
    // a struct knows what it is, whatever the patch says that it were
    Object.assign(result, { apiVersion: apiVersionOf(type), kind: type.kind })
  }
  if (!isRecord(result) || !isRecord(result.metadata ?? {})) {
    throw new StatusError('Invalid', 'the patch makes the object or its metadata something that is no JSON object')
  }
  if (claims !== undefined && isRecord(result.metadata)) result.metadata.managedFields = claims
  if (FORMS[type.form].unstructured) keepCustomType(type, result, onto.subresource)
  else if (!result.apiVersion && !(onto.scaled && FORMS[onto.scaled.form].unstructured)) {
    const why = `the name of the object (${current.metadata.name} based on URL) was undeterminable: name must be provided`
    throw statusError.badRequest(why)
  }
  const object = asPatched(() => objectOf(result, type))
  requireSameUid(type, object, current)
  const { name = '', namespace = '' } = current.metadata
  requireSamePlace(object.metadata, { name, namespace })
  return object
}

/** All members in their places: refusals show some of them. */
function withoutClaims(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, managedFields: [] } }
}

const METADATA = '/metadata'
const CLAIMS = `${METADATA}/managedFields`

/** Whether a patch neither changes who claims which fields nor asks. */
function sparesClaims(form: PatchForm, body: unknown): boolean {
  if (form !== 'json') return isPlain(body) && (body.metadata === undefined || isPlain(body.metadata))
  const spares = (pointer: unknown): boolean =>
    pointer === undefined ||
    (typeof pointer === 'string' && pointer !== '' && pointer !== METADATA && !pointer.startsWith(CLAIMS))
  return Array.isArray(body) && body.every(step => isRecord(step) && spares(step.path) && spares(step.from))
}

/** It says what becomes of its members, and not of the whole. */
function isPlain(patch: unknown): patch is Record<string, unknown> {
  return isRecord(patch) && patch.managedFields === undefined && !Object.keys(patch).some(key => key.startsWith('$'))
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
export function requireSameUid(type: ResourceType, requested: KubeObject, current: KubeObject): void {
  const { uid } = requested.metadata
  if (!uid || uid === current.metadata.uid) return
  const error = fieldError.invalid('metadata.uid', uid, 'field is immutable')
  throw statusError.invalid(type, current.metadata.name ?? '', [error])
}

/** An object that a patch makes unreadable is the patch's fault: 422 instead of 400, as upstream. */
function asPatched(read: () => KubeObject): KubeObject {
  try {
    return read()
  } catch (error) {
    throw error instanceof StatusError && error.reason === 'BadRequest' ? invalidPatch(error.message) : error
  }
}

function merged(current: KubeObject, body: unknown): unknown {
  if (isRecord(body)) return applyMergePatch(current, body)
  throw statusError.badRequest(`error decoding patch: ${noMapError(body)}`)
}

function isObject(value: Record<string, unknown>): value is Record<string, unknown> & KubeObject {
  return isRecord(value.metadata)
}
