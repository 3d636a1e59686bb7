/**
 * A center, stand-in clusters and syncers inside one process. Each keeps its folder and its address when it is ended and started again.
 * They connect over TLS as they would elsewhere, so that a loss of one of them is real.
 */
import { randomUUID } from 'node:crypto'
import { access, cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { type ApiServer, startApiServer } from '../../src/apiserver/apiServer.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { elsewhere, FIRST_OBJECTS } from '../../src/cli/orrery/server/placementOptions.ts'
import type { Client, SpaceClient } from '../../src/client/client.ts'
import { systemClock } from '../../src/client/clock.ts'
import { type ClosableClient, httpClient, httpSpaceClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import type { Logger } from '../../src/client/logger.ts'
import { type RunningControllers, startBuiltinControllers } from '../../src/controllers/builtinControllers.ts'
import { workloadSimulator } from '../../src/controllers/simulation/workloadSimulator.ts'
import { OUTCOME_SUBRESOURCE } from '../../src/placement/outcome/outcome.ts'
import { WorkTurns } from '../../src/program/workTurns.ts'
import { type Syncer, startSyncer } from '../../src/syncer/syncer.ts'

/** Errors in an operator's log; a history with one has a finding. */
export type Faults = string[]

/** A program with a folder that can be put aside and brought back while it does not run. */
abstract class Stored {
  readonly dir: string

  constructor(dir: string) {
    this.dir = dir
  }

  async keep(): Promise<void> {
    await mkdir(this.dir, { recursive: true })
    await rm(this.#kept, { recursive: true, force: true })
    await cp(this.dir, this.#kept, { recursive: true })
  }

  async bringBack(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true })
    await cp(this.#kept, this.dir, { recursive: true })
  }

  async isKept(): Promise<boolean> {
    return await access(this.#kept).then(
      () => true,
      () => false,
    )
  }

  get #kept(): string {
    return `${this.dir}.kept`
  }
}

interface Running {
  server: ApiServer
  end(): Promise<void>
}

/** With spaces and placement, or one plain cluster whose workloads are given a believable status. */
export class Server extends Stored {
  readonly #faults: Faults
  readonly #spaces: boolean
  /** Taken at the first start. */
  #port = 0
  #running: Running | undefined
  #client: ClosableClient | undefined

  constructor(dir: string, options: { spaces: boolean; faults: Faults }) {
    super(dir)
    this.#spaces = options.spaces
    this.#faults = options.faults
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Its administrator's, good also while it does not run. */
  get client(): Client {
    return this.#client!
  }

  /** How its administrator reaches it. */
  async access(): Promise<{ base: string; caPem: string }> {
    const { options, base } = await this.#kubeconfig()
    return { base, caPem: options.caPem ?? '' }
  }

  /** Client of a plain cluster; its caller closes it. */
  async clusterClient(signal: AbortSignal): Promise<SpaceClient> {
    return httpSpaceClient({ ...(await this.#kubeconfig()).options, signal })
  }

  async start(): Promise<void> {
    const logger = faultLogger(this.#faults)
    const server = await startApiServer({
      dataDir: this.dir,
      bindAddress: '127.0.0.1',
      securePort: this.#port,
      externalHostnames: [],
      spaces: this.#spaces,
      ...(this.#spaces && { elsewhere, firstObjects: FIRST_OBJECTS }),
      log: logger as never,
    })
    this.#port = Number(new URL(server.url).port)
    const clientFor = (component: string): Client =>
      embeddedClient({ services: server.services, store: server.store, tree: server.tree, component })
    const controllers: RunningControllers = startBuiltinControllers({
      turns: new WorkTurns({ clock: () => performance.now() }),
      clientFor,
      caPem: server.caPem,
      ...(this.#spaces && { places: server.tree, desks: server.desks }),
      logger,
      clock: systemClock,
      random: () => 0.5,
    })
    const simulator = this.#spaces
      ? undefined
      : workloadSimulator({
          turns: new WorkTurns({ clock: () => performance.now() }),
          client: clientFor('simulation'),
          space: 'root',
          logger,
          clock: systemClock,
          random: () => 0.5,
        })
    simulator?.start()
    this.#running = {
      server,
      async end() {
        await simulator?.stop()
        await controllers.stop()
        await server.close()
      },
    }
    if (this.#client) return
    const { options, base } = await this.#kubeconfig()
    this.#client = httpClient({ ...options, server: base })
  }

  async end(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await running?.end()
  }

  close(): void {
    this.#client?.close()
  }

  async #kubeconfig() {
    return await loadKubeconfig(join(this.dir, 'admin.kubeconfig'), ...(this.#spaces ? ['base'] : []))
  }
}

export interface SyncerOf {
  center: Server
  cluster: Server
  /** Id of the mailbox's space. */
  mailbox: string
  token: string
}

/** One of those that may serve a cluster. It keeps its folder. */
export class SyncerProgram extends Stored {
  readonly #of: SyncerOf
  readonly #faults: Faults
  #running: { syncer: Syncer; cut: AbortController; close(): void } | undefined
  #isWanted = false
  /** Its writes into its cluster wait for that, but for its Lease. */
  slow: Promise<void> | undefined
  /** Whether the center has taken in a report of this run. */
  isHeard = false

  constructor(dir: string, of: SyncerOf, faults: Faults) {
    super(dir)
    this.#of = of
    this.#faults = faults
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  async start(): Promise<void> {
    this.#isWanted = true
    await this.#begin()
  }

  async #begin(): Promise<void> {
    const { center, cluster, mailbox, token } = this.#of
    const cut = new AbortController()
    const { base, caPem } = await center.access()
    const toCenter = httpClient({ server: base, caPem, token, signal: cut.signal })
    const toCluster = await cluster.clusterClient(cut.signal)
    await mkdir(this.dir, { recursive: true })
    this.isHeard = false
    const syncer = startSyncer({
      center: listening(toCenter, () => {
        if (this.#running?.syncer === syncer) this.isHeard = true
      }),
      space: mailbox,
      cluster: slowed(toCluster, () => this.slow),
      stateDir: this.dir,
      lease: { holder: randomUUID(), durationMs: LEASE_MS },
      clock: systemClock,
      random: Math.random,
      turns: new WorkTurns({ clock: () => performance.now() }),
      logger: faultLogger(this.#faults),
    })
    this.#running = { syncer, cut, close: () => toCenter.close() }
    // whoever starts syncers starts one that ends by itself again
    void syncer.deposed.then(() => this.#again(syncer))
    void syncer.refused.then(why => this.#faults.push(`a syncer was refused: ${why}`))
  }

  /** `kill`: from this moment on nothing of it reaches anybody. */
  async end(how: 'stop' | 'kill'): Promise<void> {
    const running = this.#running
    this.#isWanted = false
    this.#running = undefined
    this.isHeard = false
    if (how === 'kill') running?.cut.abort()
    await running?.syncer.stop()
    running?.cut.abort()
    running?.close()
  }

  async #again(syncer: Syncer): Promise<void> {
    if (this.#running?.syncer !== syncer) return
    this.#running.close()
    try {
      await this.#begin()
    } catch (error) {
      // its center or its cluster may be gone for good by then
      if (this.#isWanted) this.#faults.push(`a syncer did not start again: ${error}`)
      return
    }
    if (!this.#isWanted) await this.end('kill')
  }
}

/** Until another one takes over. */
const LEASE_MS = 600

function listening(client: Client, onTaken: () => void): Client {
  const over = (space: SpaceClient): SpaceClient => ({
    get: (...args) => space.get(...args),
    list: (...args) => space.list(...args),
    watch: (...args) => space.watch(...args),
    create: (...args) => space.create(...args),
    patch: (...args) => space.patch(...args),
    delete: (...args) => space.delete(...args),
    discover: () => space.discover(),
    update: async (resource, object, options) => {
      const answer = await space.update(resource, object, options)
      if (options?.subresource === OUTCOME_SUBRESOURCE && isTaken(answer)) onTaken()
      return answer
    },
  })
  return { in: name => over(client.in(name)), stream: options => client.stream(options) }
}

function slowed(cluster: SpaceClient, slow: () => Promise<void> | undefined): SpaceClient {
  const after = async <T>({ resource }: { resource: string }, call: () => Promise<T>): Promise<T> => {
    if (resource !== 'leases') await slow()
    return await call()
  }
  return {
    get: (...args) => cluster.get(...args),
    list: (...args) => cluster.list(...args),
    watch: (...args) => cluster.watch(...args),
    discover: () => cluster.discover(),
    create: (...args) => after(args[0], () => cluster.create(...args)),
    update: (...args) => after(args[0], () => cluster.update(...args)),
    patch: (...args) => after(args[0], () => cluster.patch(...args)),
    delete: (...args) => after(args[0], () => cluster.delete(...args)),
  }
}

function isTaken({ status }: KubeObject): boolean {
  return (status as { again?: boolean } | undefined)?.again !== true
}

function faultLogger(faults: Faults): Logger {
  const quiet = (): void => {}
  return {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error(fields, text) {
      const { err, error = err } = fields as { err?: unknown; error?: unknown }
      faults.push(`logged as an error: ${text}${error instanceof Error ? `: ${error.stack}` : ''}`)
    },
  }
}
