/** The compared servers: their start, readiness, measurement and stop. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ClosableClient, httpClient } from '../src/client/http/httpClient.ts'
import { Inspector } from '../test/attack/inspector.ts'
import { HttpConnection } from './httpConnection.ts'

/** Where a server listens and how the administrator proves who they are. */
export interface Endpoint {
  host: string
  port: number
  token?: string
  cert?: string
  key?: string
  /** `http://host:port` of the etcd behind it, where there is one. */
  etcd?: string
}

export interface RunningServer {
  readonly endpoint: Endpoint
  /** From the start of the (first) process until `/readyz` answered 200. */
  readonly readyMs: number
  readonly pids: readonly number[]
  /** Whether one thread of the first process has all writes to do. */
  readonly hasMainThread: boolean
  /** Resident memory of all its processes, in bytes. */
  residentBytes(): Promise<number>
  /** Processor time that all its processes have used, in seconds; `undefined` where there is no /proc. */
  cpuSeconds(): Promise<number | undefined>
  /** @throws Error where it was not started with one */
  inspector(): Promise<Inspector>
  /** Default: SIGTERM. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface ServerKind {
  readonly name: string
  /** Starts it on a data dir; the same dir again is a second start. `port`: absent for a free one. */
  start(dir: string, port?: number): Promise<RunningServer>
}

const READY_LIMIT_MS = 60_000

/** This tree. */
export const TREE = join(import.meta.dirname, '..')

interface OrreryOptions {
  /** The only ones that it may run on, as `taskset` writes them. */
  cores?: string | undefined
  /** Whether it runs with an inspector. */
  inspected?: boolean
  flags?: readonly string[]
}

/** That of a tree. */
export function orreryOf(tree: string, { cores, inspected = false, flags = [] }: OrreryOptions = {}): ServerKind {
  return {
    name: 'Orrery',
    async start(dir, at) {
      const port = at ?? (await freePort())
      const command = [join(tree, 'bin/orrery'), 'start', '--data-dir', dir, '--secure-port', String(port), ...flags]
      const inspectPort = inspected ? await freePort() : undefined
      const env = inspected ? { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectPort}` } : {}
      const begun = performance.now()
      const child = run(command, cores, env)
      const readyMs = await ready({ host: '127.0.0.1', port }, begun, [child])
      const [cert, key] = await Promise.all([
        readFile(join(dir, 'pki/admin.crt'), 'utf8'),
        readFile(join(dir, 'pki/admin.key'), 'utf8'),
      ])
      return running({ host: '127.0.0.1', port, cert, key }, readyMs, [child], { hasMainThread: true, inspectPort })
    },
  }
}

/**
 * kube-apiserver and etcd from `assets` (KUBEBUILDER_ASSETS), on these cores together. No controllers run beside them. `users` have no
 * rights, and the token `<name>-token`.
 */
export function kubernetes(
  assets: string,
  cores?: string,
  { flags = [], users = [] }: { flags?: readonly string[]; users?: readonly string[] } = {},
): ServerKind {
  return {
    name: 'kube-apiserver + etcd',
    async start(dir) {
      await mkdir(dir, { recursive: true })
      const ports = await Promise.all([freePort(), freePort(), freePort()])
      const [port, client, peer] = ports
      const key = join(dir, 'sa.key')
      const tokens = join(dir, 'tokens.csv')
      if (!existsSync(key)) {
        const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
        await writeFile(key, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
        const rows = ['bench-token,admin,admin,"system:masters"', ...users.map(user => `${user}-token,${user},${user}`)]
        await writeFile(tokens, rows.join('\n'), { mode: 0o600 })
      }
      const begun = performance.now()
      const etcd = run(
        [
          join(assets, 'etcd'),
          `--data-dir=${join(dir, 'etcd')}`,
          `--listen-client-urls=http://127.0.0.1:${client}`,
          `--advertise-client-urls=http://127.0.0.1:${client}`,
          `--listen-peer-urls=http://127.0.0.1:${peer}`,
          `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
          `--initial-cluster=default=http://127.0.0.1:${peer}`,
        ],
        cores,
      )
      const api = run(
        [
          join(assets, 'kube-apiserver'),
          `--etcd-servers=http://127.0.0.1:${client}`,
          `--secure-port=${port}`,
          '--bind-address=127.0.0.1',
          `--cert-dir=${join(dir, 'certs')}`,
          `--token-auth-file=${tokens}`,
          '--authorization-mode=RBAC',
          '--service-account-issuer=https://kubernetes.default.svc',
          `--service-account-signing-key-file=${key}`,
          `--service-account-key-file=${key}`,
          '--service-cluster-ip-range=10.0.0.0/16',
          // Its own limits for fairness between clients must not be what is measured.
          '--max-requests-inflight=4000',
          '--max-mutating-requests-inflight=2000',
          ...flags,
        ],
        cores,
      )
      const endpoint = { host: '127.0.0.1', port, token: 'bench-token', etcd: `http://127.0.0.1:${client}` }
      return running(endpoint, await ready(endpoint, begun, [api, etcd]), [api, etcd])
    },
  }
}

function run(line: readonly string[], cores?: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const [command = '', ...args] = cores === undefined ? line : ['taskset', '--cpu-list', cores, ...line]
  return spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } })
}

function running(
  endpoint: Endpoint,
  readyMs: number,
  children: readonly ChildProcess[],
  { hasMainThread = false, inspectPort }: { hasMainThread?: boolean; inspectPort?: number | undefined } = {},
): RunningServer {
  return {
    endpoint,
    readyMs,
    pids: children.map(child => child.pid!),
    hasMainThread,
    async residentBytes() {
      const sizes = await Promise.all(children.map(child => residentBytesOf(child.pid!)))
      return sizes.reduce((sum, size) => sum + size, 0)
    },
    cpuSeconds: () => cpuSecondsOf(children.map(child => child.pid!)),
    async inspector() {
      const answer = await fetch(`http://127.0.0.1:${inspectPort}/json/list`)
      const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[]
      return await Inspector.connect(target!.webSocketDebuggerUrl)
    },
    async stop(signal) {
      for (const child of children) await ended(child, signal)
    },
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

/** Asks every few milliseconds; a server that ends or never becomes ready is an error. */
async function ready(endpoint: Endpoint, begun: number, children: readonly ChildProcess[]): Promise<number> {
  while (performance.now() - begun < READY_LIMIT_MS) {
    if (await isReady(endpoint)) return performance.now() - begun
    if (children.some(child => child.exitCode !== null)) break
    await pause(5)
  }
  for (const child of children) await ended(child)
  throw new Error('the server did not become ready')
}

async function isReady(endpoint: Endpoint): Promise<boolean> {
  let connection: HttpConnection | undefined
  try {
    connection = await HttpConnection.open({ ...endpoint, rejectUnauthorized: false })
    const authorization = endpoint.token ? `Authorization: Bearer ${endpoint.token}\r\n` : ''
    return (
      (await connection.send(Buffer.from(`GET /readyz HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n`))) === 200
    )
  } catch {
    // Nobody listens yet, or the listener is not up to an answer: both mean "not ready".
    return false
  } finally {
    connection?.close()
  }
}

/** VmRSS where there is /proc, otherwise what `ps` says. */
async function residentBytesOf(pid: number): Promise<number> {
  const status = `/proc/${pid}/status`
  if (existsSync(status)) return Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(status, 'utf8'))![1]) * 1024
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout) * 1024
}

/** Processor time of processes together; `undefined` where there is no /proc. */
export async function cpuSecondsOf(pids: readonly number[]): Promise<number | undefined> {
  if (!existsSync('/proc/self/task')) return undefined
  const times = await Promise.all(pids.map(cpuSecondsOfOne))
  return times.reduce((sum, time) => sum + time, 0)
}

async function cpuSecondsOfOne(pid: number): Promise<number> {
  let seconds = 0
  for (const used of (await cpuByThreadOf(pid)).values()) seconds += used
  return seconds
}

/** Processor time of its first thread alone; `undefined` where there is no /proc. */
export async function mainThreadSecondsOf(pid: number): Promise<number | undefined> {
  if (!existsSync('/proc/self/task')) return undefined
  return Number((await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e9
}

/** Times of its present threads, by the scheduler's nanoseconds: the process' own time comes in hundredths of a second. */
export async function cpuByThreadOf(pid: number): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  const add = async (thread: string): Promise<void> => {
    const [name, times] = await Promise.all(
      ['comm', 'schedstat'].map(file => readFile(`/proc/${pid}/task/${thread}/${file}`, 'utf8')),
    )
    const key = name!.trim()
    found.set(key, (found.get(key) ?? 0) + Number(times!.split(' ')[0]) / 1e9)
  }
  await Promise.all((await readdir(`/proc/${pid}/task`)).map(add))
  return found
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** A client of the administrator. */
export function clientOf({ host, port, cert = '', key = '' }: Endpoint): ClosableClient {
  const server = `https://${host}:${port}`
  return httpClient({ server, certPem: cert, keyPem: key, insecure: true, timeoutMs: 300_000 })
}

interface Request {
  path: string
  method?: string
  accept?: string
  body?: object
}

/** The body of an answer to the administrator, on a connection of its own. @throws Error where it is refused */
export async function answerTo(
  { host, port, cert, key }: Endpoint,
  { path, method = 'GET', accept, body }: Request,
): Promise<Buffer> {
  const headers = { ...(accept && { accept }), ...(body && { 'content-type': 'application/json' }) }
  const sent = request({ host, port, cert, key, rejectUnauthorized: false, method, path, headers })
  sent.end(body && JSON.stringify(body))
  const [answer] = await once(sent, 'response')
  const content = await buffer(answer)
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${content.subarray(0, 500)}`)
  return content
}
