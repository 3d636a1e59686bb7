/**
 * Attacks are tried on a real `orrery start` with people of several sorts, simulated clusters and their syncers, all in
 * the test's process. Alice and Bob are tenants, who may make spaces and nothing else; Carol is in no group and has no right.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import { kubectlKubestellar } from '../../../src/cli/kubestellar/program.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { type ClosableClient, httpClient } from '../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { Api } from '../../support/api.ts'
import { Command } from '../../support/command.ts'
import { startOrreryHere } from '../../support/orrery.ts'
import { Stage } from '../../support/scene.ts'
import { accessOf, createSpace, temporaryDir } from '../../support/server.ts'
import { World } from '../../support/world.ts'
import { clientOf } from '../../syncer/support/installation.ts'

export const RBAC = '/apis/rbac.authorization.k8s.io/v1'
export const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const GROUP = 'rbac.authorization.k8s.io'
const USERS = ['alice', 'bob', 'carol'] as const
export type User = (typeof USERS)[number]
export const NATURED = { 'edge.kubestellar.io/natured': 'true' }

export interface Said {
  code: number
  out: string
  err: string
}

export interface Cluster {
  /** The cluster itself, as its owner. */
  readonly api: SpaceClient
  /** Id of its mailbox. */
  readonly mailbox: string
  /** Output of `prep-for-syncer`. */
  readonly syncerKubeconfig: string
  /** Kubeconfig of the cluster's owner. */
  readonly kubeconfig: string
  readonly syncer: Command
}

export class Fleet extends Stage {
  readonly client: ClosableClient
  readonly world: World
  readonly admin: Api
  readonly dir: string
  readonly kubeconfig: string
  readonly #t: Test
  #passes = 0

  constructor(t: Test, o: { client: ClosableClient; admin: Api; dir: string; kubeconfig: string }) {
    super()
    this.#t = t
    this.client = o.client
    this.world = new World(o.client)
    this.admin = o.admin
    this.dir = o.dir
    this.kubeconfig = o.kubeconfig
  }

  as(user: User): Api {
    return this.admin.as(tokenOf(user))
  }

  /** Somebody's kubeconfig, in the root. */
  kubeconfigOf(user: User): string {
    const path = join(this.dir, `${user}.kubeconfig`)
    const server = `${this.admin.access.url}/clusters/root`
    const config = {
      clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: tokenOf(user) } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    }
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
    return path
  }

  /** A space of a tenant's own, made by them; its id. */
  async tenant(user: 'alice' | 'bob', name: string, type?: string): Promise<string> {
    return await createSpace(this.as(user), name, type)
  }

  /** Lets somebody into a space, with these roles of it. */
  async letIn(space: string, user: User, roles: readonly string[]): Promise<void> {
    const api = this.admin.in(space)
    for (const role of ['system:kcp:workspace:access', ...roles]) {
      const name = `${user}-${role.replaceAll(':', '-')}`
      const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: role }
      const subjects = [{ apiGroup: GROUP, kind: 'User', name: user }]
      await api.ok(api.post(`${RBAC}/clusterrolebindings`, { metadata: { name, labels: NATURED }, roleRef, subjects }))
    }
  }

  /** `kubectl kubestellar` with a kubeconfig; the administrator's by default. Words are parted by blanks. */
  async ks(line: string, kubeconfig = this.kubeconfig): Promise<Said> {
    const said = { out: [] as string[], err: [] as string[] }
    const terminal = {
      out: (text: string) => void said.out.push(text),
      err: (text: string) => void said.err.push(text),
    }
    const code = await kubectlKubestellar([...line.split(' '), '--kubeconfig', kubeconfig], terminal)
    return { code, out: said.out.join('\n'), err: said.err.join('\n') }
  }

  /** A simulated cluster of `root:imw1` with the label `env=prod`, and its syncer, at work. */
  async cluster(name: string): Promise<Cluster> {
    const data = join(this.dir, name)
    const wec = new Command(this.#t, ['simulate-wec', '--name', name, '--data-dir', data, '--secure-port', '0'])
    await this.done(`ensure location ${name} --imw root:imw1 env=prod`)
    const syncerKubeconfig = join(this.dir, `${name}-syncer.kubeconfig`)
    await this.done(`prep-for-syncer ${name} --imw root:imw1 --kubeconfig-output ${syncerKubeconfig}`)
    await wec.said('ready')
    const kubeconfig = join(data, 'admin.kubeconfig')
    const args = ['syncer', '--from-kubeconfig', syncerKubeconfig, '--to-kubeconfig', kubeconfig, '--qps', '0']
    const syncer = new Command(this.#t, args)
    const api = await clientOf(this.#t, kubeconfig)
    await syncer.said('the mailbox is known')
    const mailbox = (await loadKubeconfig(syncerKubeconfig)).space ?? ''
    const id = mailbox.startsWith('root:') ? this.idOf(mailbox) : mailbox
    return { api, mailbox: id, syncerKubeconfig, kubeconfig, syncer }
  }

  /**
   * Earlier requests have been judged: an object that the administrator places into the cluster now has arrived in its mailbox. `space`:
   * the administrator's, with the Namespace `app` placed on all clusters with `env=prod`.
   */
  async passes(mailbox: string, space = 'root:wmw1'): Promise<void> {
    const name = `pass-${this.#passes++}`
    const maps = `/api/v1/namespaces/app/configmaps`
    await this.admin.ok(this.admin.in(space).post(maps, { metadata: { name } }))
    await this.world.present(mailbox, `configmaps app/${name}`)
  }

  /** Reason why an EdgePlacement is not placed, once it is reported. */
  async told(space: string, name: string, reason: string): Promise<string> {
    const object = await this.world.present(
      space,
      `edgeplacements.edge.kubestellar.io ${name}`,
      found => conditionOf(found, 'Placed').reason === reason,
    )
    return String(conditionOf(object, 'Placed').message)
  }

  /** Like `ks`, as the administrator. @throws Error when it fails */
  async done(line: string): Promise<void> {
    const { code, out, err } = await this.ks(line)
    if (code !== 0) throw new Error(`kubectl kubestellar ${line}: ${code}\n${out}\n${err}`)
  }
}

export async function startFleet(t: Test): Promise<Fleet> {
  const dir = temporaryDir(t)
  const tokens = join(dir, 'tokens.csv')
  const groups = { alice: ',"tenants"', bob: ',"tenants"', carol: '' }
  writeFileSync(tokens, USERS.map((user, i) => `${tokenOf(user)},${user},u-${i}${groups[user]}\n`).join(''), {
    mode: 0o600,
  })
  const server = await startOrreryHere(t, ['--token-auth-file', tokens])
  const { options, base } = await loadKubeconfig(server.kubeconfig, 'base')
  const client = httpClient({ ...options, server: base })
  const admin = new Api({ ...accessOf(server.kubeconfig), url: server.url })
  const fleet = new Fleet(t, { client, admin, dir, kubeconfig: server.kubeconfig })
  t.teardown(async () => {
    await fleet.world.stop()
    client.close()
    admin.close()
  })
  await fleet.world.synced
  const rules = [
    { apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs: ['create', 'get', 'list', 'watch'] },
  ]
  await admin.ok(admin.post(`${RBAC}/clusterroles`, { metadata: { name: 'tenants' }, rules }))
  const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: 'tenants' }
  const subjects = [{ apiGroup: GROUP, kind: 'Group', name: 'tenants' }]
  await admin.ok(admin.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'tenants' }, roleRef, subjects }))
  return fleet
}

export function conditionOf({ status }: KubeObject, type: string): Record<string, unknown> {
  const conditions: unknown = isRecord(status) ? status.conditions : undefined
  const found: unknown = Array.isArray(conditions) ? conditions.find(one => isRecord(one) && one.type === type) : {}
  return isRecord(found) ? found : {}
}

function tokenOf(user: User): string {
  return `token-of-${user}`
}
