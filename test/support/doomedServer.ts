/**
 * `orrery start` in which placing a ConfigMap named `poison` ends the process at once, as a fatal error of V8 would: caught by
 * nobody. Time until something is tried again passes five times as fast.
 */

import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startApiServer } from '../../src/apiserver/apiServer.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { processHost } from '../../src/cli/orrery/host.ts'
import { createLog } from '../../src/cli/orrery/process/log.ts'
import { elsewhere, FIRST_OBJECTS } from '../../src/cli/orrery/server/placementOptions.ts'
import type { Client } from '../../src/client/client.ts'
import { type Clock, systemClock } from '../../src/client/clock.ts'
import { startBuiltinControllers } from '../../src/controllers/builtinControllers.ts'
import { WorkTurns } from '../../src/program/workTurns.ts'

const [, , , dataDir = ''] = process.argv
const SPEED = 5
const startedMs = Date.now()
const trialClock: Clock = {
  now: () => startedMs + (Date.now() - startedMs) * SPEED,
  after: (delayMs, run) => systemClock.after(delayMs / SPEED, run),
}
const log = createLog({ component: 'doomed' })
const server = await startApiServer({
  dataDir,
  bindAddress: '127.0.0.1',
  securePort: 0,
  externalHostnames: [],
  spaces: true,
  elsewhere,
  firstObjects: FIRST_OBJECTS,
  trialClock,
  log,
})

function endWith(object: Readonly<KubeObject>): void {
  if (object.metadata.name === 'poison') process.kill(process.pid, 'SIGKILL')
}

function doomed(client: Client): Client {
  return {
    ...client,
    createCopies: async copies => {
      for (const { object } of copies) endWith(object)
      return (await client.createCopies?.(copies)) ?? []
    },
    in: space => {
      const api = client.in(space)
      const create: typeof api.create = (resource, object, options) => {
        endWith(object)
        return api.create(resource, object, options)
      }
      return new Proxy(api, {
        get: (target, name) => {
          if (name === 'create') return create
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    },
  }
}

const controllers = startBuiltinControllers({
  turns: new WorkTurns({ clock: () => performance.now() }),
  clientFor(component) {
    const { services, store, tree } = server
    const client = embeddedClient({ services, store, tree, component })
    return component === 'placement-translator' ? doomed(client) : client
  },
  guardFor: name => server.setAside.guardFor(name),
  caPem: server.caPem,
  places: server.tree,
  logger: log,
  clock: systemClock,
  random: () => 0.5,
})
process.stdout.write(`orrery ready: ${server.url}\n`)
await processHost.terminated()
await controllers.stop()
await server.close()
