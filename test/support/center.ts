/** The whole center inside the test's process: server and controllers, their log, and when they are at rest. */
import type { Test } from 'tap'
import { type ApiServer, startApiServer } from '../../src/apiserver/apiServer.ts'
import type { Auditor } from '../../src/apiserver/audit/auditor.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import type { ServerLimit } from '../../src/apiserver/spaces/serverLimits.ts'
import { elsewhere, FIRST_OBJECTS } from '../../src/cli/orrery/server/placementOptions.ts'
import type { Client } from '../../src/client/client.ts'
import type { Logger } from '../../src/client/logger.ts'
import { type RunningControllers, startBuiltinControllers } from '../../src/controllers/builtinControllers.ts'
import type { PreviewSource } from '../../src/placement/desks/placementPreview.ts'
import { WorkTurns } from '../../src/program/workTurns.ts'
import { HurriedClock } from './hurriedClock.ts'
import { Stage } from './scene.ts'
import { temporaryDir } from './server.ts'
import { World } from './world.ts'

export * from './scene.ts'

/** Work that repeats every few seconds for so long will go on for ever. */
const RESTLESS_MS = 60_000
const NOBODYS = { space: 'root', group: '', resource: 'barrier', namespace: '', name: 'barrier' }

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error'
  text: string
}

export class Center extends Stage {
  readonly server: ApiServer
  readonly client: Client
  readonly controllers: RunningControllers
  readonly world: World
  readonly log: readonly LogLine[]
  readonly #clock: HurriedClock

  constructor(o: {
    server: ApiServer
    client: Client
    controllers: RunningControllers
    world: World
    log: LogLine[]
    clock: HurriedClock
  }) {
    super()
    this.#clock = o.clock
    this.server = o.server
    this.client = o.client
    this.controllers = o.controllers
    this.world = o.world
    this.log = o.log
  }

  /** Lines that tell an operator of trouble. A hold is none: it asks the author for a confirmation. */
  get trouble(): string[] {
    const isHold = (text: string) => text.startsWith('deletions are held until')
    return this.log
      .filter(({ level, text }) => (level === 'warn' && !isHold(text)) || level === 'error')
      .map(({ text }) => text)
  }

  /**
   * Resolves when nothing happens any more: no controller has work, now or soon, and a stretch of turns of the event loop brought no write.
   * Needs no time. A write's consequences are queued within a few turns, and a controller's slightly later work runs when nothing else is
   * to be done.
   */
  async settled(): Promise<number> {
    for (let hurriedMs = 0; ; ) {
      const before = this.server.store.revision
      for (let turn = 0; turn < 50; turn++) {
        await this.controllers.idle()
        // running writes, of any client, are on disk when this answers
        await this.server.store.update(NOBODYS, () => undefined)
        await new Promise(resolve => setImmediate(resolve))
      }
      if (this.server.store.revision !== before || this.world.revision !== before) continue
      const byMs = hurriedMs < RESTLESS_MS ? this.#clock.hurry() : undefined
      if (byMs === undefined) return before
      hurriedMs += byMs
    }
  }
}

export interface CenterOptions {
  expectsTrouble?: boolean
  /** Folder of a server that does not run; default: a fresh one. */
  dataDir?: string
  /** Records requests, and writes of controllers. */
  audit?: Auditor
  /** Where questions about placement arrive; default: nobody asks any. */
  previews?: PreviewSource
  /** How much the server holds at most. */
  serverLimit?: Partial<ServerLimit>
}

/** Stopped when the test ends, which fails when something was logged as trouble. */
export async function startCenter(t: Test, options: CenterOptions = {}): Promise<Center> {
  const log: LogLine[] = []
  const logger = recording(log)
  const server = await startApiServer({
    dataDir: options.dataDir ?? temporaryDir(t),
    bindAddress: '127.0.0.1',
    securePort: 0,
    externalHostnames: [],
    spaces: true,
    elsewhere,
    firstObjects: FIRST_OBJECTS,
    audit: options.audit,
    ...(options.serverLimit && { serverLimit: options.serverLimit }),
    log: logger as never,
  })
  const clientFor = (component: string): Client =>
    embeddedClient({
      services: server.services,
      store: server.store,
      tree: server.tree,
      component,
      audit: options.audit,
    })
  const clock = new HurriedClock()
  const controllers = startBuiltinControllers({
    clock,
    // slices that never end: how long anything takes on this machine decides nothing
    turns: new WorkTurns({ clock: () => 0 }),
    clientFor,
    caPem: server.caPem,
    places: server.tree,
    desks: {
      outcomes: server.desks.outcomes,
      schema: server.desks.schema,
      reported: server.desks.reported,
      refusedClaims: server.desks.refusedClaims,
      ...(options.previews && { previews: options.previews }),
    },
    logger,
    random: () => 0.5,
  })
  const client = clientFor('test')
  const world = new World(client)
  const center = new Center({ server, client, controllers, world, log, clock })
  t.teardown(async () => {
    await controllers.stop()
    await world.stop()
    await server.close()
    if (!options.expectsTrouble && center.trouble.length > 0)
      throw new Error(`logged as trouble:\n${center.trouble.join('\n')}`)
  })
  await world.synced
  return center
}

function recording(log: LogLine[]): Logger {
  const at = (level: LogLine['level']) => (fields: object, message: string) => {
    const { err, error = err, ...rest } = fields as { err?: unknown; error?: unknown }
    const cause = error instanceof Error ? `: ${level === 'error' ? error.stack : error.message}` : ''
    log.push({ level, text: `${message} ${JSON.stringify(rest)}${cause}` })
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
