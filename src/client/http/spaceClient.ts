/** The API of one space (or plain cluster) over HTTP. */
import { type Status, StatusError } from '../../apimachinery/errors.ts'
import { type GroupVersionResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type {
  DeleteOptions,
  DiscoveredResource,
  ListOptions,
  ObjectList,
  ObjectRef,
  PatchType,
  SpaceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../client.ts'
import { discover } from './discovery.ts'
import { queryOf, resourcePath } from './paths.ts'
import type { HttpTransport } from './transport.ts'

const PATCH_TYPES: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML
  apply: 'application/apply-patch+yaml',
}

export type WatchingTransport = Pick<HttpTransport, 'json' | 'lines' | 'noticesDeath'>

export class HttpSpaceClient implements SpaceClient {
  readonly #transport: WatchingTransport
  readonly #prefix: string

  /** `prefix` is what comes before `/api` and `/apis`, below the server's own prefix. */
  constructor(transport: WatchingTransport, prefix: string) {
    this.#transport = transport
    this.#prefix = prefix
  }

  async get(resource: GroupVersionResource, ref: ObjectRef): Promise<KubeObject> {
    return asObject(await this.#transport.json({ method: 'GET', path: this.#path(resource, ref) }), ref)
  }

  async list(resource: GroupVersionResource, options: ListOptions = {}): Promise<ObjectList> {
    const { namespace, labelSelector, fieldSelector, limit } = options
    const query = queryOf({ labelSelector, fieldSelector, limit, continue: options.continue })
    const path = this.#path(resource, namespace ? { namespace } : {})
    let bytes = 0
    const onAnswer = (length: number): void => {
      bytes = length
    }
    const body = await this.#transport.json({ method: 'GET', path: path + query, onAnswer })
    if (!isRecord(body) || !Array.isArray(body.items ?? []) || !isRecord(body.metadata)) {
      throw new StatusError('InternalError', `GET ${path}: the answer is not a list`)
    }
    const { resourceVersion = '', continue: token } = body.metadata as { resourceVersion?: string; continue?: string }
    const given = (body.items ?? []) as unknown[]
    if (!given.every(isNamed)) throw new StatusError('InternalError', `GET ${path}: the answer lists what is no object`)
    const items = given as KubeObject[]
    completeKinds(items, body)
    return { items, resourceVersion, ...(token && { continue: token }), bytes }
  }

  async *watch(
    resource: GroupVersionResource,
    options: WatchOptions,
  ): AsyncGenerator<readonly WatchEvent[], void, void> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, signal } = options
    const wanted = options.bookmarks !== false || !this.#transport.noticesDeath
    const allowWatchBookmarks = wanted || undefined
    const query = queryOf({ watch: 1, allowWatchBookmarks, resourceVersion, labelSelector, fieldSelector })
    const path = this.#path(resource, namespace ? { namespace } : {}) + query
    for await (const lines of this.#transport.lines({ method: 'GET', path, signal })) {
      const events: WatchEvent[] = []
      let failure: StatusError | undefined
      for (const line of lines) {
        const event = watchEvent(line)
        if (event instanceof StatusError) {
          failure = event
          break
        }
        events.push(event)
      }
      if (events.length > 0) yield events
      if (failure) throw failure
    }
  }

  async create(resource: GroupVersionResource, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace, name } = object.metadata
    const { subresource, signal } = options
    const at = { ...(namespace && { namespace }), ...(subresource && { name: name ?? '', subresource }) }
    const path = this.#path(resource, at) + writeQuery(options)
    const expected = subresource ? {} : { name, namespace }
    return asObject(
      await this.#transport.json({ method: 'POST', path, body: object, ...(signal && { signal }) }),
      expected,
    )
  }

  async update(resource: GroupVersionResource, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace, name = '' } = object.metadata
    if (options.withStatus) throw new Error('over HTTP a status is written by itself')
    const path = this.#path(resource, { ...(namespace && { namespace }), name, ...subresourceOf(options) })
    const body = await this.#transport.json({ method: 'PUT', path: path + writeQuery(options), body: object })
    return asObject(body, options.subresource ? {} : { name, namespace })
  }

  async patch(
    resource: GroupVersionResource,
    ref: ObjectRef,
    type: PatchType,
    body: unknown,
    options: WriteOptions = {},
  ): Promise<KubeObject> {
    const path = this.#path(resource, { ...ref, ...subresourceOf(options) }) + writeQuery(options)
    const answer = await this.#transport.json({ method: 'PATCH', path, body, contentType: PATCH_TYPES[type] })
    return asObject(answer, options.subresource ? {} : ref)
  }

  async delete(resource: GroupVersionResource, ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...options }
    await this.#transport.json({ method: 'DELETE', path: this.#path(resource, ref), body })
  }

  discover(): Promise<DiscoveredResource[]> {
    return discover((path, accept) => this.#transport.json({ method: 'GET', path: this.#prefix + path, accept }))
  }

  #path(resource: GroupVersionResource, at: { namespace?: string; name?: string; subresource?: string }): string {
    return this.#prefix + resourcePath(resource, at)
  }
}

function subresourceOf(options: WriteOptions): { subresource?: string } {
  return options.subresource ? { subresource: options.subresource } : {}
}

function writeQuery(options: WriteOptions): string {
  return queryOf({
    fieldManager: options.fieldManager,
    force: options.force,
    dryRun: options.dryRun ? 'All' : undefined,
  })
}

/** Items of built-in lists come without kind and apiVersion, which the list implies. */
function completeKinds(items: KubeObject[], list: Record<string, unknown>): void {
  if (typeof list.kind !== 'string' || typeof list.apiVersion !== 'string') return
  const kind = list.kind.endsWith('List') ? list.kind.slice(0, -4) : list.kind
  for (const item of items) {
    item.kind ??= kind
    item.apiVersion ??= list.apiVersion
  }
}

/** Whether it is an object with an identity. */
function isNamed(value: unknown): boolean {
  return isRecord(value) && isRecord(value.metadata) && typeof value.metadata.name === 'string'
}

interface ExpectedName {
  name?: string | undefined
  namespace?: string | undefined
}

/** A cache or proxy on the way may mix up answers, or answer itself. @throws StatusError when it is no object, or another one */
function asObject(body: unknown, { name, namespace }: ExpectedName): KubeObject {
  if (!isRecord(body) || typeof body.kind !== 'string' || !isRecord(body.metadata))
    throw new StatusError('InternalError', 'the answer is not an object')
  const { metadata } = body as unknown as KubeObject
  // a name may be the server's to choose, and reviews have none
  const isOther = Boolean(name) && (metadata.name !== name || (Boolean(namespace) && metadata.namespace !== namespace))
  if (isOther)
    throw new StatusError('InternalError', `the answer about ${name} is about another object, ${metadata.name}`)
  return body as unknown as KubeObject
}

/** The event of one line of a watch; the error that an `ERROR` event carries. */
function watchEvent(line: string): WatchEvent | StatusError {
  const event: unknown = parseLine(line)
  if (isRecord(event) && isRecord(event.object)) {
    if ((event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED') && isNamed(event.object)) {
      return { type: event.type, object: event.object as KubeObject }
    }
    if (event.type === 'BOOKMARK' && isRecord(event.object.metadata)) {
      const { resourceVersion = '' } = (event.object as KubeObject).metadata
      return { type: 'BOOKMARK', resourceVersion }
    }
    if (event.type === 'ERROR') return StatusError.fromStatus(event.object as Partial<Status>, 500)
  }
  return new StatusError('InternalError', `not a watch event: ${line.slice(0, 200)}`)
}

/** @throws StatusError when the line is not JSON */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new StatusError('InternalError', `not JSON: ${line.slice(0, 200)}`, undefined, { cause: error })
  }
}
