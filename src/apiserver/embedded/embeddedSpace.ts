/** The API of one space for controllers inside the server's own process. They act as the server itself. */
import { applyServerSide } from '../../apimachinery/apply/managedFields.ts'
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type GroupVersionResource, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type {
  DiscoveredResource,
  ListOptions,
  PatchType,
  SpaceClient,
  WatchEvent,
  WriteOptions,
} from '../../client/client.ts'
import type { Store, Stored } from '../../storage/store.ts'
import { bytesAs } from '../endpoints/bytesAs.ts'
import type { Services } from '../endpoints/exchange.ts'
import { patched } from '../endpoints/patch.ts'
import { systemContext, type WriteContext } from '../registry/context.ts'
import { deleteObject } from '../registry/deletion.ts'
import { otherVersions } from '../registry/otherVersions.ts'
import { parseResourceVersion } from '../registry/readVersions.ts'
import { selectionFor } from '../registry/selection.ts'
import { timestamp, unwritable } from '../registry/systemMetadata.ts'
import type { SpaceTree } from '../spaces/tree.ts'

export interface InProcessDeps {
  services: Services
  store: Store
  tree: SpaceTree
  /** Names the component in managedFields and as user. */
  component: string
}

const MEDIA: Record<Exclude<PatchType, 'apply'>, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}
const WORKSPACES = { group: 'tenancy.kcp.io', resource: 'workspaces' }

export class InProcessSpace implements SpaceClient {
  readonly #deps: InProcessDeps
  readonly #idOf: () => string

  constructor(deps: InProcessDeps, idOf: () => string) {
    this.#deps = deps
    this.#idOf = idOf
  }

  async get(resource: GroupVersionResource, ref: { namespace?: string; name: string }): Promise<KubeObject> {
    const { type, space } = this.#at(resource)
    return objectAs(await this.#deps.services.reader.get(space, type, ref.namespace ?? '', ref.name), type)
  }

  async list(resource: GroupVersionResource, options: ListOptions = {}) {
    const { type, space } = this.#at(resource)
    const { services } = this.#deps
    const list = await services.reader.list(type, {
      space,
      namespace: options.namespace,
      selection: selectionFor(type, services.deps.strategyFor(type), options),
      limit: options.limit,
      continue: options.continue,
    })
    return {
      items: list.items.map(stored => objectAs(stored, type)),
      resourceVersion: String(list.revision),
      ...(list.continue && { continue: list.continue }),
    }
  }

  async *watch(
    resource: GroupVersionResource,
    options: ListOptions & { resourceVersion: string; signal: AbortSignal },
  ): AsyncIterable<readonly WatchEvent[]> {
    const { type, space } = this.#at(resource)
    const { services } = this.#deps
    const watch = services.reader.watch(type, {
      space,
      namespace: options.namespace,
      selection: selectionFor(type, services.deps.strategyFor(type), options),
      after: parseResourceVersion(options.resourceVersion),
      signal: options.signal,
    })
    for await (const batch of watch)
      yield batch.map(({ type: kind, stored }) => ({ type: kind, object: objectAs(stored, type) }))
  }

  async create(resource: GroupVersionResource, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { type, space } = this.#at(resource)
    await this.#mustLive(space)
    const { stored } = await this.#deps.services.registry.create(
      this.#context(space, options),
      type,
      object.metadata.namespace ?? '',
      structuredClone(object),
    )
    return objectAs(stored, type)
  }

  async update(resource: GroupVersionResource, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { type, space } = this.#at(resource)
    await this.#mustLive(space)
    const { namespace = '', name = '' } = object.metadata
    const finalize = options.subresource === 'finalize'
    const change = (current: KubeObject): KubeObject => {
      if (!finalize) return structuredClone(object)
      if (object.metadata.resourceVersion) current.metadata.resourceVersion = object.metadata.resourceVersion
      const finalizers = (object.spec as { finalizers?: unknown[] } | undefined)?.finalizers ?? []
      const { finalizers: _, ...spec } = (current.spec ?? {}) as Record<string, unknown>
      current.spec = finalizers.length > 0 ? { ...spec, finalizers } : spec
      return current
    }
    const { stored } = await this.#deps.services.registry.update(
      this.#context(space, options),
      type,
      namespace,
      name,
      change,
      {
        ...(options.subresource && { subresource: options.subresource }),
      },
    )
    return objectAs(stored, type)
  }

  async patch(
    resource: GroupVersionResource,
    ref: { namespace?: string; name: string },
    form: PatchType,
    body: unknown,
    options: WriteOptions = {},
  ): Promise<KubeObject> {
    const { type, space } = this.#at(resource)
    await this.#mustLive(space)
    const { services } = this.#deps
    const subresource = options.subresource ?? ''
    const context = this.#context(space, options)
    const namespace = ref.namespace ?? ''
    if (form !== 'apply') {
      const { stored } = await services.registry.update(
        context,
        type,
        namespace,
        ref.name,
        current => patched(type, current, MEDIA[form], body, { subresource }),
        { subresource },
      )
      return objectAs(stored, type)
    }
    const run = (live: KubeObject | undefined): KubeObject =>
      applyServerSide({
        live,
        applied: structuredClone(body) as KubeObject,
        schema: type.schema,
        manager: context.fieldManager,
        force: options.force ?? false,
        apiVersion: apiVersionOf(type),
        ...(subresource && { subresource }),
        now: timestamp(services.deps.clock()),
        gr: type,
        ignored: unwritable(type, subresource),
        ...otherVersions(services.deps.typeAt, space, type),
      })
    const { stored } = await services.registry.update(context, type, namespace, ref.name, run, {
      subresource,
      managesFields: true,
      create: subresource === '' ? () => run(undefined) : undefined,
    })
    return objectAs(stored, type)
  }

  async delete(
    resource: GroupVersionResource,
    ref: { namespace?: string; name: string },
    options: object = {},
  ): Promise<void> {
    const { type, space } = this.#at(resource)
    await deleteObject(
      this.#deps.services.deps,
      this.#context(space, {}),
      type,
      { namespace: ref.namespace ?? '', name: ref.name },
      options,
    )
  }

  async discover(): Promise<DiscoveredResource[]> {
    const { types } = this.#deps.services.types.in(this.#idOf())
    const preferred = new Map<string, ResourceType>()
    for (const type of types) {
      const key = `${type.group}/${type.resource}`
      if (type.version === type.storageVersion || !preferred.has(key)) preferred.set(key, type)
    }
    return [...preferred.values()].map(({ group, version, resource, kind, namespaced, verbs, subresources }) => ({
      group,
      version,
      resource,
      kind,
      namespaced,
      verbs,
      subresources,
    }))
  }

  #at(resource: GroupVersionResource): { type: ResourceType; space: string } {
    const space = this.#idOf()
    const type = this.#deps.services.types.in(space).find(resource.group, resource.version, resource.resource)
    if (type === undefined) throw statusError.notFound(resource, '')
    return { type, space }
  }

  /**
   * A space that is being emptied takes nothing more, or it would never be empty. For a controller it is gone already.
   * @throws StatusError NotFound, as for a space that does not exist
   */
  async #mustLive(space: string): Promise<void> {
    const { tree, store } = this.#deps
    for (let at = tree.get(space); at?.parent !== undefined; at = tree.get(at.parent)) {
      const workspace = await store.get({ ...WORKSPACES, space: at.parent, namespace: '', name: at.name })
      // the text is no user's: quotes inside JSON strings are escaped
      if (!workspace || workspace.bytes.includes('"deletionTimestamp"')) throw spaceNotFound(space)
    }
  }

  #context(space: string, options: WriteOptions): WriteContext {
    const context = systemContext(space, this.#deps.component)
    return options.fieldManager ? { ...context, fieldManager: options.fieldManager } : context
  }
}

export function spaceNotFound(space: string): StatusError {
  return statusError.notFound(WORKSPACES, space)
}

function objectAs(stored: Stored, type: ResourceType): KubeObject {
  return JSON.parse(bytesAs(stored, type).toString()) as KubeObject
}
