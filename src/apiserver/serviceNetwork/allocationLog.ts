/**
 * The allocations of every space in which Services are written, in step with the store's log. A space is read when its first
 * Service is written; from then on each event costs what it changes. Between the moment in which a request takes something
 * and the one in which the log tells of it, a reservation holds it.
 */

import { num, record, records, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { isStorageError, type Store, type Stored, type StoreEvent } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import { keyOf } from '../registry/keys.ts'
import type { Logger } from '../request/logger.ts'
import { canonicalIp } from './canonicalIp.ts'
import { type Item, SpaceAllocations } from './spaceAllocations.ts'

export const SERVICES = { group: '', resource: 'services' } as const

export interface AllocationLogDeps {
  store: Pick<Store, 'get' | 'list' | 'watch' | 'revision'>
  /** The address of the Service `kubernetes`. */
  kept: Item
  log: Logger
}

interface Known {
  readonly allocations: SpaceAllocations
  /** Resolves when all that is stored is in. */
  readonly loaded: Promise<void>
  /** Events up to this revision are in; until it is known they are put aside. */
  revision: number | undefined
  readonly aside: StoreEvent[]
}

/** Items that a request took, to be given back. */
export interface Reservation {
  readonly space: string
  readonly allocations: SpaceAllocations
  readonly items: Item[]
}

export class AllocationLog {
  readonly #deps: AllocationLogDeps
  readonly #stopping = new AbortController()
  readonly #spaces = new Map<string, Known>()
  /** Reservations of writes that the log is yet to tell of. */
  #awaited: { revision: number; reservation: Reservation }[] = []
  #told = 0
  #loop: Promise<void> = Promise.resolve()

  constructor(deps: AllocationLogDeps) {
    this.#deps = deps
  }

  /** The revision up to which the log has told of Services. */
  get told(): number {
    return this.#told
  }

  start(): void {
    this.#told = this.#deps.store.revision
    this.#loop = this.#follow()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  /** The space is gone. */
  forget(space: string): void {
    this.#spaces.delete(space)
  }

  async of(space: string): Promise<SpaceAllocations> {
    let known = this.#spaces.get(space)
    if (known === undefined) {
      const { promise: loaded, resolve, reject } = Promise.withResolvers<void>()
      known = { allocations: new SpaceAllocations(this.#deps.kept), loaded, revision: undefined, aside: [] }
      // From here on the log's events are put aside for it.
      this.#spaces.set(space, known)
      this.#load(space, known).then(resolve, reject)
    }
    await known.loaded
    return known.allocations
  }

  /** Whether the owner (`namespace/name`) has the item in this moment, whatever the log has told so far. */
  async stillHolds(space: string, owner: string, item: Item): Promise<boolean> {
    const [namespace = '', name = ''] = owner.split('/')
    const stored = await this.#deps.store.get(keyOf(space, SERVICES, namespace, name))
    return stored !== undefined && itemsOf(decodeObject(stored)).includes(item)
  }

  /** The write is over. What was stored is held when the log tells of it; what was not is free at once. */
  settle(reservation: Reservation, stored: Stored | undefined): void {
    if (stored === undefined || stored.revision <= this.#told) release(reservation)
    else this.#awaited.push({ revision: stored.revision, reservation })
  }

  async #load(space: string, known: Known): Promise<void> {
    try {
      await this.#read(space, known)
      for (const event of known.aside.splice(0)) this.#apply(known, event)
    } catch (error) {
      if (this.#spaces.get(space) === known) this.#spaces.delete(space)
      throw error
    }
  }

  async #read(space: string, known: Known): Promise<void> {
    const { items, revision } = await this.#deps.store.list({ space, ...SERVICES })
    known.allocations.holdOnly(items.map(stored => [ownerOf(stored.key), itemsOf(decodeObject(stored))] as const))
    known.revision = revision
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    let missed = false
    while (!signal.aborted) {
      try {
        if (missed) await this.#startOver()
        for await (const batch of this.#deps.store.watch(SERVICES, { after: this.#told, signal })) {
          for (const event of batch) this.#react(event)
        }
      } catch (error) {
        if (signal.aborted || isStorageError(error, 'Closed', 'Failed')) return
        this.#deps.log.error({ err: error }, 'the watch of Services ended; what they hold is read anew')
        missed = true
      }
    }
  }

  /** Meanwhile what was known counts on, and no reservation is given up: nothing is given twice. */
  async #startOver(): Promise<void> {
    const { revision } = this.#deps.store
    for (const [space, known] of this.#spaces) if (known.revision !== undefined) await this.#read(space, known)
    this.#told = revision
  }

  #react(event: StoreEvent): void {
    const known = this.#spaces.get(event.key.space)
    if (known !== undefined) this.#apply(known, event)
    this.#told = event.revision
    if (this.#awaited.length === 0) return
    const later = this.#awaited.filter(({ revision }) => revision > event.revision)
    for (const { revision, reservation } of this.#awaited) if (revision <= event.revision) release(reservation)
    this.#awaited = later
  }

  #apply(known: Known, event: StoreEvent): void {
    if (known.revision === undefined) known.aside.push(event)
    else if (event.revision > known.revision) {
      known.allocations.hold(ownerOf(event.key), event.type === 'delete' ? [] : itemsOf(decodeObject(event.stored)))
    }
  }
}

function release({ allocations, items }: Reservation): void {
  for (const item of items) allocations.release(item)
}

export function ownerOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`
}

/** Addresses and ports that a Service occupies, each once. */
export function itemsOf(service: Readonly<KubeObject>): Item[] {
  const spec = record(service, 'spec')
  const ports = [...records(spec, 'ports').map(port => num(port, 'nodePort')), num(spec, 'healthCheckNodePort')]
  const addresses = strings(spec, 'clusterIPs').filter(ip => ip !== 'None' && ip !== '')
  return [...new Set<Item>([...addresses.map(canonicalIp), ...ports.filter(port => port !== 0)])]
}
