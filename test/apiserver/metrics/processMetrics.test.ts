import { closeSync, openSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { metricText } from '../../../src/apiserver/metrics/metric.ts'
import { processMetrics } from '../../../src/apiserver/metrics/processMetrics.ts'

const textOf = (name: string): string =>
  processMetrics()
    .filter(metric => metric.name === name)
    .map(metricText)
    .join('')
const figureOf = (name: string): number => Number(textOf(name).trim().split(' ').at(-1))

t.test('a process is observed once, however many servers are in it', t => {
  t.equal(processMetrics(), processMetrics())
  t.end()
})

t.test('names and types are those of Prometheus for Node, with a value each', t => {
  for (const { name, type } of processMetrics()) {
    t.match(name, /^(process|nodejs)_[a-z0-9_]+$/)
    t.equal(type, name.includes('_cpu_') ? 'counter' : name.includes('_gc_') ? 'histogram' : 'gauge', name)
    t.notMatch(textOf(name), /undefined|NaN/, name)
  }
  const usage = process.cpuUsage()
  t.ok(figureOf('process_cpu_seconds_total') >= (usage.user + usage.system) / 1e6)
  t.ok(Math.abs(figureOf('process_start_time_seconds') - performance.timeOrigin / 1000) < 1)
  t.match(textOf('nodejs_version_info'), `version="${process.version}"`)
  t.match(textOf('nodejs_heap_space_size_used_bytes'), /\{space="old"\} \d+/)
  t.ok(figureOf('nodejs_heap_size_used_bytes') > 1_000_000)
  t.end()
})

t.test('memory and open files are those of the process', { skip: process.platform !== 'linux' }, t => {
  const before = figureOf('process_open_fds')
  const file = openSync('/dev/null', 'r')
  t.equal(figureOf('process_open_fds'), before + 1)
  closeSync(file)
  t.ok(figureOf('process_max_fds') > before)
  t.ok(figureOf('process_resident_memory_bytes') > figureOf('nodejs_heap_size_used_bytes'))
  t.ok(figureOf('process_virtual_memory_bytes') > figureOf('process_resident_memory_bytes'))
  t.end()
})

t.test('each garbage collection counts by its kind', async t => {
  const major = (): number =>
    Number(/_count\{kind="major"\} (\d+)/.exec(textOf('nodejs_gc_duration_seconds'))?.[1] ?? 0)
  const before = major()
  const seen = Promise.withResolvers<void>()
  const observer = new PerformanceObserver(() => seen.resolve())
  observer.observe({ entryTypes: ['gc'] })
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  await seen.promise
  await setImmediate()
  observer.disconnect()
  t.ok(major() > before)
})
