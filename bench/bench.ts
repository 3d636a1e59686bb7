/**
 * The cost of the server, measured from outside: `npm run bench`. With `npm run bench -- --peer` it measures kube-apiserver and etcd (from
 * KUBEBUILDER_ASSETS) in the same run. `--rounds N` measures in turns and prints medians, with their ranges. `--server-cores 0,1
 * --generator-cores 2,3` gives each side cores of its own. `--only PART,…` narrows it. The targets are ratios: absolute numbers say more
 * about the machine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { measureDownsync } from './downsync.ts'
import { Generator } from './generator.ts'
import type { Result, Task } from './loadGenerator.ts'
import { type Measure, renderReport } from './report.ts'
import { kubernetes, orreryOf, type RunningServer, type ServerKind, TREE } from './servers.ts'

/** Content of both sides when memory is measured, and of gets and lists. */
const OBJECTS = 10_000
const WATCHERS = 500
const MIB = 1024 * 1024
const PARTS = ['create', 'update', 'get', 'list', 'watch', 'memory', 'ready', 'downsync'] as const
type Part = (typeof PARTS)[number]

const { values: flags } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    peer: { type: 'boolean', default: false },
    only: { type: 'string', default: PARTS.join(',') },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
    'server-cores': { type: 'string' },
    'generator-cores': { type: 'string' },
  },
})
if (flags.help) {
  console.log(
    `usage: npm run bench -- [--peer] [--only ${PARTS.join(',')}] [--seconds N] [--rounds N] [--server-cores LIST] [--generator-cores LIST]`,
  )
  process.exit()
}
const seconds = Number(flags.seconds)
const rounds = Number(flags.rounds)
const parts = flags.only.split(',')
const wanted = (...any: Part[]): boolean => any.some(part => parts.includes(part))
const cores = flags['server-cores']
/** Whether the load is made elsewhere than it is served: more is aimed at then. */
const apart = cores !== undefined && flags['generator-cores'] !== undefined

type Row = Omit<Measure, 'values'>
const aim = (ratio: number, together = ratio): { ratio: number } => ({ ratio: apart ? ratio : together })
const ROWS = {
  coldReady: { what: 'ready, first start', unit: 'ms', better: 'less' },
  ready: { what: 'ready, second start', unit: 'ms', better: 'less', target: { limit: 300 } },
  create1: { what: 'creates, 1 connection', unit: '/s', better: 'more' },
  create32: { what: 'creates, 32 connections', unit: '/s', better: 'more' },
  create64: { what: 'creates, 64 connections', unit: '/s', better: 'more', target: aim(3, 2.5) },
  update: { what: 'updates, 32 connections', unit: '/s', better: 'more' },
  get: { what: 'gets, 32 connections', unit: '/s', better: 'more', target: aim(6, 5) },
  list: { what: 'lists of 500, 8 connections', unit: '/s', better: 'more', target: aim(12) },
  watch: { what: `events to ${WATCHERS} watchers, 1 writer`, unit: '/s', better: 'more' },
  watchBurst: { what: `events to ${WATCHERS} watchers, 16 writers`, unit: '/s', better: 'more' },
  createCpu: { what: 'processor time of a create', unit: 'µs', better: 'less', target: { ratio: 5 } },
  createMain: { what: 'of that, of Orrery, the main thread', unit: 'µs', better: 'less' },
  updateCpu: { what: 'processor time of an update', unit: 'µs', better: 'less', target: { ratio: 4.5 } },
  updateMain: { what: 'of that, of Orrery, the main thread', unit: 'µs', better: 'less' },
  getCpu: { what: 'processor time of a get', unit: 'µs', better: 'less', target: { ratio: 9 } },
  listCpu: { what: 'processor time of a list of 500', unit: 'µs', better: 'less', target: { ratio: 20 } },
  watchCpu: { what: 'processor time of an event', unit: 'µs', better: 'less', target: { ratio: 5 } },
  createWait: { what: 'longest wait for a get beside creates', unit: 'ms', better: 'less' },
  getWait: { what: 'longest wait for a get beside gets', unit: 'ms', better: 'less' },
  listWait: { what: 'longest wait for a get beside lists', unit: 'ms', better: 'less' },
  watchWait: { what: 'longest wait for a get beside events', unit: 'ms', better: 'less' },
  idle: { what: 'memory, fresh', unit: 'MiB', better: 'less', target: { limit: 100 } },
  memory: { what: `memory with ${OBJECTS} objects of 1 KB`, unit: 'MiB', better: 'less', target: { limit: 125 } },
  memoryAfter: { what: 'memory after all the load', unit: 'MiB', better: 'less' },
  downsync: { what: 'downsync of one object', unit: 'ms', better: 'less' },
} as const satisfies Record<string, Row>
type Name = keyof typeof ROWS
type Figures = Partial<Record<Name, number>>

async function measure(kind: ServerKind, dir: string): Promise<Figures> {
  const figures: Figures = {}
  const first = await kind.start(dir)
  figures.coldReady = first.readyMs
  await pause(500)
  await first.stop()
  const server = await kind.start(dir)
  const generator = new Generator(flags['generator-cores'])
  try {
    figures.ready = server.readyMs
    await underLoad(server, generator, figures)
  } finally {
    generator.close()
    await server.stop()
  }
  return figures
}

/** Which figures a job gives. */
interface Timing {
  rate: Name
  cpu?: Name
  /** Share of the main thread, where there is one: as much as one server can write. */
  main?: Name
  wait?: Name
}

async function underLoad(server: RunningServer, generator: Generator, figures: Figures): Promise<void> {
  const { endpoint, pids } = server
  const timed = async ({ rate, cpu, main, wait }: Timing, task: Task): Promise<void> => {
    const probe = wait && { probe: '/api/v1/namespaces/default' }
    const result: Result = await generator.run({ ...task, endpoint, pids, ...probe })
    figures[rate] = result.perSecond
    if (cpu && result.cpuSeconds !== undefined) figures[cpu] = (result.cpuSeconds * 1e6) / result.count
    if (main && result.mainThreadSeconds !== undefined && server.hasMainThread)
      figures[main] = (result.mainThreadSeconds * 1e6) / result.count
    if (wait && result.longestWaitMs !== undefined) figures[wait] = result.longestWaitMs
  }
  const mib = async (): Promise<number> => (await server.residentBytes()) / MIB
  const stored = { namespace: 'default', objects: OBJECTS, connections: 32, seconds }
  // Work of a server right after its start is not its idle state.
  await pause(2000)
  figures.idle = await mib()
  if (wanted('create', 'update', 'get', 'list', 'memory')) {
    const fill = { kind: 'create', namespace: 'default', connections: 32, count: OBJECTS } as const
    await timed({ rate: 'create32', wait: 'createWait' }, fill)
    await pause(2000)
    figures.memory = await mib()
  }
  if (wanted('get')) await timed({ rate: 'get', cpu: 'getCpu', wait: 'getWait' }, { kind: 'get', ...stored })
  if (wanted('list')) {
    const list = { kind: 'list', namespace: 'default', limit: 500, connections: 8, seconds } as const
    await timed({ rate: 'list', cpu: 'listCpu', wait: 'listWait' }, list)
  }
  if (wanted('update'))
    await timed({ rate: 'update', cpu: 'updateCpu', main: 'updateMain' }, { kind: 'update', ...stored })
  if (wanted('create')) {
    await timed({ rate: 'create1' }, { kind: 'create', seconds, namespace: 'kube-public', connections: 1 })
    // both servers are warm by now
    await timed(
      { rate: 'create64', cpu: 'createCpu', main: 'createMain' },
      { kind: 'create', seconds, namespace: 'kube-system', connections: 64 },
    )
  }
  if (wanted('watch')) {
    const watch = { kind: 'watch', watchers: WATCHERS, seconds } as const
    await timed({ rate: 'watch', cpu: 'watchCpu', wait: 'watchWait' }, { ...watch, namespace: 'watched', writers: 1 })
    await timed({ rate: 'watchBurst' }, { ...watch, namespace: 'watched-by-more', writers: 16 })
  }
  await pause(1000)
  figures.memoryAfter = await mib()
}

const assets = process.env.KUBEBUILDER_ASSETS
if (flags.peer && assets === undefined)
  throw new Error('--peer needs KUBEBUILDER_ASSETS: the folder of kube-apiserver and etcd')
const kinds = [orreryOf(TREE, { cores }), ...(flags.peer && assets !== undefined ? [kubernetes(assets, cores)] : [])]
const root = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
try {
  /** By server, by round. */
  const columns: Figures[][] = kinds.map(() => [])
  for (let round = 1; round <= rounds; round++) {
    for (const [i, kind] of kinds.entries()) {
      process.stderr.write(`measuring ${kind.name}, round ${round} of ${rounds}\n`)
      columns[i]!.push(await measure(kind, join(root, `${round}-${i}`)))
    }
  }
  const downsync = wanted('downsync') ? await measureDownsync() : 'left out'
  if (typeof downsync === 'number') columns[0]![0]!.downsync = downsync
  else process.stderr.write(`downsync: ${downsync}\n`)
  const measures = (Object.keys(ROWS) as Name[])
    .map(name => ({
      ...ROWS[name],
      values: columns.map(column => column.flatMap(figures => figures[name] ?? [])),
    }))
    .filter(({ values }) => values.some(value => value.length > 0))
  const where = `server on ${cores ?? 'all'}, generator on ${flags['generator-cores'] ?? 'all'} of ${availableParallelism()} cores`
  console.log(`${where}; rounds: ${rounds}`)
  console.log(
    renderReport(
      kinds.map(kind => kind.name),
      measures,
    ),
  )
} finally {
  await rm(root, { recursive: true })
}
