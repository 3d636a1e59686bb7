/**
 * The canonical text of an object that says what others say, with its gaps: where its uid, its space and its times stand. It is the
 * text that codec.ts makes of the object, to the byte.
 */

import { jsonTextInSteps } from '../../apimachinery/jsonText.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { countUpTo } from '../../apimachinery/objectSize.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import type { Encoded, Gap } from '../../storage/store.ts'

/** Where own values stand in a value: `times` are all strings in it that are times, as in a status that is not too large. */
type Shape = Gap['kind'] | 'status' | 'times' | { readonly items: Shape } | { readonly [member: string]: Shape }

/** A Job selects its Pods by its uid, and has the labels of its template. */
const SELECTED: Shape = { 'batch.kubernetes.io/controller-uid': 'uid', 'controller-uid': 'uid' }
const METADATA: Shape = {
  uid: 'uid',
  labels: SELECTED,
  creationTimestamp: 'time',
  deletionTimestamp: 'time',
  annotations: { [CLUSTER_ANNOTATION]: 'space' },
  managedFields: { items: { time: 'time' } },
}
const BESIDE: Shape = {
  spec: { selector: { matchLabels: SELECTED }, template: { metadata: { labels: SELECTED } } },
  status: 'status',
}

/** In whole seconds, or in microseconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/
/** Characters of a short text. */
const SHORT = 64
/** Values of a status; times in a larger one are no gaps. */
const MOST_VALUES = 200

/** Texts of parts that are known already. The object's resourceVersion is left out. */
export function declaredText(object: KubeObject, known?: ReadonlyMap<object, string>): Encoded {
  const { apiVersion, kind, metadata, ...beside } = object
  const { resourceVersion: _, ...meta } = metadata
  const text = new GapText(metadata.uid, known)
  text.add(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`)
  if (text.members(meta, METADATA)) text.add(',')
  text.add('"resourceVersion":"')
  const head = text.cut()
  text.add('"},')
  const isAlone = !text.members(beside, BESIDE)
  const tail = `${text.cut()}}`
  return { head, tail: isAlone ? '"}}' : tail, gaps: text.gaps }
}

/** The same in steps, for a large object: its parts without gaps become texts first. */
export function* declaredInSteps(object: KubeObject): Steps<Encoded> {
  const { metadata, apiVersion: _, kind: _kind, ...beside } = object
  const known = new Map<object, string>()
  yield* addTexts(known, metadata, METADATA)
  yield* addTexts(known, beside, BESIDE)
  return declaredText(object, known)
}

function* addTexts(known: Map<object, string>, record: object, shape: Shape): Steps<void> {
  for (const [name, value] of Object.entries(record)) {
    if (typeof value !== 'object' || value === null) continue
    const inner = shapeOf(shape, name)
    if (inner === undefined || isLarge(value, inner)) known.set(value, yield* jsonTextInSteps(value))
    else if (isRecord(value)) yield* addTexts(known, value, inner)
  }
}

/** A text that grows, and its gaps so far, by bytes. */
class GapText {
  readonly gaps: Gap[] = []
  readonly #uid: string | undefined
  readonly #known: ReadonlyMap<object, string> | undefined
  /** Up to the last gap, and behind it. */
  #text = ''
  #rest = ''
  /** Bytes before the last gap. */
  #bytes = 0

  constructor(uid: string | undefined, known: ReadonlyMap<object, string> | undefined) {
    this.#uid = uid
    this.#known = known
  }

  add(text: string): void {
    this.#rest += text
  }

  /** The text so far; the next one follows it. */
  cut(): string {
    this.#count()
    const text = this.#text
    this.#text = ''
    return text
  }

  /** Answers whether there was any. */
  members(record: object, shape: Shape): boolean {
    let count = 0
    for (const name of Object.keys(record)) {
      const value = (record as Record<string, unknown>)[name]
      if (value === undefined) continue
      this.#rest += `${count++ === 0 ? '' : ','}${quoted(name)}:`
      this.#value(value, shapeOf(shape, name))
    }
    return count > 0
  }

  #value(value: unknown, shape: Shape | undefined): void {
    if (shape === undefined || isLarge(value, shape)) this.#rest += this.#plain(value)
    else if (Array.isArray(value)) {
      const items = shapeOf(shape, 'items')
      this.#rest += '['
      for (const [i, item] of value.entries()) {
        if (i > 0) this.#rest += ','
        this.#value(item, items)
      }
      this.#rest += ']'
    } else if (isRecord(value)) {
      this.#rest += '{'
      this.members(value, shape)
      this.#rest += '}'
    } else if (typeof value === 'string' && this.#isOwn(value, shape)) {
      this.#gap(isTimes(shape) ? 'time' : (shape as Gap['kind']), quoted(value))
    } else this.#rest += this.#plain(value)
  }

  #plain(value: unknown): string {
    if (typeof value === 'string') return quoted(value)
    const known = typeof value === 'object' && value !== null ? this.#known?.get(value) : undefined
    return known ?? JSON.stringify(value)
  }

  #isOwn(value: string, shape: Shape): boolean {
    return shape === 'uid' ? value === this.#uid : isTimes(shape) ? TIME.test(value) : typeof shape === 'string'
  }

  #gap(kind: Gap['kind'], quoted: string): void {
    this.#count()
    this.gaps.push({ at: this.#bytes + 1, length: Buffer.byteLength(quoted) - 2, kind })
    this.#rest = quoted
  }

  #count(): void {
    this.#bytes += Buffer.byteLength(this.#rest)
    this.#text += this.#rest
    this.#rest = ''
  }
}

/** As JSON.stringify writes it, which costs more for what is short and plain. */
function quoted(text: string): string {
  if (text.length > SHORT) return JSON.stringify(text)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text)
  }
  return `"${text}"`
}

function isTimes(shape: Shape): boolean {
  return shape === 'times' || shape === 'status'
}

function isLarge(value: unknown, shape: Shape): boolean {
  return shape === 'status' && countUpTo(value, MOST_VALUES) > MOST_VALUES
}

function shapeOf(shape: Shape, member: string): Shape | undefined {
  if (typeof shape === 'string') return isTimes(shape) ? 'times' : undefined
  return Object.hasOwn(shape, member) ? shape[member as keyof typeof shape] : undefined
}
