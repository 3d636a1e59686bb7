/**
 * The canonical text of an object that says what others say, with its gaps: where its uid, its space and its times stand. It is the
 * text that codec.ts makes of the object, to the byte.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { countUpTo } from '../../apimachinery/objectSize.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import type { Encoded, Gap } from '../../storage/store.ts'

/** Where own values stand in a value: `times` are all strings in it that are times. */
type Shape = Gap['kind'] | 'times' | { readonly items: Shape } | { readonly [member: string]: Shape }

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
  status: 'times',
}

/** In whole seconds, or in microseconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/
/** Of a status: times in a larger one are no gaps. */
const MOST_VALUES = 200

/** `write`: the text of a plain value. The object's resourceVersion is left out. */
export function* declaredText(object: KubeObject, write: (value: object) => Steps<string>): Steps<Encoded> {
  const { apiVersion, kind, metadata, ...beside } = object
  const { resourceVersion: _, ...meta } = metadata
  const text = new GapText(metadata.uid, write)
  text.add(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`)
  if (yield* text.members(meta, METADATA)) text.add(',')
  text.add('"resourceVersion":"')
  const head = text.cut()
  text.add('"},')
  const isAlone = !(yield* text.members(beside, BESIDE))
  const tail = `${text.cut()}}`
  return { head, tail: isAlone ? '"}}' : tail, gaps: text.gaps }
}

/** A text that grows, and its gaps so far, by bytes. */
class GapText {
  readonly gaps: Gap[] = []
  readonly #uid: string | undefined
  readonly #write: (value: object) => Steps<string>
  #text = ''
  /** How much of the text is counted, and its bytes with those of all that was cut. */
  #counted = 0
  #bytes = 0

  constructor(uid: string | undefined, write: (value: object) => Steps<string>) {
    this.#uid = uid
    this.#write = write
  }

  add(text: string): void {
    this.#text += text
  }

  /** The text so far; the next one follows it. */
  cut(): string {
    this.#count()
    const text = this.#text
    this.#text = ''
    this.#counted = 0
    return text
  }

  /** Answers whether there was any. */
  *members(record: object, shape: Shape): Steps<boolean> {
    let count = 0
    for (const [name, value] of Object.entries(record)) {
      if (value === undefined) continue
      this.#text += `${count++ === 0 ? '' : ','}${JSON.stringify(name)}:`
      yield* this.#value(value, shapeOf(shape, name))
    }
    return count > 0
  }

  *#value(value: unknown, shape: Shape | undefined): Steps<void> {
    if (shape === undefined || (shape === 'times' && countUpTo(value, MOST_VALUES) > MOST_VALUES)) {
      this.#text += typeof value === 'object' && value !== null ? yield* this.#write(value) : JSON.stringify(value)
    } else if (Array.isArray(value)) {
      this.#text += '['
      for (const [i, item] of value.entries()) {
        if (i > 0) this.#text += ','
        yield* this.#value(item, shape === 'times' ? shape : shapeOf(shape, 'items'))
      }
      this.#text += ']'
    } else if (isRecord(value)) {
      this.#text += '{'
      yield* this.members(value, shape)
      this.#text += '}'
    } else if (typeof value === 'string' && this.#isOwn(value, shape)) {
      this.#gap(shape === 'times' ? 'time' : (shape as Gap['kind']), JSON.stringify(value))
    } else this.#text += JSON.stringify(value)
  }

  #isOwn(value: string, shape: Shape): boolean {
    return shape === 'uid' ? value === this.#uid : shape === 'times' ? TIME.test(value) : typeof shape === 'string'
  }

  #gap(kind: Gap['kind'], quoted: string): void {
    this.#count()
    this.gaps.push({ at: this.#bytes + 1, length: Buffer.byteLength(quoted) - 2, kind })
    this.#text += quoted
  }

  #count(): void {
    this.#bytes += Buffer.byteLength(this.#text.slice(this.#counted))
    this.#counted = this.#text.length
  }
}

function shapeOf(shape: Shape, member: string): Shape | undefined {
  if (shape === 'times') return shape
  return typeof shape === 'string' || !Object.hasOwn(shape, member) ? undefined : shape[member as keyof typeof shape]
}
