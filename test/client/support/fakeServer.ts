/**
 * A small API server in memory, with one log, for tests of clients and controllers: real finalizers, preconditions and
 * revisions; connections break and requests fail when a test says so.
 */
import { StatusError, statusError } from '../../../src/apimachinery/errors.ts'
import { type GroupVersionResource, isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type {
  Client,
  DeleteOptions,
  DiscoveredResource,
  ListOptions,
  ObjectList,
  ObjectRef,
  PatchType,
  SpaceClient,
  StreamBatch,
  StreamEvent,
  StreamOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../../src/client/client.ts'

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']
export function kind(group: string, resource: string, name: string, namespaced = true): DiscoveredResource {
  return { group, version: 'v1', resource, kind: name, namespaced, verbs: VERBS, subresources: ['status'] }
}
export const KINDS = {
  namespaces: kind('', 'namespaces', 'Namespace', false),
  configmaps: kind('', 'configmaps', 'ConfigMap'),
  serviceaccounts: kind('', 'serviceaccounts', 'ServiceAccount'),
  deployments: kind('apps', 'deployments', 'Deployment'),
  replicasets: kind('apps', 'replicasets', 'ReplicaSet'),
  clusterroles: kind('rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole', false),
}

interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  revision: number
  space: string
  resource: GroupVersionResource
  object: KubeObject
}

export class FakeServer implements Client {
  /** Newest revision. */
  revision = 0
  /** Watches and streams from before it are answered with Expired. */
  compacted = 0
  kinds: DiscoveredResource[] = Object.values(KINDS)
  /** Called before every request and before every delivery of a watch or stream; what it throws is the answer. */
  hook: (verb: string, space: string, resource: string, name: string) => void = () => {}
  /** `verb space resource name` of every request. */
  readonly requests: string[] = []
  readonly #objects = new Map<string, Change>()
  readonly #log: Change[] = []
  readonly #waiters = new Set<() => void>()
  #uids = 0

  /** Everything in a space and resource, by name. */
  names(space: string, resource: GroupVersionResource): string[] {
    return this.#select(space, resource, {}).map(change => change.object.metadata.name!)
  }

  in(space: string): SpaceClient {
    return {
      get: async (resource, ref) => structuredClone(this.#get('get', space, resource, ref).object),
      list: async (resource, options) => this.#list(space, resource, options),
      watch: (resource, options) => this.#watch(space, resource, options),
      create: async (resource, object) => this.#create(space, resource, object),
      update: async (resource, object, options) => this.#update('update', space, resource, object, options),
      patch: async (resource, ref, type, body, options) => this.#patch(space, resource, ref, { type, body, options }),
      delete: async (resource, ref, options) => this.#delete(space, resource, ref, options),
      discover: async () => {
        this.#request('discover', space, '', '')
        return this.kinds
      },
    }
  }

  /** Forgets the log up to now. */
  compact(): void {
    this.compacted = this.revision
    this.#log.length = 0
  }

  /** Makes open watches and streams look again, so that `hook` can break them. */
  poke(): void {
    for (const wake of [...this.#waiters]) wake()
  }

  async *stream(options: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
    const { space, signal } = options
    const wanted = (c: Change) =>
      (space === '*' || c.space === space) &&
      (!options.resources ||
        options.resources.some(r => r.group === c.resource.group && r.resource === c.resource.resource))
    this.#request('stream', space, '', '')
    let cursor = options.after
    if (cursor === undefined) {
      cursor = this.revision
      const snapshot = [...this.#objects.values()].filter(wanted).map(c => streamEvent({ ...c, type: 'ADDED' }))
      for (const event of snapshot) {
        this.hook('deliver', space, event.resource.resource, event.name)
        yield { events: [event], revision: cursor, synced: false }
      }
      this.hook('deliver', space, '', 'synced')
      yield { events: [], revision: cursor, synced: true }
    }
    while (!signal.aborted) {
      if (cursor < this.compacted) throw statusError.expired('too old resource version')
      const from = cursor
      const changes = this.#log.filter(c => c.revision > from)
      cursor = this.revision
      for (const change of changes.filter(wanted)) {
        this.hook('deliver', space, change.resource.resource, change.object.metadata.name!)
        yield { events: [streamEvent(change)], revision: change.revision, synced: false }
      }
      if (cursor === this.revision) await this.#news(signal)
      this.hook('deliver', space, '', '')
    }
  }

  async *#watch(space: string, resource: GroupVersionResource, options: WatchOptions) {
    this.#request('watch', space, resource.resource, '')
    let cursor = Number(options.resourceVersion)
    while (!options.signal.aborted) {
      if (cursor < this.compacted) throw statusError.expired('too old resource version')
      const from = cursor
      const changes = this.#log.filter(c => c.revision > from)
      cursor = this.revision
      for (const c of changes) {
        if (!matches(c, space, resource, options)) continue
        this.hook('deliver', space, resource.resource, c.object.metadata.name!)
        yield [{ type: c.type, object: structuredClone(c.object) }] satisfies WatchEvent[]
      }
      if (cursor === this.revision) await this.#news(options.signal)
      this.hook('deliver', space, resource.resource, '')
    }
  }

  #list(space: string, resource: GroupVersionResource, options: ListOptions = {}): ObjectList {
    this.#request('list', space, resource.resource, options.continue ?? '')
    const all = this.#select(space, resource, options)
    const [version = String(this.revision), offset = '0'] = options.continue?.split(':') ?? []
    if (Number(version) !== this.revision) throw statusError.expired('the continue token is too old')
    const start = Number(offset)
    const end = start + (options.limit ?? all.length)
    const items = all.slice(start, end).map(change => structuredClone(change.object))
    return { items, resourceVersion: version, ...(end < all.length && { continue: `${version}:${end}` }) }
  }

  #select(space: string, resource: GroupVersionResource, options: ListOptions): Change[] {
    const found = [...this.#objects].filter(([, change]) => matches(change, space, resource, options))
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
  }

  #get(verb: string, space: string, resource: GroupVersionResource, ref: ObjectRef): Change {
    this.#request(verb, space, resource.resource, ref.name)
    const found = this.#objects.get(idOf(space, resource, ref))
    if (!found) throw statusError.notFound(resource, ref.name)
    return found
  }

  #create(space: string, resource: GroupVersionResource, given: KubeObject): KubeObject {
    const object = structuredClone(given)
    const { metadata } = object
    metadata.name ??= `${metadata.generateName}${this.revision}`
    this.#request('create', space, resource.resource, metadata.name)
    if (this.#objects.has(idOf(space, resource, placeOf(object))))
      throw statusError.alreadyExists(resource, metadata.name)
    metadata.uid = `uid-${++this.#uids}`
    metadata.creationTimestamp = '2026-01-01T00:00:00Z'
    metadata.annotations = { ...metadata.annotations, 'kcp.io/cluster': space }
    if (resource.resource === 'namespaces') object.spec = { finalizers: ['kubernetes'] }
    return this.#commit('ADDED', space, resource, object)
  }

  #update(verb: string, space: string, resource: GroupVersionResource, given: KubeObject, options: WriteOptions = {}) {
    const { object: old } = this.#get(verb, space, resource, placeOf(given))
    const { resourceVersion, uid } = given.metadata
    const stale = resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion
    if (stale || (uid !== undefined && uid !== old.metadata.uid)) {
      throw statusError.conflict(resource, given.metadata.name!, 'the object has been modified')
    }
    const object = structuredClone(given)
    if (options.subresource === 'status') Object.assign(object, structuredClone(old), { status: object.status })
    if (options.subresource === 'finalize') Object.assign(object, structuredClone(old), { spec: object.spec })
    return this.#commitOrRemove(space, resource, object)
  }

  #patch(
    space: string,
    resource: GroupVersionResource,
    ref: ObjectRef,
    { type, body, options }: { type: PatchType; body: unknown; options: WriteOptions | undefined },
  ): KubeObject {
    if (type !== 'merge') throw statusError.badRequest('the fake only merges')
    const { object } = this.#get('patch', space, resource, ref)
    return this.#update('update', space, resource, merge(structuredClone(object), body) as KubeObject, options)
  }

  #delete(space: string, resource: GroupVersionResource, ref: ObjectRef, options: DeleteOptions = {}): void {
    const object = structuredClone(this.#get('delete', space, resource, ref).object)
    const { preconditions: wanted, propagationPolicy: policy } = options
    const { metadata } = object
    const differs = wanted?.uid !== undefined && wanted.uid !== metadata.uid
    if (differs || (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== metadata.resourceVersion)) {
      throw statusError.conflict(resource, ref.name, 'the precondition does not hold')
    }
    const wait = policy === 'Foreground' ? 'foregroundDeletion' : policy === 'Orphan' ? 'orphan' : undefined
    if (wait) metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), wait])]
    metadata.deletionTimestamp ??= '2026-01-01T00:00:01Z'
    this.#commitOrRemove(space, resource, object)
  }

  #commitOrRemove(space: string, resource: GroupVersionResource, object: KubeObject): KubeObject {
    const { deletionTimestamp, finalizers } = object.metadata
    const spec = resource.resource === 'namespaces' && isRecord(object.spec) ? object.spec.finalizers : undefined
    const held = Boolean(finalizers?.length) || (Array.isArray(spec) && spec.length > 0)
    return this.#commit(deletionTimestamp === undefined || held ? 'MODIFIED' : 'DELETED', space, resource, object)
  }

  #commit(type: Change['type'], space: string, resource: GroupVersionResource, object: KubeObject): KubeObject {
    object.metadata.resourceVersion = String(++this.revision)
    const { group, version, resource: plural } = resource
    const change = { type, revision: this.revision, space, resource: { group, version, resource: plural }, object }
    const id = idOf(space, resource, placeOf(object))
    if (type === 'DELETED') this.#objects.delete(id)
    else this.#objects.set(id, change)
    this.#log.push(change)
    this.poke()
    return structuredClone(object)
  }

  #request(verb: string, space: string, resource: string, name: string): void {
    this.requests.push(`${verb} ${space} ${resource} ${name}`)
    this.hook(verb, space, resource, name)
  }

  #news(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const wake = () => {
        this.#waiters.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiters.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}

/** How a broken connection looks to a client. */
export const brokenConnection = () => new StatusError('ServiceUnavailable', 'the connection broke')

function streamEvent(change: Change): StreamEvent {
  const { type, space, resource, revision, object } = change
  const text = JSON.stringify(object)
  const { namespace = '', name = '' } = object.metadata
  const mentions = (part: string) => text.includes(part)
  return { type, space, resource, namespace, name, revision, object: JSON.parse(text), mentions }
}

function matches(c: Change, space: string, r: GroupVersionResource, options: { namespace?: string }): boolean {
  const here =
    (space === '*' || c.space === space) && c.resource.group === r.group && c.resource.resource === r.resource
  return here && (options.namespace === undefined || c.object.metadata.namespace === options.namespace)
}

function placeOf(object: KubeObject): ObjectRef {
  const { namespace, name = '' } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}

function idOf(space: string, r: GroupVersionResource, ref: ObjectRef): string {
  return [space, r.group, r.resource, ref.namespace ?? '', ref.name].join('|')
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const result: Record<string, unknown> = isRecord(target) ? target : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else if (value !== undefined) result[name] = merge(result[name], value)
  }
  return result
}
