/** The server as a process of its own, which a test may kill and start again on the same data dir. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { type ClosableClient, httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { Stage } from './scene.ts'
import { temporaryDir } from './server.ts'
import { World } from './world.ts'

const ORRERY = join(import.meta.dirname, '..', '..', 'bin', 'orrery')

export class CenterProcess extends Stage {
  readonly dataDir: string
  /** Everything that it wrote to stderr, all runs together, one entry for each line. */
  readonly stderr: string[] = []
  readonly #command: readonly [string, ...string[]]
  #child: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #client: ClosableClient | undefined
  #world: World | undefined

  /** Killed when the test ends. `program`: a script that is started in place of `orrery start`. */
  constructor(t: Test, program?: string) {
    super()
    this.#command = program === undefined ? [ORRERY, 'start'] : [process.execPath, program]
    this.dataDir = temporaryDir(t)
    t.teardown(async () => {
      await this.disconnect()
      await this.kill()
    })
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
    const child = spawn(file, [...args, '--data-dir', this.dataDir, '--secure-port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#ended = new Promise(resolve => child.once('exit', resolve))
    createInterface({ input: child.stderr }).on('line', line => this.stderr.push(line))
    const died = new Promise<never>((_, reject) => {
      child.once('exit', code => reject(new Error(`the server ended with ${code}:\n${this.stderr.join('\n')}`)))
    })
    const ready = new Promise(resolve => createInterface({ input: child.stdout }).once('line', resolve))
    await Promise.race([ready, died])
    const { options, base } = await loadKubeconfig(join(this.dataDir, 'admin.kubeconfig'), 'base')
    this.#client = httpClient({ ...options, server: base })
    this.#world = new World(this.#client)
    // also later: whoever waits for a server that is no more waits for ever
    await Promise.race([this.#world.synced, died])
  }

  /** Ends it at once, as a power failure would. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** Resolves when it has ended by itself. */
  async ended(): Promise<void> {
    await this.#ended
  }

  async disconnect(): Promise<void> {
    await this.#world?.stop()
    this.#client?.close()
    this.#world = undefined
    this.#client = undefined
  }
}
