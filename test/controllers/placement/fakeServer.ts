/** A small API server in memory, with places of spaces, for the placement's controllers: spaces come and go, streams stall, writes are refused. */
import type { GroupResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { NAMESPACES, WORKSPACES } from '../../../src/apimachinery/resources.ts'
import type {
  CopyCreation,
  CopyDeletion,
  CopyMade,
  CopyUpdate,
  DeleteOptions,
  DiscoveredResource,
  Likeness,
  StreamBatch,
  StreamEvent,
  StreamOptions,
} from '../../../src/client/client.ts'
import type { SpacePlaces } from '../../../src/controllers/placedSource.ts'
import { FakeApi } from '../../support/fakeApi.ts'
import type { Change, Entry } from '../../support/fakeEntries.ts'
import { FakeEvent } from '../../support/fakeEvent.ts'

export class FakeServer extends FakeApi implements SpacePlaces {
  readonly #paths = new Map([['root:espw', 'espw0id']])
  /** By every space. */
  kinds: DiscoveredResource[] = [
    served('apps', 'replicasets', 'ReplicaSet', ['status']),
    served('', 'configmaps', 'ConfigMap', []),
    { ...served('', 'namespaces', 'Namespace', ['finalize', 'status']), namespaced: false },
  ]
  /** Spaces that are gone. */
  readonly #left = new Set<string>()
  readonly #leaving = new Set<(space: string) => void>()
  /** Path by id, of the spaces that Workspaces stand for. */
  readonly #places = new Map([
    ['root', 'root'],
    ['espw0id', 'root:espw'],
  ])
  /** Tests name mailboxes after the uids of their SyncTargets. */
  protected override keepsUids = true
  protected override holdsNamespaces = false
  readonly #placed = new Set<(space: string) => void>()
  /** Every write that changed something: `space verb resource ns/name`. */
  readonly writes: string[] = []
  /** Options of each deletion, in order. */
  readonly deletions: (DeleteOptions | undefined)[] = []
  /** Ids of spaces whose streams stay silent: connected, but nothing comes. `*` for the stream of all spaces. */
  readonly stalled = new Set<string>()
  /** Ids of spaces whose place is not known yet. */
  readonly unplaced = new Set<string>()
  /** Ids of spaces that are being deleted. */
  readonly deleting = new Set<string>()
  /** Whether its streams tell what objects are like; and of how many of their events somebody looked at the object. */
  tellsLikeness = true
  looks = 0
  /** How many were changed at a time with others. */
  together = 0
  /** Called before each write; may throw to refuse it. */
  refuse: (space: string, verb: string, resource: GroupResource, name: string) => void = () => {}

  protected override spaceOf(path: string): string {
    return this.#paths.get(path) ?? path
  }

  protected override request(
    verb: string,
    space: string,
    resource: GroupResource,
    name: string,
    subresource = '',
  ): void {
    if (verb === 'create' || verb === 'update' || verb === 'delete')
      this.refuse(space, subresource || verb, resource, name)
  }

  protected override uid(count: number): string {
    return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
  }

  protected override event(type: StreamEvent['type'], entry: Entry): StreamEvent {
    return new LookedAt(type, entry, this)
  }

  protected override committed({ type, space, resource, object }: Change, verb: string): void {
    const { namespace = '', name = '' } = object.metadata
    this.writes.push(`${space} ${type === 'DELETED' ? 'delete' : verb} ${resource.resource} ${namespace}/${name}`)
    if (type === 'ADDED' && resource.resource === WORKSPACES.resource) this.#open({ space, resource, object })
  }

  /** An object that cannot be made is left to be made alone, and refused then. */
  async createCopies(creations: readonly CopyCreation[]): Promise<readonly (CopyMade | undefined)[]> {
    return creations.map(({ space, resource, object, fieldManager }) => {
      try {
        const like = this.create(space, resource, object, fieldManager === undefined ? {} : { fieldManager })
        const { uid = '', resourceVersion = '' } = like.metadata
        return { uid, resourceVersion, like }
      } catch {
        return undefined
      }
    })
  }

  /** An update of another version is left to be done alone. */
  async updateCopies(updates: readonly CopyUpdate[]): Promise<readonly (CopyMade | undefined)[]> {
    return updates.map(({ space, resource, namespace, name, resourceVersion, replace, fieldManager }) => {
      const old = this.peek(space, resource, name, namespace)
      const body = old?.metadata.resourceVersion === resourceVersion ? replace(structuredClone(old)) : undefined
      if (!body) return undefined
      try {
        const like = this.update(space, resource, body, fieldManager === undefined ? {} : { fieldManager })
        this.together++
        return { uid: like.metadata.uid!, resourceVersion: like.metadata.resourceVersion!, like }
      } catch {
        return undefined
      }
    })
  }

  /** An object that cannot be deleted is left to be deleted alone, and refused then. */
  async deleteCopies(deletions: readonly CopyDeletion[]): Promise<readonly boolean[]> {
    return deletions.map(({ space, resource, namespace, name, uid, resourceVersion }) => {
      if (this.peek(space, resource, name, namespace)?.metadata.finalizers?.length) return false
      try {
        const options = { propagationPolicy: 'Background', preconditions: { uid, resourceVersion } } as const
        this.delete(space, resource, { name, ...(namespace && { namespace }) }, options)
        return true
      } catch {
        return false
      }
    })
  }

  /** A space without a Workspace is a child of the root. */
  pathOf(space: string): string | undefined {
    if (this.unplaced.has(space) || this.#left.has(space)) return undefined
    return this.#places.get(space) ?? `root:${space}`
  }

  idAt(path: string): string | undefined {
    const known = [...this.#places].find(([id, at]) => at === path && this.pathOf(id) === path)?.[0]
    const own = /^root:([^:]+)$/.exec(path)?.[1]
    return known ?? (own !== undefined && this.pathOf(own) === path ? own : undefined)
  }

  isDeleting(space: string): boolean {
    return this.deleting.has(space)
  }

  lineageOf(space: string): string[] {
    const names = this.pathOf(space)?.split(':') ?? []
    return names.flatMap((_, i) => this.idAt(names.slice(0, i + 1).join(':')) ?? [])
  }

  onGone(listener: (space: string) => void): () => void {
    this.#leaving.add(listener)
    return () => this.#leaving.delete(listener)
  }

  /** A space goes, with all that is in it. */
  leave(space: string): void {
    for (const entry of [...this.entries.values()].filter(entry => entry.space === space)) this.drop(entry)
    this.#left.add(space)
    for (const tell of this.#leaving) tell(space)
  }

  onKnown(listener: (space: string) => void): () => void {
    this.#placed.add(listener)
    return () => this.#placed.delete(listener)
  }

  /** The place of a space becomes known, or is another one from now on. */
  place(space: string, path = this.#places.get(space)): void {
    if (path !== undefined) this.#places.set(space, path)
    this.unplaced.delete(space)
    for (const tell of this.#placed) tell(space)
  }

  /** Names (`namespace/name` or `name`) of all objects of a resource in a space. */
  names(path: string, resource: GroupResource): string[] {
    return this.select(this.spaceOf(path), resource)
      .map(({ metadata: { namespace, name = '' } }) => (namespace ? `${namespace}/${name}` : name))
      .sort()
  }

  /** Resolves once the condition holds; it is looked at after every write. The test's own timeout bounds the wait. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.news()
  }

  /** Resolves when nothing was written for many turns of the event loop. */
  async quiet(): Promise<void> {
    for (let calm = 0, seen = this.revision; calm < 200; calm++) {
      await new Promise<void>(resolve => setImmediate(resolve))
      if (seen !== this.revision) [calm, seen] = [0, this.revision]
    }
  }

  override async *stream(options: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
    const { signal } = options
    while (this.stalled.has(this.spaceOf(options.space)) && !signal.aborted) await this.news(signal)
    yield* super.stream(options)
  }

  protected override delete(...[space, resource, ref, options]: Parameters<FakeApi['delete']>): void {
    super.delete(space, resource, ref, options)
    this.deletions.push(options)
  }

  /** A Workspace becomes a space with a Namespace `default`. */
  #open({ space: parent, resource, object: workspace }: Entry): void {
    const cluster = `space${this.revision}`
    this.#places.set(cluster, `${this.pathOf(parent)}:${workspace.metadata.name}`)
    this.put('ADDED', { space: cluster, resource: NAMESPACES, object: namespace('default') }, 'create')
    const object = { ...workspace, spec: { cluster }, status: { phase: 'Ready' } }
    this.put('MODIFIED', { space: parent, resource, object }, 'update')
  }

  /** Wakes streams and waiters, as every write does. */
  notify(): void {
    this.poke()
  }
}

/** An event that counts how many of its kind somebody looked into. */
class LookedAt extends FakeEvent {
  readonly #server: FakeServer
  readonly #entry: Entry
  #isParsed = false

  constructor(type: StreamEvent['type'], entry: Entry, server: FakeServer) {
    super(type, entry)
    this.#server = server
    this.#entry = entry
  }

  override get object(): KubeObject {
    if (!this.#isParsed) this.#server.looks++
    this.#isParsed = true
    return super.object
  }

  likeness(): Likeness | undefined {
    return this.#server.tellsLikeness ? likenessOf(this.#entry) : undefined
  }
}

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']

function served(group: string, resource: string, kind: string, subresources: string[]): DiscoveredResource {
  return { group, version: 'v1', resource, kind, namespaced: true, verbs: VERBS, subresources }
}

export function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

/** All but which one it is, when it was made and what is reported. */
function likenessOf({ object: { status, ...object } }: Entry): Likeness {
  const { uid = '', resourceVersion: _, creationTimestamp: __, annotations, ...metadata } = object.metadata
  const { 'kcp.io/cluster': ___, ...others } = annotations ?? {}
  const content = JSON.stringify({ ...object, metadata: { ...metadata, annotations: others } })
  return { content, bytes: content.length, uid, hasStatus: status !== undefined }
}
