/** Entrance of previews of placement. They are handed to whoever places in this process; few at a time of each space. */
import { Counts } from '../../apimachinery/counts.ts'
import { StatusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import {
  MAX_PREVIEWS_AT_ONCE,
  type PlacementConsequence,
  type PlacementWrite,
  type PreviewReceiver,
  type PreviewSource,
} from '../../placement/desks/placementPreview.ts'
import { CUSTOMIZER_ANNOTATION, CUSTOMIZERS } from '../../placement/words/placement.ts'

const RETRY_SECONDS = 1

export class PreviewInbox implements PreviewSource {
  #receiver: PreviewReceiver | undefined
  /** Under way, by space: previews, and consequences of writes. */
  readonly #running = new Counts()
  readonly #writing = new Counts()

  deliverTo(receiver: PreviewReceiver | undefined): void {
    this.#receiver = receiver
  }

  /** `undefined`: unknown, or too many of the space are under way. No write waits for another's. */
  async consequence(write: PlacementWrite): Promise<PlacementConsequence | undefined> {
    return await this.#askOf(write, receiver => receiver.consequence(write))
  }

  /** Faults, in words. Empty also where nobody knows. */
  async locationFaults(write: PlacementWrite): Promise<readonly string[]> {
    return (await this.#askOf(write, receiver => receiver.locationFaults(write))) ?? []
  }

  async #askOf<R>({ space }: PlacementWrite, ask: (receiver: PreviewReceiver) => Promise<R>): Promise<R | undefined> {
    const receiver = this.#receiver
    if (!receiver || this.#writing.of(space) >= MAX_PREVIEWS_AT_ONCE) return undefined
    return await counted(this.#writing, space, () => ask(receiver))
  }

  /** Runs `use` with who answers. @throws StatusError TooManyRequests, ServiceUnavailable */
  async during<R>(
    space: string,
    use: (receiver: Pick<PreviewReceiver, 'preview' | 'compare'>) => Promise<R>,
  ): Promise<R> {
    const receiver = this.#receiver
    if (!receiver) throw new StatusError('ServiceUnavailable', 'the controller "placement" does not run here')
    const running = this.#running.of(space)
    if (running >= MAX_PREVIEWS_AT_ONCE) {
      const message = `${running} previews of this space are under way, of at most ${MAX_PREVIEWS_AT_ONCE}; try again`
      throw new StatusError('TooManyRequests', message, { retryAfterSeconds: RETRY_SECONDS })
    }
    return await counted(this.#running, space, () => use(receiver))
  }
}

async function counted<R>(running: Counts, space: string, use: () => Promise<R>): Promise<R> {
  running.add(space, 1)
  try {
    return await use()
  } finally {
    running.add(space, -1)
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
