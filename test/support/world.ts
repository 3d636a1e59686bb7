/**
 * Content of a server, all spaces in one stream and one order: tests wait for states instead of sleeping, and see every state in between.
 */
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { Client, StreamEvent } from '../../src/client/client.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { StreamSource } from '../../src/client/streamSource.ts'
import { PATIENCE_MS } from './patience.ts'
import { realTime } from './time.ts'

export interface Seen {
  type: StreamEvent['type']
  space: string
  /** As {@link World.get} takes it. */
  key: string
  object: KubeObject
}

export class World {
  readonly #spaces = new Map<string, Map<string, KubeObject>>()
  readonly #waiters = new Set<() => void>()
  readonly #listeners = new Set<(event: Seen) => void>()
  readonly #source: StreamSource
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  /** Revision of the last change that was seen. */
  revision = 0

  constructor(client: Client) {
    this.#source = new StreamSource({
      ...realTime(),
      client,
      space: '*',
      logger: silentLogger,
      handler: {
        change: event => this.#change(event),
        vanished: ({ space, resource, namespace, name }) =>
          this.#spaces.get(space)?.delete(keyOf(resource, namespace, name)),
      },
    })
    this.#running = this.#source.run(this.#stop.signal)
  }

  get synced(): Promise<void> {
    return this.#source.synced
  }

  /** `key` is `resource.group namespace/name`, without `.group` for core kinds, without `namespace/` for cluster scope. */
  get(space: string, key: string): KubeObject | undefined {
    return this.#spaces.get(space)?.get(key)
  }

  /** Names (`namespace/name`) of one resource in one space, sorted. */
  names(space: string, resource: string): string[] {
    const keys = [...(this.#spaces.get(space)?.keys() ?? [])]
    return keys
      .filter(key => key.startsWith(`${resource} `))
      .map(key => key.slice(resource.length + 1))
      .sort()
  }

  /** How many objects a space holds. */
  size(space: string): number {
    return this.#spaces.get(space)?.size ?? 0
  }

  /** All that a space holds, by key. */
  objects(space: string): Iterable<[key: string, object: KubeObject]> {
    return this.#spaces.get(space) ?? []
  }

  /** Called for each change from now on, after it was taken in; the answer ends that. */
  onChange(listener: (event: Seen) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Resolves once `missing` answers nothing; `missing` says what is not yet as it should be.
   * @throws Error with that when patience or this world is over
   */
  async until(what: string, missing: () => string | undefined | false): Promise<void> {
    let last = missing()
    if (!last) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const check = (): void => {
      last = missing()
      if (!last) resolve()
    }
    const giveUp = (): void => reject(new Error(`${what}: ${last}`))
    const timer = setTimeout(giveUp, PATIENCE_MS)
    const { signal } = this.#stop
    // nothing comes any more
    signal.addEventListener('abort', giveUp)
    if (signal.aborted) giveUp()
    this.#waiters.add(check)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
      this.#waiters.delete(check)
    }
  }

  async present(space: string, key: string, test: (object: KubeObject) => boolean = () => true): Promise<KubeObject> {
    const found = (): KubeObject | undefined => {
      const object = this.get(space, key)
      return object && test(object) ? object : undefined
    }
    let seen: KubeObject | undefined
    await this.until(key, () => {
      seen ??= found()
      return !seen && `found ${JSON.stringify(this.get(space, key) ?? 'nothing')}`
    })
    return seen!
  }

  async absent(space: string, key: string): Promise<void> {
    await this.until(`${key} to go`, () => this.get(space, key) !== undefined && 'it is still there')
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #change(event: StreamEvent): void {
    const { type, space, resource, namespace, name, object } = event
    const key = keyOf(resource, namespace, name)
    let objects = this.#spaces.get(space)
    if (!objects) {
      objects = new Map()
      this.#spaces.set(space, objects)
    }
    if (type === 'DELETED') objects.delete(key)
    else objects.set(key, object)
    this.revision = Math.max(this.revision, event.revision)
    for (const listener of this.#listeners) listener({ type, space, key, object })
    for (const check of [...this.#waiters]) check()
  }
}

function keyOf(resource: { group: string; resource: string }, namespace: string, name: string): string {
  const kind = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
}
