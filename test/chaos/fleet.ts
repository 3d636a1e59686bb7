/** A center, stand-in clusters and their syncers, as processes, with links between them that can break. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { CenterProcess, clientOf, mailboxOf } from '../syncer/support/installation.ts'
import { LOCATIONS, NAMESPACES, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { type Ends, freePort, Program } from '../syncer/support/processes.ts'
import { Link } from './link.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
export const HOME = 'shop'
/** Objects of a space that bear `set: <name>` go where Locations bear `<name>: yes`. */
export const SETS = ['north', 'south'] as const

export interface Cluster {
  readonly name: string
  /** The cluster's own API, without the link. */
  readonly api: SpaceClient
  readonly links: { readonly center: Link; readonly cluster: Link }
  /** The process that is frozen, killed and started anew. */
  stop(): Promise<void>
  start(): Promise<void>
  freeze(): void
  thaw(): void
  readonly syncer: { stop(): Promise<void>; start(): void; freeze(): void; thaw(): void }
}

export interface Fleet {
  readonly center: CenterProcess
  readonly wds: SpaceClient
  readonly inventory: SpaceClient
  readonly clusters: readonly Cluster[]
}

export async function startFleet(ends: Ends, dir: string, names: readonly string[]): Promise<Fleet> {
  const center = new CenterProcess(ends, join(dir, 'center'))
  await center.start()
  const wds = center.in('root:wmw1')
  const inventory = center.in('root:imw1')
  await wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } })
  for (const set of SETS) await wds.create(PLACEMENTS, placement(set))
  const clusters = await Promise.all(
    names.map(async name => {
      const target = await inventory.create(TARGETS, {
        apiVersion: EDGE,
        kind: 'SyncTarget',
        metadata: { name, labels: { id: name } },
        spec: {},
      })
      await inventory.create(LOCATIONS, location(name))
      return await startCluster({ ends, dir, center }, name, target)
    }),
  )
  return { center, wds, inventory, clusters }
}

function placement(set: string): KubeObject {
  const chosen = { namespaces: [HOME], objectNames: ['*'], labelSelectors: [{ matchLabels: { set } }] }
  return {
    apiVersion: EDGE,
    kind: 'EdgePlacement',
    metadata: { name: set },
    spec: {
      locationSelectors: [{ matchLabels: { [set]: 'yes' } }],
      downsync: [
        { apiGroup: '', resources: ['configmaps'], ...chosen },
        { apiGroup: 'apps', resources: ['deployments'], ...chosen },
      ],
    },
  }
}

function location(name: string): KubeObject {
  return {
    apiVersion: EDGE,
    kind: 'Location',
    metadata: { name, labels: Object.fromEntries(SETS.map(set => [set, 'yes'])) },
    spec: {
      resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
      instanceSelector: { matchLabels: { id: name } },
    },
  }
}

interface Place {
  ends: Ends
  dir: string
  center: CenterProcess
}

async function startCluster(place: Place, name: string, target: KubeObject): Promise<Cluster> {
  const { ends, dir, center } = place
  const centerPort = Number(new URL(center.url).port)
  const port = await freePort()
  const data = join(dir, name)
  const wec = ['simulate-wec', '--name', name, '--data-dir', data, '--secure-port', String(port)]
  const links = { center: await Link.to(centerPort), cluster: await Link.to(port) }
  for (const link of Object.values(links)) ends.teardown(() => link.close())
  let cluster = Program.orrery(ends, wec)
  await cluster.said('ready')
  const direct = join(data, 'admin.kubeconfig')
  const fromCenter = join(dir, `${name}-center.kubeconfig`)
  const toCluster = join(dir, `${name}-cluster.kubeconfig`)
  await center.syncerKubeconfig(fromCenter, await mailboxOf(center, target))
  await throughLink(fromCenter, fromCenter, centerPort, links.center)
  await throughLink(direct, toCluster, port, links.cluster)
  const args = ['syncer', '--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster, '--qps', '0']
  const startSyncer = (): Program => Program.orrery(ends, [...args, '--state-dir', join(dir, `${name}-state`)])
  let syncer = startSyncer()
  return {
    name,
    api: await clientOf(ends, direct),
    links,
    stop: async () => void (await cluster.end('SIGKILL')),
    async start() {
      cluster = Program.orrery(ends, wec)
      await cluster.said('ready')
    },
    freeze: () => cluster.freeze(),
    thaw: () => cluster.thaw(),
    syncer: {
      stop: async () => void (await syncer.end('SIGKILL')),
      start() {
        syncer = startSyncer()
      },
      freeze: () => syncer.freeze(),
      thaw: () => syncer.thaw(),
    },
  }
}

async function throughLink(from: string, to: string, port: number, link: Link): Promise<void> {
  const text = await readFile(from, 'utf8')
  await writeFile(to, text.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${link.port}`), { mode: 0o600 })
}
