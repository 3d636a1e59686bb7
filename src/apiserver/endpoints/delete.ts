/** DELETE of one object or of a selection of a collection. */
import { isStatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { typeErrors } from '../../apimachinery/go/typeErrors.ts'
import { isRecord } from '../../apimachinery/object.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { sendList } from '../exchange/answers/listAnswers.ts'
import { sendObject, sendValue } from '../exchange/answers/respond.ts'
import { readBody } from '../exchange/bodies/body.ts'
import { type Exchange, intOption, isDryRun, type Services, workOf, writeContext } from '../exchange/exchange.ts'
import { type DeleteOptions, deleteObject, propagationWarning } from '../operations/remove.ts'
import { decodeObject } from '../registry/codec.ts'
import type { WriteContext } from '../registry/context.ts'
import { holdViews } from '../registry/views.ts'
import { collectionOf } from './collection.ts'

/** Deletions of a collection that are prepared in a row; they share writes to the disk. */
const DELETED_AT_ONCE = 100

export async function deleteEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const options = optionsOf(services, exchange)
  const context = warnedContext(services, exchange, options)
  const { stored, gone } = await deleteObject(services.deps, context, exchange.type, exchange.resource, options)
  if (!gone || exchange.type.returnsDeleted) return sendObject(services, exchange, stored)
  const details = {
    name: exchange.resource.name,
    ...(exchange.type.group && { group: exchange.type.group }),
    kind: exchange.type.resource,
    uid: decodeObject(stored).metadata.uid,
  }
  await sendValue(services, exchange, 200, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details,
  })
}

export async function deleteCollectionEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const letGo = holdViews(exchange.type)
  try {
    await deleteCollection(services, exchange)
  } finally {
    letGo()
  }
}

async function deleteCollection(services: Services, exchange: Exchange): Promise<void> {
  const options = optionsOf(services, exchange)
  const context = warnedContext(services, exchange, options)
  const { query } = exchange.info
  const work = workOf(services, exchange)
  const list = await services.reader.list(exchange.type, {
    ...collectionOf(services, exchange),
    limit: intOption(query, 'limit'),
    continue: query.get('continue') ?? undefined,
    work,
  })
  list.items = list.items.filter(({ key }) => {
    const layer = services.deps.shared?.of(exchange.type, key.namespace)
    return layer === undefined || layer.comeBack !== undefined || !layer.has(key.space, key.name)
  })
  let failure: PromiseRejectedResult | undefined
  for (let i = 0; i < list.items.length; i += DELETED_AT_ONCE) {
    // A client that leaves stops the rest: earlier deletions stand.
    if (i > 0) await work.rest()
    const deletions: Promise<unknown>[] = []
    for (const { key } of list.items.slice(i, i + DELETED_AT_ONCE)) {
      deletions.push(deleteObject(services.deps, context, exchange.type, key, options))
      // looked at below: it must not count as unhandled until then
      deletions.at(-1)!.catch(() => {})
      // as far as it goes without waiting
      await new Promise<void>(resolve => process.nextTick(resolve))
      if (work.due) await work.rest()
    }
    const outcomes = await Promise.allSettled(deletions)
    failure ??= outcomes.find(isFailure)
  }
  if (failure) throw failure.reason
  await sendList(services, exchange, list)
}

/** Another client deleted it first: the result is the requested one. */
function isFailure(outcome: PromiseSettledResult<unknown>): outcome is PromiseRejectedResult {
  return outcome.status === 'rejected' && !isStatusError(outcome.reason, 'NotFound')
}

function warnedContext(services: Services, exchange: Exchange, options: DeleteOptions): WriteContext {
  const context = { ...writeContext(exchange), dryRun: isDryRun(exchange) || options.dryRun === true }
  const warning = propagationWarning(services.deps, exchange.type, options)
  if (warning !== undefined) context.warn(warning)
  return context
}

/** From the body (DeleteOptions) and the query; the body wins. @throws StatusError BadRequest */
function optionsOf(services: Services, exchange: Exchange): DeleteOptions {
  const { query } = exchange.info
  const options: DeleteOptions = {}
  const policy = query.get('propagationPolicy')
  if (policy) options.propagationPolicy = policy
  if (query.has('orphanDependents')) options.orphanDependents = query.get('orphanDependents') === 'true'
  const grace = intOption(query, 'gracePeriodSeconds')
  if (grace !== undefined) options.gracePeriodSeconds = grace
  const raw = exchange.request.body as Buffer | undefined
  if (raw === undefined || raw.length === 0) return options
  const body = readBody(services, exchange, { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' })
  if (isRecord(body) && (body.kind ?? 'DeleteOptions') !== 'DeleteOptions') {
    throw statusError.badRequest(
      `no kind ${JSON.stringify(body.kind)} is registered for version ${JSON.stringify(body.apiVersion ?? '')}: the body of a DELETE must be a DeleteOptions object`,
    )
  }
  if (!isRecord(body)) throw statusError.badRequest('the body of a DELETE must be a DeleteOptions object')
  return deleteOptionsOf(body, options)
}

const TEXT: Schema = { type: 'string' }
const OPTIONS: Schema = {
  type: 'object',
  properties: {
    propagationPolicy: TEXT,
    orphanDependents: { type: 'boolean' },
    gracePeriodSeconds: { type: 'integer', format: 'int64' },
    dryRun: { type: 'array', items: TEXT },
    preconditions: { type: 'object', properties: { uid: TEXT, resourceVersion: TEXT } },
  },
}

/**
 * Content of a DeleteOptions object, over that of the query. An unknown part is an error: the deletion is final. Nothing of it is
 * overlooked: something would be deleted for good.
 * @throws StatusError BadRequest (wrong types), Invalid
 */
export function deleteOptionsOf(body: unknown, options: DeleteOptions = {}): DeleteOptions {
  if (body === undefined || body === null) return options
  if (!isRecord(body)) throw statusError.badRequest('delete options must be a DeleteOptions object')
  const wrong = typeErrors({ ...body, kind: 'DeleteOptions' }, OPTIONS)
  if (wrong !== undefined) throw statusError.badRequest(wrong)
  if (typeof body.propagationPolicy === 'string') options.propagationPolicy = body.propagationPolicy
  if (typeof body.orphanDependents === 'boolean') options.orphanDependents = body.orphanDependents
  if (typeof body.gracePeriodSeconds === 'number') options.gracePeriodSeconds = body.gracePeriodSeconds
  if (Array.isArray(body.dryRun) && body.dryRun.length > 0) {
    const values = body.dryRun.map(String)
    if (values.some(value => value !== 'All')) {
      throw statusError.invalidOptions('DeleteOptions', fieldError.notSupported('dryRun', values, ['All']))
    }
    options.dryRun = true
  }
  if (isRecord(body.preconditions)) {
    const { uid, resourceVersion } = body.preconditions
    options.preconditions = {
      ...(typeof uid === 'string' && { uid }),
      ...(typeof resourceVersion === 'string' && { resourceVersion }),
    }
  }
  return options
}
