/** Answers: stored objects and lists as bytes where possible, rendered only when the client asked for another form. */
import { pipeline, type Writable } from 'node:stream'
import { stringify } from 'yaml'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Stored } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import { convertTo, storageApiVersion } from '../registry/convert.ts'
import type { ListResult } from '../registry/reader.ts'
import { partialMetadata, tableFor } from '../tables/table.ts'
import { acceptsGzip, GZIP_FROM_BYTES, gzipStream } from './compression.ts'
import type { Exchange, Services } from './exchange.ts'
import { type Form, wantsPretty } from './negotiate.ts'

const COMMA = Buffer.from(',')
const LIST_END = Buffer.from(']}\n')
/** Longer lists are written block by block. */
const WHOLE_LIMIT_BYTES = GZIP_FROM_BYTES
/** Longer lists are not indented for anyone. */
const PRETTY_LIMIT_BYTES = 1024 * 1024

/** The stored object as `type` serves it; the stored bytes themselves when that is the same version. */
export function bytesAs(stored: Stored, type: ResourceType): Buffer {
  const served = apiVersionOf(type)
  if (storageApiVersion(type) === served && startsWithVersion(stored.bytes, served)) return stored.bytes
  return Buffer.from(JSON.stringify(convertTo(decodeObject(stored), served, type)))
}

/** Objects of a CRD keep the version that they were stored in when its storage version changes. */
function startsWithVersion(bytes: Buffer, version: string): boolean {
  // Asked of every object in a list: no copies here.
  for (let i = 0; i < version.length; i++) if (bytes[15 + i] !== version.charCodeAt(i)) return false
  return bytes[15 + version.length] === 0x22
}

export async function sendObject(services: Services, x: Exchange, stored: Stored, code = 200): Promise<void> {
  if (x.form.as === undefined && x.form.format === 'json' && !isPretty(x)) return send(x, code, bytesAs(stored, x.type))
  const object = JSON.parse(bytesAs(stored, x.type).toString()) as KubeObject
  await sendValue(
    x,
    code,
    formed(services, x, [object], { resourceVersion: object.metadata.resourceVersion ?? '' }, false),
  )
}

/** Any JSON value that is not a stored object: Status, Scale, reviews, discovery. */
export async function sendValue(
  x: Pick<Exchange, 'reply' | 'form' | 'warnings' | 'info'>,
  code: number,
  value: unknown,
): Promise<void> {
  if (x.form.format === 'yaml') return send(x, code, Buffer.from(yamlText(value)), 'application/yaml')
  return send(x, code, Buffer.from(`${JSON.stringify(value, undefined, isPretty(x) ? 2 : undefined)}\n`))
}

/** YAML as other tools of Kubernetes write and read it: sorted, and by the rules of 1.1, so `"no"` and times are quoted. */
export function yamlText(value: unknown): string {
  return stringify(value, { version: '1.1', sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false })
}

function isPretty(x: Pick<Exchange, 'reply' | 'info'>): boolean {
  return wantsPretty(x.info.query, x.reply.request.headers['user-agent'])
}

export async function sendList(services: Services, x: Exchange, list: ListResult): Promise<void> {
  const meta = {
    resourceVersion: String(list.revision),
    ...(list.continue && { continue: list.continue }),
    ...(list.remaining && { remainingItemCount: list.remaining }),
  }
  if (x.form.as !== undefined || x.form.format !== 'json') {
    const objects = list.items.map(stored => JSON.parse(bytesAs(stored, x.type).toString()) as KubeObject)
    return sendValue(x, 200, formed(services, x, objects, meta, true))
  }
  const head = Buffer.from(
    `{"kind":${JSON.stringify(x.type.listKind)},"apiVersion":"${apiVersionOf(x.type)}","metadata":${JSON.stringify(meta)},"items":[`,
  )
  const pieces: Buffer[] = [head]
  for (const stored of list.items) {
    if (pieces.length > 1) pieces.push(COMMA)
    pieces.push(bytesAs(stored, x.type))
  }
  pieces.push(LIST_END)
  let length = 0
  for (const piece of pieces) length += piece.length
  if (length <= PRETTY_LIMIT_BYTES && isPretty(x))
    return sendValue(x, 200, JSON.parse(Buffer.concat(pieces, length).toString()))
  if (length <= WHOLE_LIMIT_BYTES) return send(x, 200, Buffer.concat(pieces, length))
  return stream(services, x, pieces, length)
}

async function stream(services: Services, x: Exchange, pieces: readonly Buffer[], length: number): Promise<void> {
  const { raw } = x.reply.hijack()
  const zip = acceptsGzip(x.request) ? gzipStream() : undefined
  const framing = zip ? { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' } : { 'Content-Length': length }
  raw.writeHead(200, { ...headers(x), 'Content-Type': 'application/json', ...framing })
  // The client may leave at any time; what `pipeline` reports then is nobody's fault.
  if (zip) pipeline(zip, raw, () => {})
  const out: Writable = zip ?? raw
  if (await services.blocks.write(out, pieces)) out.end()
}

function formed(
  services: Services,
  x: Exchange,
  objects: KubeObject[],
  meta: Record<string, unknown>,
  isList: boolean,
): unknown {
  const { form, type } = x
  if (form.as === undefined) {
    return isList ? { kind: type.listKind, apiVersion: apiVersionOf(type), metadata: meta, items: objects } : objects[0]
  }
  if (form.as === 'Table') return tableOf(services, x, form, objects, meta, true)
  const wantsList = form.as === 'PartialObjectMetadataList'
  if (wantsList !== isList) {
    const found = isList ? `is a list (${type.listKind})` : `is not a list (${type.kind})`
    throw new StatusError('NotAcceptable', `you requested ${form.as}, but the requested object ${found}`)
  }
  if (!isList) return partialMetadata(objects[0]!, form.version)
  const items = objects.map(object => partialMetadata(object, form.version))
  return { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${form.version}`, metadata: meta, items }
}

export function tableOf(
  services: Services,
  x: Pick<Exchange, 'info' | 'type'>,
  form: Form,
  objects: KubeObject[],
  meta: Record<string, unknown>,
  headers: boolean,
): object {
  const include = x.info.query.get('includeObject') || 'Metadata'
  if (include !== 'None' && include !== 'Metadata' && include !== 'Object') {
    throw statusError.badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
    )
  }
  return tableFor({
    type: x.type,
    objects,
    listMeta: meta as { resourceVersion: string },
    includeObject: include,
    version: form.version,
    now: services.deps.clock(),
    headers,
  })
}

export function headers(x: Pick<Exchange, 'warnings'>): Record<string, string | string[]> {
  const base = { 'Cache-Control': 'no-cache, private' }
  if (x.warnings.length === 0) return base
  // RFC 7234 warn-code 299; quotes and controls would break the header's syntax.
  const texts = x.warnings.slice(0, 32).map(
    text =>
      `299 - "${text
        .replace(/[\\"]/g, '\\$&')
        .replace(/[^\x20-\x7e]/g, '?')
        .slice(0, 1024)}"`,
  )
  return { ...base, Warning: texts }
}

function send(
  x: Pick<Exchange, 'reply' | 'warnings'>,
  code: number,
  body: Buffer,
  contentType = 'application/json',
): void {
  x.reply.code(code).headers(headers(x)).type(contentType).send(body)
}
