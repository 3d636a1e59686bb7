/**
 * Watch frames: one JSON line or one length-prefixed protobuf message for each event, made once and shared by all watchers
 * that want the same form.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
import type { Stored } from '../../storage/store.ts'

export type FrameType = 'ADDED' | 'MODIFIED' | 'DELETED'

const END = Buffer.from('}\n')
const HEADS: Record<FrameType, Buffer> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
}

export class FrameCache {
  /** By version of an object and then by form; entries live as long as the version does in memory. */
  readonly #frames = new WeakMap<Stored, Map<string, Buffer>>()

  /** `form` names the representation; `make` makes the whole frame when it is asked for the first time. */
  frame(type: FrameType, stored: Stored, form: string, make: (type: FrameType, stored: Stored) => Buffer): Buffer {
    return this.shared(stored, `${type} ${form}`, () => make(type, stored))
  }

  /** Any other bytes that follow from a version of an object. */
  shared(stored: Stored, form: string, make: () => Buffer): Buffer {
    let forms = this.#frames.get(stored)
    if (forms === undefined) {
      forms = new Map()
      this.#frames.set(stored, forms)
    }
    let bytes = forms.get(form)
    if (bytes === undefined) {
      bytes = make()
      forms.set(form, bytes)
    }
    return bytes
  }

  /** What `shared` keeps, if it does. */
  known(stored: Stored, form: string): Buffer | undefined {
    return this.#frames.get(stored)?.get(form)
  }
}

export function jsonFrame(type: FrameType, object: Buffer): Buffer {
  return Buffer.concat([HEADS[type], object, END])
}

/** A BOOKMARK's object. */
export function bookmarkObject(o: { apiVersion: string; kind: string; revision: number; initialEventsEnd: boolean }): {
  kind: string
  apiVersion: string
  metadata: object
} {
  const annotations = o.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  const metadata = { resourceVersion: String(o.revision), creationTimestamp: null, ...annotations }
  return { kind: o.kind, apiVersion: o.apiVersion, metadata }
}

/** A BOOKMARK or an ERROR. */
export function jsonEvent(type: 'BOOKMARK' | 'ERROR', object: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`)
}
