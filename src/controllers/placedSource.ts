/**
 * A stream over all spaces for controllers that do what objects there command: placements, slices, inventories, Customizers. Objects in a
 * mailbox command nothing. A mailbox holds sent content and its cluster's reports. Its syncer may write all of it, and by upsync so may any
 * administrator of that cluster.
 *
 * An event of a space whose place is still unknown is held, and delivered when the space turns out to be an ordinary one. The tree knows a
 * space before the first write there, so this is the exception. No order between the tree and this stream is relied upon.
 */

import { MapOfMaps } from '../apimachinery/nestedMaps.ts'
import type { GroupResource } from '../apimachinery/object.ts'
import type { StreamEvent } from '../client/client.ts'
import type { Source } from '../client/controller.ts'
import { type StreamedRef, StreamSource, type StreamSourceOptions } from '../client/streamSource.ts'
import { isInMailbox } from '../placement/words/placement.ts'

/** Where spaces stand in the tree. */
export interface SpacePlaces {
  /** Path from the root by id; `undefined` while, or after, there is no such space. It never changes otherwise. */
  pathOf(space: string): string | undefined
  /** The way back: the id of the space that is at a path from the root now. Another one may be there later. */
  idAt(path: string): string | undefined
  /** Ids of the spaces above it, from the root, and its own; none when there is no such space. */
  lineageOf(space: string): readonly string[]
  /** Whether it, or a space above it, is being deleted with all that is in it. */
  isDeleting(space: string): boolean
  /** Tells each space that becomes known from now on; the answer ends that. */
  onKnown(listener: (space: string) => void): () => void
  /** Tells each space that is gone; the answer ends that. */
  onGone(listener: (space: string) => void): () => void
}

/** Whether the space is a mailbox or lies below one; `undefined` when nobody knows such a space. */
export function standsInMailbox(places: SpacePlaces, space: string): boolean | undefined {
  const path = places.pathOf(space)
  return path === undefined ? undefined : isInMailbox(path)
}

interface PlacedSourceOptions extends StreamSourceOptions {
  places: SpacePlaces
}

export class PlacedSource implements Source {
  readonly #options: PlacedSourceOptions
  readonly #source: StreamSource
  /** The newest event of each object, by space. */
  readonly #held = new MapOfMaps<StreamEvent>()

  constructor(options: PlacedSourceOptions) {
    const { handler } = options
    this.#options = options
    this.#source = new StreamSource({
      ...options,
      handler: {
        begin: () => {
          this.#held.clear()
          handler.begin?.()
        },
        change: event => this.#change(event),
        ...(handler.vanished && {
          vanished: (ref: StreamedRef) => {
            this.#held.delete(ref.space, idOf(ref))
            handler.vanished?.(ref)
          },
        }),
        synced: revision => handler.synced?.(revision),
        waits: (...waiting) => handler.waits?.(...waiting),
      },
    })
  }

  get synced(): Promise<void> {
    return this.#source.synced
  }

  /** Whether something of the space waits until its place is known; given a kind, something of that kind. */
  holds(space: string, kind?: GroupResource): boolean {
    if (!kind) return this.#held.has(space)
    const isOf = ({ resource }: StreamEvent) => resource.group === kind.group && resource.resource === kind.resource
    return this.#held.of(space).values().some(isOf)
  }

  /** Whether something of any space does. */
  get holdsAny(): boolean {
    return this.#held.size > 0
  }

  async run(signal: AbortSignal): Promise<void> {
    const end = this.#options.places.onKnown(space => this.#release(space))
    try {
      await this.#source.run(signal)
    } finally {
      end()
    }
  }

  #change(event: StreamEvent): void {
    const { handler, places } = this.#options
    if (event.type === 'DELETED') {
      this.#held.delete(event.space, idOf(event))
      handler.change(event)
      return
    }
    const inert = standsInMailbox(places, event.space)
    if (inert === undefined) this.#held.set(event.space, idOf(event), event)
    else if (!inert) handler.change(event)
  }

  #release(space: string): void {
    const { handler, logger, places } = this.#options
    const held = this.#held.deleteAll(space)
    if (held.size === 0 || standsInMailbox(places, space) !== false) return
    for (const event of held.values()) {
      try {
        handler.change(event)
      } catch (error) {
        const { resource, namespace, name } = event
        logger.error({ space, resource, namespace, name, err: error }, 'handler failed, event skipped')
      }
    }
  }
}

function idOf({ resource, namespace, name }: StreamedRef): string {
  return `${resource.group}|${resource.resource}|${namespace}|${name}`
}
