/** A center, registered clusters, and the few objects that end-to-end tests of the syncer use. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { httpClient, httpSpaceClient } from '../../../src/client/http/httpClient.ts'
import { type LoadedKubeconfig, loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { ACCOUNTS, LOCATIONS, NAMESPACES, PLACEMENTS, TARGETS, WORKSPACES } from './kinds.ts'
import { Command, type Ends, Program, type Running, until } from './processes.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
export const at = (name: string) => ({ namespace: 'shop', name })
export const is =
  (field: string, value: unknown) =>
  (object: KubeObject | undefined): boolean =>
    JSON.stringify(object?.[field]) === JSON.stringify(value)
export const gone = (object: KubeObject | undefined): boolean => object === undefined
export const there = (object: KubeObject | undefined): boolean => object !== undefined

export const map = (name: string, data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data,
})
export const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
}

/** A server that keeps its address when it starts again. */
abstract class Installed<Started extends Running> {
  readonly dir: string
  protected running: Started | undefined
  readonly #t: Ends
  readonly #flags: readonly string[]
  #admin: LoadedKubeconfig | undefined

  /** `flags` may say the port; without, the first start takes a free one. */
  constructor(t: Ends, dir: string, flags: readonly string[] = []) {
    this.#t = t
    this.dir = dir
    this.#flags = flags
  }

  async start(): Promise<void> {
    const port = this.#admin === undefined ? '0' : new URL(this.url).port
    this.running = this.run(this.#t, ['start', '--data-dir', this.dir, '--secure-port', port, ...this.#flags])
    await this.running.said('orrery ready: ')
    this.#admin = await loadKubeconfig(join(this.dir, 'admin.kubeconfig'), 'base')
  }

  protected abstract run(t: Ends, args: readonly string[]): Started

  /** `https://host:port`. */
  get url(): string {
    return this.#admin!.base
  }

  /** Its output so far. */
  get lines(): readonly string[] {
    return this.running!.lines
  }

  /** The first line that has `text`, printed already or later. */
  said(text: string): Promise<string> {
    return this.running!.said(text)
  }

  in(space: string): SpaceClient {
    const client = httpClient({ ...this.#admin!.options, server: this.#admin!.base })
    this.#t.teardown(() => client.close())
    return client.in(space)
  }

  /** A kubeconfig for the syncer's identity in a mailbox, with a token of now. */
  async syncerKubeconfig(path: string, mailbox: string): Promise<void> {
    const account = { ...ACCOUNTS, resource: 'serviceaccounts/kubestellar-syncer/token' }
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace: 'default' },
      spec: {},
    }
    const { status } = await this.in(mailbox).create(account, request)
    const token = isRecord(status) ? status.token : undefined
    const { options, base } = this.#admin!
    const cluster = {
      server: `${base}/clusters/${mailbox}`,
      'certificate-authority-data': Buffer.from(options.caPem ?? '').toString('base64'),
    }
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    }
    writeFileSync(path, stringify(config), { mode: 0o600 })
  }
}

/** The server in the test's process. */
export class Center extends Installed<Command> {
  protected run(t: Ends, args: readonly string[]): Command {
    return new Command(t, args)
  }

  async end(): Promise<void> {
    await this.running?.end()
  }
}

/** The server as a process, which may be killed. */
export class CenterProcess extends Installed<Program> {
  protected run(t: Ends, args: readonly string[]): Program {
    return Program.orrery(t, args)
  }

  async kill(): Promise<void> {
    await this.running?.end('SIGKILL')
  }

  freeze(): void {
    this.running?.freeze()
  }

  thaw(): void {
    this.running?.thaw()
  }
}

type AnyCenter = Center | CenterProcess

/** A SyncTarget and the Location that stands for it; the id of the mailbox. */
export async function registerCluster(
  center: AnyCenter,
  name: string,
  labels: Record<string, string>,
): Promise<string> {
  const inventory = center.in('root:imw1')
  const target = await inventory.create(TARGETS, {
    apiVersion: EDGE,
    kind: 'SyncTarget',
    metadata: { name, labels: { id: name } },
    spec: {},
  })
  await inventory.create(LOCATIONS, {
    apiVersion: EDGE,
    kind: 'Location',
    metadata: { name, labels },
    spec: {
      resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
      instanceSelector: { matchLabels: { id: name } },
    },
  })
  return await mailboxOf(center, target)
}

/** Registers florin and places the Namespace shop there; the id of its mailbox. */
export async function register(center: AnyCenter): Promise<string> {
  const mailbox = await registerCluster(center, 'florin', { env: 'prod' })
  const wds = center.in('root:wmw1')
  await wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const everything = { namespaces: ['shop'], objectNames: ['*'] }
  await wds.create(PLACEMENTS, {
    apiVersion: EDGE,
    kind: 'EdgePlacement',
    metadata: { name: 'p' },
    spec: {
      locationSelectors: [{ matchLabels: { env: 'prod' } }],
      wantSingletonReportedState: true,
      downsync: [
        { apiGroup: '', resources: ['configmaps'], ...everything },
        { apiGroup: 'apps', resources: ['deployments'], ...everything },
        { apiGroup: 'batch', resources: ['*'], ...everything },
      ],
      upsync: [{ apiGroup: 'group1.test', resources: ['sprockets'], namespaces: ['orbital'], names: ['*'] }],
    },
  })
  return mailbox
}

/** The id of the mailbox of a SyncTarget, once a syncer can have a token for it. */
export async function mailboxOf(center: AnyCenter, target: KubeObject): Promise<string> {
  const { uid, annotations } = target.metadata
  const name = `${annotations?.['kcp.io/cluster']}-mb-${uid}`
  const ready = await until(
    center.in('root:espw'),
    WORKSPACES,
    { name },
    object => isRecord(object?.status) && object.status.phase === 'Ready',
  )
  const mailbox = String(isRecord(ready?.spec) && ready.spec.cluster)
  await until(center.in(mailbox), ACCOUNTS, { namespace: 'default', name: 'kubestellar-syncer' }, there)
  return mailbox
}

export async function clientOf(t: Ends, kubeconfig: string): Promise<SpaceClient> {
  const client = httpSpaceClient((await loadKubeconfig(kubeconfig)).options)
  t.teardown(() => client.close())
  return client
}

/** The messages of a syncer's log at and above `warn`. */
export function warnings(syncer: Running): string[] {
  const lines = syncer.lines
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as { level: number; msg: string })
  return lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)
}
