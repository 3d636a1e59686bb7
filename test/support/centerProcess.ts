/** The server as a process of its own, which a test may kill and start again on the same data dir. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { type ClosableClient, httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { ORRERY, Program } from './command.ts'
import { Stage } from './scene.ts'
import { temporaryDir } from './server.ts'
import { World } from './world.ts'

export class CenterProcess extends Stage {
  readonly dataDir: string
  readonly #t: Test
  readonly #command: readonly [string, ...string[]]
  readonly #runs: Program[] = []
  #client: ClosableClient | undefined
  #world: World | undefined

  /** Killed when the test ends. `program`: a script that is started in place of `orrery start`. */
  constructor(t: Test, program?: string) {
    super()
    this.#t = t
    this.#command = program === undefined ? [ORRERY, 'start'] : [process.execPath, program]
    this.dataDir = temporaryDir(t)
    t.teardown(async () => {
      await this.disconnect()
      await this.kill()
    })
  }

  /** Everything that it wrote, all runs together, one entry for each line. */
  get lines(): readonly string[] {
    return this.#runs.flatMap(({ lines }) => lines)
  }

  get client(): ClosableClient {
    if (!this.#client) throw new Error('the server does not run')
    return this.#client
  }

  get world(): World {
    if (!this.#world) throw new Error('the server does not run')
    return this.#world
  }

  /** Resolves when it takes requests and `world` knows all that it holds. @throws Error when it ends before that */
  async start(): Promise<void> {
    const [file, ...args] = this.#command
    const run = Program.spawned(this.#t, file, [...args, '--data-dir', this.dataDir, '--secure-port', '0'])
    this.#runs.push(run)
    await run.said('orrery ready: ')
    const { options, base } = await loadKubeconfig(join(this.dataDir, 'admin.kubeconfig'), 'base')
    this.#client = httpClient({ ...options, server: base })
    this.#world = new World(this.#client)
    // also later: whoever waits for a server that is no more waits for ever
    await Promise.race([this.#world.synced, this.#died(run)])
  }

  async #died(run: Program): Promise<never> {
    const code = await run.exited()
    throw new Error(`the server ended with ${code}:\n${run.lines.join('\n')}`)
  }

  /** Ends it at once, as a power failure would. */
  async kill(): Promise<void> {
    await this.#runs.at(-1)?.end('SIGKILL')
  }

  /** Resolves when it has ended by itself. */
  async ended(): Promise<void> {
    await this.#runs.at(-1)?.exited()
  }

  async disconnect(): Promise<void> {
    await this.#world?.stop()
    this.#client?.close()
    this.#world = undefined
    this.#client = undefined
  }
}
