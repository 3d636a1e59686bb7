/** The API of one space for controllers inside the server's own process. They act as the server itself. */
import { subresourceFact } from '../../../openapi/resourceFacts.ts'
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type {
  DeleteOptions,
  DiscoveredResource,
  ListOptions,
  ObjectRef,
  PatchType,
  SpaceClient,
  WatchEvent,
  WriteOptions,
} from '../../client/client.ts'
import { sizeOf } from '../../storage/sharedStored.ts'
import type { Store, Stored } from '../../storage/store.ts'
import { apply } from '../operations/apply.ts'
import { create } from '../operations/create.ts'
import { finalize } from '../operations/finalize.ts'
import { patch } from '../operations/patch.ts'
import { deleteObject } from '../operations/remove.ts'
import type { Target } from '../operations/target.ts'
import { update } from '../operations/update.ts'
import { type AnsweredKinds, readerOf } from '../registry/answeredKinds.ts'
import { systemContext, type WriteContext } from '../registry/context.ts'
import { LARGE_BYTES } from '../registry/largeWrites.ts'
import type { Reader } from '../registry/reader.ts'
import { knownRevision } from '../registry/readVersions.ts'
import type { Registry, RegistryDeps } from '../registry/registry.ts'
import { selectionFor } from '../registry/selection.ts'
import { holdViews, objectInSteps, viewBytes } from '../registry/views.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import type { StreamedServices } from './sharedEvent.ts'
import type { EmbeddedWrite, WriteAudit, WriteTrail } from './writeAudit.ts'

/** Services of the server that the client uses. */
interface EmbeddedServices extends StreamedServices {
  readonly deps: RegistryDeps
  readonly registry: Registry
  readonly reader: Reader
  readonly answered: AnsweredKinds
  readonly types: TypeRegistry
}

export interface EmbeddedDeps {
  services: EmbeddedServices
  store: Store
  tree: SpaceTree
  /** Names the component in managedFields and as user. */
  component: string
  /** Records writes. Absent: nobody does. */
  audit?: WriteAudit | undefined
}

interface Recorded<T> {
  readonly verb: EmbeddedWrite['verb']
  readonly because: WriteOptions['because']
  readonly sent: unknown
  readonly write: (target: Target) => Promise<T>
}

export class EmbeddedSpace implements SpaceClient {
  readonly #deps: EmbeddedDeps
  readonly #idOf: () => string

  constructor(deps: EmbeddedDeps, idOf: () => string) {
    this.#deps = deps
    this.#idOf = idOf
  }

  async get(resource: GroupVersionResource, ref: ObjectRef): Promise<KubeObject> {
    const { type, space } = this.#at(resource)
    const stored = await readerOf(this.#deps.services, type).get(space, type, ref.namespace ?? '', ref.name)
    return this.#deps.services.forms.withProvenance(stored, await this.#objectAs(space, stored, type))
  }

  /** Others do not wait for a large one. */
  #objectAs(space: string, stored: Stored, type: ResourceType): Soon<KubeObject> {
    const { turns } = this.#deps.services.deps
    const work = sizeOf(stored) > LARGE_BYTES ? turns?.begin({ owner: space }) : undefined
    return work ? inSlices(objectInSteps(stored, type), work) : objectAs(stored, type)
  }

  #resultOf({ context, type }: Target, { stored }: { stored: Stored }): Soon<KubeObject> {
    return this.#objectAs(context.space, stored, type)
  }

  async list(resource: GroupVersionResource, options: ListOptions = {}) {
    const { type, space } = this.#at(resource)
    const { services } = this.#deps
    const letGo = holdViews(type)
    try {
      const list = await readerOf(services, type).list(type, {
        space,
        namespace: options.namespace,
        selection: selectionFor(type, services.deps.strategyFor(type), options),
        limit: options.limit,
        continue: options.continue,
      })
      return {
        items: await this.#objects(space, type, list.items),
        resourceVersion: String(list.revision),
        ...(list.continue && { continue: list.continue }),
      }
    } finally {
      letGo()
    }
  }

  /** Hundreds of large ones are megabytes: others have their turns meanwhile. */
  async #objects(space: string, type: ResourceType, found: readonly Stored[]): Promise<KubeObject[]> {
    const work = this.#deps.services.deps.turns?.begin({ owner: space })
    const objects: KubeObject[] = []
    for (const stored of found) {
      objects.push(objectAs(stored, type))
      if (work?.due) await work.rest()
    }
    return objects
  }

  async *watch(
    resource: GroupVersionResource,
    options: ListOptions & { resourceVersion: string; signal: AbortSignal },
  ): AsyncIterable<readonly WatchEvent[]> {
    const { type, space } = this.#at(resource)
    const { services } = this.#deps
    const reader = readerOf(services, type)
    const watch = reader.watch(type, {
      space,
      namespace: options.namespace,
      selection: selectionFor(type, services.deps.strategyFor(type), options),
      after: knownRevision(options.resourceVersion, reader.revision),
      signal: options.signal,
    })
    for await (const batch of watch)
      yield batch.map(({ type: kind, stored }) => ({ type: kind, object: objectAs(stored, type) }))
  }

  async create(resource: GroupVersionResource, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace = '', name = '' } = object.metadata
    const target = this.#target(resource, { namespace, name }, options)
    const { registry } = this.#deps.services
    return await this.#recorded('create', target, options, object, async recorded =>
      this.#resultOf(target, await create(registry, recorded, cloneJson(object), { isShared: options.shared })),
    )
  }

  async update(resource: GroupVersionResource, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace = '', name = '' } = object.metadata
    const { registry } = this.#deps.services
    const target = this.#target(resource, { namespace, name }, options)
    const again = (): KubeObject => cloneJson(object)
    return await this.#recorded('update', target, options, object, async recorded =>
      this.#resultOf(
        target,
        recorded.subresource === 'finalize'
          ? await finalize(registry, recorded, object)
          : await update(registry, recorded, again(), {
              again,
              withStatus: options.withStatus,
              isShared: options.shared,
            }),
      ),
    )
  }

  async patch(
    resource: GroupVersionResource,
    ref: ObjectRef,
    form: PatchType,
    body: unknown,
    options: WriteOptions = {},
  ): Promise<KubeObject> {
    const { registry } = this.#deps.services
    const target = this.#target(resource, ref, options)
    return await this.#recorded('patch', target, options, body, async recorded =>
      this.#resultOf(
        target,
        form === 'apply'
          ? await apply(registry, recorded, cloneJson(body) as KubeObject, { force: options.force ?? false })
          : await patch(registry, recorded, form, body),
      ),
    )
  }

  async delete(resource: GroupVersionResource, ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const { type, space } = this.#at(resource)
    const { namespace = '', name } = ref
    const target = { context: this.#context(space, {}), type, namespace, name, subresource: '' }
    const { because: _, ...sent } = options
    await this.#recorded('delete', target, options, { kind: 'DeleteOptions', ...sent }, async ({ context }) => {
      await deleteObject(this.#deps.services.deps, context, type, { namespace, name }, sent)
      return undefined
    })
  }

  /** Does a write, and tells who records writes of it. Its reasons are read before it, which may change them. */
  #recorded<T extends KubeObject | undefined>(
    verb: EmbeddedWrite['verb'],
    target: Target,
    { because }: Pick<WriteOptions, 'because'>,
    sent: unknown,
    write: (target: Target) => Promise<T>,
  ): Promise<T> {
    const { audit } = this.#deps
    if (audit === undefined) return write(target)
    const { context, ...named } = target
    const trail = audit.beginWrite({ ...named, verb, user: context.user, space: context.space })
    return trail === undefined ? write(target) : this.#trailed(trail, target, { because, sent, verb, write })
  }

  async #trailed<T extends KubeObject | undefined>(
    trail: WriteTrail,
    target: Target,
    { because, sent, verb, write }: Recorded<T>,
  ): Promise<T> {
    const { context } = target
    const annotate: NonNullable<WriteContext['annotate']> = (...given) => trail.annotate(...given)
    for (const [key, value] of Object.entries(because?.() ?? {})) annotate(key, value)
    try {
      const object = await write({ ...target, context: { ...context, annotate } })
      const result = (): KubeObject | undefined => object
      trail.done(verb === 'create' ? 201 : 200, () => sent, result)
      return object
    } catch (error) {
      trail.failed(error)
      throw error
    }
  }

  async discover(): Promise<DiscoveredResource[]> {
    const { types } = this.#deps.services.types.in(this.#idOf())
    const preferred = new Map<string, ResourceType>()
    const versions = new Map<string, string[]>()
    for (const type of types) {
      const key = `${type.group}/${type.resource}`
      versions.set(key, [...(versions.get(key) ?? []), type.version])
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
      versions: [version, ...(versions.get(`${group}/${resource}`) ?? []).filter(other => other !== version)],
    }))
  }

  #at(resource: GroupVersionResource): { type: ResourceType; space: string } {
    const space = this.#idOf()
    const type = this.#deps.services.types.in(space).find(resource.group, resource.version, resource.resource)
    if (type === undefined) throw statusError.notFound(resource, '')
    return { type, space }
  }

  /** @throws StatusError NotFound when the space ends */
  #target(resource: GroupVersionResource, ref: ObjectRef, options: WriteOptions): Target {
    const { type, space } = this.#at(resource)
    this.#mustLive(space)
    const { namespace = '', name } = ref
    const { subresource = '' } = options
    const isServed = subresource === '' || type.subresources.includes(subresource)
    // a sub-resource with a kind of its own is answered over HTTP alone, and is no part of the stored object
    if (!isServed || (subresourceFact(type.resource, subresource)?.kind ?? type.kind) !== type.kind)
      throw statusError.notFound({ ...type, resource: `${type.resource}/${subresource}` }, name)
    return { context: this.#context(space, options), type, namespace, name, subresource }
  }

  /**
   * A space that is being emptied takes nothing more, or it would never be empty. For a controller it is gone already.
   * @throws StatusError NotFound, as for a space that does not exist
   */
  #mustLive(space: string): void {
    if (this.#deps.tree.isDeleting(space)) throw spaceNotFound(space)
  }

  #context(space: string, options: WriteOptions): WriteContext {
    const context = systemContext(space, this.#deps.component)
    if (!options.fieldManager && !options.dryRun) return context
    return {
      ...context,
      ...(options.fieldManager && { fieldManager: options.fieldManager }),
      dryRun: options.dryRun ?? false,
    }
  }
}

export function spaceNotFound(space: string): StatusError {
  return statusError.notFound(WORKSPACES, space)
}

function objectAs(stored: Stored, type: ResourceType): KubeObject {
  return JSON.parse(viewBytes(stored, type).toString()) as KubeObject
}
