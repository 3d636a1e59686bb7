/** How busy the main loop is. */
import { performance } from 'node:perf_hooks'

/** Parts of the time since it was asked last. */
export interface MainLoad {
  /** Its loop did not wait for anything. */
  readonly worked: number
  /** Its thread had a processor. */
  readonly onProcessor: number
}

/** To be called in that thread. */
export function followMainLoad(): () => MainLoad {
  let loop = performance.eventLoopUtilization()
  let used = process.threadCpuUsage()
  let atMs = performance.now()
  return () => {
    const nowMs = performance.now()
    const [nowLoop, nowUsed] = [performance.eventLoopUtilization(), process.threadCpuUsage()]
    const { utilization } = performance.eventLoopUtilization(nowLoop, loop)
    const usedMs = (nowUsed.user - used.user + nowUsed.system - used.system) / 1000
    const load = { worked: utilization, onProcessor: usedMs / Math.max(1, nowMs - atMs) }
    ;[loop, used, atMs] = [nowLoop, nowUsed, nowMs]
    return load
  }
}
