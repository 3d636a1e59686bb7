/** A stand-in cluster that keeps its address when it is started again, and can be set back to what it held before. */
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ends } from '../../syncer/support/processes.ts'
import { Command, freePort } from '../../syncer/support/processes.ts'
import type { StartCluster } from './florin.ts'

export class StandIn {
  readonly #port: number
  #t: Ends | undefined
  #dir = ''
  #program: Command | undefined

  private constructor(port: number) {
    this.#port = port
  }

  static async prepared(): Promise<StandIn> {
    return new StandIn(await freePort())
  }

  readonly begin: StartCluster = async (t, dir) => {
    this.#t = t
    this.#dir = dir
    await this.start()
    return join(dir, 'admin.kubeconfig')
  }

  async start(): Promise<void> {
    const args = ['simulate-wec', '--name', 'w', '--data-dir', this.#dir, '--secure-port', `${this.#port}`]
    this.#program = new Command(this.#t!, args)
    await this.#program.said('ready')
  }

  async end(): Promise<void> {
    await this.#program?.end()
  }

  /** Keeps what it holds now. */
  async keep(): Promise<void> {
    await this.end()
    await cp(this.#dir, this.#kept, { recursive: true })
    await this.start()
  }

  /** Puts that in the place of what it, which does not run, has stored since. */
  async bringBack(): Promise<void> {
    await rm(this.#dir, { recursive: true })
    await cp(this.#kept, this.#dir, { recursive: true })
  }

  get #kept(): string {
    return `${this.#dir}.kept`
  }
}
