/**
 * Lists as answers. Each is one revision of the store, whatever time its writing takes: stored versions do not change. Long ones are made
 * block by block as the client reads them, in slices that leave the loop to others. They stop when the client has gone. Only small ones are
 * ever there as a whole.
 */
import { apiVersionOf, type KubeObject } from '../../../apimachinery/object.ts'
import { listPiecesOf } from '../../../apimachinery/protobuf/envelope.ts'
import type { Work } from '../../../program/workTurns.ts'
import type { Stored } from '../../../storage/store.ts'
import type { ListResult } from '../../registry/reader.ts'
import { viewBytes } from '../../registry/views.ts'
import { partialMetadata, type TableParts, tableParts } from '../../tables/table.ts'
import { type Exchange, type Services, workOf } from '../exchange.ts'
import { lengthOf, sendKnown, sendPieces, sendRun, streamPieces } from './answerPieces.ts'
import { itemRun } from './itemRun.ts'
import { asItem, itemPieces } from './listItems.ts'
import { listText } from './listText.ts'
import { protobufForm } from './protobufForms.ts'
import { checkPartial, isPretty, tableOptions } from './respond.ts'

const LIST_END = Buffer.from(']}\n')
/** Longer lists are not indented for anyone. */
export const PRETTY_LIMIT_BYTES = 1024 * 1024
/** Stored objects that are looked at in a row: next to nothing, unless one has to be converted. */
const BATCH = 16
/**
 * Most lists have no more, since clients ask for pages. Their pieces are gathered first for the length: sending without it costs a quarter
 * more.
 */
const GATHERED = 10_000
/** Stored bytes that are gathered in a row. */
const GATHERED_AT_ONCE = 1024
/**
 * Encoded parts of a protobuf list that are kept until they are written. Parts behind the bound are encoded again then. Those of a list
 * that is not very long are still there, and many lists at a time hold little each.
 */
const KEPT_PARTS_BYTES = 1024 * 1024

interface Listing {
  items: readonly Stored[]
  meta: Record<string, unknown>
  work: Work
}

export async function sendList(services: Services, exchange: Exchange, list: ListResult): Promise<void> {
  const meta = {
    resourceVersion: String(list.revision),
    ...(list.continue && { continue: list.continue }),
    ...(list.remaining && { remainingItemCount: list.remaining }),
  }
  const listing: Listing = { items: list.items, meta, work: workOf(services, exchange) }
  const { format, as } = exchange.form
  if (format === 'protobuf') return sendProtobufList(services, exchange, listing)
  const isPlain = as === undefined && format === 'json'
  const indents = format === 'json' && isPretty(exchange) && !(isPlain && isLongerThan(list, PRETTY_LIMIT_BYTES))
  if (isPlain && !indents) return sendJsonList(services, exchange, listing)
  const { entry, rank, ...around } = listForm(services, exchange, meta)
  const objectOf = (stored: Stored): KubeObject => parse(stored, exchange)
  const items = rank ? await ranked(listing, stored => rank(objectOf(stored))) : list.items
  const entries = items.values().map(stored => entry(objectOf(stored)))
  const text = listText({ ...around, entries }, indents ? 'pretty' : format)
  await sendPieces(services, exchange, { pieces: bytesOf(text), format, ...listing })
}

/** Frame around the entries of a list, and the form of each object in it. */
interface ListForm {
  head: object
  member: 'items' | 'rows'
  entry(object: KubeObject): unknown
  /** Where an entry stands, when the order is not that of the objects. */
  rank?: TableParts['rank']
}

function listForm(services: Services, exchange: Exchange, meta: Record<string, unknown>): ListForm {
  const { form, type } = exchange
  if (form.as === 'Table') {
    const { row: entry, ...rest } = tableParts(tableOptions(services, exchange, form, meta, true))
    return { ...rest, member: 'rows', entry }
  }
  if (form.as === undefined) {
    const head = { kind: type.listKind, apiVersion: apiVersionOf(type), metadata: meta }
    return { head, member: 'items', entry: object => asItem(object, type) }
  }
  checkPartial(exchange, true)
  const head = { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${form.version}`, metadata: meta }
  return { head, member: 'items', entry: object => partialMetadata(object, form.version) }
}

function parse(stored: Stored, { type }: Exchange): KubeObject {
  return JSON.parse(viewBytes(stored, type).toString()) as KubeObject
}

/** Only the ranks are kept: all objects at a time are many times as much as what is stored of them. */
async function ranked({ items, work }: Listing, rankOf: (stored: Stored) => number): Promise<readonly Stored[]> {
  const places: { readonly stored: Stored; readonly rank: number }[] = []
  for (const stored of items) {
    places.push({ stored, rank: rankOf(stored) })
    if (work.due) await work.rest()
  }
  return places.sort((a, b) => a.rank - b.rank).map(({ stored }) => stored)
}

function isLongerThan({ items }: ListResult, limit: number): boolean {
  let length = 0
  for (const { bytes } of items) {
    length += bytes.length
    if (length > limit) return true
  }
  return false
}

function* bytesOf(text: Iterable<string>): Generator<[Buffer]> {
  for (const piece of text) yield [Buffer.from(piece)]
}

/** Stored bytes, as they are wherever they can be. */
async function sendJsonList(services: Services, exchange: Exchange, listing: Listing): Promise<void> {
  const { type } = exchange
  const { items, meta, work } = listing
  const head = Buffer.from(
    `{"kind":${JSON.stringify(type.listKind)},"apiVersion":"${apiVersionOf(type)}","metadata":${JSON.stringify(meta)},"items":[`,
  )
  const append = itemPieces(type)
  if (items.length > GATHERED) {
    return await sendPieces(services, exchange, { pieces: jsonPieces(head, items, append), format: 'json', ...listing })
  }
  const run = await itemRun(type, { head, items, work })
  if (run !== undefined) return await sendRun(services, exchange, { run, items, work })
  const pieces: Buffer[] = [head]
  const mayConvert = type.custom !== undefined || type.version !== type.storageVersion
  const batch = mayConvert ? BATCH : GATHERED_AT_ONCE
  for (let i = 0; i < items.length; i++) {
    append(items[i]!, i === 0, pieces)
    if (i % batch === batch - 1 && work.due) await work.rest()
  }
  pieces.push(LIST_END)
  await sendKnown(services, exchange, { pieces, length: lengthOf(pieces), format: 'json', ...listing })
}

function* jsonPieces(
  head: Buffer,
  items: readonly Stored[],
  append: ReturnType<typeof itemPieces>,
): Generator<Buffer[]> {
  let pieces = [head]
  for (const [i, stored] of items.entries()) {
    append(stored, i === 0, pieces)
    if (i % BATCH < BATCH - 1) continue
    yield pieces
    pieces = []
  }
  pieces.push(LIST_END)
  yield pieces
}

/**
 * The length of everything stands before it, so all is encoded first, but for long parts with a known length. A very long list is encoded
 * once more as it is written: that takes longer, and memory for a part of it.
 */
async function sendProtobufList(services: Services, exchange: Exchange, listing: Listing): Promise<void> {
  const { items, meta, work } = listing
  checkPartial(exchange, true)
  const form = protobufForm(services, exchange.type, exchange.form)
  const kind = exchange.form.as === undefined ? exchange.type.listKind : `${form.kind}List`
  const kept: Buffer[] = []
  let partBytes = 0
  for (const stored of items) {
    // Before each, as one alone may be long.
    if (work.due) await work.rest()
    if (partBytes > KEPT_PARTS_BYTES) {
      partBytes += form.partLength(stored)
      continue
    }
    const part = form.part(stored)
    partBytes += part.length
    if (partBytes <= KEPT_PARTS_BYTES) kept.push(part)
  }
  const metadata = services.protobuf.encodeListMeta(meta)
  const { before, after } = listPiecesOf({ apiVersion: form.apiVersion, kind }, metadata, partBytes)
  const length = lengthOf(before) + partBytes + lengthOf(after)
  // A short one is there as a whole.
  if (kept.length === items.length) {
    return await sendKnown(services, exchange, {
      pieces: [...before, ...kept, ...after],
      length,
      format: 'protobuf',
      ...listing,
    })
  }
  const part = (i: number): Buffer => kept[i] ?? form.part(items[i]!)
  const pieces = oneByOne(before, items.length, part, after)
  await streamPieces(services, exchange, { pieces, length, format: 'protobuf', ...listing })
}

function* oneByOne(
  before: readonly Buffer[],
  count: number,
  part: (i: number) => Buffer,
  after: readonly Buffer[],
): Generator<readonly Buffer[]> {
  yield before
  for (let i = 0; i < count; i++) yield [part(i)]
  yield after
}
