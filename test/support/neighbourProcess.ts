/** Starts the other tenant's process, and tells it when to measure. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Measured, NeighbourSetup, Order } from './neighbour.ts'

interface Answer {
  measured?: Measured
  failed?: string
}

export class NeighbourProcess {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(setup: NeighbourSetup): Promise<NeighbourProcess> {
    const started = new NeighbourProcess(fork(join(import.meta.dirname, 'neighbour.ts')))
    await started.#tell({ setup })
    return started
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** @throws Error when it is refused before anything is measured */
  async begin(): Promise<void> {
    await this.#tell('begin')
  }

  async end(): Promise<Measured> {
    return (await this.#tell('end')).measured!
  }

  async stop(): Promise<void> {
    if (!this.#child.connected) return
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }

  async #tell(order: Order): Promise<Answer> {
    this.#child.send(order)
    const over = new AbortController()
    const { signal } = over
    const ended = once(this.#child, 'exit', { signal }).then((): [Answer] => [{ failed: 'their process ended' }])
    // it is given up once they have answered
    ended.catch(() => {})
    const [answer] = await Promise.race([once(this.#child, 'message', { signal }) as Promise<[Answer]>, ended])
    over.abort()
    if (answer.failed !== undefined) throw new Error(`the other tenant: ${answer.failed}`)
    return answer
  }
}
