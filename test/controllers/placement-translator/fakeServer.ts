/** A small API server in memory, many spaces, one order: enough of the Client contract to run controllers against. */
import { isDeepStrictEqual } from 'node:util'
import { statusError } from '../../../src/apimachinery/errors.ts'
import type { GroupResource, GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { namespaceTerminating } from '../../../src/apiserver/admission/namespaceLifecycle.ts'
import type {
  Client,
  DeleteOptions,
  DiscoveredResource,
  Likeness,
  ObjectRef,
  SharedCreation,
  SharedDeletion,
  SharedMade,
  SharedUpdate,
  SpaceClient,
  StreamBatch,
  StreamEvent,
  StreamOptions,
  Unshared,
  WriteOptions,
} from '../../../src/client/client.ts'
import type { SpacePlaces } from '../../../src/controllers/placedSource.ts'

interface Entry {
  space: string
  resource: GroupVersionResource
  object: KubeObject
}

const WORKSPACE = 'workspaces'

export class FakeServer implements Client, SpacePlaces {
  readonly #entries = new Map<string, Entry>()
  readonly #log: StreamEvent[] = []
  readonly #paths = new Map([['root:espw', 'espw0id']])
  /** By every space. */
  readonly served: DiscoveredResource[] = [
    {
      group: 'apps',
      version: 'v1',
      resource: 'replicasets',
      kind: 'ReplicaSet',
      namespaced: true,
      verbs: [],
      subresources: ['status'],
    },
    {
      group: '',
      version: 'v1',
      resource: 'configmaps',
      kind: 'ConfigMap',
      namespaced: true,
      verbs: [],
      subresources: [],
    },
  ]
  /** Spaces that are gone. */
  readonly #left = new Set<string>()
  readonly #leaving = new Set<(space: string) => void>()
  readonly #wake = new Set<() => void>()
  /** Path by id, of the spaces that Workspaces stand for. */
  readonly #places = new Map([
    ['root', 'root'],
    ['espw0id', 'root:espw'],
  ])
  readonly #placed = new Set<(space: string) => void>()
  #revision = 0
  #uids = 0
  /** Every write that changed something: `space verb resource ns/name`. */
  readonly writes: string[] = []
  /** What each deletion asked for, in their order. */
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
  /** What objects became by what they were changed by. */
  readonly #changes = new WeakMap<object, { readonly from: object; readonly to: KubeObject }>()
  /** Called before each write; may throw to refuse it. */
  refuse: (space: string, verb: string, resource: GroupResource, name: string) => void = () => {};

  in(path: string): SpaceClient {
    const space = this.#paths.get(path) ?? path
    const unsupported = () => {
      throw new Error('the fake server does not do this')
    }
    return {
      get: async (resource, ref) => structuredClone(this.#find(space, resource, ref).object),
      create: async (resource, object, options) => this.#create(space, resource, object, options),
      update: async (resource, object, options) => this.#update(space, resource, object, options),
      patch: async (resource, ref, type, body, options) => {
        if (type !== 'merge') unsupported()
        const { object } = this.#find(space, resource, ref)
        const merged = merge(object, body) as KubeObject
        if (merged.metadata.uid !== object.metadata.uid) throw statusError.conflict(resource, ref.name, 'uid differs')
        return this.#update(space, resource, merged, options)
      },
      delete: async (resource, ref, options) => this.#delete(space, resource, ref, options),
      discover: async () => this.served,
      list: unsupported,
      watch: unsupported,
    }
  }

  /** What cannot be made is to be made alone, and refused then. */
  async createShared(creations: readonly SharedCreation[]): Promise<readonly (SharedMade | Unshared)[]> {
    return creations.map(({ space, resource, object, fieldManager }) => {
      try {
        const like = this.#create(space, resource, object, fieldManager === undefined ? {} : { fieldManager })
        const { uid = '', resourceVersion = '' } = like.metadata
        return { uid, resourceVersion, like }
      } catch {
        return undefined
      }
    })
  }

  /** What nobody has changed so, or what is not as it was known, is to be changed alone. */
  async updateShared(updates: readonly SharedUpdate[]): Promise<readonly (SharedMade | Unshared)[]> {
    return updates.map(({ space, resource, namespace, name, resourceVersion, said, fieldManager }) => {
      const old = this.peek(space, resource, name, namespace)
      if (old?.metadata.resourceVersion !== resourceVersion) return undefined
      const change = this.#changes.get(said)
      if (!old || !change || !isDeepStrictEqual(besideWhich(old), change.from)) return 'first'
      try {
        const { uid, annotations } = old.metadata
        const metadata = { ...change.to.metadata, uid: uid!, resourceVersion }
        metadata.annotations = { ...metadata.annotations, 'kcp.io/cluster': annotations!['kcp.io/cluster']! }
        const options = fieldManager === undefined ? {} : { fieldManager }
        const like = this.#update(space, resource, { ...change.to, metadata }, options)
        this.together++
        return { uid: uid!, resourceVersion: like.metadata.resourceVersion!, like }
      } catch {
        return undefined
      }
    })
  }

  /** What cannot be deleted is to be deleted alone, and refused then. */
  async deleteShared(deletions: readonly SharedDeletion[]): Promise<readonly boolean[]> {
    return deletions.map(({ space, resource, namespace, name, uid, resourceVersion }) => {
      if (this.peek(space, resource, name, namespace)?.metadata.finalizers?.length) return false
      try {
        const options = { propagationPolicy: 'Background', preconditions: { uid, resourceVersion } } as const
        this.#delete(space, resource, { name, ...(namespace && { namespace }) }, options)
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
    for (const entry of [...this.#entries.values()].filter(entry => entry.space === space)) {
      this.#commit('DELETED', entry, 'delete')
    }
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

  /** The object, or `undefined`. For assertions. */
  peek(path: string, resource: GroupResource, name: string, namespace = ''): KubeObject | undefined {
    return this.#entries.get(id(this.#paths.get(path) ?? path, resource, namespace, name))?.object
  }

  /** Names (`namespace/name` or `name`) of all objects of a resource in a space. */
  names(path: string, resource: GroupResource): string[] {
    const space = this.#paths.get(path) ?? path
    return [...this.#entries.values()]
      .filter(
        e => e.space === space && e.resource.group === resource.group && e.resource.resource === resource.resource,
      )
      .map(({ object: { metadata } }) =>
        metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name!,
      )
      .sort()
  }

  /** Resolves once the condition holds; it is looked at after every write. The test's own timeout bounds the wait. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => this.#wake.add(resolve))
  }

  /** Resolves when nothing was written for many turns of the event loop. */
  async quiet(): Promise<void> {
    for (let calm = 0, seen = this.#revision; calm < 200; calm++) {
      await new Promise<void>(resolve => setImmediate(resolve))
      if (seen !== this.#revision) [calm, seen] = [0, this.#revision]
    }
  }

  async *stream({ space: path, resources, after, signal }: StreamOptions): AsyncIterable<StreamBatch> {
    const space = this.#paths.get(path) ?? path
    const wanted = (event: { space: string; resource: GroupResource }) =>
      (space === '*' || event.space === space) &&
      (!resources || resources.some(r => r.group === event.resource.group && r.resource === event.resource.resource))
    const stop = () => this.notify()
    signal.addEventListener('abort', stop, { once: true })
    while (this.stalled.has(space) && !signal.aborted) await new Promise<void>(resolve => this.#wake.add(resolve))
    let next = this.#log.length
    if (after === undefined) {
      const events = [...this.#entries.values()].filter(wanted).map(entry => this.#event('ADDED', entry))
      const revision = this.#revision
      yield { events, revision, synced: false }
      yield { events: [], revision, synced: true }
    }
    while (!signal.aborted) {
      const events = this.#log.slice(next).filter(wanted)
      next = this.#log.length
      if (events.length > 0) yield { events, revision: this.#revision, synced: false }
      else await new Promise<void>(resolve => this.#wake.add(resolve))
    }
  }

  #create(space: string, resource: GroupVersionResource, body: KubeObject, options?: WriteOptions): KubeObject {
    const { name = '', namespace = '' } = body.metadata
    this.refuse(space, 'create', resource, name)
    this.#requireServed(space, resource)
    const around = namespace === '' ? undefined : this.peek(space, NAMESPACES, namespace)
    if (namespace && !around) throw statusError.notFound(NAMESPACES, namespace)
    if (around?.metadata.deletionTimestamp !== undefined) throw namespaceTerminating(resource, body, namespace)
    if (this.peek(space, resource, name, namespace)) throw statusError.alreadyExists(resource, name)
    const object = structuredClone(body)
    if (options?.dryRun) return object
    const metadata = {
      ...object.metadata,
      uid: object.metadata.uid ?? uid(++this.#uids),
      creationTimestamp: new Date(this.#revision * 1000).toISOString(),
      generation: 1,
      managedFields: [{ manager: options?.fieldManager ?? 'user' }],
      annotations: { ...object.metadata.annotations, 'kcp.io/cluster': space },
    }
    if (resource.resource === 'replicasets') delete object.status
    return this.#commit('ADDED', { space, resource, object: { ...object, metadata } }, 'create')
  }

  #update(space: string, resource: GroupVersionResource, body: KubeObject, options?: WriteOptions): KubeObject {
    const { name = '', namespace = '', resourceVersion } = body.metadata
    this.refuse(space, options?.subresource ?? 'update', resource, name)
    const old = this.#find(space, resource, { name, namespace }).object
    if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion) {
      throw statusError.conflict(resource, name, 'the object has been modified')
    }
    const hasStatus = resource.resource !== 'crontabs' && !options?.withStatus
    const { status: _old, ...oldRest } = old
    const { status, ...rest } = structuredClone(body)
    const object = (
      options?.subresource === 'status'
        ? { ...oldRest, ...(status !== undefined && { status }) }
        : { ...rest, ...(hasStatus ? old.status !== undefined && { status: old.status } : { status }) }
    ) as KubeObject
    object.metadata = { ...object.metadata, resourceVersion: old.metadata.resourceVersion! }
    if (options?.subresource === 'status') {
      const { managedFields = [], ...metadata } = old.metadata
      const others = managedFields.filter(entry => entry.subresource !== 'status')
      const mine = { manager: options.fieldManager ?? 'user', subresource: 'status' }
      object.metadata = { ...metadata, managedFields: status === undefined ? others : [...others, mine] }
    } else if (!isDeepStrictEqual(object.spec, old.spec)) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
    if (isDeepStrictEqual(object, old)) return structuredClone(old)
    if (options?.dryRun) return object
    if (options?.sharedFrom)
      this.#changes.set(options.sharedFrom, { from: besideWhich(old), to: structuredClone(body) })
    const { deletionTimestamp, finalizers = [] } = object.metadata
    if (deletionTimestamp !== undefined && finalizers.length === 0)
      return this.#commit('DELETED', { space, resource, object }, 'delete')
    return this.#commit('MODIFIED', { space, resource, object }, options?.subresource ?? 'update')
  }

  #delete(space: string, resource: GroupVersionResource, ref: ObjectRef, options?: DeleteOptions): void {
    this.refuse(space, 'delete', resource, ref.name)
    const entry = this.#find(space, resource, ref)
    const { uid, resourceVersion } = options?.preconditions ?? {}
    const { metadata } = entry.object
    if ((uid && uid !== metadata.uid) || (resourceVersion && resourceVersion !== metadata.resourceVersion)) {
      throw statusError.conflict(resource, ref.name, 'the precondition does not hold')
    }
    this.deletions.push(options)
    if ((metadata.finalizers?.length ?? 0) > 0) {
      const deletionTimestamp = metadata.deletionTimestamp ?? new Date(this.#revision * 1000).toISOString()
      this.#commit(
        'MODIFIED',
        { ...entry, object: { ...entry.object, metadata: { ...metadata, deletionTimestamp } } },
        'delete',
      )
      return
    }
    this.#commit('DELETED', entry, 'delete')
  }

  #commit(type: StreamEvent['type'], entry: Entry, verb: string): KubeObject {
    const revision = ++this.#revision
    const { metadata } = entry.object
    const object = { ...entry.object, metadata: { ...metadata, resourceVersion: String(revision) } }
    const key = id(entry.space, entry.resource, metadata.namespace ?? '', metadata.name ?? '')
    if (type === 'DELETED') this.#entries.delete(key)
    else this.#entries.set(key, { ...entry, object })
    this.writes.push(`${entry.space} ${verb} ${entry.resource.resource} ${metadata.namespace ?? ''}/${metadata.name}`)
    this.#log.push(this.#event(type, { ...entry, object }))
    if (type === 'ADDED' && entry.resource.resource === WORKSPACE) this.#open(entry.space, entry.resource, object)
    this.notify()
    return structuredClone(object)
  }

  /** A Workspace becomes a space with a Namespace `default`. */
  #open(parent: string, resource: GroupVersionResource, workspace: KubeObject): void {
    const cluster = `space${this.#revision}`
    this.#places.set(cluster, `${this.pathOf(parent)}:${workspace.metadata.name}`)
    const object = { ...workspace, spec: { cluster }, status: { phase: 'Ready' } }
    this.#commit('ADDED', { space: cluster, resource: NAMESPACES, object: namespace('default') }, 'create')
    this.#commit('MODIFIED', { space: parent, resource, object }, 'update')
  }

  #requireServed(space: string, resource: GroupVersionResource): void {
    if (resource.group !== 'stable.example.com') return
    if (this.peek(space, CRDS, `${resource.resource}.${resource.group}`)) return
    throw statusError.notFound(resource, '')
  }

  #find(space: string, resource: GroupVersionResource, ref: ObjectRef): Entry {
    const entry = this.#entries.get(id(space, resource, ref.namespace ?? '', ref.name))
    if (!entry) throw statusError.notFound(resource, ref.name)
    return entry
  }

  #event(type: StreamEvent['type'], entry: Entry): StreamEvent {
    const { space, resource, object } = entry
    const shared = freeze(structuredClone(object))
    const text = JSON.stringify(object)
    let isParsed = false
    const look = (): KubeObject => {
      if (!isParsed) this.looks++
      isParsed = true
      return shared
    }
    return {
      type,
      space,
      resource,
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name ?? '',
      revision: Number(object.metadata.resourceVersion),
      get object() {
        return look()
      },
      mentions: part => text.includes(part),
      likeness: () => (this.tellsLikeness ? likenessOf(entry) : undefined),
    }
  }

  /** Wakes streams and waiters, as every write does. */
  notify(): void {
    for (const wake of this.#wake) wake()
    this.#wake.clear()
  }
}

const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const CRDS = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }

export function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

function uid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

function id(space: string, resource: GroupResource, namespace: string, name: string): string {
  return `${space} ${resource.group}|${resource.resource} ${namespace} ${name}`
}

/** All but which one it is, when it was made and what is reported. */
function likenessOf({ object: { status, ...object } }: Entry): Likeness {
  const { uid = '', resourceVersion: _, creationTimestamp: __, annotations, ...metadata } = object.metadata
  const { 'kcp.io/cluster': ___, ...others } = annotations ?? {}
  const text = JSON.stringify({ ...object, metadata: { ...metadata, annotations: others } })
  return { text, uid, hasStatus: status !== undefined }
}

/** Whoever changes a shared object is found out. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) freeze(child)
    Object.freeze(value)
  }
  return value
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {}
  const result = base as Record<string, unknown>
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merge(result[key], value)
  }
  return result
}

/** What an object says but for which one it is, and when it was made. */
function besideWhich({ metadata, ...rest }: KubeObject): object {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _at, annotations, ...said } = metadata
  const { 'kcp.io/cluster': _space, ...others } = annotations ?? {}
  return { ...rest, metadata: { ...said, annotations: others } }
}
