/**
 * PATCH in its four forms: JSON (RFC 6902), merge (RFC 7396), strategic merge, server-side apply (KEP-555).
 */
import { statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { noMapError } from '../../apimachinery/go/goJson.ts'
import { apiVersionOf, isRecord, parseApiVersion } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { sendObject } from '../exchange/answers/respond.ts'
import { parseBody, unsupportedMediaType } from '../exchange/bodies/body.ts'
import { repeatedInApply, warningOfRepeats } from '../exchange/bodies/strictText.ts'
import {
  boolOption,
  type Exchange,
  optionInvalid,
  requireCreate,
  type Services,
  writeContext,
  writeTarget,
} from '../exchange/exchange.ts'
import { apply } from '../operations/apply.ts'
import { objectOf } from '../operations/objectOf.ts'
import { type PatchForm, patch } from '../operations/patch.ts'
import { FORMS } from '../registry/forms.ts'

const PATCHES: Readonly<Record<string, PatchForm | 'apply'>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}
/** Patch types of built-in kinds; only they have strategic merges. */
const PATCH_TYPES = Object.keys(PATCHES)

export async function patchEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const media = mediaOf(exchange)
  const { strategicMerge } = FORMS[exchange.type.form]
  const accepted = strategicMerge ? PATCH_TYPES : PATCH_TYPES.filter(each => PATCHES[each] !== 'strategic')
  if (!accepted.includes(media)) throw unsupportedMediaType(accepted)
  const form = PATCHES[media]!
  const body = parseBody(exchange.request.body as Buffer | undefined, media, exchange.type.kind, exchange.request)
  if (form === 'apply') return await applyEndpoint(services, exchange, body)
  if (exchange.info.query.has('force'))
    throw optionInvalid(exchange, fieldError.forbidden('force', 'may not be specified for non-apply patch'))
  const context = warningOfRepeats(writeContext(exchange), exchange, body)
  const { stored } = await patch(services.registry, writeTarget(exchange, context), form, body)
  await sendObject(services, exchange, stored)
}

/** The form that a request has; `undefined` when it is none of the three that change an object by itself. */
export function patchFormOf(exchange: Exchange): PatchForm | undefined {
  const form = PATCHES[mediaOf(exchange)]
  return form === 'apply' ? undefined : form
}

function mediaOf({ request }: Exchange): string {
  return (request.headers['content-type'] ?? '').split(';')[0]!.trim()
}

/** An apply says whole which kind it is about. @throws StatusError BadRequest */
function requireApplied(type: ResourceType, body: unknown): void {
  const object = body ?? {}
  if (!isRecord(object)) {
    throw statusError.badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: ${noMapError(body)}`,
    )
  }
  const { apiVersion, kind } = object
  if (apiVersion === apiVersionOf(type) && kind === type.kind) return
  throw statusError.badRequest(`invalid object type: ${groupVersionKind(apiVersion, kind)}`)
}

function groupVersionKind(apiVersion: unknown, kind: unknown): string {
  const given = typeof apiVersion === 'string' && apiVersion !== '' ? parseApiVersion(apiVersion) : NO_VERSION
  return given === undefined
    ? '/, Kind='
    : `${given.group}/${given.version}, Kind=${typeof kind === 'string' ? kind : ''}`
}

const NO_VERSION = { group: '', version: '' }

async function applyEndpoint(services: Services, exchange: Exchange, body: unknown): Promise<void> {
  const manager = exchange.info.query.get('fieldManager') ?? ''
  if (manager === '') throw optionInvalid(exchange, fieldError.required('fieldManager', 'is required for apply patch'))
  const context = writeContext(exchange)
  requireApplied(exchange.type, body)
  if (context.fieldValidation !== 'Ignore') {
    const repeats = repeatedInApply(exchange, body)
    if (repeats.length > 0 && context.fieldValidation === 'Strict') {
      const why = `yaml: unmarshal errors:\n  ${repeats.join('\n  ')}`
      throw statusError.badRequest(`error strict decoding YAML: error converting YAML to JSON: ${why}`)
    }
    for (const text of repeats) context.warn(text)
  }
  const { stored, created } = await apply(
    services.registry,
    writeTarget(exchange, context),
    objectOf(body, exchange.type),
    {
      force: boolOption(exchange.info.query, 'force'),
      mayCreate: () => requireCreate(services, exchange),
    },
  )
  await sendObject(services, exchange, stored, created ? 201 : 200)
}
