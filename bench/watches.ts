/**
 * Remains of watches: `node bench/watches.ts [--watches 1000000] [--connections 1000] [--tells 5]`.
 *
 * Watches of a second each, `--connections` at a time, each on a connection that has had others before. Printed are the server's processor
 * time for each, its memory after a collection, open files and series of metrics. They are printed before, `--tells` times on the way, and
 * when all connections have gone.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { stateOf } from './serverState.ts'
import { orreryOf, type RunningServer, TREE } from './servers.ts'

const { values: flags } = parseArgs({
  options: {
    watches: { type: 'string', default: '1000000' },
    connections: { type: 'string', default: '1000' },
    tells: { type: 'string', default: '5' },
  },
})
const WATCHES = Number(flags.watches)
const CONNECTIONS = Number(flags.connections)
/** Until the server knows that all have gone. */
const SETTLE_MS = 15_000
/** So many connect at a time. */
const ARRIVING = 20
const ARRIVING_MS = 100
const PATH = '/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0&timeoutSeconds=1'

/** So many, and no more at a time than there are connections. */
async function watch({ endpoint }: RunningServer, agent: Agent, count: number): Promise<void> {
  const { host, port } = endpoint
  let begun = 0
  const one = async (): Promise<void> => {
    while (begun < count) {
      begun++
      const asking = request({ host, port, path: PATH, agent }).end()
      const [answer] = await once(asking, 'response')
      if (answer.statusCode !== 200) throw new Error(`a watch was refused: ${answer.statusCode}`)
      answer.resume()
      await once(answer, 'end')
    }
  }
  const all: Promise<void>[] = []
  const begin = (): void => {
    for (let i = 0; i < ARRIVING && all.length < Math.min(CONNECTIONS, count); i++) all.push(one())
  }
  begin()
  // a crowd of strangers is turned away
  const arriving = setInterval(begin, ARRIVING_MS)
  try {
    for (let awaited = 0; awaited < all.length; ) {
      awaited = all.length
      await Promise.all(all)
    }
  } finally {
    clearInterval(arriving)
  }
}

// one loop does everything: it is what is measured
process.env.ORRERY_API_THREADS ??= '0'
const dir = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
try {
  const server = await orreryOf(TREE, { inspected: true }).start(dir)
  const inspector = await server.inspector()
  const { cert, key } = server.endpoint
  const connections = { keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS }
  const agent = new Agent({ ...connections, rejectUnauthorized: false, cert, key })
  console.log(`before: ${(await stateOf(server, inspector)).summary}`)
  const step = Math.ceil(WATCHES / Number(flags.tells))
  for (let done = 0; done < WATCHES; done += step) {
    const count = Math.min(step, WATCHES - done)
    const before = (await server.cpuSeconds()) ?? 0
    await watch(server, agent, count)
    const each = ((((await server.cpuSeconds()) ?? 0) - before) / count) * 1e6
    console.log(`${done + count}: ${each.toFixed(0)} µs each; ${(await stateOf(server, inspector)).summary}`)
  }
  agent.destroy()
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  console.log(`afterwards: ${(await stateOf(server, inspector)).summary}`)
  inspector.close()
  await server.stop()
} finally {
  await rm(dir, { recursive: true, force: true })
}
