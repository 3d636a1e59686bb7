/**
 * CustomResourceDefinitions at work: their status says what was accepted, and instances go with their CRD.
 *
 * {@link ServedDefinitions} serves their kinds and names the CRDs that need work. A CRD that is on its way out keeps its finalizer until
 * its last instance is gone. A failure is retried with backoff.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
 */
import { conditionsOf, mergeConditions } from '../../apimachinery/conditions.ts'
import { type CrdCondition, resourceTypesOf, storedVersionsOf } from '../../apimachinery/crd/crd.ts'
import { isRecord, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import type { Key, Store } from '../../storage/store.ts'
import type { FollowerDeps } from '../following/followLog.ts'
import { KeyWorker } from '../following/keyWorker.ts'
import type { Admission } from '../registry/admission.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import type { ConversionDeps } from './conversionWebhook.ts'
import { CLEANUP_FINALIZER, workFor } from './definitionRecord.ts'
import { deleteInstances } from './instances.ts'
import { ServedDefinitions } from './servedDefinitions.ts'

const COMPONENT = 'definitions'
/** CRDs that are worked on at the same time, beside those that take long: many, because they share the syncs of the disk. */
const CONCURRENCY = 1000

interface DefinitionManagerDeps extends ConversionDeps, FollowerDeps {
  store: Store
  types: TypeRegistry
  /** Whether conversion webhooks of a space are called. */
  callsConversions(space: string): boolean
}

export class DefinitionManager {
  readonly #deps: DefinitionManagerDeps
  readonly #served: ServedDefinitions
  /** Keys of CRDs. A key is worked on by one at a time. */
  readonly #worker: KeyWorker<Key>
  #registry: Registry | undefined

  /** From now on what the stored CRDs define is served. */
  constructor(deps: DefinitionManagerDeps) {
    this.#deps = deps
    const work = {
      id: idOf,
      // a CRD that waits for the finalizers of its instances takes nobody's place
      party: idOf,
      lane: ({ space }: Key) => ({ owner: space }),
      concurrency: CONCURRENCY,
      reconcile: (key: Key) => this.#reconcile(key),
      failed: (key: Key, error: unknown) =>
        deps.log.error(
          { err: error, space: key.space, definition: key.name },
          'a custom resource definition could not be brought to its wanted state; it is tried again',
        ),
    }
    this.#worker = new KeyWorker(work, deps)
    this.#served = new ServedDefinitions({
      ...deps,
      wanting: key => this.#worker.add(key),
      failed: (key, error) => {
        void this.#worker.note(key, error)
        this.#worker.add(key)
      },
    })
  }

  /** Refuses and changes nothing: it sees what is about to be stored. */
  readonly admission: Admission = {
    stage: 'validate',
    handles: (type, operation, subresource) =>
      operation === 'CREATE' && subresource === '' && isSameResource(type, CRDS),
    admit: ({ context, object, outcome }) => outcome?.onSettled(this.#served.expect(context.space, object)),
  }

  /** Begins to work for them. */
  start(registry: Registry): void {
    this.#registry = registry
    this.#worker.start()
  }

  stop(): Promise<void> {
    return this.#worker.stop()
  }

  /** Brings status and instances of one CRD to where its newest state wants them. */
  async #reconcile(key: Key): Promise<void> {
    this.#served.retry(key)
    const { space, name } = key
    const stored = await this.#deps.store.get(key)
    const judged = stored && this.#served.verdictOn(stored)
    if (judged === undefined) return
    const { definition, verdict } = judged
    const work = workFor(definition, verdict)
    if (work === 'status') await this.#writeStatus(space, name, verdict)
    if (work === 'cleanUp') await this.#cleanUp(space, name, definition, verdict.isEstablished)
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
        conditions: mergeConditions(conditionsOf(current), conditions, timestamp(new Date(this.#deps.clock.now())))
          .conditions,
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
    if (wasEstablished && !this.#served.isShadowed(definition)) {
      await terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress')
      const type = resourceTypesOf(definition)[0]
      const { signal } = this.#worker
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
    const type = this.#deps.types.builtinIn(space, CRDS)
    await this.#registry!.update(systemContext(space, COMPONENT), type, '', name, change, { subresource })
  }
}

function idOf({ space, name }: Key): string {
  return `${space}/${name}`
}
