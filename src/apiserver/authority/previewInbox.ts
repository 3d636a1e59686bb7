/** Where previews of placement are asked for. They are handed to whoever places in this process; few at a time of each space. */
import { StatusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { CUSTOMIZER_ANNOTATION, CUSTOMIZERS } from '../../apimachinery/placement.ts'
import {
  MAX_PREVIEWS_AT_ONCE,
  type ObjectPreview,
  type PreviewReceiver,
  type PreviewRequest,
  type PreviewSource,
} from '../../apimachinery/placementPreview.ts'

const RETRY_SECONDS = 1

export class PreviewInbox implements PreviewSource {
  #receiver: PreviewReceiver | undefined
  /** Under way, by space. */
  readonly #running = new Map<string, number>()

  deliverTo(receiver: PreviewReceiver | undefined): void {
    this.#receiver = receiver
  }

  /** Runs `use` with who answers. @throws StatusError TooManyRequests, ServiceUnavailable */
  async during<R>(
    space: string,
    use: (ask: (request: PreviewRequest) => Promise<ObjectPreview[]>) => Promise<R>,
  ): Promise<R> {
    const receiver = this.#receiver
    if (!receiver) throw new StatusError('ServiceUnavailable', 'the placement-translator does not run here')
    const running = this.#running.get(space) ?? 0
    if (running >= MAX_PREVIEWS_AT_ONCE) {
      const message = `${running} previews of this space are under way, of at most ${MAX_PREVIEWS_AT_ONCE}; try again`
      throw new StatusError('TooManyRequests', message, { retryAfterSeconds: RETRY_SECONDS })
    }
    this.#running.set(space, running + 1)
    try {
      return await use(request => receiver.preview(request))
    } finally {
      const left = this.#running.get(space)! - 1
      if (left > 0) this.#running.set(space, left)
      else this.#running.delete(space)
    }
  }
}

/** The Customizer that an object names; `undefined`: none. */
export function customizerOf({
  metadata,
}: KubeObject): (GroupVersionResource & { namespace: string; name: string }) | undefined {
  const reference = metadata.annotations?.[CUSTOMIZER_ANNOTATION] ?? ''
  if (reference === '') return undefined
  const slash = reference.indexOf('/')
  const [namespace, name] =
    slash < 0 ? [metadata.namespace ?? '', reference] : [reference.slice(0, slash), reference.slice(slash + 1)]
  return { ...CUSTOMIZERS, namespace, name }
}
