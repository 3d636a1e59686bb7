/** Answers: stored objects and lists as bytes where possible, rendered only for another form. */

import { StatusError, statusError } from '../../../apimachinery/errors.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { envelopeOf } from '../../../apimachinery/protobuf/envelope.ts'
import type { WireObject } from '../../../apimachinery/protobuf/protobufCodec.ts'
import { type Soon, whenKnown } from '../../../apimachinery/soon.ts'
import { yamlText } from '../../../apimachinery/yamlWriter.ts'
import type { Column } from '../../../kinds/printers/printer.ts'
import type { Stored } from '../../../storage/store.ts'
import { type Form, wantsPretty } from '../../http/negotiate.ts'
import { prepareViews, viewBytes } from '../../registry/views.ts'
import { partialMetadata, spaceColumn, type TableOptions, tableFor } from '../../tables/table.ts'
import { type Exchange, type Services, workOf } from '../exchange.ts'
import { send, sendPieces } from './answerPieces.ts'
import { yamlValuePieces } from './listText.ts'
import { protobufForm } from './protobufForms.ts'

export function sendObject(services: Services, exchange: Exchange, stored: Stored, code = 200): Soon<void> {
  return whenKnown(prepareViews([stored], exchange.type), () =>
    isAsStored(exchange)
      ? send(exchange, code, viewBytes(stored, exchange.type))
      : sendFormed(services, exchange, stored, code),
  )
}

/** Whether an object is answered as its bytes, without another form in the request. */
function isAsStored(exchange: Pick<Exchange, 'form' | 'info' | 'request'>): boolean {
  const { as, format } = exchange.form
  return as === undefined && format === 'json' && !isPretty(exchange)
}

function protobufBody(services: Services, { type, form }: Pick<Exchange, 'type' | 'form'>, stored: Stored): Buffer {
  const shown = protobufForm(services, type, form)
  return envelopeOf(shown, shown.part(stored))
}

async function sendFormed(services: Services, exchange: Exchange, stored: Stored, code: number): Promise<void> {
  if (exchange.form.format === 'protobuf') {
    checkPartial(exchange, false)
    return send(exchange, code, protobufBody(services, exchange, stored), 'protobuf')
  }
  const object = JSON.parse(viewBytes(stored, exchange.type).toString()) as KubeObject
  const value = formed(services, exchange, object)
  if (exchange.form.format !== 'yaml') return await sendValue(services, exchange, code, value)
  const pieces = yamlValuePieces(value)
    .map(Buffer.from)
    .map(piece => [piece])
  await sendPieces(services, exchange, {
    pieces,
    items: [stored],
    format: 'yaml',
    code,
    work: workOf(services, exchange),
  })
}

function formed(services: Services, exchange: Exchange, object: KubeObject): unknown {
  const { form } = exchange
  if (form.as === undefined) return object
  const meta = { resourceVersion: object.metadata.resourceVersion ?? '' }
  if (form.as === 'Table') return tableOf(services, exchange, form, [object], meta, true)
  checkPartial(exchange, false)
  return partialMetadata(object, form.version)
}

/** Any JSON value that is not a stored object: Status, Scale, reviews, discovery. */
export async function sendValue(
  { protobuf }: Pick<Services, 'protobuf'>,
  exchange: Pick<Exchange, 'request' | 'answer' | 'form' | 'warnings' | 'info'>,
  code: number,
  value: unknown,
): Promise<void> {
  if (exchange.form.format === 'yaml') return send(exchange, code, Buffer.from(yamlText(value)), 'yaml')
  if (exchange.form.format === 'protobuf') return send(exchange, code, protobuf.encode(value as WireObject), 'protobuf')
  return send(exchange, code, Buffer.from(`${JSON.stringify(value, undefined, isPretty(exchange) ? 2 : undefined)}\n`))
}

export function isPretty(exchange: Pick<Exchange, 'request' | 'info'>): boolean {
  return wantsPretty(exchange.info.query, exchange.request.headers['user-agent'])
}

/** @throws StatusError NotAcceptable for one object in the form of a list, or a list in that of one object */
export function checkPartial({ form, type }: Pick<Exchange, 'form' | 'type'>, isList: boolean): void {
  if (form.as === undefined || (form.as === 'PartialObjectMetadataList') === isList) return
  const found = isList ? `is a list (${type.listKind})` : `is not a list (${type.kind})`
  throw new StatusError('NotAcceptable', `you requested ${form.as}, but the requested object ${found}`)
}

export function tableOf(
  services: Services,
  exchange: Pick<Exchange, 'info' | 'type' | 'space'>,
  form: Form,
  objects: KubeObject[],
  meta: Record<string, unknown>,
  headers: boolean,
): object {
  return tableFor({ ...tableOptions(services, exchange, form, meta, headers), objects })
}

/** @throws StatusError BadRequest (includeObject) */
export function tableOptions(
  services: Services,
  exchange: Pick<Exchange, 'info' | 'type' | 'space'>,
  form: Form,
  meta: Record<string, unknown>,
  headers: boolean,
): Omit<TableOptions, 'objects'> {
  const include = exchange.info.query.get('includeObject') || 'Metadata'
  if (include !== 'None' && include !== 'Metadata' && include !== 'Object') {
    throw statusError.badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
    )
  }
  return {
    type: exchange.type,
    listMeta: meta as { resourceVersion: string },
    includeObject: include,
    version: form.version,
    now: services.deps.clock(),
    headers,
    first: firstColumns(services, exchange),
  }
}

function firstColumns({ spaceName, columns = [] }: Services, { space }: Pick<Exchange, 'space'>): readonly Column[] {
  return space === '*' ? [spaceColumn(spaceName), ...columns] : columns
}
