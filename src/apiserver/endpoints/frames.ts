/**
 * Watch frames: one JSON line for each event, made once and shared by all watchers that want the same form.
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

  /** `form` names the representation; `render` makes its bytes when it is asked for the first time. */
  frame(type: FrameType, stored: Stored, form = '', render: (stored: Stored) => Buffer = s => s.bytes): Buffer {
    let forms = this.#frames.get(stored)
    if (forms === undefined) {
      forms = new Map()
      this.#frames.set(stored, forms)
    }
    const key = form === '' ? type : `${type} ${form}`
    let frame = forms.get(key)
    if (frame === undefined) {
      frame = Buffer.concat([HEADS[type], render(stored), END])
      forms.set(key, frame)
    }
    return frame
  }

  /** A frame that nobody else will want. */
  single(type: FrameType, bytes: Buffer): Buffer {
    return Buffer.concat([HEADS[type], bytes, END])
  }
}

export function bookmarkFrame(o: {
  apiVersion: string
  kind: string
  revision: number
  initialEventsEnd: boolean
}): Buffer {
  const annotations = o.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  const metadata = { resourceVersion: String(o.revision), creationTimestamp: null, ...annotations }
  return Buffer.from(
    `${JSON.stringify({ type: 'BOOKMARK', object: { kind: o.kind, apiVersion: o.apiVersion, metadata } })}\n`,
  )
}

export function errorFrame(status: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
}
