/** Objects for tests of placement: inventories with clusters, workload spaces, placements, on any running center. */
import { type GroupVersionResource, isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import type { Client, SpaceClient } from '../../src/client/client.ts'
import type { World } from './world.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const edge = (resource: string): GroupVersionResource => ({
  group: 'edge.kubestellar.io',
  version: 'v2alpha1',
  resource,
})
export const PLACEMENTS = edge('edgeplacements')
export const LOCATIONS = edge('locations')
export const TARGETS = edge('synctargets')
export const CUSTOMIZERS = edge('customizers')
export const BINDINGS = edge('inventorybindings')
export const GRANTS = edge('placementgrants')
export const WORKSPACES: GroupVersionResource = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
export const MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }
export const NAMESPACES: GroupVersionResource = { group: '', version: 'v1', resource: 'namespaces' }
export const ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
export const DEPLOYMENTS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'deployments' }
export const CRDS: GroupVersionResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}

/** A running center, seen from outside. */
export abstract class Stage {
  abstract readonly client: Client
  abstract readonly world: World

  /** Makes a Workspace and waits for its space; its logical-cluster id. */
  async space(name: string, parent = 'root'): Promise<string> {
    const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name }, spec: {} }
    await this.client.in(parent).create(WORKSPACES, object)
    return await this.readySpace(parent, name)
  }

  /** Waits for a Workspace to be Ready; the id of its space. `other`: not this one. */
  async readySpace(parent: string, name: string, other?: string): Promise<string> {
    const id = this.idOf(parent)
    const workspace = await this.world.present(
      id,
      `workspaces.tenancy.kcp.io ${name}`,
      ({ spec, status }) => isRecord(status) && status.phase === 'Ready' && isRecord(spec) && spec.cluster !== other,
    )
    return String((workspace.spec as Record<string, unknown>).cluster)
  }

  /** Id of a path with known Workspaces. */
  idOf(path: string): string {
    const [first = '', ...names] = path.split(':')
    return names.reduce((parent, name) => {
      const workspace = this.world.get(parent, `workspaces.tenancy.kcp.io ${name}`)
      if (!workspace || !isRecord(workspace.spec)) throw new Error(`no space ${path}`)
      return String(workspace.spec.cluster)
    }, first)
  }

  /** `namespace/name` of the ConfigMaps of a space, sorted; without those that every Namespace has. */
  mapsIn(space: string): string[] {
    return this.world.names(space, 'configmaps').filter(name => !name.endsWith('/kube-root-ca.crt'))
  }

  /** Waits until these and no other ConfigMaps (sorted) are in a space. */
  async holds(space: string, names: readonly string[]): Promise<void> {
    const wanted = names.join(', ')
    await this.world.until(`ConfigMaps ${wanted || 'to go'}`, () => {
      const found = this.mapsIn(space).join(', ')
      return found !== wanted && `found ${found || 'none'}`
    })
  }

  /** The workload space uses the inventory from now on, and may place everything there; both by their paths. */
  async consent(inventory: string, wds: string): Promise<void> {
    const binding = { apiVersion: EDGE, kind: 'InventoryBinding', metadata: { name: 'imw' }, spec: { path: inventory } }
    const spec = {
      spaces: [{ path: wds }],
      clusterScoped: true,
      grantingKinds: true,
      upsync: [{ apiGroup: '*', resources: ['*'] }],
    }
    const grant = { apiVersion: EDGE, kind: 'PlacementGrant', metadata: { generateName: 'scene-' }, spec }
    await Promise.all([
      this.client.in(this.idOf(wds)).create(BINDINGS, binding),
      this.client.in(this.idOf(inventory)).create(GRANTS, grant),
    ])
  }

  /** An inventory with these clusters and an empty workload space with the Namespace `app`, apart from other scenes. */
  async scene(tag: string, clusters: readonly string[]): Promise<Scene> {
    const [inventory, wds] = await Promise.all([this.space(`${tag}-imw`), this.space(`${tag}-wmw`)])
    const scene = new Scene(this, { tag, inventory, wds })
    await this.consent(`root:${tag}-imw`, `root:${tag}-wmw`)
    await Promise.all(clusters.map(name => scene.addCluster(name)))
    await this.client.in(wds).create(NAMESPACES, namespace('app', { team: 'blue' }))
    return scene
  }
}

export class Scene {
  readonly center: Stage
  readonly tag: string
  readonly inventory: string
  readonly wdsId: string

  constructor(center: Stage, o: { tag: string; inventory: string; wds: string }) {
    this.center = center
    this.tag = o.tag
    this.inventory = o.inventory
    this.wdsId = o.wds
  }

  /** The API of the workload space. */
  get wds(): SpaceClient {
    return this.center.client.in(this.wdsId)
  }

  /** A SyncTarget and a Location of that name, labelled `scene: <tag>` and `cluster: <name>`; waits for the mailbox. */
  async addCluster(name: string, labels: Record<string, string> = {}): Promise<string> {
    const api = this.center.client.in(this.inventory)
    const all = { scene: this.tag, cluster: name, ...labels }
    await api.create(TARGETS, {
      apiVersion: EDGE,
      kind: 'SyncTarget',
      metadata: { name, labels: { id: name } },
      spec: {},
    })
    await api.create(LOCATIONS, {
      apiVersion: EDGE,
      kind: 'Location',
      metadata: { name, labels: all },
      spec: {
        resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
        instanceSelector: { matchLabels: { id: name } },
      },
    })
    return await this.mailbox(name)
  }

  /** Name of the Workspace that belongs to the SyncTarget of this name. */
  async mailboxName(cluster: string): Promise<string> {
    const target = await this.center.client.in(this.inventory).get(TARGETS, { name: cluster })
    return `${this.inventory}-mb-${target.metadata.uid}`
  }

  /** Id of the mailbox space of the SyncTarget of this name, once it is ready. */
  async mailbox(cluster: string): Promise<string> {
    return await this.center.readySpace('root:espw', await this.mailboxName(cluster))
  }

  /** Default: ConfigMaps of the Namespace `app`, to every cluster of the scene. */
  async place(name: string, spec: Record<string, unknown> = {}): Promise<KubeObject> {
    return await this.wds.create(PLACEMENTS, placement(name, { ...this.everywhere(), ...MAPS_OF_APP, ...spec }))
  }

  /** Changes fields of a placement's spec; a list replaces the list. */
  async replace(name: string, spec: Record<string, unknown>): Promise<void> {
    await this.wds.patch(PLACEMENTS, { name }, 'merge', { spec })
  }

  /** Waits until deletions of the placement are held, and confirms them; the hash. `before`: the hash of an earlier hold. */
  async confirmHeld(name: string, before?: string): Promise<string | undefined> {
    const held = await this.center.world.present(
      this.wdsId,
      `edgeplacements.edge.kubestellar.io ${name}`,
      placement => ![undefined, before].includes(heldBy(placement)),
    )
    const hash = heldBy(held)
    const metadata = { annotations: { 'edge.kubestellar.io/confirm-deletion': hash } }
    await this.wds.patch(PLACEMENTS, { name }, 'merge', { metadata })
    return hash
  }

  everywhere(): { locationSelectors: object[] } {
    return { locationSelectors: [{ matchLabels: { scene: this.tag } }] }
  }

  at(...clusters: string[]): { locationSelectors: object[] } {
    return { locationSelectors: clusters.map(cluster => ({ matchLabels: { scene: this.tag, cluster } })) }
  }

  async map(name: string, data: Record<string, string> = {}, metadata: object = {}): Promise<KubeObject> {
    return await this.wds.create(MAPS, configMap(name, data, metadata))
  }
}

/** The hash that confirms what is held of a placement, by what it says to people. */
export function heldBy({ status }: KubeObject): string | undefined {
  const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : []
  const held = conditions.find(condition => condition.type === 'DeletionHeld' && condition.status === 'True')
  return held && /confirm-deletion=(\w+)$/.exec(String(held.message))?.[1]
}

export const MAPS_OF_APP = { downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app'] }] }

export function placement(name: string, spec: object): KubeObject {
  return { apiVersion: EDGE, kind: 'EdgePlacement', metadata: { name }, spec }
}

export function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

export function configMap(name: string, data: Record<string, string> = {}, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'app', name, ...metadata }, data }
}

export function customizer(name: string, replacements: object[], metadata: object = {}): KubeObject {
  return { apiVersion: EDGE, kind: 'Customizer', metadata: { namespace: 'app', name, ...metadata }, replacements }
}
