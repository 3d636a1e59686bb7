/** Answers: stored objects and lists as bytes where possible, rendered only when the client asked for another form. */
import { setImmediate } from 'node:timers/promises'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import { envelopeOf, listPiecesOf } from '../../apimachinery/protobuf/envelope.ts'
import type { WireObject } from '../../apimachinery/protobuf/protobufCodec.ts'
import { yaml } from '../../apimachinery/yaml.ts'
import type { Stored } from '../../storage/store.ts'
import type { ListResult } from '../registry/reader.ts'
import { prepareViews } from '../registry/views.ts'
import { partialMetadata, tableFor } from '../tables/table.ts'
import { plainSink } from './blockWriter.ts'
import { GZIP_FROM_BYTES } from './compression.ts'
import type { Exchange, Services } from './exchange.ts'
import { asItem, bytesAs, itemPieces } from './listItems.ts'
import { CONTENT_TYPES, type Form, type Format, wantsPretty } from './negotiate.ts'
import { protobufForm } from './protobufForms.ts'
import { warningHeaders } from './warningHeaders.ts'

const LIST_END = Buffer.from(']}\n')
/** Longer lists are written block by block. */
const WHOLE_LIMIT_BYTES = GZIP_FROM_BYTES
/** Objects of a list that are encoded before others get their turn. */
const ENCODED_AT_ONCE = 100
/** Longer lists are not indented for anyone. */
const PRETTY_LIMIT_BYTES = 1024 * 1024

export async function sendObject(services: Services, exchange: Exchange, stored: Stored, code = 200): Promise<void> {
  const views = prepareViews([stored], exchange.type)
  if (views) await views
  if (exchange.form.as === undefined && exchange.form.format === 'json' && !isPretty(exchange))
    return send(exchange, code, bytesAs(stored, exchange.type))
  if (exchange.form.format === 'protobuf') {
    checkPartial(exchange, false)
    const form = protobufForm(services, exchange.type, exchange.form)
    return send(exchange, code, envelopeOf(form, form.part(stored)), 'protobuf')
  }
  const object = JSON.parse(bytesAs(stored, exchange.type).toString()) as KubeObject
  await sendValue(
    services,
    exchange,
    code,
    formed(services, exchange, [object], { resourceVersion: object.metadata.resourceVersion ?? '' }, false),
  )
}

/** Any JSON value that is not a stored object: Status, Scale, reviews, discovery. */
export async function sendValue(
  { protobuf }: Pick<Services, 'protobuf'>,
  exchange: Pick<Exchange, 'reply' | 'form' | 'warnings' | 'info'>,
  code: number,
  value: unknown,
): Promise<void> {
  if (exchange.form.format === 'yaml') return send(exchange, code, Buffer.from(yamlText(value)), 'yaml')
  if (exchange.form.format === 'protobuf') return send(exchange, code, protobuf.encode(value as WireObject), 'protobuf')
  return send(exchange, code, Buffer.from(`${JSON.stringify(value, undefined, isPretty(exchange) ? 2 : undefined)}\n`))
}

/** YAML as other tools of Kubernetes write and read it: sorted, and by the rules of 1.1, so `"no"` and times are quoted. */
export function yamlText(value: unknown): string {
  return yaml().stringify(value, { version: '1.1', sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false })
}

function isPretty(exchange: Pick<Exchange, 'reply' | 'info'>): boolean {
  return wantsPretty(exchange.info.query, exchange.reply.request.headers['user-agent'])
}

export async function sendList(services: Services, exchange: Exchange, list: ListResult): Promise<void> {
  const meta = {
    resourceVersion: String(list.revision),
    ...(list.continue && { continue: list.continue }),
    ...(list.remaining && { remainingItemCount: list.remaining }),
  }
  if (exchange.form.format === 'protobuf') return sendProtobufList(services, exchange, list, meta)
  if (exchange.form.as !== undefined || exchange.form.format !== 'json') {
    const objects = list.items.map(stored => JSON.parse(bytesAs(stored, exchange.type).toString()) as KubeObject)
    return sendValue(services, exchange, 200, formed(services, exchange, objects, meta, true))
  }
  const head = Buffer.from(
    `{"kind":${JSON.stringify(exchange.type.listKind)},"apiVersion":"${apiVersionOf(exchange.type)}","metadata":${JSON.stringify(meta)},"items":[`,
  )
  const pieces: Buffer[] = [head]
  const append = itemPieces(exchange.type)
  for (const stored of list.items) append(stored, pieces.length === 1, pieces)
  pieces.push(LIST_END)
  let length = 0
  for (const piece of pieces) length += piece.length
  if (length <= PRETTY_LIMIT_BYTES && isPretty(exchange))
    return sendValue(services, exchange, 200, JSON.parse(Buffer.concat(pieces, length).toString()))
  return sendPieces(services, exchange, pieces, length, 'json')
}

/** The length of everything stands before it, so all is encoded first; in between others have their turn. */
async function sendProtobufList(services: Services, exchange: Exchange, list: ListResult, meta: object): Promise<void> {
  checkPartial(exchange, true)
  const form = protobufForm(services, exchange.type, exchange.form)
  const kind = exchange.form.as === undefined ? exchange.type.listKind : `${form.kind}List`
  const parts: Buffer[] = []
  for (const stored of list.items) {
    if (parts.length % ENCODED_AT_ONCE === ENCODED_AT_ONCE - 1) await setImmediate()
    parts.push(form.part(stored))
  }
  const pieces = listPiecesOf({ apiVersion: form.apiVersion, kind }, services.protobuf.encodeListMeta(meta), parts)
  let length = 0
  for (const piece of pieces) length += piece.length
  return sendPieces(services, exchange, pieces, length, 'protobuf')
}

async function sendPieces(
  services: Services,
  exchange: Exchange,
  pieces: readonly Buffer[],
  length: number,
  format: Format,
): Promise<void> {
  if (length <= WHOLE_LIMIT_BYTES) return send(exchange, 200, Buffer.concat(pieces, length), format)
  const { raw } = exchange.reply.hijack()
  const compressed = services.compression.takes(exchange.request)
  const framing = compressed ? { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' } : { 'Content-Length': length }
  raw.writeHead(200, { ...headers(exchange), 'Content-Type': CONTENT_TYPES[format], ...framing })
  const out = compressed ? services.compression.sink(raw, length) : plainSink(raw)
  if (await services.blocks.write(out, pieces)) out.end()
}

function formed(
  services: Services,
  exchange: Exchange,
  objects: KubeObject[],
  meta: Record<string, unknown>,
  isList: boolean,
): unknown {
  const { form, type } = exchange
  if (form.as === undefined) {
    return isList
      ? {
          kind: type.listKind,
          apiVersion: apiVersionOf(type),
          metadata: meta,
          items: objects.map(object => asItem(object, type)),
        }
      : objects[0]
  }
  if (form.as === 'Table') return tableOf(services, exchange, form, objects, meta, true)
  checkPartial(exchange, isList)
  if (!isList) return partialMetadata(objects[0]!, form.version)
  const items = objects.map(object => partialMetadata(object, form.version))
  return { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${form.version}`, metadata: meta, items }
}

/** @throws StatusError NotAcceptable when one object is asked for as a list, or a list as one object */
function checkPartial({ form, type }: Exchange, isList: boolean): void {
  if (form.as === undefined || (form.as === 'PartialObjectMetadataList') === isList) return
  const found = isList ? `is a list (${type.listKind})` : `is not a list (${type.kind})`
  throw new StatusError('NotAcceptable', `you requested ${form.as}, but the requested object ${found}`)
}

export function tableOf(
  services: Services,
  exchange: Pick<Exchange, 'info' | 'type'>,
  form: Form,
  objects: KubeObject[],
  meta: Record<string, unknown>,
  headers: boolean,
): object {
  const include = exchange.info.query.get('includeObject') || 'Metadata'
  if (include !== 'None' && include !== 'Metadata' && include !== 'Object') {
    throw statusError.badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
    )
  }
  return tableFor({
    type: exchange.type,
    objects,
    listMeta: meta as { resourceVersion: string },
    includeObject: include,
    version: form.version,
    now: services.deps.clock(),
    headers,
  })
}

export function headers(exchange: Pick<Exchange, 'warnings'>): Record<string, string | string[]> {
  const base = { 'Cache-Control': 'no-cache, private' }
  if (exchange.warnings.length === 0) return base
  return { ...base, Warning: warningHeaders(exchange.warnings) }
}

function send(
  exchange: Pick<Exchange, 'reply' | 'warnings'>,
  code: number,
  body: Buffer,
  format: Format = 'json',
): void {
  exchange.reply.code(code).headers(headers(exchange)).type(CONTENT_TYPES[format]).send(body)
}
