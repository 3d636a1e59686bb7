/** The one stream of what all spaces say of placing, and that of the mailboxes' Workspaces. They feed {@link TopologyFacts}. */
import type { GroupResource, KubeObject } from '../../../apimachinery/object.ts'
import { WORKSPACES } from '../../../apimachinery/resources.ts'
import type { Source } from '../../../client/controller.ts'
import { type StreamedRef, StreamSource } from '../../../client/streamSource.ts'
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  GRANTED_LOCATIONS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  MAILBOX_PARENT,
  PLACEMENT_GRANTS,
  SLICES,
  STATUS_COLLECTORS,
  SYNC_TARGETS,
} from '../../../placement/words/placement.ts'
import { takeConsent } from '../../consent/takeConsent.ts'
import { PlacedSource, type SpacePlaces } from '../../placedSource.ts'
import type { ControllerRuntime } from '../../spacesController.ts'
import { type Streamed, TopologyFacts } from './topologyFacts.ts'

export interface TopologyDeps extends ControllerRuntime {
  places: SpacePlaces
}

export class Topology {
  readonly facts: TopologyFacts
  readonly #placing: PlacedSource
  readonly #mailboxes: StreamSource
  readonly #logger: TopologyDeps['logger']
  readonly #stop = new AbortController()
  /** Resolved once every reader has the first snapshot, even if one of them failed: then the snapshot comes again. */
  readonly #read = {
    placing: Promise.withResolvers<void>(),
    /** Earlier than `placing` where something waits that is no SyncTarget. */
    targets: Promise.withResolvers<void>(),
    mailboxes: Promise.withResolvers<void>(),
  }
  #running: Promise<unknown> | undefined

  constructor(deps: TopologyDeps) {
    const facts = new TopologyFacts(deps.places)
    this.facts = facts
    this.#logger = deps.logger
    this.#placing = new PlacedSource({
      ...deps,
      space: '*',
      resources: [
        ...[EDGE_PLACEMENTS, SLICES, LOCATIONS, SYNC_TARGETS, CUSTOMIZERS, STATUS_COLLECTORS],
        ...[INVENTORY_BINDINGS, PLACEMENT_GRANTS, GRANTED_LOCATIONS],
      ],
      handler: {
        begin: () => facts.send(reader => reader.begin?.()),
        change: event => {
          if (takeConsent(facts, event)) return
          const object = event.type === 'DELETED' ? undefined : event.object
          take(facts, event, { object, byName: true, revision: event.revision })
        },
        vanished: ref => {
          if (!takeConsent(facts, ref)) take(facts, ref, { object: undefined, byName: false, revision: 0 })
        },
        synced: () => {
          this.#read.placing.resolve()
          this.#read.targets.resolve()
          facts.send(reader => reader.synced?.())
        },
        waits: (objects, isAllElse) => {
          if (isAllElse && !objects.some(({ event }) => isTarget(event.resource))) this.#read.targets.resolve()
          facts.send(reader => reader.waits?.(objects))
        },
      },
    })
    this.#mailboxes = new StreamSource({
      ...deps,
      space: MAILBOX_PARENT,
      resources: [WORKSPACES],
      handler: {
        change: event => facts.setMailbox(event.name, event.type === 'DELETED' ? undefined : event.object),
        vanished: ref => facts.setMailbox(ref.name, undefined),
        synced: () => {
          this.#read.mailboxes.resolve()
          facts.send(reader => reader.mailboxesSynced?.())
        },
      },
    })
  }

  /** Resolves when all but the mailboxes was read once. */
  get synced(): Promise<void> {
    return this.#read.placing.promise
  }

  /** For a controller that waits until all was read once. */
  get source(): Source {
    return this.#sourceOf(this.#read.placing, this.#read.mailboxes)
  }

  /** For a controller that waits for SyncTargets and mailboxes alone. */
  get targetSource(): Source {
    return this.#sourceOf(this.#read.targets, this.#read.mailboxes)
  }

  #sourceOf(...read: readonly { readonly promise: Promise<void> }[]): Source {
    return { synced: Promise.all(read.map(({ promise }) => promise)).then(() => {}), run: async () => {} }
  }

  /** Whether something of the space waits until its place is known; given a kind, something of that kind. */
  holds(space: string, kind?: GroupResource): boolean {
    return this.#placing.holds(space, kind)
  }

  get holdsAny(): boolean {
    return this.#placing.holdsAny
  }

  /** To be called once all readers were added. */
  start(): void {
    const { signal } = this.#stop
    this.#running = Promise.all([this.#placing.run(signal), this.#mailboxes.run(signal)])
    const unfollow = this.facts.follow(error =>
      this.#logger.error({ err: error }, 'a controller of placement failed when a space came or went'),
    )
    signal.addEventListener('abort', unfollow, { once: true })
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }
}

function take(facts: TopologyFacts, ref: StreamedRef, now: Streamed): void {
  const object: KubeObject | undefined = now.object
  if (isTarget(ref.resource)) facts.setTarget(ref, object)
  else if (ref.resource.resource === LOCATIONS.resource) facts.setLocation(ref, object)
  else facts.send(reader => reader.objectChanged?.(ref, now))
}

function isTarget({ resource }: GroupResource): boolean {
  return resource === SYNC_TARGETS.resource
}
