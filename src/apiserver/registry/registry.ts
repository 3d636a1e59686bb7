/**
 * Creates and updates: who asks for one need not know in which of the ways it is made. Each has a file.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { WriteContext } from './context.ts'
import { Creations } from './creations.ts'
import { Preparation, type RegistryDeps, type UpdateOptions } from './preparation.ts'
import type { Provenance } from './provenance.ts'
import { type SharedCreation, SharedCreations, type SharedlyMade, type Unshared } from './sharedCreations.ts'
import { type SharedDeletion, SharedDeletions } from './sharedDeletions.ts'
import { type SharedUpdate, SharedUpdates } from './sharedUpdates.ts'
import { type Change, Updates } from './updates.ts'
import type { Written } from './written.ts'

export type { Admission, AdmissionRequest } from './admission.ts'

export type { Change, RegistryDeps, SharedCreation, SharedDeletion, SharedlyMade, Unshared, UpdateOptions, Written }

export class Registry {
  /** For operations that stand beside the registry (deletion). */
  readonly deps: RegistryDeps
  readonly #preparation: Preparation
  readonly #creations: Creations
  readonly #sharedCreations: SharedCreations
  readonly #updates: Updates
  readonly #sharedUpdates: SharedUpdates
  readonly #sharedDeletions: SharedDeletions

  /** What of objects nobody said. Absent where nothing travels. */
  get provenance(): Provenance | undefined {
    return this.#preparation.provenance
  }

  constructor(deps: RegistryDeps) {
    this.deps = deps
    this.#preparation = new Preparation(deps)
    this.#creations = new Creations(this.#preparation, deps)
    this.#sharedCreations = new SharedCreations(this.#preparation, this.#creations, deps)
    this.#updates = new Updates(this.#preparation, this.#creations, deps)
    this.#sharedUpdates = new SharedUpdates(this.#preparation, this.#updates, deps)
    this.#sharedDeletions = new SharedDeletions(deps)
  }

  /** `input` is in the version of `type`; it is taken over and changed. */
  create(context: WriteContext, type: ResourceType, namespace: string, input: KubeObject): Promise<Written> {
    return this.#creations.create(context, type, namespace, input)
  }

  /**
   * The same of an object that goes into many spaces as it is: what is the same for all of them is done once, see templates.ts. Nobody
   * ever changes `sent`, nor the object that this answers with. For the server itself: nobody is warned of anything.
   */
  createShared(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    sent: Readonly<KubeObject>,
  ): Promise<Written & { object?: KubeObject }> {
    return this.#sharedCreations.create(context, type, namespace, sent)
  }

  /**
   * The same of many at a time, of any spaces, with one wait for the disk: what is made, at its index. Absent is what has to go its own
   * way ({@link createShared}), which does it or says why not: what is the first of its kind, what somebody else has a say in, what
   * is refused.
   */
  createManyShared(creations: readonly SharedCreation[]): Promise<readonly (SharedlyMade | Unshared)[]> {
    return this.#sharedCreations.createMany(creations)
  }

  /** Updates that change nothing write nothing. */
  update(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    name: string,
    change: Change,
    options?: UpdateOptions,
  ): Promise<Written> {
    return this.#updates.update(context, type, namespace, name, change, options)
  }

  /**
   * Replaces an object by one that follows from `said` and from what it replaces alone: where that says the same in many spaces, the
   * way is gone once, see revisions.ts. Nobody ever changes `object`, nor the object that this answers with.
   */
  updateShared(
    context: WriteContext,
    type: ResourceType,
    place: { namespace: string; name: string },
    replacement: { object: Readonly<KubeObject>; said: object },
  ): Promise<Written & { object?: KubeObject }> {
    return this.#sharedUpdates.update(context, type, place, replacement)
  }

  /** The same of many at a time, with one wait for the disk: absent is what has to go its own way ({@link updateShared}). */
  updateManyShared(updates: readonly SharedUpdate[]): Promise<readonly (SharedlyMade | Unshared)[]> {
    return this.#sharedUpdates.updateMany(updates)
  }

  /**
   * Deletes many of them at a time, with one wait for the disk; whether each is gone. What is not has to go its own way, see
   * operations/remove.ts.
   */
  deleteManyShared(deletions: readonly SharedDeletion[]): Promise<readonly boolean[]> {
    return this.#sharedDeletions.deleteMany(deletions)
  }
}
