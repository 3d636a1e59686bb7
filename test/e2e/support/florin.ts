/** A server, the simulated cluster florin and its syncer, as processes of their own, for what becomes of a cluster as a whole. */
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { Api } from '../../support/api.ts'
import { accessOf, temporaryDir } from '../../support/server.ts'
import {
  at,
  CenterProcess,
  clientOf,
  is,
  mailboxOf,
  map,
  register,
  registerCluster,
} from '../../syncer/support/installation.ts'
import { MAPS, TARGETS } from '../../syncer/support/kinds.ts'
import { freePort, Program, until } from '../../syncer/support/processes.ts'

export const FLORIN = { name: 'florin' }
export const RECORD = { namespace: 'kube-system', name: 'orrery-syncer' }
export const target: KubeObject = {
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'SyncTarget',
  metadata: { name: 'florin', labels: { id: 'florin' } },
  spec: {},
}

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

/** Starts a cluster in a folder; resolves to the path of its administrator's kubeconfig when it answers. */
export type StartCluster = (t: Test, dir: string) => Promise<string>

export const simulatedCluster: StartCluster = async (t, dir) => {
  await Program.orrery(t, ['simulate-wec', '--name', 'w', '--data-dir', dir, '--secure-port', '0']).said('ready')
  return join(dir, 'admin.kubeconfig')
}

export class Florin {
  readonly inventory: SpaceClient
  readonly wds: SpaceClient
  readonly cluster: SpaceClient
  /** Where the Workspaces of mailboxes are. */
  readonly core: SpaceClient
  readonly #t: Test
  readonly #dir: string
  readonly #center: CenterProcess
  readonly #toCluster: string

  private constructor(t: Test, dir: string, center: CenterProcess, toCluster: string, cluster: SpaceClient) {
    this.#t = t
    this.#dir = dir
    this.#center = center
    this.#toCluster = toCluster
    this.cluster = cluster
    this.inventory = center.in('root:imw1')
    this.wds = center.in('root:wmw1')
    this.core = center.in('root:espw')
  }

  /** With florin's mailbox, and the ConfigMap page in the cluster; `flags` are the syncer's. */
  static async begin(t: Test, ...flags: string[]): Promise<Florin & { syncer: Program; mailbox: string }> {
    return await Florin.beginWith(t, [], ...flags)
  }

  /** The same with a cluster of another sort. */
  static async beginOn(t: Test, startCluster: StartCluster): Promise<Florin & { syncer: Program; mailbox: string }> {
    return await Florin.#begin(t, { startCluster, serverFlags: [], flags: [] })
  }

  /** The same with flags of the server. */
  static async beginWith(
    t: Test,
    serverFlags: readonly string[],
    ...flags: string[]
  ): Promise<Florin & { syncer: Program; mailbox: string }> {
    return await Florin.#begin(t, { startCluster: simulatedCluster, serverFlags, flags })
  }

  static async #begin(
    t: Test,
    given: { startCluster: StartCluster; serverFlags: readonly string[]; flags: readonly string[] },
  ): Promise<Florin & { syncer: Program; mailbox: string }> {
    const { startCluster, serverFlags, flags } = given
    const dir = temporaryDir(t)
    const center = new CenterProcess(t, join(dir, 'center'), await freePort(), serverFlags)
    const [toCluster] = await Promise.all([startCluster(t, join(dir, 'wec')), center.start()])
    const one = new Florin(t, dir, center, toCluster, await clientOf(t, toCluster))
    const mailbox = await register(center)
    const syncer = await one.serve(mailbox, ...flags)
    await one.wds.create(MAPS, map('page', { x: '1' }))
    await until(one.cluster, MAPS, at('page'), is('data', { x: '1' }))
    await until(one.inventory, TARGETS, FLORIN, has('Ready', 'True', 'SyncerAlive'))
    return Object.assign(one, { syncer, mailbox })
  }

  /** A further cluster with its syncer. */
  async join(name: string, labels: Record<string, string>): Promise<{ cluster: SpaceClient; mailbox: string }> {
    const [toCluster, mailbox] = await Promise.all([
      simulatedCluster(this.#t, join(this.#dir, name)),
      registerCluster(this.#center, name, labels),
    ])
    Program.orrery(this.#t, ['syncer', ...(await this.#ends(mailbox, toCluster)), '--qps', '0'])
    return { cluster: await clientOf(this.#t, toCluster), mailbox }
  }

  async serve(mailbox: string, ...flags: string[]): Promise<Program> {
    return Program.orrery(this.#t, ['syncer', ...(await this.#ends(mailbox)), '--qps', '0', ...flags])
  }

  async adopt(mailbox: string): Promise<Program> {
    return Program.orrery(this.#t, ['syncer', 'adopt', ...(await this.#ends(mailbox))])
  }

  /** Ends the center at once; the syncer goes on. */
  async killCenter(): Promise<void> {
    await this.#center.kill()
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

  space(path: string): SpaceClient {
    return this.#center.in(path)
  }

  mailboxOf(object: KubeObject): Promise<string> {
    return mailboxOf(this.#center, object)
  }

  /** Who holds a credential of a syncer, beside it. */
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
