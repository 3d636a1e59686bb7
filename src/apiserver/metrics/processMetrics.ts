/**
 * Metrics of the process and of its runtime, under the names that clients of Prometheus for Node use.
 * @see https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, type HeapSpaceInfo } from 'node:v8'
import { Distribution } from '../../apimachinery/distribution.ts'
import { gauge, type Metric, type Samples } from './metric.ts'

const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}
/** Linux has them, unless a sandbox hides them. */
const STATUS = '/proc/self/status'
const LIMITS = '/proc/self/limits'
/** In seconds. */
const GC_BOUNDS = [0.001, 0.01, 0.1, 1, 2, 5]

let observed: readonly Metric[] | undefined

/** One list for all servers of a process: from the first call on its loop and its garbage collections are observed, once. */
export function processMetrics(): readonly Metric[] {
  observed ??= [
    ...processorMetrics(),
    gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', startSeconds),
    ...memoryMetrics(),
    ...descriptorMetrics(),
    ...lagMetrics(),
    ...activeMetrics(),
    ...heapMetrics(),
    versionMetric(),
    collectionMetric(),
  ]
  return observed
}

function processorMetrics(): Metric[] {
  const seconds = (which: string, help: string, microseconds: (usage: NodeJS.CpuUsage) => number): Metric => ({
    ...gauge(`process_cpu_${which}seconds_total`, help, () => microseconds(process.cpuUsage()) / 1e6),
    type: 'counter',
  })
  return [
    seconds('user_', 'Total user CPU time spent in seconds.', ({ user }) => user),
    seconds('system_', 'Total system CPU time spent in seconds.', ({ system }) => system),
    seconds('', 'Total user and system CPU time spent in seconds.', ({ user, system }) => user + system),
  ]
}

function startSeconds(): number {
  return Math.round(performance.timeOrigin / 1000)
}

function memoryMetrics(): Metric[] {
  const resident = (bytes: () => number): Metric =>
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', bytes)
  if (!existsSync(STATUS)) return [resident(() => process.memoryUsage.rss())]
  return [
    resident(() => statusBytes('VmRSS')),
    gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', () => statusBytes('VmSize')),
    gauge('process_heap_bytes', 'Process heap size in bytes.', () => statusBytes('VmData')),
  ]
}

function statusBytes(name: string): number {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(STATUS, 'utf8'))?.[1]
  return Number(kibibytes) * 1024
}

function descriptorMetrics(): Metric[] {
  if (!existsSync(LIMITS)) return []
  const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync(LIMITS, 'utf8'))?.[1])
  return [
    // one of them is that of this listing
    gauge('process_open_fds', 'Number of open file descriptors.', () => readdirSync('/proc/self/fd').length - 1),
    gauge('process_max_fds', 'Maximum number of open file descriptors.', () => limit),
  ]
}

/** Since they were read last. */
function lagMetrics(): Metric[] {
  const delays = monitorEventLoopDelay()
  delays.enable()
  let lag = 0
  const look = (): number => {
    const before = performance.now()
    setImmediate(() => {
      lag = (performance.now() - before) / 1000
    })
    return lag
  }
  const statistics: readonly [name: string, help: string, nanoseconds: () => number][] = [
    ['min', 'The minimum recorded event loop delay.', () => delays.min],
    ['max', 'The maximum recorded event loop delay.', () => delays.max],
    ['mean', 'The mean of the recorded event loop delays.', () => delays.mean],
    ['stddev', 'The standard deviation of the recorded event loop delays.', () => delays.stddev],
    ['p50', 'The 50th percentile of the recorded event loop delays.', () => delays.percentile(50)],
    ['p90', 'The 90th percentile of the recorded event loop delays.', () => delays.percentile(90)],
    ['p99', 'The 99th percentile of the recorded event loop delays.', () => delays.percentile(99)],
  ]
  return [
    gauge('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', look),
    ...statistics.map(([name, help, nanoseconds], index) =>
      gauge(`nodejs_eventloop_lag_${name}_seconds`, help, () => {
        const value = delays.count === 0 ? 0 : nanoseconds() / 1e9
        if (index === statistics.length - 1) delays.reset()
        return value
      }),
    ),
  ]
}

/** Node shows handles and requests under these names alone. */
interface Internals {
  _getActiveHandles(): readonly object[]
  _getActiveRequests(): readonly object[]
}

function activeMetrics(): Metric[] {
  const internals = process as unknown as Internals
  const named = (objects: readonly object[]): string[] => objects.map(each => each.constructor?.name ?? '')
  const grouped = (what: string, help: string, grouping: string, types: () => readonly string[]): Metric[] => [
    {
      name: `nodejs_active_${what}`,
      help: `Number of active ${help} ${grouping}`,
      type: 'gauge',
      labels: { type: [] },
      samples: () => counted(types()),
    },
    gauge(`nodejs_active_${what}_total`, `Total number of active ${what}.`, () => types().length),
  ]
  return [
    ...grouped(
      'resources',
      'resources that are currently keeping the event loop alive,',
      'grouped by async resource type.',
      () => process.getActiveResourcesInfo(),
    ),
    ...grouped('handles', 'libuv handles', 'grouped by handle type. Every handle type is C++ class name.', () =>
      named(internals._getActiveHandles()),
    ),
    ...grouped('requests', 'libuv requests', 'grouped by request type. Every request type is C++ class name.', () =>
      named(internals._getActiveRequests()),
    ),
  ]
}

function counted(types: readonly string[]): Samples {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].map(([type, count]) => [{ type }, count] as const)
}

function heapMetrics(): Metric[] {
  const ofSpaces = (what: string, bytes: (space: HeapSpaceInfo) => number): Metric => ({
    name: `nodejs_heap_space_size_${what}_bytes`,
    help: `Process heap space size ${what} from Node.js in bytes.`,
    type: 'gauge',
    labels: { space: [] },
    samples: () =>
      getHeapSpaceStatistics().map(each => [{ space: each.space_name.replace(/_space$/, '') }, bytes(each)] as const),
  })
  const ofHeap = (name: string, help: string, bytes: (usage: NodeJS.MemoryUsage) => number): Metric =>
    gauge(`nodejs_${name}_bytes`, help, () => bytes(process.memoryUsage()))
  return [
    ofHeap('heap_size_total', 'Process heap size from Node.js in bytes.', ({ heapTotal }) => heapTotal),
    ofHeap('heap_size_used', 'Process heap size used from Node.js in bytes.', ({ heapUsed }) => heapUsed),
    ofHeap('external_memory', 'Node.js external memory size in bytes.', ({ external }) => external),
    ofSpaces('total', each => each.space_size),
    ofSpaces('used', each => each.space_used_size),
    ofSpaces('available', each => each.space_available_size),
  ]
}

function versionMetric(): Metric {
  const { version } = process
  const [major = '', minor = '', patch = ''] = version.slice(1).split('.')
  return {
    name: 'nodejs_version_info',
    help: 'Node.js version info.',
    type: 'gauge',
    labels: { version: [], major: [], minor: [], patch: [] },
    samples: () => [[{ version, major, minor, patch }, 1]],
  }
}

/** An entry of a performance observer. */
interface Collection {
  readonly detail: { readonly kind: number }
  /** In milliseconds. */
  readonly duration: number
}

function collectionMetric(): Metric {
  const durations = new Map(Object.values(GC_KINDS).map(kind => [kind, new Distribution(GC_BOUNDS)]))
  const observer = new PerformanceObserver(list => {
    for (const { detail, duration } of list.getEntries() as unknown as readonly Collection[])
      durations.get(GC_KINDS[detail.kind] ?? '')?.add(duration / 1000)
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    name: 'nodejs_gc_duration_seconds',
    help: 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    type: 'histogram',
    labels: { kind: Object.values(GC_KINDS) },
    samples: () => [...durations].map(([kind, distribution]) => [{ kind }, distribution] as const),
  }
}
