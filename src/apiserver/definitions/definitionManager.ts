/**
 * CustomResourceDefinitions at work: names accepted, kinds served a moment after their CRD, instances removed with it.
 *
 * The types of a space follow the log of CRD objects. A CRD that is on its way out keeps its finalizer until its last
 * instance is gone.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
 */
import { namesConflicts, resourceTypesOf } from '../../apimachinery/crd/crd.ts'
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { isStorageError, type Store, type StoreEvent } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import { deleteObject } from '../registry/deletion.ts'
import type { Admission, Registry } from '../registry/generic.ts'
import { timestamp } from '../registry/generic.ts'
import type { Logger } from '../server/logger.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

export const DEFINITIONS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
} as const
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'
const COMPONENT = 'definitions'

export interface DefinitionManagerDeps {
  store: Store
  types: TypeRegistry
  log: Logger
}

interface Condition {
  type: string
  status: string
  reason: string
  message: string
  lastTransitionTime?: string
}

export class DefinitionManager {
  readonly #deps: DefinitionManagerDeps
  readonly #stopping = new AbortController()
  /** CRDs by space and name, as the log last showed them. */
  readonly #known = new Map<string, Map<string, KubeObject>>()
  readonly #work = new Map<string, Promise<void>>()
  #registry: Registry | undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(deps: DefinitionManagerDeps) {
    this.#deps = deps
  }

  /** A CRD gets its finalizer when it is deleted, so that a replaced or applied CRD cannot lose it. */
  get admission(): Admission {
    return {
      handles: (type, operation) =>
        operation === 'CREATE' && type.group === DEFINITIONS.group && type.resource === DEFINITIONS.resource,
      admit({ object }) {
        object.metadata.finalizers = [...new Set([...(object.metadata.finalizers ?? []), CLEANUP])]
      },
    }
  }

  /** Serves what the stored CRDs define, then follows the log. */
  async start(registry: Registry): Promise<void> {
    this.#registry = registry
    const { items, revision } = await this.#deps.store.list({
      group: DEFINITIONS.group,
      resource: DEFINITIONS.resource,
    })
    for (const stored of items) this.#see(stored.key.space, decodeObject(stored))
    for (const space of this.#known.keys()) this.#settle(space)
    this.#loop = this.#follow(revision)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
    await Promise.all(this.#work.values())
  }

  async #follow(after: number): Promise<void> {
    let from = after
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        for await (const batch of this.#deps.store.watch(
          { group: DEFINITIONS.group, resource: DEFINITIONS.resource },
          { after: from, signal },
        )) {
          for (const event of batch) {
            this.#react(event)
            from = event.revision
          }
        }
      } catch (error) {
        if (signal.aborted || isStorageError(error, 'Closed')) return
        this.#deps.log.error({ err: error }, 'the watch of custom resource definitions ended; starting it again')
      }
    }
  }

  #react(event: StoreEvent): void {
    const { space, name } = event.key
    if (event.type === 'put') this.#see(space, decodeObject(event.stored))
    else {
      const known = this.#known.get(space)
      known?.delete(name)
      if (known?.size === 0) this.#known.delete(space)
      this.#deps.types.define(space, name, [])
    }
    this.#settle(space)
  }

  #see(space: string, definition: KubeObject): void {
    const known = this.#known.get(space) ?? new Map<string, KubeObject>()
    known.set(definition.metadata.name ?? '', definition)
    this.#known.set(space, known)
  }

  /** Brings the served kinds and the conditions of a space's CRDs up to date. */
  #settle(space: string): void {
    for (const [name, definition] of this.#known.get(space) ?? []) {
      const others = [...(this.#known.get(space)?.values() ?? [])].filter(other => other !== definition)
      const { acceptedNames, conditions } = namesConflicts(definition, others)
      const established = conditions.some(c => c.type === 'Established' && c.status === 'True')
      const spec = isRecord(definition.spec) ? definition.spec : {}
      const shadowed =
        isRecord(spec.names) && this.#deps.types.isBuiltin(String(spec.group ?? ''), String(spec.names.plural ?? ''))
      const types = established && !shadowed ? resourceTypesOf(definition) : []
      this.#deps.types.define(space, name, deleting(definition) ? types.map(withoutCreate) : types)
      if (deleting(definition)) this.#enqueue(space, name, () => this.#cleanUp(space, name))
      else if (!sameStatus(definition, acceptedNames, conditions)) {
        this.#enqueue(space, name, () => this.#writeStatus(space, name, acceptedNames, conditions))
      }
    }
  }

  /** One piece of work for a CRD at a time. */
  #enqueue(space: string, name: string, run: () => Promise<void>): void {
    const key = `${space}/${name}`
    const work = (this.#work.get(key) ?? Promise.resolve())
      .then(run)
      .catch(error => {
        if (isStatusError(error, 'NotFound') || isStorageError(error, 'Closed')) return
        this.#deps.log.error(
          { err: error, space, definition: name },
          'a custom resource definition could not be brought to its wanted state',
        )
      })
      .finally(() => {
        if (this.#work.get(key) === work) this.#work.delete(key)
      })
    this.#work.set(key, work)
  }

  async #writeStatus(
    space: string,
    name: string,
    acceptedNames: unknown,
    conditions: readonly Condition[],
  ): Promise<void> {
    await this.#update(space, name, 'status', current => {
      const status = isRecord(current.status) ? current.status : {}
      const versions = storedVersions(current)
      current.status = {
        ...status,
        acceptedNames,
        conditions: mergeConditions(status.conditions, conditions),
        storedVersions: [
          ...new Set([...(Array.isArray(status.storedVersions) ? status.storedVersions : []), ...versions]),
        ],
      }
      return current
    })
  }

  /** Deletes all instances, waits for those that finalizers hold, then lets the CRD go. */
  async #cleanUp(space: string, name: string): Promise<void> {
    const definition = this.#known.get(space)?.get(name)
    const type = definition && resourceTypesOf(definition).find(t => t.version === t.storageVersion)
    if (type && definition.metadata.finalizers?.includes(CLEANUP)) await this.#deleteInstances(space, type)
    await this.#update(space, name, '', current => {
      const finalizers = (current.metadata.finalizers ?? []).filter(f => f !== CLEANUP)
      if (finalizers.length > 0) current.metadata.finalizers = finalizers
      else delete current.metadata.finalizers
      return current
    })
  }

  async #deleteInstances(space: string, type: ResourceType): Promise<void> {
    const range = { space, group: type.group, resource: type.resource }
    const { store } = this.#deps
    const { items, revision } = await store.list(range)
    const context = systemContext(space, COMPONENT)
    for (const { key } of items) {
      try {
        await deleteObject(this.#registry!.deps, context, type, key)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
      }
    }
    if ((await store.count(range)) === 0) return
    const watch = store.watch(range, { after: revision, signal: this.#stopping.signal })
    for await (const _batch of watch) if ((await store.count(range)) === 0) return
  }

  async #update(
    space: string,
    name: string,
    subresource: string,
    change: (object: KubeObject) => KubeObject,
  ): Promise<void> {
    const type = this.#deps.types.in(space).find(DEFINITIONS.group, DEFINITIONS.version, DEFINITIONS.resource)
    if (type === undefined) throw new Error('the kind CustomResourceDefinition is missing from the catalog')
    await this.#registry!.update(systemContext(space, COMPONENT), type, '', name, change, { subresource })
  }
}

function deleting(definition: KubeObject): boolean {
  return definition.metadata.deletionTimestamp !== undefined
}

function withoutCreate(type: ResourceType): ResourceType {
  return { ...type, verbs: type.verbs.filter(verb => verb !== 'create') }
}

function storedVersions(definition: KubeObject): string[] {
  const spec = isRecord(definition.spec) ? definition.spec : {}
  const versions = Array.isArray(spec.versions) ? spec.versions.filter(isRecord) : []
  return versions.filter(v => v.storage === true).map(v => String(v.name))
}

function sameStatus(definition: KubeObject, acceptedNames: unknown, conditions: readonly Condition[]): boolean {
  const status = isRecord(definition.status) ? definition.status : {}
  const known = Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : []
  const stored = Array.isArray(status.storedVersions) ? status.storedVersions : []
  return (
    JSON.stringify(status.acceptedNames) === JSON.stringify(acceptedNames) &&
    storedVersions(definition).every(version => stored.includes(version)) &&
    conditions.every(c =>
      known.some(k => k.type === c.type && k.status === c.status && k.reason === c.reason && k.message === c.message),
    )
  )
}

/** `lastTransitionTime` moves only when a condition's status does. */
function mergeConditions(before: unknown, now: readonly Condition[]): Condition[] {
  const known = Array.isArray(before) ? (before.filter(isRecord) as unknown as Condition[]) : []
  return now.map(condition => {
    const old = known.find(k => k.type === condition.type)
    const same = old?.status === condition.status && old.lastTransitionTime !== undefined
    return { ...condition, lastTransitionTime: same ? old.lastTransitionTime! : timestamp(new Date()) }
  })
}
