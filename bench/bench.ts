/**
 * The cost of the server, measured from outside: `npm run bench`, or `npm run bench -- --peer` to measure kube-apiserver and
 * etcd (from KUBEBUILDER_ASSETS) in the same run. `--only create,get,list,watch,memory,ready,downsync` narrows it. The targets are
 * ratios: absolute numbers say more about the machine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureDownsync } from './downsync.ts'
import { Generator } from './generator.ts'
import type { Job } from './loadGenerator.ts'
import { type Measure, renderReport } from './report.ts'
import { kubernetes, orrery, type RunningServer, type ServerKind } from './servers.ts'

/** What both sides hold when memory is measured, and what gets and lists read. */
const OBJECTS = 10_000
const WATCHERS = 500
const MIB = 1024 * 1024

const { values: flags } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    peer: { type: 'boolean', default: false },
    only: { type: 'string' },
    seconds: { type: 'string' },
  },
})
if (flags.help) {
  console.log('usage: npm run bench -- [--peer] [--only create,get,list,watch,memory,ready,downsync] [--seconds N]')
  process.exit()
}
const seconds = Number(flags.seconds ?? 4)
const wanted = (part: string): boolean => flags.only === undefined || flags.only.split(',').includes(part)

type Row = Omit<Measure, 'values'>
const ROWS = {
  coldReady: { what: 'ready, first start', unit: 'ms', better: 'less' },
  ready: { what: 'ready, second start', unit: 'ms', better: 'less', target: { limit: 500 } },
  create1: { what: 'creates, 1 connection', unit: '/s', better: 'more' },
  create32: { what: 'creates, 32 connections', unit: '/s', better: 'more', target: { ratio: 4 } },
  create64: { what: 'creates, 64 connections', unit: '/s', better: 'more', target: { ratio: 4 } },
  get: { what: 'gets, 32 connections', unit: '/s', better: 'more', target: { ratio: 6 } },
  list: { what: 'lists of 500, 8 connections', unit: '/s', better: 'more', target: { ratio: 25 } },
  watch: { what: `events to ${WATCHERS} watchers, 1 writer`, unit: '/s', better: 'more', target: { ratio: 5 } },
  watchBurst: { what: `events to ${WATCHERS} watchers, 16 writers`, unit: '/s', better: 'more' },
  createCpu: { what: 'processor time of a create', unit: 'µs', better: 'less' },
  getCpu: { what: 'processor time of a get', unit: 'µs', better: 'less' },
  listCpu: { what: 'processor time of a list of 500', unit: 'µs', better: 'less' },
  watchCpu: { what: 'processor time of an event, connecting included', unit: 'µs', better: 'less' },
  idle: { what: 'memory, fresh', unit: 'MiB', better: 'less' },
  memory: { what: `memory with ${OBJECTS} objects of 1 KB`, unit: 'MiB', better: 'less', target: { ratio: 4 } },
  memoryAfter: { what: 'memory after all the load', unit: 'MiB', better: 'less' },
  downsync: { what: 'downsync of one object', unit: 'ms', better: 'less' },
} as const satisfies Record<string, Row>
type Figures = Partial<Record<keyof typeof ROWS, number>>

const quiet = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

async function measure(kind: ServerKind, dir: string): Promise<Figures> {
  const figures: Figures = {}
  const first = await kind.start(dir)
  figures.coldReady = first.readyMs
  await quiet(500)
  await first.stop()
  const server = await kind.start(dir)
  const generator = new Generator()
  try {
    figures.ready = server.readyMs
    await underLoad(server, generator, figures)
  } finally {
    generator.close()
    await server.stop()
  }
  return figures
}

async function underLoad(server: RunningServer, generator: Generator, figures: Figures): Promise<void> {
  const { endpoint } = server
  /** Runs a job; notes its rate and what one request of it costs. */
  const timed = async (rate: keyof Figures, cpu: keyof Figures, job: Job): Promise<void> => {
    const before = await server.cpuSeconds()
    const { perSecond, count } = await generator.run(job)
    const after = await server.cpuSeconds()
    figures[rate] = perSecond
    if (before !== undefined && after !== undefined) figures[cpu] = ((after - before) * 1e6) / count
  }
  const mib = async (): Promise<number> => (await server.residentBytes()) / MIB
  // What a server does right after its start is not its idle state.
  await quiet(2000)
  figures.idle = await mib()
  if (wanted('create') || wanted('get') || wanted('list') || wanted('memory')) {
    const fill = { endpoint, kind: 'create', namespace: 'default', connections: 32, count: OBJECTS } as const
    await timed('create32', 'createCpu', fill)
    await quiet(2000)
    figures.memory = await mib()
  }
  if (wanted('get'))
    await timed('get', 'getCpu', {
      ...{ endpoint, kind: 'get', namespace: 'default', objects: OBJECTS, connections: 32, seconds },
    })
  if (wanted('list'))
    await timed('list', 'listCpu', {
      ...{ endpoint, kind: 'list', namespace: 'default', limit: 500, connections: 8, seconds },
    })
  if (wanted('create')) {
    const create = { endpoint, kind: 'create', seconds } as const
    figures.create1 = (await generator.run({ ...create, namespace: 'kube-public', connections: 1 })).perSecond
    figures.create64 = (await generator.run({ ...create, namespace: 'kube-system', connections: 64 })).perSecond
  }
  if (wanted('watch')) {
    const watch = { endpoint, kind: 'watch', namespace: 'watched', watchers: WATCHERS, seconds } as const
    await timed('watch', 'watchCpu', { ...watch, writers: 1 })
    figures.watchBurst = (await generator.run({ ...watch, namespace: 'watched-by-more', writers: 16 })).perSecond
  }
  await quiet(1000)
  figures.memoryAfter = await mib()
}

const assets = process.env.KUBEBUILDER_ASSETS
if (flags.peer && assets === undefined)
  throw new Error('--peer needs KUBEBUILDER_ASSETS: the folder of kube-apiserver and etcd')
const kinds = [orrery, ...(flags.peer && assets !== undefined ? [kubernetes(assets)] : [])]
const root = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
try {
  const columns: Figures[] = []
  for (const [i, kind] of kinds.entries()) {
    process.stderr.write(`measuring ${kind.name}\n`)
    columns.push(await measure(kind, join(root, String(i))))
  }
  const downsync = wanted('downsync') ? await measureDownsync() : 'left out'
  if (typeof downsync === 'number') columns[0]!.downsync = downsync
  else process.stderr.write(`downsync: ${downsync}\n`)
  const measures = (Object.keys(ROWS) as (keyof typeof ROWS)[])
    .map(name => ({ ...ROWS[name], values: columns.map(column => column[name]) }))
    .filter(({ values }) => values.some(value => value !== undefined))
  console.log(
    renderReport(
      kinds.map(kind => kind.name),
      measures,
    ),
  )
} finally {
  await rm(root, { recursive: true })
}
