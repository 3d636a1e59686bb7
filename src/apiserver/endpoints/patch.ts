/**
 * PATCH in its four forms: JSON (RFC 6902), merge (RFC 7396), strategic merge, server-side apply (KEP-555).
 */
import { applyServerSide } from '../../apimachinery/apply/managedFields.ts'
import { show } from '../../apimachinery/apply/validateTyped.ts'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { apiVersionOf, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { applyJsonPatch } from '../../apimachinery/patch/jsonPatch.ts'
import { applyMergePatch } from '../../apimachinery/patch/mergePatch.ts'
import { applyStrategicMerge } from '../../apimachinery/patch/strategicMerge.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { invalidPatch } from '../registry/objectRules.ts'
import { timestamp, unwritable } from '../registry/systemMetadata.ts'
import { objectOf, parseBody } from './body.ts'
import { boolOption, type Exchange, optionInvalid, type Services, writeContext } from './exchange.ts'
import { sendObject } from './respond.ts'

const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'
const APPLY_PATCH = 'application/apply-patch+yaml'

export async function patchEndpoint(services: Services, x: Exchange): Promise<void> {
  const media = (x.request.headers['content-type'] ?? '').split(';')[0]!.trim()
  const accepted =
    x.type.origin === 'builtin'
      ? [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH]
      : [JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
  if (!accepted.includes(media)) {
    throw new StatusError(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    )
  }
  const body = parseBody(x.request.body as Buffer | undefined, media, x.type.kind)
  if (media === APPLY_PATCH) return apply(services, x, body)
  if (x.info.query.has('force'))
    throw optionInvalid(x, fieldError.forbidden('force', 'may not be specified for non-apply patch'))
  const { stored } = await services.registry.update(
    writeContext(x),
    x.type,
    x.resource.namespace,
    x.resource.name,
    current => patched(x.type, current, media, body),
    { subresource: x.resource.subresource, fromPatch: true },
  )
  await sendObject(services, x, stored)
}

/** The object that a patch makes of `current`; name, namespace and type cannot be patched away. */
export function patched(type: ResourceType, current: KubeObject, media: string, body: unknown): KubeObject {
  const result = applyPatch(type, current, media, body)
  if (!isRecord(result) || !isRecord(result.metadata)) {
    throw new StatusError('Invalid', 'the patch makes the object or its metadata something that is no JSON object')
  }
  const object = asPatched(() => objectOf(result, type))
  if (object.metadata.uid && object.metadata.uid !== current.metadata.uid) {
    const error = fieldError.invalid('metadata.uid', object.metadata.uid, 'field is immutable')
    throw statusError.invalid(type, current.metadata.name ?? '', [error])
  }
  for (const field of ['name', 'namespace'] as const) {
    if (object.metadata[field] !== current.metadata[field]) {
      throw statusError.badRequest(
        `the ${field} of the object (${object.metadata[field] ?? ''}) does not match the ${field} on the URL (${current.metadata[field] ?? ''})`,
      )
    }
  }
  return object
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
  if (!isRecord(body)) throw statusError.badRequest('a merge patch must be a JSON object')
  if (media === MERGE_PATCH) return applyMergePatch(current, body)
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
  const applied = objectOf(body, x.type)
  const { name, namespace, subresource } = x.resource
  if (applied.metadata.name !== undefined && applied.metadata.name !== name) {
    throw statusError.badRequest(
      `the name of the object (${applied.metadata.name}) does not match the name on the URL (${name})`,
    )
  }
  if (applied.metadata.namespace && x.type.namespaced && applied.metadata.namespace !== namespace) {
    throw statusError.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
  applied.metadata.name = name
  if (x.type.namespaced) applied.metadata.namespace = namespace
  const run = (live: KubeObject | undefined): KubeObject =>
    applyServerSide({
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
    })
  const { stored, created } = await services.registry.update(context, x.type, namespace, name, run, {
    subresource,
    managesFields: true,
    create: subresource === '' ? () => run(undefined) : undefined,
  })
  await sendObject(services, x, stored, created ? 201 : 200)
}
