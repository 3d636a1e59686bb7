/**
 * Content negotiation: which form of an object or list the client wants.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { StatusError } from '../../apimachinery/errors.ts'
import { PROTOBUF_MEDIA_TYPE } from '../../apimachinery/protobuf/protobufCodec.ts'

export interface Form {
  format: Format
  /** `undefined`: the object as it is. */
  as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** Version of meta.k8s.io. */
  version: 'v1' | 'v1beta1'
}
export type Format = 'json' | 'yaml' | 'protobuf'

/** Whether the metadata alone is shown. */
export function isPartial({ as }: Form): boolean {
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList'
}

export const PLAIN: Form = { format: 'json', as: undefined, version: 'v1' }
const MEDIA_TYPES = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE]
export const WATCH_MEDIA_TYPES = ['application/json;stream=watch', `${PROTOBUF_MEDIA_TYPE};stream=watch`]

/**
 * The first entry, in the client's order of preference, that can be served. `hasProtobuf` and `hasTable` answer on demand whether the
 * result has such a form; metadata always has a protobuf form, tables never.
 * @throws StatusError NotAcceptable
 */
export function negotiate(
  accept: string | undefined,
  hasProtobuf: () => boolean = () => false,
  hasTable: () => boolean = () => true,
): Form {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return PLAIN
  for (const { media, options } of preferences(accept)) {
    const format = formatOf(media)
    if (format === undefined) continue
    const as = options.get('as')
    if (as === undefined) {
      if (format === 'protobuf' && !hasProtobuf()) continue
      return { ...PLAIN, format }
    }
    const version = options.get('v')
    if (options.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue
    if (as === 'Table' && (format === 'protobuf' || !hasTable())) continue
    if (as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')
      return { format, as, version }
  }
  throw notAcceptable(MEDIA_TYPES)
}

/**
 * The format of what is no resource and so has neither tables nor metadata of its own.
 * @throws StatusError NotAcceptable
 */
export function negotiateFormat(accept: string | undefined, hasProtobuf = false): Format {
  if (accept === undefined || accept === '' || accept === 'application/json') return 'json'
  for (const { media, options } of preferences(accept)) {
    const format = formatOf(media)
    if (format !== undefined && !options.has('as') && (format !== 'protobuf' || hasProtobuf)) return format
  }
  throw notAcceptable(MEDIA_TYPES)
}

/** Whether the client would like plain text. */
export function acceptsText(accept: string | undefined): boolean {
  return accept !== undefined && preferences(accept).some(({ media }) => media === 'text/plain' || media === 'text/*')
}

/** The form of an error's Status, which has them all: as for a plain object. */
export function errorFormat(accept: string | undefined): Format {
  if (accept === undefined || accept === 'application/json') return 'json'
  const plain = preferences(accept).find(({ media, options }) => formatOf(media) !== undefined && !options.has('as'))
  return (plain && formatOf(plain.media)) ?? 'json'
}

export function notAcceptable(accepted: readonly string[]): StatusError {
  return new StatusError('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: PROTOBUF_MEDIA_TYPE,
}

interface Preference {
  /** Lower case, without parameters. */
  media: string
  options: ReadonlyMap<string, string>
  quality: number
}

/** No client has so many wishes; sorting them takes its time. */
export const ENTRIES_LIMIT = 100
/** Nor says so much of one: what stands behind these is not read. Headers may have 64 KiB, and strangers send them too. */
export const PARAMETERS_LIMIT = 20

// Follow from the text alone, and a client says the same each time.
const read = new BoundedCache<string, readonly Preference[]>(64)
/** Longer wishes are read anew. */
const KEPT_LENGTH = 256

export function preferences(accept: string): readonly Preference[] {
  const known = read.peek(accept)
  if (known !== undefined) return known
  const entries = inOrder(accept)
  if (accept.length <= KEPT_LENGTH) read.set(accept, entries)
  return entries
}

function inOrder(accept: string): readonly Preference[] {
  const entries = accept.split(',', ENTRIES_LIMIT).map(parseEntry)
  // Upstream's order: an entry moves before its neighbour when it has the greater quality or fewer wildcards.
  for (let i = 1; i < entries.length; i++) {
    for (let j = i; j > 0 && isBefore(entries[j]!, entries[j - 1]!); j--) {
      ;[entries[j - 1], entries[j]] = [entries[j]!, entries[j - 1]!]
    }
  }
  return entries
}

function parseEntry(entry: string): Preference {
  const [media = '', ...parameters] = entry.split(';', PARAMETERS_LIMIT + 1).map(part => part.trim())
  const options = new Map(parameters.map(p => [p.slice(0, p.indexOf('=')), p.slice(p.indexOf('=') + 1)]))
  const q = options.get('q')
  return { media: media.toLowerCase(), options, quality: q === undefined ? 1 : Number(q) || 0 }
}

function isBefore(a: Preference, b: Preference): boolean {
  if (a.quality > b.quality) return true
  return (b.media.startsWith('*') && !a.media.startsWith('*')) || (b.media.endsWith('*') && !a.media.endsWith('*'))
}

function formatOf(media: string): Format | undefined {
  if (media === 'application/json' || media === '*/*' || media === 'application/*') return 'json'
  if (media === PROTOBUF_MEDIA_TYPE) return 'protobuf'
  return media === 'application/yaml' ? 'yaml' : undefined
}

/** Agents behind which a person reads the bare answer. */
const READERS = /^(curl|Wget|Mozilla\/5\.0)/

/** Whether JSON is indented: as `pretty` says, else for browsers and command-line HTTP tools, as upstream. */
export function wantsPretty(query: URLSearchParams, agent: string | undefined): boolean {
  const given = query.get('pretty')
  if (given !== null && given !== '') return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(given)
  return agent !== undefined && READERS.test(agent)
}
