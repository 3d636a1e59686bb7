/**
 * The server under attack, with its controllers, in a process of its own: another tenant's delays are its own doing and not the fuzz's. Its
 * parent gets logged errors and uncaught ones.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startApiServer } from '../../src/apiserver/apiServer.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { elsewhere, FIRST_OBJECTS } from '../../src/cli/orrery/server/placementOptions.ts'
import { systemClock } from '../../src/client/clock.ts'
import { startBuiltinControllers } from '../../src/controllers/builtinControllers.ts'
import { WorkTurns } from '../../src/program/workTurns.ts'
import { startWatchdog } from './watchdog.ts'

/** Request of the parent; each is answered with `done`. */
export type Question = { note: string } | 'faults' | 'state' | 'close'

export interface State {
  heapMb: number
  sockets: number
}

export type Telling = { fault: string } | { ready: { url: string; kubeconfigPath: string } } | { done: State | null }

const HANG_LIMIT_MS = 60_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const tell = (telling: Telling): void => {
  if (process.connected) process.send!(telling)
}
for (const event of ['unhandledRejection', 'uncaughtException'] as const)
  process.on(event, (error: unknown) =>
    tell({ fault: `${event}: ${error instanceof Error ? error.stack : String(error)}` }),
  )

const [dataDir = '', tokens = ''] = process.argv.slice(2)
const watchdog = startWatchdog(HANG_LIMIT_MS)
const quiet = (): void => {}
const error = (fields: { err?: unknown; error?: unknown }, text?: string): void => {
  const cause = fields.err ?? fields.error
  tell({ fault: `${text ?? 'error'}: ${cause instanceof Error ? cause.stack : JSON.stringify(fields)}` })
}
const log = { error, warn: quiet, info: quiet, debug: quiet }
const server = await startApiServer({
  dataDir,
  bindAddress: '127.0.0.1',
  securePort: 0,
  externalHostnames: [],
  spaces: true,
  elsewhere,
  firstObjects: FIRST_OBJECTS,
  tokenFile: tokens,
  // The past would look like a leak.
  historyAgeMs: 5000,
  log: log as never,
})
const { services, store, tree, caPem } = server
const controllers = startBuiltinControllers({
  turns: new WorkTurns({ clock: () => performance.now() }),
  clientFor: component => embeddedClient({ services, store, tree, component }),
  caPem,
  places: tree,
  logger: log,
  clock: systemClock,
  random: () => 0.5,
})

process.on('message', (question: Question) => {
  if (typeof question === 'object') watchdog.note(question.note)
  else if (question === 'faults') tell({ done: null })
  else if (question === 'state') {
    collect()
    const sockets = process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
    tell({ done: { heapMb: Math.round(process.memoryUsage().heapUsed / 2 ** 20), sockets } })
  } else void close()
})
process.on('disconnect', () => process.exit())

async function close(): Promise<void> {
  await controllers.stop()
  await server.close()
  await watchdog.stop()
  tell({ done: null })
}

tell({ ready: { url: server.url, kubeconfigPath: server.kubeconfigPath } })
