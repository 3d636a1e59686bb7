/**
 * Where attacks happen: `orrery start` as a process of its own, with tenants who may make spaces and nothing else. Each
 * attack gets a space of Alice's of its own; Bob has one for himself.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Api } from '../support/api.ts'
import { freePort } from '../support/freePort.ts'
import { accessOf, createSpace } from '../support/server.ts'
import { Attacker } from './attacker.ts'
import { FakeHost } from './fakeHost.ts'
import { Inspector } from './inspector.ts'
import { claimProcessors } from './yielding.ts'

const ORRERY = join(import.meta.dirname, '../../bin/orrery')
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const TENANTS = ['alice', 'bob'] as const
const LOG_LINES = 200
/** Enough for all that an attack takes, and few enough that one can take them. */
const DESCRIPTORS = 4096
const PORT_LINE = /^orrery ready: (\S+)$/

export type Form = 'short' | 'long'

/** How long a thread ran, and was ready to and had no processor. */
export interface LoopTimes {
  runMs: number
  readyMs: number
}

export interface Space {
  /** Path prefix of its API. */
  readonly prefix: string
  readonly id: string
  /** From the root. */
  readonly path: string
  /** Namespaced ConfigMaps of `default`. */
  readonly maps: string
}

export class Ground {
  readonly form: Form
  readonly dir: string
  /** Alice, in her own words; made anew for each attack. */
  alice!: Attacker
  /** Her space. */
  space!: Space
  /** The last lines that the server logged. */
  readonly log: string[] = []
  #child: ChildProcess | undefined
  #exited: Promise<unknown> = Promise.resolve()
  #ended: string | undefined
  #url = ''
  #admin: Api | undefined
  #inspector: Inspector | undefined
  #attacks = 0
  #port = '0'
  #host: FakeHost | undefined
  #frontPort = 0

  constructor(dir: string, form: Form) {
    this.dir = dir
    this.form = form
    const rows = TENANTS.map((user, i) => `token-of-${user},${user},u-${i},"tenants"\n`)
    writeFileSync(join(dir, 'tokens.csv'), rows.join(''), { mode: 0o600 })
  }

  get url(): string {
    return this.#url
  }

  get admin(): Api {
    return this.#admin!
  }

  get inspector(): Inspector {
    return this.#inspector!
  }

  get port(): number {
    return Number(new URL(this.#url).port)
  }

  /** The cluster that the server is behind, too. */
  get host(): FakeHost {
    return this.#host!
  }

  /** For the front proxy of that cluster. */
  get frontUrl(): string {
    return `https://127.0.0.1:${this.#frontPort}`
  }

  /** How the server ended, if it did. */
  get ended(): string | undefined {
    return this.#ended
  }

  /** The size of something: of the long form, and of the short one. */
  readonly size = (long: number, short: number): number => (this.form === 'long' ? long : short)

  /** Starts, or starts again with what is stored. Resolves when it says that it is ready. */
  async start(): Promise<number> {
    const begun = performance.now()
    // one loop has it hardest, and all turns and memory are its own
    const args = ['start', '--data-dir', join(this.dir, 'data'), '--secure-port', this.#port, '--api-threads', '0']
    args.push('--token-auth-file', join(this.dir, 'tokens.csv'))
    // webhooks that hang are among the attacks, and they run here
    args.push('--webhook-allowed-hosts', 'localhost')
    this.#host ??= await FakeHost.start(this.dir)
    this.#frontPort ||= await freePort()
    args.push('--aggregated', '--host-kubeconfig', this.#host.kubeconfig, '--aggregated-port', String(this.#frontPort))
    const script = `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`
    const child = spawn('sh', ['-c', script, ORRERY, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ORRERY_LOG_LEVEL: 'warn', NODE_OPTIONS: '--inspect=127.0.0.1:0' },
    })
    this.#child = child
    claimProcessors(child.pid)
    this.#ended = undefined
    this.#exited = once(child, 'exit').then(([code, signal]) => {
      this.#ended = `the server ended with ${code ?? signal}:\n${this.log.slice(-20).join('\n')}`
    })
    const debug = new Promise<string>(resolve => {
      createInterface({ input: child.stderr }).on('line', line => {
        const found = /^Debugger listening on (ws:\S+)$/.exec(line)
        if (found) return resolve(found[1]!)
        this.log.push(line.slice(0, 500))
        if (this.log.length > LOG_LINES) this.log.shift()
      })
    })
    const ready = new Promise<string>(resolve => {
      createInterface({ input: child.stdout }).on('line', line => {
        const found = PORT_LINE.exec(line)
        if (found) resolve(found[1]!)
      })
    })
    const failed = this.#exited.then((): never => {
      throw new Error(this.#ended)
    })
    failed.catch(() => {})
    this.#url = await Promise.race([ready, failed])
    const readyMs = performance.now() - begun
    // the same one again, so that who was connected finds it
    this.#port = String(this.port)
    this.#inspector = await Inspector.connect(await Promise.race([debug, failed]))
    this.#admin = new Api({ ...accessOf(join(this.dir, 'data/admin.kubeconfig')), url: this.#url })
    return readyMs
  }

  /** Lets tenants make spaces, and makes Bob's. */
  async settle(): Promise<Space> {
    const { admin } = this
    const rules = [
      { apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs: ['create', 'get', 'list', 'watch'] },
    ]
    await admin.ok(admin.post(`${RBAC}/clusterroles`, { metadata: { name: 'tenants' }, rules }))
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'tenants' }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'tenants' }]
    await admin.ok(admin.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'tenants' }, roleRef, subjects }))
    return await this.#space('bob', 'bob')
  }

  /** Alice, with a new space. */
  async enter(): Promise<void> {
    this.space = await this.#space('alice', `alice-${this.#attacks++}`)
    this.alice = new Attacker(this.#url, 'token-of-alice')
  }

  /** The token of a new ServiceAccount of Alice's space, which may everything there. */
  async accountToken(name: string): Promise<string> {
    const api = this.admin.in(this.space.id)
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await api.ok(api.post(accounts, { metadata: { name } }))
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
    const subjects = [{ kind: 'ServiceAccount', name, namespace: 'default' }]
    await api.ok(api.post(`${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }))
    const { status } = await api.ok(api.post(`${accounts}/${name}/token`, {}))
    return (status as { token: string }).token
  }

  /** Once the server has ended for good. */
  leave(): void {
    this.#host?.stop()
  }

  /** As a power failure would. */
  async kill(): Promise<void> {
    this.#inspector?.close()
    this.#admin?.close()
    this.#child?.kill('SIGKILL')
    await this.#exited
  }

  /** Times of the server's loop so far; `undefined` where the system has none. */
  loopTimes(): LoopTimes | undefined {
    const path = `/proc/${this.#child?.pid}/task/${this.#child?.pid}/schedstat`
    if (!existsSync(path)) return undefined
    const [run, ready] = readFileSync(path, 'utf8').split(' ')
    return { runMs: Number(run) / 1e6, readyMs: Number(ready) / 1e6 }
  }

  /** From now on the highest resident memory is counted anew. */
  forgetPeak(): void {
    const path = `/proc/${this.#child?.pid}/clear_refs`
    if (existsSync(path)) writeFileSync(path, '5')
  }

  /** Highest resident memory of the server's process so far, in bytes. */
  peakBytes(): number {
    const path = `/proc/${this.#child?.pid}/status`
    const line = existsSync(path) ? /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8')) : null
    return Number(line?.[1] ?? 0) * 1024
  }

  async #space(user: (typeof TENANTS)[number], name: string): Promise<Space> {
    const api = this.admin.as(`token-of-${user}`).in('root')
    try {
      const id = await createSpace(api, name)
      const prefix = `/clusters/${id}`
      return { id, path: `root:${name}`, prefix, maps: `${prefix}/api/v1/namespaces/default/configmaps` }
    } finally {
      api.close()
    }
  }
}

/** Runs `work` for 0 to `count` - 1, so many at a time. */
export async function crowd(count: number, atOnce: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, worker))
}
