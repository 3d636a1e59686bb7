/** `orrery simulate-wec`: a stand-in cluster, one plain API server whose workloads are given believable status. */
import { hostname } from 'node:os'
import { startApiServer } from '../../../apiserver/apiServer.ts'
import { embeddedClient } from '../../../apiserver/embedded/embeddedClient.ts'
import { systemClock } from '../../../client/clock.ts'
import { startBuiltinControllers } from '../../../controllers/builtinControllers.ts'
import { workloadSimulator } from '../../../controllers/simulation/workloadSimulator.ts'
import { PAUSE_LIMIT_MS, WorkTurns } from '../../../program/workTurns.ts'
import { shownSettings } from '../../shell/settings.ts'
import type { Host } from '../host.ts'
import { keptStderr } from '../process/keptStderr.ts'
import { createLog } from '../process/log.ts'
import { logChoice } from '../process/logLevel.ts'
import { dataFolder } from '../process/privateFolder.ts'
import { buildInfo } from '../version/buildInfo.ts'

const SPACE = 'root'

export async function simulateWec(settings: Record<string, unknown>, host: Host): Promise<number> {
  const name = settings.name as string
  const log = createLog({
    component: 'orrery-simulated-wec',
    about: { hostname: hostname(), cluster: name },
    ...logChoice(settings),
    write: host.log ?? keptStderr(),
  })
  const build = buildInfo()
  const server = await startApiServer({
    dataDir: dataFolder(settings.dataDir as string, log),
    bindAddress: settings.bindAddress as string,
    securePort: settings.securePort as number,
    serviceClusterIpRange: settings.serviceClusterIpRange as string | undefined,
    serviceNodePortRange: settings.serviceNodePortRange as string | undefined,
    advertiseAddress: settings.advertiseAddress as string | undefined,
    externalHostnames: [],
    spaces: false,
    build,
    settings: shownSettings(settings),
    log,
  })
  const clientFor = (component: string) =>
    embeddedClient({ services: server.services, store: server.store, tree: server.tree, component })
  const time = {
    clock: systemClock,
    random: Math.random,
    turns: new WorkTurns({ clock: () => performance.now(), pauseLimitMs: PAUSE_LIMIT_MS }),
  }
  const controllers = startBuiltinControllers({
    clientFor,
    caPem: server.caPem,
    sign: order => server.certificates.sign(order),
    guardFor: name => server.setAside.guardFor(name),
    ...time,
    logger: log,
  })
  server.onAuthority(caPem => controllers.useAuthority(caPem))
  const simulator = workloadSimulator({ client: clientFor('simulation'), space: SPACE, logger: log, ...time })
  simulator.start()
  host.out(`simulated cluster ${name} ready (a simulation: no containers run): ${server.url}`)
  // Now, not when somebody asks: what is edited from now on is not what runs.
  await Promise.all([host.terminated(), build.treeState()])
  await simulator.stop()
  await controllers.stop()
  await server.close()
  return 0
}
