/**
 * CustomResourceDefinitions at work: names accepted, kinds served a moment after their CRD, instances removed with it.
 *
 * The types of a space follow the log of CRD objects; an event costs what its own CRD costs, whatever else the space has. A
 * CRD that is on its way out keeps its finalizer until its last instance is gone. What fails is tried again with backoff.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
 */
import {
  type CrdCondition,
  conversionOf,
  NamesInUse,
  resourceTypesOf,
  storedVersionsOf,
} from '../../apimachinery/crd/crd.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Random } from '../../client/backoff.ts'
import type { Clock } from '../../client/clock.ts'
import { WorkQueue } from '../../client/workqueue.ts'
import { isStorageError, type Key, type Store, type Stored, type StoreEvent } from '../../storage/store.ts'
import type { WebhookTarget } from '../admission/webhookClient.ts'
import { FailureNotes } from '../following/failureNotes.ts'
import { LogFollower } from '../following/logFollower.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import { timestamp } from '../registry/systemMetadata.ts'
import type { Logger } from '../request/logger.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { convertThroughWebhook } from './conversionWebhook.ts'
import { type DefinitionRecord, judge, mergeConditions, saysSo, type Verdict } from './definitionRecord.ts'
import { CLEANUP_FINALIZER } from './definitionStrategy.ts'
import { deleteInstances } from './instances.ts'

export const DEFINITIONS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
} as const
const COMPONENT = 'definitions'
const RANGE = { group: DEFINITIONS.group, resource: DEFINITIONS.resource }
/** CRDs that are worked on at the same time, beside those that take long: many, because they share the syncs of the disk. */
const CONCURRENCY = 1000
/** For one conversion, however many objects. */
const CONVERSION_TIMEOUT_SECONDS = 30
/** A list of large objects comes back in one answer. */
const CONVERSION_LIMIT_BYTES = 256 * 1024 * 1024

export interface DefinitionManagerDeps {
  store: Store
  types: TypeRegistry
  log: Logger
  clock: () => Date
  /** When to try again. */
  timers?: Clock
  random?: Random
  uuid: () => string
  /** Asks a webhook; rejects with WebhookCallError. */
  post(target: WebhookTarget, body: unknown): Promise<unknown>
}

/** `revision`: of the version that is served. */
type Settled = DefinitionRecord & { readonly revision: number }

interface SpaceDefinitions {
  readonly byName: Map<string, Settled>
  /** By group. */
  readonly names: Map<string, NamesInUse>
}

export class DefinitionManager {
  readonly #deps: DefinitionManagerDeps
  readonly #stopping = new AbortController()
  readonly #spaces = new Map<string, SpaceDefinitions>()
  readonly #follower: LogFollower
  /** Keys of CRDs. A key is worked on by one at a time. */
  readonly #queue: WorkQueue<Key>
  readonly #failures = new FailureNotes()
  #registry: Registry | undefined
  #running: Promise<unknown> = Promise.resolve()

  constructor(deps: DefinitionManagerDeps) {
    const { store, log, timers, random } = deps
    this.#deps = deps
    this.#queue = new WorkQueue<Key>({
      id: idOf,
      // a CRD that waits for the finalizers of its instances takes nobody's place
      party: idOf,
      ...(timers && { clock: timers }),
      ...(random && { random }),
    })
    this.#follower = new LogFollower({
      store,
      range: RANGE,
      what: 'custom resource definitions',
      log,
      clock: timers,
      random,
      handler: {
        reset: items => this.#reset(items),
        change: event => this.#react(event),
        missed: ({ key }, error) => {
          this.#note(key, error)
          this.#queue.add(key)
        },
      },
    })
  }

  /** Serves what the stored CRDs define, then follows the log. */
  async start(registry: Registry): Promise<void> {
    this.#registry = registry
    const { items, revision } = await this.#deps.store.list(RANGE)
    this.#settleAll(items)
    const { signal } = this.#stopping
    this.#running = Promise.all([
      this.#follower.run(revision, signal),
      this.#queue.run(key => this.#reconcile(key), { concurrency: CONCURRENCY, signal }),
    ])
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  #react({ type, key, stored }: StoreEvent): void {
    if (type === 'put') this.#settle(stored)
    else this.#forget(key)
  }

  #settleAll(items: readonly Stored[]): void {
    // names that were accepted before stay with whom they were given
    for (const stored of items) {
      const definition = decodeObject(stored)
      this.#namesOf(stored.key.space, definition).hold(...acceptedOf(definition))
    }
    for (const stored of items) this.#settle(stored)
  }

  /** Events were lost: what is served becomes what the CRDs say now. */
  #reset(items: readonly Stored[]): void {
    const present = new Set(items.map(({ key }) => idOf(key)))
    for (const [space, { byName }] of [...this.#spaces])
      for (const name of [...byName.keys()]) {
        const key = keyOf(space, name)
        if (!present.has(idOf(key))) this.#forget(key)
      }
    this.#settleAll(items.filter(stored => this.#isReadable(stored)))
  }

  /** One that is not keeps what it had. */
  #isReadable(stored: Stored): boolean {
    try {
      return decodeObject(stored).metadata !== undefined
    } catch (error) {
      this.#note(stored.key, error)
      return false
    }
  }

  #forget({ space, name }: Key): void {
    const known = this.#spaces.get(space)
    const record = known?.byName.get(name)
    if (known === undefined || record === undefined) return
    this.#deps.types.define(space, name, [])
    known.byName.delete(name)
    known.names.get(record.group)?.release(name)
    if (known.byName.size === 0) this.#spaces.delete(space)
    this.#reconsider(space, record.group, name)
  }

  /** Brings the served kinds and the conditions of one CRD up to date. */
  #settle(stored: Stored): void {
    const { key, revision } = stored
    const { space, name } = key
    const definition = decodeObject(stored)
    const names = this.#namesOf(space, definition)
    const verdict = judge(definition, names)
    const { acceptedNames, isEstablished, isDeleting } = verdict
    const record = { ...verdict.record, revision }
    const { byName } = this.#spaces.get(space)!
    const before = byName.get(name)
    // what may throw comes first: a settling that failed is done again as a whole
    if (before?.signature !== record.signature) {
      const serves = isEstablished && !this.#isShadowed(definition)
      const types = serves ? this.#typesOf(space, definition, acceptedNames) : []
      this.#deps.types.define(space, name, isDeleting ? types.map(withoutCreate) : types)
    }
    byName.set(name, record)
    // held from now on, before the status that says so is written: a CRD that comes meanwhile must not get the same
    names.hold(name, acceptedNames)
    if (before !== undefined && before.signature !== record.signature) this.#reconsider(space, record.group, name)
    if (workFor(definition, verdict)) this.#queue.add(key)
  }

  /** Names of a group may have become free: those that wait for one get another look. */
  #reconsider(space: string, group: string, except: string): void {
    for (const [name, record] of this.#spaces.get(space)?.byName ?? []) {
      if (record.isWaiting && record.group === group && name !== except) this.#queue.add(keyOf(space, name))
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

  async #reconcile(key: Key): Promise<void> {
    try {
      await this.#follower.retake(key, present => {
        if (present) this.#settle(present)
        else this.#forget(key)
      })
      await this.#converge(key)
    } catch (error) {
      if (this.#stopping.signal.aborted || isStorageError(error, 'Closed')) return
      this.#note(key, error)
      throw error
    }
    if (!this.#follower.isMissed(key)) this.#failures.settle(idOf(key))
  }

  /** Brings status and instances of one CRD to where its newest state wants them. */
  async #converge(key: Key): Promise<void> {
    const { space, name } = key
    const stored = await this.#deps.store.get(key)
    const record = this.#spaces.get(space)?.byName.get(name)
    // in step with the events alone, so that no two CRDs are given the same name; a newer version's event is on the way
    if (stored === undefined || stored.revision !== record?.revision) return
    if (record.isWaiting) this.#settle(stored)
    const definition = decodeObject(stored)
    const verdict = judge(definition, this.#namesOf(space, definition))
    const work = workFor(definition, verdict)
    if (work === 'status') await this.#writeStatus(space, name, verdict)
    if (work === 'cleanUp') await this.#cleanUp(space, name, definition, verdict.isEstablished)
  }

  #note(key: Key, error: unknown): void {
    if (!this.#failures.isNews(idOf(key), error)) return
    this.#deps.log.error(
      { err: error, space: key.space, definition: key.name },
      'a custom resource definition could not be brought to its wanted state; it is tried again',
    )
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
      const { signal } = this.#stopping
      if (type) await deleteInstances(this.#registry!.deps, { space, type, component: COMPONENT }, signal)
      if (signal.aborted) return
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

function idOf({ space, name }: Key): string {
  return `${space}/${name}`
}

/** What remains to be done for a CRD. */
function workFor(definition: KubeObject, verdict: Verdict): 'status' | 'cleanUp' | undefined {
  if (!verdict.isDeleting) return saysSo(definition, verdict) ? undefined : 'status'
  return definition.metadata.finalizers?.includes(CLEANUP_FINALIZER) ? 'cleanUp' : undefined
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
