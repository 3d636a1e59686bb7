/**
 * Writes one object of the cluster: creates it or applies the center's fields to it, and releases the fields that the center declares no
 * more.
 */

import { EMPTY_SET, type FieldSet, isEmptySet, union } from '../../apimachinery/apply/fieldSet.ts'
import { withoutHollow } from '../../apimachinery/apply/looseFields.ts'
import { isStatusError, namespaceTrouble, StatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import { onConflict } from '../../client/onConflict.ts'
import { refOf } from '../../client/refOf.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { Pointer } from '../../placement/content/leftFields.ts'
import { OVERWRITE } from '../../placement/words/placement.ts'
import { fieldsOf, type SyncKey } from '../mailbox/mirror.ts'
import {
  claimOf,
  declaredAtCreation,
  declaredIn,
  heldCopy,
  LEFT_MANAGER,
  leftCopy,
  ownedByOthers,
  ownedByUs,
  type Released,
  releasedBy,
  stillLeft,
  toHandOver,
} from '../objects/handOver.ts'
import { claimsOfOurs, ownerOf, SYNCER_MANAGER } from '../objects/marks.ts'
import { declaringNothing } from '../objects/release.ts'
import { choiceOf } from '../objects/unionMembers.ts'
import { firstClaim, hasDuplicates, isAboutDuplicates, wholeUpdate, withClaims } from '../objects/wholeUpdate.ts'
import { type DownsyncContext, inNameOf } from './context.ts'
import { Dialect } from './dialect.ts'

interface ObjectWriterDeps extends Pick<DownsyncContext, 'cluster' | 'as' | 'served' | 'logger' | 'clock'> {
  /** Makes a Namespace of the mailbox in the cluster, for an object of that owner; false when that is not wanted there. */
  ensureNamespace(name: string, owner: string | undefined): Promise<boolean>
}

interface ApplyTarget {
  readonly resource: DiscoveredResource
  readonly key: SyncKey
  /** In whose name it is written. */
  readonly cluster: SpaceClient
}

const RELEASE_ATTEMPTS = 5

export class ObjectWriter {
  readonly #deps: ObjectWriterDeps
  readonly #dialect: Dialect

  constructor(deps: ObjectWriterDeps) {
    this.#deps = deps
    this.#dialect = new Dialect(deps)
  }

  /** The cluster, in the name of the space that owns what is written where that is wanted. */
  as(owner: string | undefined): SpaceClient {
    return inNameOf(owner, this.#deps)
  }

  /**
   * Creates, and never adopts. A marked object is deleted when it is unwanted, and an apply would mark an object that a different client
   * created in the same moment.
   * @returns `undefined` when the object is there already
   */
  async create(
    resource: DiscoveredResource,
    key: SyncKey,
    copy: KubeObject,
    owner: string | undefined,
  ): Promise<KubeObject | undefined> {
    const cluster = this.as(owner)
    let made: KubeObject
    try {
      made = await this.#inNamespace(key, owner, () => cluster.create(resource, copy, { fieldManager: SYNCER_MANAGER }))
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) return undefined
      if (isStatusError(error, 'NotFound') && namespaceTrouble(error) === undefined) await this.#deps.served.refresh()
      throw error
    }
    return await this.#disown({ resource, key, cluster }, copy, made)
  }

  /**
   * Lets the cluster own what it filled in at a creation: a later apply would else give that up, and defaults with it. Where that
   * may not be written the first apply does what it can.
   */
  async #disown(
    { resource, key, cluster }: ApplyTarget,
    copy: Readonly<KubeObject>,
    made: KubeObject,
  ): Promise<KubeObject> {
    let live = made
    for (let attempt = 1; ; attempt++) {
      const claimed = declaredAtCreation(copy, live)
      const body = claimed && claimOf(live, claimed)
      if (body === undefined) return live
      try {
        return await cluster.patch(resource, refOf(key), 'json', body, { fieldManager: SYNCER_MANAGER })
      } catch (error) {
        if (isStatusError(error, 'NotFound', 'Forbidden', 'MethodNotAllowed')) return live
        if (!isStatusError(error, 'Invalid', 'Conflict') || attempt === RELEASE_ATTEMPTS) throw error
      }
      // somebody wrote, a status say, meanwhile
      const now = await unlessGone(cluster.get(resource, refOf(key)))
      if (now === undefined || now.metadata.uid !== made.metadata.uid) return live
      live = now
    }
  }

  /** Makes `live` what `copy` says; what it says no more of `left` stays as it is. */
  async apply(
    resource: DiscoveredResource,
    key: SyncKey,
    copy: KubeObject,
    live: Readonly<KubeObject>,
    left: readonly Pointer[],
  ): Promise<KubeObject> {
    const cluster = this.as(ownerOf(copy))
    await this.#takeOver(resource, key, live, cluster)
    // With its uid the apply fails when it is not that object any more, and what we know about ownership with it.
    const { uid } = live.metadata
    const guarded = uid ? { ...copy, metadata: { ...copy.metadata, uid } } : copy
    const applied = withoutHollow(guarded, live, ownedByUs(live)) as KubeObject
    const target = { resource, key, cluster }
    const result = await this.#takeBack(target, copy, await this.#applied(target, applied, live, left))
    if (
      result.metadata.annotations?.[OVERWRITE] !== undefined &&
      copy.metadata.annotations?.[OVERWRITE] === undefined
    ) {
      const body = { metadata: { annotations: { [OVERWRITE]: null } } }
      return await cluster.patch(resource, refOf(key), 'merge', body, { fieldManager: SYNCER_MANAGER })
    }
    return result
  }

  async #applied(
    target: ApplyTarget,
    copy: KubeObject,
    live: Readonly<KubeObject>,
    left: readonly Pointer[],
  ): Promise<KubeObject> {
    // an apply alone would give up the claims of duplicates, and leave these where they are
    if (hasDuplicates(live) && !hasDuplicates(copy)) {
      const updated = await this.#updateWhole(target, copy, live, left)
      if (claimsOfOurs(updated).length > 0) return await this.#applyDeclared(target, copy)
      // where nobody is noted an apply would give all of it to a manager of the cluster's own
      return await target.cluster.patch(target.resource, refOf(target.key), 'json', firstClaim(copy, updated), {
        fieldManager: SYNCER_MANAGER,
      })
    }
    const released = releasedBy(copy, live, left)
    try {
      return isEmptySet(union(released.undeclared, released.left))
        ? await this.#applyDeclared(target, copy)
        : await this.#applyReleasing(target, copy, released)
    } catch (error) {
      if (!isAboutDuplicates(error)) throw error
      return await this.#updateWhole(target, copy, live, left)
    }
  }

  /** For what cannot be applied. @param known bears the claims, where the cluster notes none */
  async #updateWhole(
    { resource, key, cluster }: ApplyTarget,
    copy: KubeObject,
    known: Readonly<KubeObject>,
    left: readonly Pointer[],
  ): Promise<KubeObject> {
    for (let attempt = 1; ; attempt++) {
      const live = await cluster.get(resource, refOf(key))
      const isAnother = copy.metadata.uid !== undefined && copy.metadata.uid !== live.metadata.uid
      if (isAnother) throw new StatusError('Conflict', 'another object has taken its place meanwhile')
      try {
        const options = { fieldManager: SYNCER_MANAGER }
        const claimed = claimsOfOurs(live).length > 0 ? live : withClaims(live, claimsOfOurs(known))
        return await cluster.update(resource, wholeUpdate(copy, claimed, left), options)
      } catch (error) {
        if (!isStatusError(error, 'Conflict') || attempt === RELEASE_ATTEMPTS) throw error
      }
    }
  }

  /**
   * Lets go of all that the center says of `live`. Fields that the cluster's defaults would change keep their values. Where the object is
   * invalid without the center's fields, all but labels and annotations stay.
   */
  async handBack(resource: DiscoveredResource, key: SyncKey, live: Readonly<KubeObject>): Promise<KubeObject> {
    const target = { resource, key, cluster: this.as(ownerOf(live)) }
    const copy = declaringNothing(live)
    try {
      return await this.#applyReleasing(target, copy, { undeclared: declaredIn(live), left: EMPTY_SET })
    } catch (error) {
      if (!isStatusError(error, 'Invalid')) throw error
      const fields = fieldsOf(key, live.metadata.uid)
      this.#deps.logger.warn(
        fields,
        `the center's fields stay in the cluster, for the object is not valid without them: ${error.message}`,
      )
      const held = heldCopy(live, declaredIn(live))
      return await this.#applyDeclared(target, { ...held, metadata: copy.metadata })
    }
  }

  /** Created fields count as applied from now on: else fields that the center drops would stay the syncer's for ever. */
  async #takeOver(
    resource: DiscoveredResource,
    key: SyncKey,
    live: Readonly<KubeObject>,
    cluster: SpaceClient,
  ): Promise<void> {
    const body = claimOf(live)
    if (body === undefined) return
    try {
      await cluster.patch(resource, refOf(key), 'json', body, { fieldManager: SYNCER_MANAGER })
    } catch (error) {
      // The apply behind this one, which names the uid, tells the same.
      if (isStatusError(error, 'NotFound')) return
      // A test that fails is answered so: somebody wrote since `live` was seen.
      if (isStatusError(error, 'Invalid')) throw new StatusError('Conflict', error.message, error.details)
      throw error
    }
  }

  /** Somebody may write, a status say, between the look and the apply: then once more. */
  async #applyReleasing(target: ApplyTarget, copy: KubeObject, released: Released): Promise<KubeObject> {
    return await onConflict(RELEASE_ATTEMPTS, async () =>
      this.#applyDeclared(target, await this.#handOver(target, copy, released)),
    )
  }

  /**
   * Before the center lets go of fields: those that the cluster's own defaults would change are kept as they are by another manager.
   * Answers with the object to apply, which fails when it has changed since the read.
   */
  async #handOver(target: ApplyTarget, copy: KubeObject, { undeclared, left }: Released): Promise<KubeObject> {
    const { resource, key, cluster } = target
    const fresh = await cluster.get(resource, refOf(key))
    const hold = async (live: KubeObject, set: FieldSet): Promise<KubeObject> =>
      isEmptySet(set)
        ? live
        : await cluster.patch(resource, refOf(key), 'apply', leftCopy(live, set), {
            fieldManager: LEFT_MANAGER,
            force: true,
          })
    // first what the center leaves: the object may not be valid without, so that no apply could be tried
    const kept = await hold(fresh, left)
    const without = isEmptySet(undeclared) ? kept : await this.#tried(target, copy)
    if (without === undefined && isEmptySet(left)) return copy
    const held = await hold(kept, toHandOver(undeclared, kept, without ?? kept))
    const { resourceVersion } = held.metadata
    return resourceVersion === undefined ? copy : { ...copy, metadata: { ...copy.metadata, resourceVersion } }
  }

  /** Fields that the center declares again leave the other manager: else they would stay when the center drops them. */
  async #takeBack({ resource, key, cluster }: ApplyTarget, copy: KubeObject, live: KubeObject): Promise<KubeObject> {
    const still = stillLeft(copy, live)
    if (still === undefined) return live
    const options = { fieldManager: LEFT_MANAGER, force: true }
    return await cluster.patch(resource, refOf(key), 'apply', heldCopy(live, still), options)
  }

  /** The result of an apply as a dry run; `undefined` where a webhook of the cluster allows none. */
  async #tried(target: ApplyTarget, copy: KubeObject): Promise<KubeObject | undefined> {
    try {
      return await this.#applyDeclared(target, copy, { dryRun: true })
    } catch (error) {
      if (!isStatusError(error, 'BadRequest')) throw error
      this.#deps.logger.warn(
        fieldsOf(target.key, copy.metadata.uid ?? ''),
        `what the center says no more falls back to the cluster's defaults, for an apply cannot be tried: ${error.message}`,
      )
      return undefined
    }
  }

  /** Leaves out what this cluster's release does not know. */
  async #applyDeclared(
    { resource, key, cluster }: ApplyTarget,
    copy: KubeObject,
    { dryRun = false } = {},
  ): Promise<KubeObject> {
    const options = { fieldManager: SYNCER_MANAGER, force: true, ...(dryRun && { dryRun }) }
    return await this.#dialect.speak(resource, copy, body =>
      this.#inNamespace(key, ownerOf(copy), () => cluster.patch(resource, refOf(key), 'apply', body, options)),
    )
  }

  /** Takes away what the cluster holds beside a choice that was made anew; whether that was what an apply failed at. */
  async chooseAnew(resource: DiscoveredResource, key: SyncKey, copy: KubeObject, error: unknown): Promise<boolean> {
    if (!isStatusError(error, 'Invalid')) return false
    const cluster = this.as(ownerOf(copy))
    const live = await cluster.get(resource, refOf(key))
    const choice = choiceOf(error, copy, live, ownedByOthers(live))
    if (choice === undefined) return false
    // Not as the syncer's own: its claims are those of its applies.
    await cluster.patch(resource, refOf(key), 'json', choice, { fieldManager: LEFT_MANAGER })
    return true
  }

  /** Makes the Namespace first where it is missing. */
  async #inNamespace(key: SyncKey, owner: string | undefined, write: () => Promise<KubeObject>): Promise<KubeObject> {
    try {
      return await write()
    } catch (error) {
      const missing = namespaceTrouble(error) === 'NamespaceMissing'
      if (!missing || key.namespace === '') throw error
      if (!(await this.#deps.ensureNamespace(key.namespace, owner))) throw error
      return await write()
    }
  }
}
