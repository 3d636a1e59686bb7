/** A server, the simulated cluster florin and its syncer, over TLS, for what becomes of a cluster as a whole. */
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { Api } from '../../support/api.ts'
import { accessOf, temporaryDir } from '../../support/server.ts'
import {
  at,
  Center,
  CenterProcess,
  clientOf,
  gone,
  is,
  mailboxOf,
  map,
  register,
  registerCluster,
} from '../../syncer/support/installation.ts'
import { MAPS, TARGETS } from '../../syncer/support/kinds.ts'
import { Command, Program, type Running, until } from '../../syncer/support/processes.ts'

export const FLORIN = { name: 'florin' }
export const RECORD = { namespace: 'kube-system', name: 'orrery-syncer' }
export const target: KubeObject = {
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'SyncTarget',
  metadata: { name: 'florin', labels: { id: 'florin' } },
  spec: {},
}

const WORK_STATUSES = { group: 'edge.kubestellar.io', version: 'v1alpha1', resource: 'workstatuses' }

export const condition = (object: KubeObject | undefined, type: string) => {
  const { conditions } = isRecord(object?.status) ? object.status : {}
  return (Array.isArray(conditions) ? conditions : []).find(each => each.type === type)
}
export const has =
  (type: string, status: string, reason: string) =>
  (object: KubeObject | undefined): boolean =>
    condition(object, type)?.status === status && condition(object, type)?.reason === reason
export const marks = (object: KubeObject | undefined): string[] =>
  Object.keys({ ...object?.metadata.labels, ...object?.metadata.annotations }).filter(key =>
    /kubestellar\.io/.test(key),
  )

/**
 * Name of a ConfigMap that florin does not take, as it is cordoned. Nothing orders the changes of two spaces: one that was made just
 * after the other may be looked at before it. Such a ConfigMap goes again.
 */
export async function refusedByCordon(wds: SpaceClient, cluster: SpaceClient): Promise<string> {
  for (let i = 0; ; i++) {
    const name = `late-${i}`
    await wds.create(MAPS, map(name, { x: '1' }))
    const stateOf = (object: KubeObject | undefined) => (isRecord(object?.status) ? object.status.state : undefined)
    const isJudged = (object: KubeObject | undefined) => ['Applied', 'NotPlaced'].includes(String(stateOf(object)))
    const row = await until(wds, WORK_STATUSES, at(`imw1.florin:configmaps:${name}`), isJudged)
    if (stateOf(row) === 'NotPlaced') return name
    await wds.delete(MAPS, at(name))
    await until(cluster, MAPS, at(name), gone)
  }
}

/** Starts a cluster in a folder; resolves to the path of its administrator's kubeconfig when it answers. */
export type StartCluster = (t: Test, dir: string) => Promise<string>

export const simulatedCluster: StartCluster = async (t, dir) => {
  await new Command(t, ['simulate-wec', '--name', 'w', '--data-dir', dir, '--secure-port', '0']).said('ready')
  return join(dir, 'admin.kubeconfig')
}

export interface FlorinOptions {
  /** Default: a simulated one. */
  startCluster?: StartCluster
  serverFlags?: readonly string[]
  /** Flags of its syncer. */
  flags?: readonly string[]
  /** Whether the server is a process, which is killed where it ends. Default: false. */
  centerIsProcess?: boolean
}

type Begun<Syncer extends Running> = Florin & { syncer: Syncer; mailbox: string }

export class Florin {
  readonly inventory: SpaceClient
  readonly wds: SpaceClient
  readonly cluster: SpaceClient
  /** Where the Workspaces of mailboxes are. */
  readonly core: SpaceClient
  readonly #t: Test
  readonly #dir: string
  readonly #center: Center | CenterProcess
  readonly #toCluster: string

  private constructor(t: Test, dir: string, center: Center | CenterProcess, toCluster: string, cluster: SpaceClient) {
    this.#t = t
    this.#dir = dir
    this.#center = center
    this.#toCluster = toCluster
    this.cluster = cluster
    this.inventory = center.in('root:imw1')
    this.wds = center.in('root:wmw1')
    this.core = center.in('root:espw')
  }

  /** With florin's mailbox, and the ConfigMap page in the cluster. */
  static async begin(t: Test, options: FlorinOptions = {}): Promise<Begun<Command>> {
    return await Florin.#begin(t, options, (one, mailbox) => one.serve(mailbox, ...(options.flags ?? [])))
  }

  /** The same with a syncer that may be frozen and killed. */
  static async beginWithProcess(t: Test, options: FlorinOptions = {}): Promise<Begun<Program>> {
    return await Florin.#begin(t, options, (one, mailbox) => one.serveByProcess(mailbox, ...(options.flags ?? [])))
  }

  static async #begin<Syncer extends Running>(
    t: Test,
    { startCluster = simulatedCluster, serverFlags = [], centerIsProcess = false }: FlorinOptions,
    serve: (one: Florin, mailbox: string) => Promise<Syncer>,
  ): Promise<Begun<Syncer>> {
    const dir = temporaryDir(t)
    const center = new (centerIsProcess ? CenterProcess : Center)(t, join(dir, 'center'), serverFlags)
    const [toCluster] = await Promise.all([startCluster(t, join(dir, 'wec')), center.start()])
    const one = new Florin(t, dir, center, toCluster, await clientOf(t, toCluster))
    const mailbox = await register(center)
    const syncer = await serve(one, mailbox)
    await one.wds.create(MAPS, map('page', { x: '1' }))
    await until(one.cluster, MAPS, at('page'), is('data', { x: '1' }))
    await until(one.inventory, TARGETS, FLORIN, has('Ready', 'True', 'SyncerAlive'))
    return Object.assign(one, { syncer, mailbox })
  }

  /** A further cluster with its syncer. */
  async join(
    name: string,
    labels: Record<string, string>,
    startCluster: StartCluster = simulatedCluster,
  ): Promise<{ cluster: SpaceClient; mailbox: string; syncer: Command }> {
    const [toCluster, mailbox] = await Promise.all([
      startCluster(this.#t, join(this.#dir, name)),
      registerCluster(this.#center, name, labels),
    ])
    const syncer = new Command(this.#t, ['syncer', ...(await this.#ends(mailbox, toCluster)), '--qps', '0'])
    return { cluster: await clientOf(this.#t, toCluster), mailbox, syncer }
  }

  async serve(mailbox: string, ...flags: string[]): Promise<Command> {
    return new Command(this.#t, ['syncer', ...(await this.#ends(mailbox)), '--qps', '0', ...flags])
  }

  async serveByProcess(mailbox: string, ...flags: string[]): Promise<Program> {
    return Program.orrery(this.#t, ['syncer', ...(await this.#ends(mailbox)), '--qps', '0', ...flags])
  }

  async adopt(mailbox: string): Promise<Command> {
    return new Command(this.#t, ['syncer', 'adopt', ...(await this.#ends(mailbox))])
  }

  /** Ends the center; the syncer goes on. */
  async endCenter(): Promise<void> {
    const center = this.#center
    await (center instanceof CenterProcess ? center.kill() : center.end())
  }

  async startCenter(): Promise<void> {
    await this.#center.start()
  }

  /** Keeps what the center, which does not run, has stored. */
  async backUp(): Promise<void> {
    await cp(this.#center.dir, join(this.#dir, 'backup'), { recursive: true })
  }

  /** Puts that in the place of what it has stored since. */
  async restore(): Promise<void> {
    await rm(this.#center.dir, { recursive: true })
    await cp(join(this.#dir, 'backup'), this.#center.dir, { recursive: true })
  }

  /** The administrator's, for all spaces. */
  get kubeconfig(): string {
    return join(this.#center.dir, 'admin.kubeconfig')
  }

  get url(): string {
    return this.#center.url
  }

  /** The administrator's of a cluster: `wec` is florin's folder, others have their names. */
  clusterKubeconfig(folder: string): string {
    return join(this.#dir, folder, 'admin.kubeconfig')
  }

  space(path: string): SpaceClient {
    return this.#center.in(path)
  }

  mailboxOf(object: KubeObject): Promise<string> {
    return mailboxOf(this.#center, object)
  }

  /** Holder of a syncer's credential, beside it. */
  async holder(mailbox: string): Promise<Api> {
    const [, fromCenter = ''] = await this.#ends(mailbox)
    const api = new Api(accessOf(fromCenter))
    this.#t.teardown(() => api.close())
    return api
  }

  async #ends(mailbox: string, toCluster = this.#toCluster): Promise<string[]> {
    const fromCenter = join(this.#dir, `${mailbox}.kubeconfig`)
    await this.#center.syncerKubeconfig(fromCenter, mailbox)
    return ['--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster]
  }
}
