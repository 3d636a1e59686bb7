/**
 * Cost of a change, as processor time of the server for each request: `node bench/bounds.ts --before TREE`, where TREE is another clone of
 * this repository. Both servers of a pair run on the same core (`--core`) and are loaded in turns, in short slices. Other load of the
 * machine meets both. A figure of a pair is the median of its slices. The client is a ServiceAccount: an exempt user meets no bounds.
 * Compare a tree with itself to see what the machine makes of nothing.
 *
 * `--pairs N`, `--slices N` (of each side in a pair), `--only create,update,get,list,event`, `--after TREE` (default: this one).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Generator } from './generator.ts'
import type { Job } from './loadGenerator.ts'
import { median } from './report.ts'
import { answerTo, type Endpoint, orreryOf, type RunningServer, TREE } from './servers.ts'

const OBJECTS = 2000
const WATCHERS = 100
const PARTS = ['create', 'update', 'get', 'list', 'event'] as const
type Part = (typeof PARTS)[number]

const { values: flags } = parseArgs({
  options: {
    before: { type: 'string' },
    after: { type: 'string', default: TREE },
    core: { type: 'string', default: String(availableParallelism() - 1) },
    pairs: { type: 'string', default: '10' },
    slices: { type: 'string', default: '6' },
    only: { type: 'string', default: PARTS.join(',') },
  },
})
if (flags.before === undefined) throw new Error('--before needs a tree to compare with')
/** Seconds of a slice. Those with watchers are longer: to connect them takes a while. */
const SECONDS = { create: 0.2, update: 0.2, get: 0.2, list: 0.2, event: 0.6 }

interface Contestant {
  server: RunningServer
  /** A ServiceAccount's, who may do everything. */
  endpoint: Endpoint
}

const post = async (endpoint: Endpoint, path: string, body: object) =>
  JSON.parse(String(await answerTo(endpoint, { method: 'POST', path, body })))

async function contestant(tree: string, dir: string): Promise<Contestant> {
  const server = await orreryOf(tree, { cores: flags.core }).start(dir)
  const name = 'bench'
  const { endpoint } = server
  await post(endpoint, '/api/v1/namespaces/default/serviceaccounts', { metadata: { name } })
  await post(endpoint, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
  })
  const { status } = await post(endpoint, `/api/v1/namespaces/default/serviceaccounts/${name}/token`, { spec: {} })
  const { token } = status
  return { server, endpoint: { host: endpoint.host, port: endpoint.port, token } }
}

/** Microseconds of a request, or of an event to all watchers. */
async function slice(
  { server, endpoint }: Contestant,
  generator: Generator,
  part: Part,
  turn: number,
): Promise<number> {
  const common = { endpoint, pids: server.pids, seconds: SECONDS[part] }
  const namespace = `${part}-${turn}`
  if (part === 'create') await post(server.endpoint, '/api/v1/namespaces', { metadata: { name: namespace } })
  const jobs: Record<Part, Job> = {
    create: { ...common, kind: 'create', namespace, connections: 8 },
    update: { ...common, kind: 'update', namespace: 'default', objects: OBJECTS, connections: 8 },
    get: { ...common, kind: 'get', namespace: 'default', objects: OBJECTS, connections: 8 },
    list: { ...common, kind: 'list', namespace: 'default', limit: 500, connections: 4 },
    event: { ...common, kind: 'watch', namespace, watchers: WATCHERS, writers: 1 },
  }
  const { count, cpuSeconds } = await generator.run(jobs[part])
  if (cpuSeconds === undefined) throw new Error('processor time is told by Linux only')
  return (cpuSeconds * 1e6) / (part === 'event' ? count / WATCHERS : count)
}

/** Medians of a pair of servers that are started for it: two processes of one tree may differ by more than what is looked for. */
async function measurePair(trees: readonly string[], firstIndex: number): Promise<Map<Part, [number, number]>> {
  const root = await mkdtemp(join(tmpdir(), 'orrery-bounds-'))
  const generator = new Generator()
  const contestants: Contestant[] = []
  const measured = new Map<Part, [number, number]>()
  try {
    for (const index of [firstIndex, 1 - firstIndex]) {
      const made = await contestant(trees[index]!, join(root, String(index)))
      contestants[index] = made
      const { endpoint } = made
      await generator.run({ endpoint, kind: 'create', namespace: 'default', connections: 8, count: OBJECTS })
    }
    for (const part of PARTS.filter(each => flags.only.split(',').includes(each))) {
      const found: [number[], number[]] = [[], []]
      const slices = Number(flags.slices)
      for (let round = 0; round < 4 * slices; round++) {
        // 0 1 1 0 0 1 1 0: none is always the one behind the other. The first half warms the compiler.
        const side = ((round + 1 + 2 * firstIndex) >> 1) % 2
        const cost = await slice(contestants[side]!, generator, part, round)
        if (round >= 2 * slices) found[side]!.push(cost)
      }
      measured.set(part, [median(found[0])!, median(found[1])!])
    }
  } finally {
    generator.close()
    for (const each of contestants) await each?.server.stop()
    await rm(root, { recursive: true })
  }
  return measured
}

const pairs: Map<Part, [number, number]>[] = []
for (let pair = 0; pair < Number(flags.pairs); pair++) {
  process.stderr.write(`pair ${pair + 1}\n`)
  pairs.push(await measurePair([flags.before, flags.after], pair % 2))
}
console.log('| processor time | before, µs | after, µs | median of the pairs | pairs, % |\n|---|---|---|---|---|')
for (const part of pairs[0]!.keys()) {
  const found = pairs.map(pair => pair.get(part)!)
  const [old, now] = [0, 1].map(index => median(found.map(pair => pair[index]!))!.toFixed(1))
  const ratios = found.map(([before, after]) => (after / before - 1) * 100)
  const all = ratios.map(ratio => ratio.toFixed(1)).join(' ')
  console.log(`| ${part} | ${old} | ${now} | ${median(ratios)!.toFixed(1)} % | ${all} |`)
}
