/** `orrery start`, in the test's process or as its own, and the kubectls of this machine. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { Command, ORRERY, Program, type Running } from './command.ts'
import { temporaryDir } from './server.ts'

export interface Orrery {
  readonly url: string
  readonly kubeconfig: string
  readonly dataDir: string
  readonly pid: number
  /** Ends it as an administrator would (SIGTERM); resolves to its exit code. */
  stop(): Promise<number | string | null>
  /** Ends it as a power failure would. */
  kill(): Promise<unknown>
}

const READY = 'orrery ready: '
const started = (dataDir: string): string[] => ['start', '--data-dir', dataDir, '--secure-port', '0']

async function ready(server: Running, dataDir: string): Promise<Pick<Orrery, 'url' | 'kubeconfig' | 'dataDir'>> {
  const url = (await server.said(READY)).slice(READY.length)
  return { url, dataDir, kubeconfig: join(dataDir, 'admin.kubeconfig') }
}

/** Starts a server in the test's process, on a free port, with a data dir of its own. */
export async function startOrreryHere(
  t: Test,
  flags: readonly string[] = [],
): Promise<Pick<Orrery, 'url' | 'kubeconfig' | 'dataDir'>> {
  const dataDir = temporaryDir(t)
  return await ready(new Command(t, [...started(dataDir), ...flags]), dataDir)
}

/** Starts a server on a free port with a data dir of its own; both go away with the test. `program` is that of this clone. */
export async function startOrrery(
  t: Test,
  dataDir = temporaryDir(t),
  { env = {}, program = ORRERY }: { env?: Record<string, string>; program?: string } = {},
): Promise<Orrery> {
  const server = Program.spawned(t, program, started(dataDir), { ORRERY_API_THREADS: '0', ...process.env, ...env })
  return {
    ...(await ready(server, dataDir)),
    pid: server.pid!,
    stop: () => server.end('SIGTERM'),
    kill: () => server.end('SIGKILL'),
  }
}

export interface Kubectl {
  /** `1.32`, for the titles of tests. */
  readonly version: string
  readonly path: string
}

export interface Ran {
  code: number
  out: string
  err: string
}

/** Every kubectl that can be found: of the test assets, of the PATH, and beside what a kubectl of the PATH links to. Old ones first. */
export async function findKubectls(): Promise<readonly Kubectl[]> {
  const onPath = (process.env.PATH ?? '').split(delimiter)
  const linked = onPath.map(folder => join(folder, 'kubectl')).filter(path => existsSync(path))
  const folders = new Set([...linked.map(path => dirname(realpathSync(path))), ...onPath])
  const paths = [process.env.KUBEBUILDER_ASSETS && join(process.env.KUBEBUILDER_ASSETS, 'kubectl')]
  for (const folder of folders) {
    if (existsSync(folder))
      paths.push(
        ...readdirSync(folder)
          .filter(name => /^kubectl(\.1\.\d+)?$/.test(name))
          .map(name => join(folder, name)),
      )
  }
  const found = new Map<string, Kubectl>()
  for (const path of paths) {
    if (!path || !existsSync(path)) continue
    const { out } = await run(path, ['version', '--client', '-o', 'json'])
    const version = /"gitVersion": "v(\d+\.\d+)/.exec(out)?.[1]
    if (version && !found.has(version)) found.set(version, { version, path })
  }
  return [...found.values()].sort((a, b) => minorOf(a) - minorOf(b))
}

export function minorOf(kubectl: Kubectl): number {
  return Number(kubectl.version.split('.')[1])
}

export interface RunOptions {
  input?: string
  env?: Record<string, string>
}

/** Runs a program to its end; a failure is a result, not an error. */
export function run(path: string, args: readonly string[], { input, env }: RunOptions = {}): Promise<Ran> {
  return new Promise(resolve => {
    const child = execFile(path, [...args], { env: { ...process.env, ...env } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, out, err }),
    )
    if (input !== undefined) child.stdin!.end(input)
  })
}

/** A command that ends soon has no use for collecting garbage. */
const BRIEF = { GOGC: 'off', GOMEMLIMIT: '1GiB' }

/** kubectl as one user in one space; `HOME` keeps its caches apart. */
export class KubectlSession {
  readonly #kubectl: Kubectl
  readonly #args: readonly string[]
  readonly #home: string

  constructor(kubectl: Kubectl, home: string, args: readonly string[]) {
    this.#kubectl = kubectl
    this.#home = home
    this.#args = args
  }

  run(args: string, options: RunOptions = {}): Promise<Ran> {
    return run(this.#kubectl.path, [...this.#args, ...words(args)], {
      ...options,
      env: { ...BRIEF, HOME: this.#home, ...options.env },
    })
  }

  /** Its output, trimmed. @throws Error with its complaint when it fails */
  async ok(args: string, options: RunOptions = {}): Promise<string> {
    const { code, out, err } = await this.run(args, options)
    if (code !== 0) throw new Error(`kubectl ${args} failed with ${code}: ${err}${out}`)
    return out.trim()
  }

  /** A kubectl that goes on running: its lines as they come. */
  follow(args: string): { lines: AsyncIterator<string>; stop(): void } {
    const child = spawn(this.#kubectl.path, [...this.#args, ...words(args)], {
      env: { ...process.env, HOME: this.#home },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return { lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), stop: () => void child.kill() }
  }
}

/** Splits at blanks, except inside single quotes. */
function words(text: string): string[] {
  return (text.match(/(?:[^\s']+|'[^']*')+/g) ?? []).map(word => word.replaceAll("'", ''))
}
