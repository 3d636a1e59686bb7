/**
 * The contract of `Client` in memory, with one log and real kinds: every write is done, and to be read, when its call returns. Fakes
 * of tests add to it how requests fail and streams stall. It refuses with `NotOffered` what it does not do:
 * `test/client/conformance.ts` holds it to a real server.
 */
import { isDeepStrictEqual } from 'node:util'
import { statusError } from '../../src/apimachinery/errors.ts'
import { fieldError } from '../../src/apimachinery/fieldErrors.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  isRecord,
  type KubeObject,
} from '../../src/apimachinery/object.ts'
import { CLUSTER_ANNOTATION, CRDS, NAMESPACES } from '../../src/apimachinery/resources.ts'
import { parseFieldSelector, parseLabelSelector } from '../../src/apimachinery/selectors.ts'
import { namespaceTerminating } from '../../src/apiserver/admission/namespaceLifecycle.ts'
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
} from '../../src/client/client.ts'
import {
  CATALOG,
  type Change,
  type Entry,
  idOf,
  idOfKind,
  isIn,
  type Kind,
  merge,
  NotOffered,
  placeOf,
  type Shape,
  transition,
} from './fakeEntries.ts'
import { FakeEvent } from './fakeEvent.ts'

export abstract class FakeApi implements Client {
  /** Newest revision. */
  revision = 0
  /** Watches, streams and pages from before it are Expired. */
  compacted = 0
  /** Discovery names these. Kinds of the catalog, and of definitions in a space, are served, too. */
  abstract kinds: DiscoveredResource[]
  protected readonly entries = new Map<string, Entry>()
  /** How many events a batch has at most. */
  protected batchEvents = Number.POSITIVE_INFINITY
  /** Whether Namespaces wait for a controller that empties them; otherwise there is no sub-resource `finalize`. */
  protected holdsNamespaces = true
  /** Whether authors may choose uids. */
  protected keepsUids = false
  /** Whether an object's Namespace has to be there. */
  protected needsNamespaces = true
  readonly #log: Change[] = []
  readonly #pages = new Map<string, { at: number; items: KubeObject[] }>()
  readonly #waiters = new Set<() => void>()
  #made = 0

  /** Before each request, and what it throws is the answer. */
  protected request(_verb: string, _space: string, _resource: GroupResource, _name: string, _subresource = ''): void {}
  /** Before each event of a watch or stream is delivered, and each time that one looks for more: what it throws ends it. */
  protected deliver(_space: string, _resource: string, _name: string): void {}
  protected committed(_change: Change, _verb: string): void {}
  protected spaceOf(path: string): string {
    return path
  }
  protected event(type: StreamEvent['type'], entry: Entry): StreamEvent {
    return new FakeEvent(type, entry)
  }

  in(path: string): SpaceClient {
    const space = this.spaceOf(path)
    return {
      get: async (resource, ref) => structuredClone(this.#asked('get', space, resource, ref).object),
      list: async (resource, options) => this.#list(space, resource, options),
      watch: (resource, options) => this.#watch(space, resource, options),
      create: async (resource, object, options) => this.create(space, resource, object, options),
      update: async (resource, object, options) => this.update(space, resource, object, options),
      patch: async (resource, ref, type, body, options) => this.#patch(space, resource, ref, { type, body, options }),
      delete: async (resource, ref, options) => this.delete(space, resource, ref, options),
      discover: async () => {
        this.request('discover', space, { group: '', resource: '' }, '')
        return this.kinds
      },
    }
  }

  /** The object, or `undefined`. For assertions. */
  peek(path: string, resource: GroupResource, name: string, namespace = ''): KubeObject | undefined {
    return this.entries.get(idOf(this.spaceOf(path), resource, { namespace, name }))?.object
  }

  /** Forgets the log up to now. */
  compact(): void {
    this.compacted = this.revision
    this.#log.length = 0
  }

  /** Makes open watches and streams look again. */
  poke(): void {
    for (const wake of [...this.#waiters]) wake()
  }

  /** Until something is written, or somebody pokes. */
  news(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const wake = () => {
        this.#waiters.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiters.add(wake)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }

  async *stream({ space: path, resources, after, signal }: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
    const space = this.spaceOf(path)
    const wanted = (entry: Entry) =>
      isIn(space, entry) && (resources?.some(r => idOfKind(r) === idOfKind(entry.resource)) ?? true)
    this.request('stream', space, { group: '', resource: '' }, '')
    let cursor = after ?? this.revision
    if (after === undefined) {
      const revision = cursor
      const events = [...this.entries.values()].filter(wanted).map(entry => this.event('ADDED', entry))
      for (const batch of this.#batches(events)) {
        for (const event of batch) this.deliver(space, event.resource.resource, event.name)
        yield { events: batch, revision, synced: false }
      }
      this.deliver(space, '', 'synced')
      yield { events: [], revision, synced: true }
    }
    while (!signal.aborted) {
      const events = this.#since(cursor)
        .filter(wanted)
        .map(({ event }) => event)
      cursor = this.revision
      for (const batch of this.#batches(events)) {
        for (const event of batch) this.deliver(space, event.resource.resource, event.name)
        const revision = batch.at(-1) === events.at(-1) ? cursor : batch.at(-1)!.revision
        yield { events: batch, revision, synced: false }
      }
      if (cursor === this.revision) await this.news(signal)
      this.deliver(space, '', '')
    }
  }

  protected create(
    space: string,
    resource: GroupVersionResource,
    given: KubeObject,
    options: WriteOptions = {},
  ): KubeObject {
    if (options.subresource) throw new NotOffered(`creations of ${resource.resource}/${options.subresource}`)
    const { kind, group } = this.#kind(space, resource)
    const object = structuredClone(given)
    const { metadata } = object
    if (!metadata.name && metadata.generateName) metadata.name = `${metadata.generateName}${++this.#made}`
    const { name = '', namespace } = metadata
    this.request('create', space, resource, name)
    if (metadata.resourceVersion)
      throw statusError.badRequest('resourceVersion should not be set on objects to be created')
    if (!name) {
      const missing = fieldError.required('metadata.name', 'name or generateName is required')
      throw statusError.invalid({ group, kind }, '', [missing])
    }
    const around = namespace ? this.peek(space, NAMESPACES, namespace) : undefined
    if (namespace && !around && this.needsNamespaces) throw statusError.notFound(NAMESPACES, namespace)
    if (around?.metadata.deletionTimestamp) throw namespaceTerminating(resource, object, namespace!)
    if (this.peek(space, resource, name, namespace)) throw statusError.alreadyExists(resource, name)
    this.#shape(metadata, {
      space,
      creationTimestamp: this.timestamp(),
      uid: (this.keepsUids && metadata.uid) || this.uid(++this.#made),
    })
    if ('spec' in object) metadata.generation = 1
    metadata.managedFields ??= [{ manager: options.fieldManager ?? 'user' }]
    if (this.#has(space, resource, 'status')) delete object.status
    if (resource.resource === 'namespaces' && this.holdsNamespaces) object.spec = { finalizers: ['kubernetes'] }
    return options.dryRun ? object : this.#commit('ADDED', { space, resource, object }, 'create')
  }

  protected update(
    space: string,
    resource: GroupVersionResource,
    given: KubeObject,
    options: WriteOptions = {},
  ): KubeObject {
    const { name = '', resourceVersion, uid } = given.metadata
    const { subresource = '', fieldManager = 'user' } = options
    if (subresource === 'finalize' && !this.holdsNamespaces) throw new NotOffered('finalizers of Namespaces')
    const old = this.#asked('update', space, resource, placeOf(given), subresource).object
    if ((resourceVersion ?? old.metadata.resourceVersion) !== old.metadata.resourceVersion)
      throw statusError.conflict(resource, name, 'the object has been modified')
    if ((uid ?? old.metadata.uid) !== old.metadata.uid)
      throw statusError.conflict(resource, name, 'the uid in the object is another one')
    const body = structuredClone(given)
    const { managedFields = [] } = old.metadata
    let object: KubeObject
    if (subresource === '') {
      const isNamespace = resource.resource === 'namespaces'
      const keepsStatus = this.#has(space, resource, 'status') && !options.withStatus
      object = { ...body, ...(keepsStatus && { status: old.status }), ...(isNamespace && { spec: old.spec }) }
      object.metadata.managedFields ??= managedFields
    } else if (subresource === 'status') {
      const others = managedFields.filter(entry => entry.subresource !== subresource)
      const mine = body.status === undefined ? [] : [{ manager: fieldManager, subresource }]
      object = { ...old, status: body.status, metadata: { ...old.metadata, managedFields: [...others, ...mine] } }
    } else object = { ...old, spec: body.spec, metadata: { ...old.metadata } }
    for (const field of ['spec', 'status']) if (object[field] === undefined) delete object[field]
    const { creationTimestamp, deletionTimestamp, generation } = old.metadata
    this.#shape(object.metadata, { space, creationTimestamp, deletionTimestamp, generation, uid: old.metadata.uid })
    object.metadata.resourceVersion = old.metadata.resourceVersion!
    if (isDeepStrictEqual(object, old)) return structuredClone(old)
    if (subresource === '' && !isDeepStrictEqual(object.spec, old.spec))
      object.metadata.generation = (generation ?? 0) + 1
    return options.dryRun
      ? structuredClone(object)
      : this.#commitOrRemove({ space, resource, object }, subresource || 'update')
  }

  #patch(
    space: string,
    resource: GroupVersionResource,
    ref: ObjectRef,
    { type, body, options }: { type: PatchType; body: unknown; options: WriteOptions | undefined },
  ): KubeObject {
    if (type !== 'merge') throw new NotOffered(`${type} patches`)
    const { object } = this.#asked('patch', space, resource, ref)
    const merged = merge(object, body) as KubeObject
    if (merged.metadata.uid !== object.metadata.uid) {
      const error = fieldError.invalid('metadata.uid', merged.metadata.uid, 'field is immutable')
      throw statusError.invalid(this.#kind(space, resource), ref.name, [error])
    }
    return this.update(space, resource, merged, options)
  }

  protected delete(space: string, resource: GroupVersionResource, ref: ObjectRef, options: DeleteOptions = {}): void {
    const { object: old } = this.#asked('delete', space, resource, ref)
    const { preconditions: wanted, propagationPolicy: policy } = options
    const { uid, resourceVersion, deletionTimestamp, finalizers = [] } = old.metadata
    if ((wanted?.uid ?? uid) !== uid || (wanted?.resourceVersion ?? resourceVersion) !== resourceVersion)
      throw statusError.conflict(resource, ref.name, 'the precondition does not hold')
    const wait = policy === 'Foreground' ? ['foregroundDeletion'] : policy === 'Orphan' ? ['orphan'] : []
    const all = [...new Set([...finalizers, ...wait])]
    const metadata = { ...old.metadata, deletionTimestamp: deletionTimestamp ?? this.timestamp() }
    const object = { ...old, metadata: { ...metadata, ...(all.length > 0 && { finalizers: all }) } }
    if (!isDeepStrictEqual(object, old)) this.#commitOrRemove({ space, resource, object }, 'delete')
  }

  /** The time of a creation or deletion; it rises with the revisions. */
  protected timestamp(): string {
    return `${new Date(Date.parse('2026-01-01T00:00:00Z') + this.revision * 1000).toISOString().slice(0, -5)}Z`
  }

  protected uid(count: number): string {
    return `uid-${count}`
  }

  /** Ends an object with all that holds it, as when its space ends. */
  protected drop(entry: Entry): void {
    this.#commit('DELETED', entry, 'delete')
  }

  /** Writes an object unchanged. */
  protected put(type: 'ADDED' | 'MODIFIED', entry: Entry, verb: string): KubeObject {
    return this.#commit(type, entry, verb)
  }

  #list(space: string, resource: GroupVersionResource, options: ListOptions = {}): ObjectList {
    this.request('list', space, resource, options.continue ?? '')
    const matches = this.#selection(space, resource, options)
    const page = options.continue === undefined ? undefined : this.#pages.get(options.continue)
    if (options.continue !== undefined && !page) throw statusError.badRequest('continue key is not valid')
    if (page && page.at < this.compacted) throw statusError.expired('the provided continue parameter is too old')
    const { at, items } = page ?? { at: this.revision, items: this.select(space, resource).filter(matches) }
    const end = options.limit ?? items.length
    const list = { items: structuredClone(items.slice(0, end)), resourceVersion: String(at) }
    if (end >= items.length) return list
    const token = `page-${this.#pages.size}`
    this.#pages.set(token, { at, items: items.slice(end) })
    return { ...list, continue: token }
  }

  /** Everything in a space and resource, by Namespace and name. */
  protected select(space: string, resource: GroupResource): KubeObject[] {
    const found = [...this.entries].filter(([, e]) => isIn(space, e) && idOfKind(e.resource) === idOfKind(resource))
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { object }]) => object)
  }

  #selection(space: string, resource: GroupVersionResource, options: ListOptions): (object: KubeObject) => boolean {
    this.#kind(space, resource)
    const labels = parseLabelSelector(options.labelSelector ?? '')
    const fields = parseFieldSelector(options.fieldSelector ?? '')
    const unknown = fields.requirements.find(({ field }) => !['metadata.name', 'metadata.namespace'].includes(field))
    if (unknown && resource.resource !== 'configmaps') throw new NotOffered(`the field selector ${unknown.field}`)
    if (unknown) throw statusError.badRequest(`field label not supported: ${unknown.field}`)
    return ({ metadata }) =>
      (options.namespace ?? metadata.namespace) === metadata.namespace &&
      labels.matches(metadata.labels) &&
      fields.matches({ 'metadata.name': metadata.name ?? '', 'metadata.namespace': metadata.namespace ?? '' })
  }

  async *#watch(
    space: string,
    resource: GroupVersionResource,
    options: WatchOptions,
  ): AsyncGenerator<readonly WatchEvent[], void, void> {
    this.request('watch', space, resource, '')
    const matches = this.#selection(space, resource, options)
    let cursor = Number(options.resourceVersion)
    while (!options.signal.aborted) {
      const changes = this.#since(cursor)
      cursor = this.revision
      for (const change of changes) {
        if (!isIn(space, change) || idOfKind(change.resource) !== idOfKind(resource)) continue
        const type = transition(change, matches)
        if (!type) continue
        this.deliver(space, resource.resource, change.object.metadata.name!)
        yield [{ type, object: structuredClone(change.object) }]
      }
      if (cursor === this.revision) await this.news(options.signal)
      this.deliver(space, resource.resource, '')
    }
  }

  #asked(verb: string, space: string, resource: GroupVersionResource, ref: ObjectRef, subresource = ''): Entry {
    this.#kind(space, resource)
    this.request(verb, space, resource, ref.name, subresource)
    if (subresource && !this.#has(space, resource, subresource))
      throw statusError.notFound({ ...resource, resource: `${resource.resource}/${subresource}` }, ref.name)
    const found = this.entries.get(idOf(space, resource, ref))
    if (!found) throw statusError.notFound(resource, ref.name)
    return found
  }

  /** @throws StatusError NotFound where the space does not serve it */
  #kind(space: string, resource: GroupVersionResource): Kind {
    const id = idOfKind(resource)
    const known = this.kinds.find(kind => idOfKind(kind) === id) ?? CATALOG.get(id)
    if (known) return known
    const spec = this.peek(space, CRDS, `${resource.resource}.${resource.group}`)?.spec as
      | { names: { kind?: string }; scope?: string; versions?: { subresources?: object }[] }
      | undefined
    if (!spec) throw statusError.notFound(resource, '')
    const subresources = Object.keys(spec.versions?.[0]?.subresources ?? {})
    return { kind: spec.names.kind ?? '', group: resource.group, namespaced: spec.scope !== 'Cluster', subresources }
  }

  #has(space: string, resource: GroupVersionResource, subresource: string): boolean {
    return this.#kind(space, resource).subresources.includes(subresource)
  }

  /** Sets what only a server says of an object. */
  #shape(metadata: KubeObject['metadata'], { space, ...own }: Shape): void {
    metadata.annotations = { ...metadata.annotations, [CLUSTER_ANNOTATION]: space }
    for (const field of ['uid', 'creationTimestamp', 'deletionTimestamp', 'generation'] as const) delete metadata[field]
    for (const [field, value] of Object.entries(own))
      if (value !== undefined) Object.assign(metadata, { [field]: value })
  }

  #commitOrRemove(entry: Entry, verb: string): KubeObject {
    const { deletionTimestamp, finalizers = [] } = entry.object.metadata
    const { spec } = entry.object
    const own =
      entry.resource.resource === 'namespaces' && isRecord(spec) && Array.isArray(spec.finalizers)
        ? spec.finalizers
        : []
    if (deletionTimestamp !== undefined && finalizers.length + own.length === 0)
      return this.#commit('DELETED', entry, 'delete')
    return this.#commit('MODIFIED', entry, verb)
  }

  #commit(type: StreamEvent['type'], given: Entry, verb: string): KubeObject {
    const revision = ++this.revision
    const { space } = given
    const { group, version, resource: plural } = given.resource
    const resource = { group, version, resource: plural }
    const object = { ...given.object, metadata: { ...given.object.metadata, resourceVersion: String(revision) } }
    const entry: Entry = { space, resource, object }
    const id = idOf(space, resource, placeOf(object))
    const previous = this.entries.get(id)?.object
    if (type === 'DELETED') this.entries.delete(id)
    else this.entries.set(id, entry)
    const change = { ...entry, type, revision, previous, event: this.event(type, entry) }
    this.#log.push(change)
    this.committed(change, verb)
    this.poke()
    return structuredClone(object)
  }

  /** @throws StatusError Expired */
  #since(cursor: number): Change[] {
    if (cursor < this.compacted) throw statusError.expired(`too old resource version: ${cursor} (${this.compacted})`)
    return this.#log.slice(cursor - this.compacted)
  }

  *#batches(events: readonly StreamEvent[]): Generator<readonly StreamEvent[]> {
    for (let i = 0; i < events.length; i += this.batchEvents) yield events.slice(i, i + this.batchEvents)
  }
}
