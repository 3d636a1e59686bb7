/**
 * CustomResourceDefinitions at work: names accepted, kinds served a moment after their CRD, instances removed with it.
 *
 * The types of a space follow the log of CRD objects; an event costs what its own CRD costs, whatever else the space has. A
 * CRD that is on its way out keeps its finalizer until its last instance is gone.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
 */
import {
  type CrdCondition,
  conversionOf,
  NamesInUse,
  resourceTypesOf,
  storedVersionsOf,
} from '../../apimachinery/crd/crd.ts'
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { isStorageError, type Key, type Store, type StoreEvent } from '../../storage/store.ts'
import type { WebhookTarget } from '../admission/webhookClient.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import { deleteObject } from '../registry/deletion.ts'
import type { Registry } from '../registry/registry.ts'
import { timestamp } from '../registry/systemMetadata.ts'
import type { Logger } from '../server/logger.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { convertThroughWebhook } from './conversionWebhook.ts'
import { type DefinitionRecord, judge, mergeConditions, saysSo } from './definitionRecord.ts'
import { CLEANUP_FINALIZER } from './definitionStrategy.ts'

export const DEFINITIONS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
} as const
const COMPONENT = 'definitions'
/** Instances that are deleted at the same time. */
const DELETIONS_AT_ONCE = 64
/** For one conversion, however many objects. */
const CONVERSION_TIMEOUT_SECONDS = 30
/** A list of large objects comes back in one answer. */
const CONVERSION_LIMIT_BYTES = 256 * 1024 * 1024

export interface DefinitionManagerDeps {
  store: Store
  types: TypeRegistry
  log: Logger
  clock: () => Date
  uuid: () => string
  /** Asks a webhook; rejects with WebhookCallError. */
  post(target: WebhookTarget, body: unknown): Promise<unknown>
}

interface SpaceDefinitions {
  readonly byName: Map<string, DefinitionRecord>
  /** By group. */
  readonly names: Map<string, NamesInUse>
}

export class DefinitionManager {
  readonly #deps: DefinitionManagerDeps
  readonly #stopping = new AbortController()
  readonly #spaces = new Map<string, SpaceDefinitions>()
  readonly #work = new Map<string, Promise<void>>()
  #registry: Registry | undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(deps: DefinitionManagerDeps) {
    this.#deps = deps
  }

  /** Serves what the stored CRDs define, then follows the log. */
  async start(registry: Registry): Promise<void> {
    this.#registry = registry
    const { items, revision } = await this.#deps.store.list({
      group: DEFINITIONS.group,
      resource: DEFINITIONS.resource,
    })
    const found = items.map(stored => ({ space: stored.key.space, definition: decodeObject(stored) }))
    // names that were accepted before stay with whom they were given
    for (const { space, definition } of found) this.#namesOf(space, definition).hold(...acceptedOf(definition))
    for (const { space, definition } of found) this.#settle(space, definition)
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

  #react({ type, key, stored }: StoreEvent): void {
    if (type === 'put') this.#settle(key.space, decodeObject(stored))
    else this.#forget(key)
  }

  #forget({ space, name }: Key): void {
    const known = this.#spaces.get(space)
    const record = known?.byName.get(name)
    if (known === undefined || record === undefined) return
    known.byName.delete(name)
    known.names.get(record.group)?.release(name)
    if (known.byName.size === 0) this.#spaces.delete(space)
    this.#deps.types.define(space, name, [])
    this.#reconsider(space, record.group, name)
  }

  /** Brings the served kinds and the conditions of one CRD up to date. */
  #settle(space: string, definition: KubeObject): void {
    const name = definition.metadata.name ?? ''
    const names = this.#namesOf(space, definition)
    const verdict = judge(definition, names)
    const { record, acceptedNames, isEstablished, isDeleting } = verdict
    const { byName } = this.#spaces.get(space)!
    const before = byName.get(name)
    byName.set(name, record)
    // held from now on, before the status that says so is written: a CRD that comes meanwhile must not get the same
    names.hold(name, acceptedNames)
    if (before?.signature !== record.signature) {
      const serves = isEstablished && !this.#isShadowed(definition)
      const types = serves ? this.#typesOf(space, definition, acceptedNames) : []
      this.#deps.types.define(space, name, isDeleting ? types.map(withoutCreate) : types)
      if (before !== undefined) this.#reconsider(space, record.group, name)
    }
    if (isDeleting) {
      const held = definition.metadata.finalizers?.includes(CLEANUP_FINALIZER)
      if (held) this.#enqueue(space, name, () => this.#cleanUp(space, name, definition, isEstablished))
    } else if (!saysSo(definition, verdict)) {
      this.#enqueue(space, name, () => this.#writeStatus(space, name, verdict))
    }
  }

  /** Names of a group may have become free: those that wait for one get another look. */
  #reconsider(space: string, group: string, except: string): void {
    for (const [name, record] of this.#spaces.get(space)?.byName ?? []) {
      if (!record.isWaiting || record.group !== group || name === except) continue
      this.#enqueue(space, name, async () => {
        const stored = await this.#deps.store.get({ ...keyOf(space, name) })
        if (stored !== undefined && this.#spaces.get(space)?.byName.has(name)) this.#settle(space, decodeObject(stored))
      })
    }
  }

  #namesOf(space: string, definition: KubeObject): NamesInUse {
    let known = this.#spaces.get(space)
    if (known === undefined) {
      known = { byName: new Map(), names: new Map() }
      this.#spaces.set(space, known)
    }
    const group = isRecord(definition.spec) ? String(definition.spec.group ?? '') : ''
    let names = known.names.get(group)
    if (names === undefined) {
      names = new NamesInUse()
      known.names.set(group, names)
    }
    return names
  }

  #isShadowed({ spec }: KubeObject): boolean {
    if (!isRecord(spec) || !isRecord(spec.names)) return false
    return this.#deps.types.isBuiltin(String(spec.group ?? ''), String(spec.names.plural ?? ''))
  }

  #typesOf(space: string, definition: KubeObject, acceptedNames: object): ResourceType[] {
    const status = { ...(isRecord(definition.status) ? definition.status : {}), acceptedNames }
    const types = resourceTypesOf({ ...definition, status })
    const conversion = conversionOf(definition)
    if (conversion.strategy === 'None') return types
    const { client, caPem, reviewVersions } = conversion
    const limits = { timeoutSeconds: CONVERSION_TIMEOUT_SECONDS, limitBytes: CONVERSION_LIMIT_BYTES }
    const target = { client, space, ...limits, ...(caPem !== undefined && { caPem }) }
    return types.map(type => {
      const webhook = { target, reviewVersions, kind: { group: type.group, kind: type.kind } }
      const convert = (objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> =>
        convertThroughWebhook(this.#deps, webhook, objects, apiVersion)
      return { ...type, custom: { ...type.custom!, convert } }
    })
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

  #writeStatus(
    space: string,
    name: string,
    { acceptedNames, conditions }: { acceptedNames?: object; conditions: readonly CrdCondition[] },
  ): Promise<void> {
    return this.#update(space, name, 'status', current => {
      const status = isRecord(current.status) ? current.status : {}
      current.status = {
        ...status,
        conditions: mergeConditions(status.conditions, conditions, timestamp(this.#deps.clock())),
        ...(acceptedNames && { acceptedNames }),
        storedVersions: storedVersionsOf(current),
      }
      return current
    })
  }

  /** Deletes all instances, waits for those that finalizers hold, then lets the CRD go. */
  async #cleanUp(space: string, name: string, definition: KubeObject, wasEstablished: boolean): Promise<void> {
    const terminating = (status: 'True' | 'False', reason: string, message: string): Promise<void> =>
      this.#writeStatus(space, name, { conditions: [{ type: 'Terminating', status, reason, message }] })
    if (wasEstablished && !this.#isShadowed(definition)) {
      await terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress')
      const type = resourceTypesOf(definition)[0]
      if (type) await this.#deleteInstances(space, type)
      if (this.#stopping.signal.aborted) return
      await terminating('False', 'InstanceDeletionCompleted', 'removed all instances')
    } else {
      await terminating('False', 'NeverEstablished', 'resource was never established')
    }
    await this.#update(space, name, '', current => {
      const finalizers = (current.metadata.finalizers ?? []).filter(f => f !== CLEANUP_FINALIZER)
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
    const remove = async (key: Key): Promise<void> => {
      try {
        await deleteObject(this.#registry!.deps, context, type, key)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
      }
    }
    for (let start = 0; start < items.length; start += DELETIONS_AT_ONCE) {
      await Promise.all(items.slice(start, start + DELETIONS_AT_ONCE).map(({ key }) => remove(key)))
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

function acceptedOf({ metadata, status }: KubeObject): [name: string, acceptedNames: unknown] {
  return [metadata.name ?? '', isRecord(status) ? status.acceptedNames : undefined]
}

function keyOf(space: string, name: string): Key {
  return { space, group: DEFINITIONS.group, resource: DEFINITIONS.resource, namespace: '', name }
}

function withoutCreate(type: ResourceType): ResourceType {
  return { ...type, verbs: type.verbs.filter(verb => verb !== 'create') }
}
