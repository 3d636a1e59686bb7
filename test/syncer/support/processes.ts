/** The programs of a whole installation as processes of their own: what a user starts, and how a test waits for them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import type { ObjectRef, SpaceClient } from '../../../src/client/client.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { Informer } from '../../../src/client/informer.ts'
import { type Ends, Running } from '../../support/command.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

export { Command, type Ends, Running } from '../../support/command.ts'
export { freePort } from '../../support/freePort.ts'

export class Program extends Running {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    super()
    this.#child = child
    for (const stream of [child.stdout!, child.stderr!])
      createInterface({ input: stream }).on('line', line => this.add(line))
    child.on('exit', () => this.notify())
  }

  /** Killed at the end of the test at the latest. */
  static orrery(t: Ends, args: readonly string[]): Program {
    const bin = join(import.meta.dirname, '../../../bin/orrery')
    return Program.spawned(t, bin, args)
  }

  static spawned(t: Ends, command: string, args: readonly string[]): Program {
    const program = new Program(spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] }))
    t.teardown(() => program.end('SIGKILL'))
    return program
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Resolves to the exit code, or to the name of the signal that ended it. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null> {
    if (!this.hasEnded) {
      const gone = once(this.#child, 'exit')
      this.#child.kill(signal)
      await gone
    }
    return this.#child.exitCode ?? this.#child.signalCode
  }

  /** It neither reads nor writes until it is thawed, as on a machine that swaps. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async exited(): Promise<number | string | null> {
    if (!this.hasEnded) await once(this.#child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) })
    return this.#child.exitCode ?? this.#child.signalCode
  }

  protected get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}

/** Waits, by a watch, until an object is as wanted; `undefined` is its absence. */
export async function until(
  client: SpaceClient,
  resource: GroupVersionResource,
  ref: ObjectRef,
  wanted: (object: KubeObject | undefined) => boolean,
): Promise<KubeObject | undefined> {
  const stop = new AbortController()
  const informer = new Informer({ client, resource, clock: systemClock, random: () => 0.5 })
  const { promise, resolve, reject } = Promise.withResolvers<KubeObject | undefined>()
  const look = (): void => {
    const object = informer.get(ref)
    if (informer.hasSynced && wanted(object)) resolve(object)
  }
  const what = `${resource.resource} ${ref.name}`
  const timer = setTimeout(() => reject(new Error(`${what} is ${JSON.stringify(informer.get(ref))}`)), PATIENCE_MS)
  informer.subscribe(look)
  void informer.synced.then(look)
  const running = informer.run(stop.signal)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    stop.abort()
    await running
  }
}
