/**
 * Reads the lines of a space stream. A line's header comes first and is read alone; the object behind it is parsed only
 * when somebody asks for it.
 */
import { type Status, StatusError } from '../../apimachinery/errors.ts'
import { type GroupVersionResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { StreamBatch, StreamEvent } from '../client.ts'
import { parseLine } from './spaceClient.ts'

/** Cannot occur inside the header: its strings are names, and a quote within one would be escaped. */
const OBJECT = ',"object":'

/** The batches that some lines stand for, in order; bookmarks are batches of their own. `after` is the cursor before the lines. */
export function streamBatches(lines: readonly string[], after: number): (StreamBatch | StatusError)[] {
  const batches: (StreamBatch | StatusError)[] = []
  let events: StreamEvent[] = []
  let revision = after
  for (const line of lines) {
    const header = headerOf(line)
    if (header.type === 'ERROR') {
      if (events.length > 0) batches.push({ events, revision, synced: false })
      const status = isRecord(header.object) ? header.object : {}
      batches.push(StatusError.fromStatus(status as Partial<Status>, 500))
      return batches
    }
    if (header.type === 'QUESTION') {
      if (events.length > 0) batches.push({ events, revision, synced: false })
      batches.push({ events: [], revision, synced: false, question: header.question })
      events = []
      continue
    }
    const before = revision
    revision = Number(header.revision)
    if (!Number.isSafeInteger(revision)) throw new StatusError('InternalError', `no revision: ${line.slice(0, 200)}`)
    if (header.type === 'BOOKMARK') {
      if (events.length > 0) batches.push({ events, revision: before, synced: false })
      const { synced, epoch, protocol, restored } = header
      batches.push({
        events: [],
        revision,
        synced: synced === true,
        ...(typeof epoch === 'string' && { epoch }),
        ...(typeof protocol === 'number' && { protocol }),
        ...(restored === true && { restored }),
      })
      events = []
    } else events.push(new LineEvent(header, revision, line))
  }
  if (events.length > 0) batches.push({ events, revision, synced: false })
  return batches
}

function headerOf(line: string): Record<string, unknown> {
  const cut = line.indexOf(OBJECT)
  const whole = cut === -1 || line.startsWith('{"type":"ERROR"')
  const header = parseLine(whole ? line : `${line.slice(0, cut)}}`)
  if (!isRecord(header)) throw new StatusError('InternalError', `not a stream event: ${line.slice(0, 200)}`)
  return header
}

class LineEvent implements StreamEvent {
  readonly type: StreamEvent['type']
  readonly space: string
  readonly resource: GroupVersionResource
  readonly revision: number
  readonly isKnown: boolean
  readonly #namespace: string | undefined
  readonly #name: string | undefined
  readonly #line: string
  #object: KubeObject | undefined

  constructor(header: Record<string, unknown>, revision: number, line: string) {
    const { type, space, group, version, resource, namespace, name } = header
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') {
      throw new StatusError('InternalError', `unknown stream event: ${line.slice(0, 200)}`)
    }
    this.type = type
    this.space = String(space)
    this.resource = { group: String(group), version: String(version), resource: String(resource) }
    this.revision = revision
    this.isKnown = type === 'ADDED' && !line.includes(OBJECT)
    if (typeof name === 'string') {
      this.#name = name
      this.#namespace = typeof namespace === 'string' ? namespace : ''
    }
    this.#line = line
  }

  /** In the header when the server says it there, else from the object. */
  get namespace(): string {
    return this.#namespace ?? this.object.metadata.namespace ?? ''
  }

  get name(): string {
    return this.#name ?? this.object.metadata.name ?? ''
  }

  get object(): KubeObject {
    if (!this.#object) {
      const start = this.#line.indexOf(OBJECT) + OBJECT.length
      this.#object = parseLine(this.#line.slice(start, -1)) as KubeObject
    }
    return this.#object
  }

  mentions(text: string): boolean {
    return this.#line.includes(text, this.#line.indexOf(OBJECT) + OBJECT.length)
  }
}
