/**
 * Sees what happens on a server, all kinds in one stream: the demo waits for events instead of sleeping, and knows when each
 * came. Works on Orrery's center and on the simulated clusters alike.
 */
import type { KubeObject } from '../src/apimachinery/object.ts'
import type { Client, StreamEvent } from '../src/client/client.ts'
import { systemClock } from '../src/client/clock.ts'
import { silentLogger } from '../src/client/logger.ts'
import { StreamSource } from '../src/client/streamSource.ts'
import { WorkTurns } from '../src/program/workTurns.ts'

export interface Seen {
  object: KubeObject
  /** When this object first appeared and when its status was last changed, in ms of performance.now(). */
  appearedMs: number
  statusMs: number
}

/** Key: `resource.group namespace/name`, core resources without a group, cluster-scoped objects without `namespace/`. */
export class Observer {
  readonly #objects = new Map<string, Seen>()
  readonly #waiters = new Set<() => void>()
  readonly #source: StreamSource
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  constructor(client: Client, space: string) {
    this.#source = new StreamSource({
      turns: new WorkTurns({ clock: () => performance.now() }),
      clock: systemClock,
      random: Math.random,
      client,
      space,
      logger: silentLogger,
      handler: { change: event => this.#change(event), vanished: ref => this.#forget(keyOf(ref)) },
    })
    this.#running = this.#source.run(this.#stop.signal)
  }

  get synced(): Promise<void> {
    return this.#source.synced
  }

  get(key: string): Seen | undefined {
    return this.#objects.get(key)
  }

  keys(): string[] {
    return [...this.#objects.keys()]
  }

  /**
   * Resolves when `met` holds; rejects after `timeoutMs` with the last result of `met`. It names the missing part, or nothing.
   */
  async until(what: string, met: () => string | undefined, timeoutMs = 20_000): Promise<void> {
    let missing = met()
    if (missing === undefined) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const check = (): void => {
      missing = met()
      if (missing === undefined) resolve()
    }
    const timer = setTimeout(() => reject(new Error(`${what}: ${missing}`)), timeoutMs)
    this.#waiters.add(check)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      this.#waiters.delete(check)
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #change(event: StreamEvent): void {
    const key = keyOf(event)
    if (event.type === 'DELETED') {
      this.#forget(key)
      return
    }
    const nowMs = performance.now()
    const known = this.#objects.get(key)
    const sameStatus = JSON.stringify(known?.object.status) === JSON.stringify(event.object.status)
    this.#objects.set(key, {
      object: event.object,
      appearedMs: known?.appearedMs ?? nowMs,
      statusMs: known && sameStatus ? known.statusMs : nowMs,
    })
    this.#wake()
  }

  #forget(key: string): void {
    this.#objects.delete(key)
    this.#wake()
  }

  #wake(): void {
    for (const check of [...this.#waiters]) check()
  }
}

function keyOf({ resource, namespace, name }: Pick<StreamEvent, 'resource' | 'namespace' | 'name'>): string {
  const kind = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
}
