/**
 * Values that always differ between two servers are replaced. Identities and versions become the step that showed them first (so that
 * "unchanged" still shows), and so do addresses and ports of a Service. Times and ages become a word. Annotations that tell the space go.
 */
import { isRecord } from '../../src/apimachinery/object.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const AGE = /^(\d+[ydhms])+$|^<invalid>$/
const UID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const CLUSTER = 'kcp.io/cluster'
/** Suffixes of generated names, of continue tokens: opaque, random. */
const GENERATED = /(-gen-)[a-z0-9]{5}\b/g

/** Out of the range that both servers have. */
const GIVEN_ADDRESS = /^10\.0\.\d+\.\d+$/
const PORTS: ReadonlySet<string> = new Set(['nodePort', 'healthCheckNodePort'])
const [FIRST_GIVEN_PORT, LAST_GIVEN_PORT] = [30_000, 32_767]

export interface NormalizeOptions {
  managedFields: boolean
}

/** One per script: names what it sees in the order in which it sees it. */
export class Normalizer {
  readonly #options: NormalizeOptions
  readonly #firstSeen = new Map<string, string>()
  /** How many values each step was the first to show, by word. */
  readonly #counts = new Map<string, number>()
  #step = ''

  constructor(options: NormalizeOptions) {
    this.#options = options
  }

  /** From here on, what is new is new in the step of this id. */
  enter(step: string): void {
    this.#step = step
  }

  /** A new value; object members come out in the order of their names. */
  body(value: unknown): unknown {
    if (isRecord(value) && value.kind === 'Table') return this.#table(value)
    return this.#value(value, '', false)
  }

  #value(value: unknown, field: string, inMetadata: boolean): unknown {
    if (typeof value === 'string') return this.text(value, field, inMetadata)
    if (typeof value === 'number') return PORTS.has(field) ? this.#port(value) : value
    if (Array.isArray(value)) {
      if (field === 'clusterIPs') return value.map(item => this.#value(item, 'clusterIP', false))
      if (field === 'managedFields') return this.#managers(value)
      return value.map(item => this.#value(item, '', false))
    }
    if (!isRecord(value)) return value
    if (value.kind === 'Table' && !('cells' in value) && field === 'object') return this.#table(value)
    const isList = Array.isArray(value.items)
    const result: Record<string, unknown> = {}
    for (const name of Object.keys(value).sort()) {
      const member = value[name]
      if (name === 'managedFields' && !this.#options.managedFields) continue
      if (name === 'metadata' && isRecord(member)) result[name] = this.#metadata(member, isList)
      else if (name === 'fieldsV1') result[name] = withoutCluster(member)
      else result[name] = this.#value(member, name, false)
    }
    return result
  }

  #metadata(metadata: Record<string, unknown>, ofList: boolean): unknown {
    const copy = { ...metadata }
    if (ofList && 'resourceVersion' in copy) copy.resourceVersion = 'version of the list'
    if (typeof copy.continue === 'string') copy.continue = 'token'
    if (isRecord(copy.annotations) && CLUSTER in copy.annotations) {
      const { [CLUSTER]: _, ...rest } = copy.annotations
      if (Object.keys(rest).length > 0) copy.annotations = rest
      else delete copy.annotations
    }
    // Servers before 1.34 and decoders of all ages write an absent time as null.
    if (copy.creationTimestamp === null) delete copy.creationTimestamp
    const result: Record<string, unknown> = {}
    for (const name of Object.keys(copy).sort()) {
      if (name === 'managedFields' && !this.#options.managedFields) continue
      result[name] = this.#value(copy[name], name, !ofList)
    }
    return result
  }

  #managers(entries: readonly unknown[]): unknown {
    const order = (entry: unknown): string =>
      isRecord(entry) ? `${entry.operation} ${entry.manager} ${entry.apiVersion} ${entry.subresource ?? ''}` : ''
    return entries.map(entry => this.#value(entry, '', false)).toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
  }

  /** Columns without their descriptions, cells without ages. */
  #table(table: Record<string, unknown>): unknown {
    const columns = (table.columnDefinitions as Record<string, unknown>[] | undefined)?.map(
      ({ description: _, ...column }) => column,
    )
    const rows = (table.rows as Record<string, unknown>[] | null)?.map(row => ({
      ...row,
      cells: (row.cells as unknown[]).map(cell => (typeof cell === 'string' && AGE.test(cell) ? 'age' : cell)),
    }))
    const metadata = isRecord(table.metadata) ? { ...table.metadata } : {}
    if ('resourceVersion' in metadata) metadata.resourceVersion = 'version of the list'
    return this.#value({ ...table, metadata, columnDefinitions: columns, rows }, '', false)
  }

  text(text: string, field = '', inMetadata = false): string {
    if (field === 'resourceVersion' && inMetadata && text !== '') return this.#known(text, 'version')
    if (TIME.test(text)) return 'time'
    if (field === 'clusterIP' && GIVEN_ADDRESS.test(text)) return this.#known(text, 'address')
    return text
      .replace(UID, uid => this.#known(uid, 'uid'))
      .replace(GENERATED, '$1suffix')
      .replace(/(X509SHA256=)[0-9a-f]+/g, '$1fingerprint')
      .replace(/(current: |in record \()\d+/g, '$1number')
  }

  #port(port: number): number | string {
    return port >= FIRST_GIVEN_PORT && port <= LAST_GIVEN_PORT ? this.#known(String(port), 'port') : port
  }

  /** `version of 5f3c9a`: two steps show the same value exactly when they show the same words. */
  #known(value: string, word: string): string {
    const seen = this.#firstSeen.get(`${word} ${value}`)
    if (seen !== undefined) return seen
    const first = `${word} of ${this.#step}`
    const count = (this.#counts.get(first) ?? 0) + 1
    this.#counts.set(first, count)
    const name = count === 1 ? first : `${first} (${count})`
    this.#firstSeen.set(`${word} ${value}`, name)
    return name
  }
}

/** The claim on the annotation that tells the space, and on nothing but it. */
function withoutCluster(fields: unknown): unknown {
  if (!isRecord(fields)) return fields
  const metadata = fields['f:metadata']
  const annotations = isRecord(metadata) ? metadata['f:annotations'] : undefined
  if (!isRecord(metadata) || !isRecord(annotations) || !(`f:${CLUSTER}` in annotations)) return sorted(fields)
  const { [`f:${CLUSTER}`]: _, ...claims } = annotations
  const { 'f:annotations': __, ...others } = metadata
  const empty = Object.keys(claims).every(claim => claim === '.')
  const rest = empty ? others : { ...others, 'f:annotations': claims }
  const { 'f:metadata': ___, ...fieldsLeft } = fields
  return sorted(Object.keys(rest).length > 0 ? { ...fieldsLeft, 'f:metadata': rest } : fieldsLeft)
}

function sorted(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(name => [name, sorted(value[name])]),
  )
}
