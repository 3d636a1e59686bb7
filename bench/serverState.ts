/** Resources of a server: memory after a collection, open files, series of metrics. */
import { readdir } from 'node:fs/promises'
import type { Inspector } from '../test/attack/inspector.ts'
import { answerTo, type RunningServer } from './servers.ts'

interface ServerState {
  /** Objects and buffers, in bytes. */
  readonly used: number
  /** All of it, for people. */
  readonly summary: string
}

export async function stateOf(server: RunningServer, inspector: Inspector): Promise<ServerState> {
  const { used, rss } = await inspector.memory()
  const files = (await readdir(`/proc/${server.pids[0]}/fd`)).length
  const series = seriesIn(String(await answerTo(server.endpoint, { path: '/metrics' })))
  return { used, summary: `${mib(used)} used, ${mib(rss)} resident, ${files} files, ${series} series` }
}

/** For people. */
export const mib = (bytes: number, digits = 1): string => `${(bytes / 1024 ** 2).toFixed(digits)} MiB`

function seriesIn(metrics: string): number {
  return metrics.split('\n').filter(line => line !== '' && !line.startsWith('#')).length
}
