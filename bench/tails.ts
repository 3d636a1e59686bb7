/**
 * How long the server's loop is held by what may take long: `node bench/tails.ts [--objects 100000] [--only NAME,…]
 * [--server-cores 0,1] [--generator-cores 2,3] [--profiles DIR]`.
 *
 * A server with so many ConfigMaps of a kilobyte gets one request after the other. Printed are how long each took, and the processor time
 * of the longest turn of its loop meanwhile, and of one in a hundred. Then, how long creates wait, one after the other, of which each waits
 * for the disk: alone, and beside lists that are compressed (`--only syncs`). `--profiles` writes a processor profile of each, which says
 * when that turn was (`longestTurn`, in the profile's microseconds).
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Inspector } from '../test/attack/inspector.ts'
import { Generator } from './generator.ts'
import { orreryOf, type RunningServer, TREE } from './servers.ts'

const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '100000' },
    only: { type: 'string' },
    'server-cores': { type: 'string' },
    'generator-cores': { type: 'string' },
    profiles: { type: 'string' },
  },
})
const OBJECTS = Number(flags.objects)
/** Objects of a namespace, or of a space, that is deleted whole. */
const DELETED = Math.ceil(OBJECTS / 10)
const PAGE = 500
/** Label of all the load generator's objects. */
const SELECTED = 'labelSelector=app%3Dbench%2Cother%21%3Dx'
const MAPS = '/api/v1/configmaps'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'

interface Query {
  method?: string
  path: string
  accept?: string
  encoding?: string
  type?: string
  body?: object
}

const namespaceOf = (name: string): object => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

interface Answer {
  code: number
  /** Only of short answers. */
  text: string
}

class Bench {
  readonly server: RunningServer
  readonly inspector: Inspector
  readonly #generator: Generator
  readonly #agent: Agent

  constructor(server: RunningServer, inspector: Inspector, generator: Generator) {
    this.server = server
    this.inspector = inspector
    this.#generator = generator
    const { cert, key } = server.endpoint
    this.#agent = new Agent({ keepAlive: true, rejectUnauthorized: false, cert, key })
  }

  /** ConfigMaps in a new namespace. */
  async create(namespace: string, count: number): Promise<void> {
    if (namespace !== 'default')
      await this.ask({ method: 'POST', path: '/api/v1/namespaces', body: namespaceOf(namespace) })
    await this.#generator.run({ kind: 'create', namespace, connections: 32, count, endpoint: this.server.endpoint })
  }

  /** @throws Error where it is refused */
  async ask({ method = 'GET', path, accept = 'application/json', encoding, type, body }: Query): Promise<Answer> {
    const { host, port } = this.server.endpoint
    const headers = {
      accept,
      ...(encoding && { 'accept-encoding': encoding }),
      ...(body && { 'content-type': type ?? 'application/json' }),
    }
    const asking = request({ host, port, method, path, headers, agent: this.#agent })
    asking.end(body && JSON.stringify(body))
    const [answer] = await once(asking, 'response')
    const kept: Buffer[] = []
    for await (const piece of answer) if (kept.length < 100) kept.push(piece)
    const result = { code: answer.statusCode, text: Buffer.concat(kept).toString() }
    if (result.code >= 400) throw new Error(`${method} ${path}: ${result.code} ${result.text.slice(0, 500)}`)
    return result
  }

  /** Until so many events of a watch have come, or the one that is the last. */
  async watch(path: string, events: number, last?: string): Promise<void> {
    const { host, port } = this.server.endpoint
    const asking = request({ host, port, path, agent: this.#agent }).end()
    const [answer] = await once(asking, 'response')
    let lines = 0
    for await (const piece of answer as AsyncIterable<Buffer>) {
      for (const byte of piece) if (byte === 10) lines++
      if (lines >= events || (last !== undefined && piece.includes(last))) break
    }
    asking.destroy()
  }

  close(): void {
    this.#agent.destroy()
    this.#generator.close()
    this.inspector.close()
  }
}

interface Row {
  prepare?(bench: Bench): Promise<unknown>
  run(bench: Bench): Promise<unknown>
}

const list = (query: string, more: Omit<Query, 'path'> = {}): Row => ({
  run: bench => bench.ask({ path: `${MAPS}${query}`, ...more }),
})

const ROWS: Readonly<Record<string, Row>> = {
  creates: { run: bench => bench.create('creates', DELETED) },
  list: list(''),
  'list compressed': list('', { encoding: 'gzip' }),
  'list in pages': {
    async run(bench) {
      for (let token = ''; ; ) {
        const { text } = await bench.ask({ path: `${MAPS}?limit=${PAGE}${token && `&continue=${token}`}` })
        token = /"continue":"([^"]+)"/.exec(text)?.[1] ?? ''
        if (token === '') return
      }
    },
  },
  'list selected by labels': list(`?${SELECTED}`),
  'list as a table': list('', { accept: TABLE }),
  'list of metadata': list('', { accept: METADATA }),
  'list as YAML': list(`?limit=${Math.ceil(OBJECTS / 20)}`, { accept: 'application/yaml' }),
  'list as Protobuf': list('', { accept: 'application/vnd.kubernetes.protobuf' }),
  'list indented': list('?pretty=true'),
  'watch from the beginning': { run: bench => bench.watch(`${MAPS}?watch=1`, OBJECTS) },
  'deletion of a collection': {
    prepare: bench => bench.create('collection', DELETED),
    run: bench => bench.ask({ method: 'DELETE', path: '/api/v1/namespaces/collection/configmaps' }),
  },
  'apply of 3,000 fields': {
    run: bench =>
      bench.ask({
        method: 'PATCH',
        path: '/api/v1/namespaces/default/configmaps/applied?fieldManager=bench',
        type: 'application/apply-patch+yaml',
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          data: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`key-${i}`, 'x'.repeat(80)])),
        },
      }),
  },
  'OpenAPI v2': { run: bench => bench.ask({ path: '/openapi/v2' }) },
  'OpenAPI v3': { run: bench => bench.ask({ path: '/openapi/v3/api/v1' }) },
  'deletion of a namespace': {
    prepare: bench => bench.create('namespace', DELETED),
    async run(bench) {
      const path = '/api/v1/namespaces/namespace'
      const { text } = await bench.ask({ method: 'DELETE', path })
      const { resourceVersion } = JSON.parse(text).metadata
      const query = `watch=1&fieldSelector=metadata.name%3Dnamespace&resourceVersion=${resourceVersion}`
      await bench.watch(`/api/v1/namespaces?${query}`, Number.POSITIVE_INFINITY, '"type":"DELETED"')
    },
  },
}

async function measured(bench: Bench, name: string, { prepare, run }: Row): Promise<string> {
  await prepare?.(bench)
  if (flags.profiles !== undefined) await bench.inspector.startProfile()
  await bench.inspector.startTurns()
  const begun = performance.now()
  await run(bench)
  const ms = performance.now() - begun
  const { longest, p99, from, to } = await bench.inspector.stopTurns()
  if (flags.profiles !== undefined) {
    const profile = { ...(await bench.inspector.stopProfile()), longestTurn: { from, to } }
    writeFileSync(join(flags.profiles, `${name.replace(/\W+/g, '-')}.cpuprofile`), JSON.stringify(profile))
  }
  return `${name.padEnd(28)} ${ms.toFixed(0).padStart(7)} ms   ${longest.toFixed(1).padStart(6)} ms   ${p99.toFixed(1).padStart(6)} ms`
}

/** Creates that are timed, one after the other. */
const SYNCED_CREATES = 2000
/** Number of lists beside them. */
const LISTING = 4

interface Synced {
  /** How long creates waited, in ms. */
  readonly waits: readonly number[]
  /** Commits of up to so many seconds each, by the server's own histogram. */
  readonly commits: ReadonlyMap<string, number>
}

async function commitsOf(bench: Bench): Promise<Map<string, number>> {
  const { text } = await bench.ask({ path: '/metrics' })
  const buckets = text.matchAll(/^orrery_store_commit_duration_seconds_bucket\{le="(\S+)"\} (\d+)$/gm)
  return new Map(Array.from(buckets, ([, le, count]) => [le!, Number(count)]))
}

async function createsSynced(bench: Bench, namespace: string): Promise<Synced> {
  await bench.ask({ method: 'POST', path: '/api/v1/namespaces', body: namespaceOf(namespace) })
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const before = await commitsOf(bench)
  const waits: number[] = []
  for (let i = 0; i < SYNCED_CREATES; i++) {
    const begun = performance.now()
    await bench.ask({
      method: 'POST',
      path,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${i}` } },
    })
    waits.push(performance.now() - begun)
  }
  const commits = new Map(Array.from(await commitsOf(bench), ([le, count]) => [le, count - (before.get(le) ?? 0)]))
  return { waits: waits.sort((a, b) => a - b), commits }
}

function answered({ waits, commits }: Synced): string {
  const at = (share: number): string => waits[Math.floor(waits.length * share)]!.toFixed(1)
  const all = commits.get('+Inf')!
  const within = [...commits].find(([, count]) => count >= 0.99 * all)![0]
  const shares = [...commits]
    .filter(([, count]) => count < all)
    .map(([le, count]) => `${((100 * count) / all).toFixed(1)} % within ${1000 * Number(le)} ms`)
  return `waits ${at(0.5)} ms at the median, ${at(0.99)} at p99; commits: p99 within ${1000 * Number(within)} ms (${shares.slice(0, 4).join(', ')})`
}

/** Threads in use by compression delay a sync of the disk. */
async function syncsBesideLists(bench: Bench): Promise<string> {
  const alone = await createsSynced(bench, 'alone')
  let ended = false
  const listing = Array.from({ length: LISTING }, async () => {
    while (!ended) await bench.ask({ path: `${MAPS}?limit=${PAGE}`, encoding: 'gzip' })
  })
  const beside = await createsSynced(bench, 'beside')
  ended = true
  await Promise.all(listing)
  return `creates one after the other: ${answered(alone)}\nbeside ${LISTING} who list ${PAGE}, compressed: ${answered(beside)}`
}

// one loop does everything: threads would take the lists from it, unseen
process.env.ORRERY_API_THREADS ??= '0'
if (flags.profiles !== undefined) mkdirSync(flags.profiles, { recursive: true })
if (flags['generator-cores'] !== undefined)
  execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', flags['generator-cores'], `${process.pid}`])
const wanted = flags.only?.split(',')
const dir = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
try {
  const server = await orreryOf(TREE, { cores: flags['server-cores'], inspected: true }).start(dir)
  const bench = new Bench(server, await server.inspector(), new Generator(flags['generator-cores']))
  try {
    await bench.create('default', OBJECTS)
    console.log(`${OBJECTS} ConfigMaps of 1 KB; processor time of turns of the loop\n`)
    console.log(`${''.padEnd(28)} ${'took'.padStart(10)}   ${'longest'.padStart(9)}   ${'p99'.padStart(9)}`)
    for (const [name, row] of Object.entries(ROWS))
      if (wanted?.includes(name) ?? true) console.log(await measured(bench, name, row))
    if (wanted?.includes('syncs') ?? true) console.log(`\n${await syncsBesideLists(bench)}`)
  } finally {
    bench.close()
    await server.stop()
  }
} finally {
  await rm(dir, { recursive: true, force: true })
}
