/** Resources of a server: memory after a collection, open files, series of metrics. */
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Inspector } from '../test/attack/inspector.ts'
import type { RunningServer } from './servers.ts'

export interface ServerState {
  /** Objects and buffers, in bytes. */
  readonly used: number
  /** All of it, for people. */
  readonly summary: string
}

export async function stateOf(server: RunningServer, inspector: Inspector): Promise<ServerState> {
  const { used, rss } = await inspector.memory()
  const files = (await readdir(`/proc/${server.pids[0]}/fd`)).length
  const series = seriesIn(await textAt(server, '/metrics'))
  return { used, summary: `${mib(used)} used, ${mib(rss)} resident, ${files} files, ${series} series` }
}

/** The body of an answer to the administrator. */
export async function textAt({ endpoint }: RunningServer, path: string): Promise<string> {
  const { host, port, cert, key } = endpoint
  const asking = request({ host, port, path, cert, key, rejectUnauthorized: false }).end()
  const [answer] = await once(asking, 'response')
  return await text(answer)
}

export const mib = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`

function seriesIn(metrics: string): number {
  return metrics.split('\n').filter(line => line !== '' && !line.startsWith('#')).length
}
