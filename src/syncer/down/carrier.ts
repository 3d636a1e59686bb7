/**
 * Brings one object of the mailbox into the cluster. It creates it where it is missing, applies the center's fields, and reverts the
 * cluster's changes to them. Earlier objects of the cluster, and those to be left alone, stay.
 */

import { isStatusError, namespaceTrouble } from '../../apimachinery/errors.ts'
import { apiVersionOf, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import type { DiscoveredResource } from '../../client/client.ts'
import { steadyMs } from '../../client/clock.ts'
import { refOf } from '../../client/refOf.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { leftFieldsOf, withoutFields } from '../../placement/content/leftFields.ts'
import {
  DOWNSYNCED,
  isProjected,
  OVERWRITE,
  PROJECTED_LABEL,
  PROJECTED_VALUE,
} from '../../placement/words/placement.ts'
import { keyText, type Mirrored, type SyncKey } from '../mailbox/mirror.ts'
import { type AlteredFields, alteredFields } from '../objects/alteredFields.ts'
import { downsyncCopy } from '../objects/copies.ts'
import { liveFields } from '../objects/liveFields.ts'
import {
  isCreateOnly,
  isImplied,
  isMade,
  isOurs,
  isStrangers,
  mayAdopt,
  mayOverwrite,
  ownerOf,
  SYNCER_MANAGER,
} from '../objects/marks.ts'
import { troubleOf } from '../tells/outcomes.ts'
import {
  ALREADY_IN_CLUSTER,
  finished,
  fought,
  GOING,
  goingAway,
  NO_OWNER,
  type Outcome,
  UNSERVED,
} from '../tells/verdicts.ts'
import type { ClusterOwners } from './clusterOwners.ts'
import { type Comparison, sentCopy } from './comparison.ts'
import type { DownsyncContext } from './context.ts'
import { awaitedDefinition, keepsClusters, versionRefusal } from './definitions.ts'
import type { ObjectWriter } from './objectWriter.ts'
import type { Removals } from './removals.ts'
import { RepairPace } from './repairPace.ts'

interface CarrierDeps extends DownsyncContext {
  comparison: Comparison
  writer: ObjectWriter
  owners: ClusterOwners
  removals: Removals
}

/** A kind that the cluster does not serve (yet) is looked for again after this; its CRD's arrival wakes the key sooner. */
const NOT_SERVED_RETRY_MS = 30_000
/** An object that is going away and that we do not watch. */
const TERMINATING_RETRY_MS = 5000
/**
 * A foreign object in the cluster may go without a watch event. Each is read at this interval, all together four times a second at most,
 * and none more seldom than the last number.
 */
const STRANGER_LOOK_MS = { each: 12_000, together: 250, seldom: 300_000 }
/** A cluster that drops fields may be upgraded, and so may its definition of a kind. */
const CUT_RETRY_MS = 60 * 60_000

/** The cluster's news of what was just written may be on their way still. */
const SOON = { requeueAfterMs: 50 }

export class Carrier {
  readonly #deps: CarrierDeps
  readonly #pace: RepairPace
  /** Objects that could not be created: another owner's may be there, which no watch shows. */
  readonly #met = new Set<string>()
  /** When objects were written of which the cluster dropped fields. */
  readonly #cutAtMs = new Map<string, number>()
  /** Objects of other owners, as of the last look. */
  readonly #strangers = new Set<string>()
  /** Kinds that were reported missing. */
  readonly #unserved = new Set<string>()

  constructor(deps: CarrierDeps) {
    this.#deps = deps
    this.#pace = new RepairPace(deps.clock)
  }

  /** @param needer the space whose object needs a Namespace that nobody placed */
  async carry(key: SyncKey, mirrored: Mirrored, needer?: string): Promise<Outcome> {
    const {
      resource: { version },
      object,
    } = mirrored
    const { served, watches } = this.#deps
    const implied = this.#deps.as !== undefined && isImplied(object)
    const owner = this.#deps.as && (ownerOf(object) ?? (implied ? needer : undefined))
    // It comes with the first object that needs it, in the name of its space.
    if (implied && owner === undefined) return {}
    if (this.#deps.as && owner === undefined) return { refusal: NO_OWNER }
    let resource = await this.#served(key, version)
    if (resource?.version !== version) {
      const refusal = await versionRefusal(this.#deps, key, version)
      if (refusal) return { refusal, requeueAfterMs: NOT_SERVED_RETRY_MS }
      resource = served.at(key, version)
    }
    if (resource === undefined)
      return { requeueAfterMs: NOT_SERVED_RETRY_MS, trouble: (await awaitedDefinition(this.#deps, key)) ?? UNSERVED }
    const text = keyText(key)
    this.#strangers.delete(text)
    await watches.firstList(key)
    const cached = watches.get(key, key)
    // An object outside the watch is not the syncer's: most often it does not exist, and then one request creates it.
    const isUnknown = this.#deps.echoes.get(text) === undefined && !this.#met.has(text)
    const isNew = cached === undefined && watches.hasSynced(key) && isUnknown
    let live = cached ?? (isNew ? undefined : await unlessGone(this.#deps.cluster.get(resource, refOf(key))))
    const end = live === undefined ? this.#deps.comparison.endOf(key, mirrored) : undefined
    if (end) return { trouble: finished(end) }
    if (live === undefined) {
      // Whatever comes of it, the next time is a look first.
      this.#met.add(text)
      const alone = downsyncCopy(object, { apiVersion: apiVersionOf(resource), mark: true, owner })
      const copy = await this.#deps.owners.complete(key, object, alone, { fresh: true })
      // Should the answer be lost, it may be there, and may not be wanted any more by then.
      this.#deps.removals.mayBeThere(key)
      const made = await this.#deps.writer.create(resource, key, copy, owner)
      if (made !== undefined) {
        this.#met.delete(text)
        this.#deps.removals.isThere(key)
        this.#deps.echoes.wrote(text, copy, made, object)
        this.#deps.owners.stands(key, object, made)
        this.#deps.owners.observed(resource, { type: 'apply', object: made })
        // made with all of it; what is left to the cluster is let go of now
        const left = leftFieldsOf(object)
        return {
          ...this.#held(key, object, { sent: withoutFields(copy, left), live: made }),
          ...(left.length > 0 && SOON),
        }
      }
      // Somebody was faster than we: it is theirs.
      live = await unlessGone(this.#deps.cluster.get(resource, refOf(key)))
      if (live === undefined) return { requeueAfterMs: TERMINATING_RETRY_MS, trouble: GOING }
    }
    if (live.metadata.deletionTimestamp !== undefined) {
      const isOver = this.#deps.comparison.endOf(key, mirrored) !== undefined
      if (!isOver) this.#deps.echoes.forget(text)
      // when it is gone it is made again
      const trouble = goingAway(live, 'what the cluster holds is being deleted, and is made anew then,')
      return cached ? { trouble } : { requeueAfterMs: TERMINATING_RETRY_MS, trouble }
    }
    if (implied) return { live } // there, which is all that is needed of it
    const seen = this.#deps.echoes.recognized(text, live)
    if (keepsClusters(object, seen)) {
      const altered = alteredFields(key, definitionOf(object), live)
      return { live, altered, isKept: true, ...this.#lookAgain(text) }
    }
    // somebody else's is none that we could delete: it needs no mark that says so
    if (!mayOverwrite(object) && isStrangers(seen)) return { live, ...this.#lookAgain(text) }
    if (!mayOverwrite(object) || isCreateOnly(object)) {
      const sent = sentCopy(object, { apiVersion: apiVersionOf(resource), mark: true, owner })
      // as long as nobody changed what was made, it shows what the cluster made of that
      const altered = this.#deps.echoes.isBrought(text, live, object) ? alteredFields(key, sent, live) : undefined
      if (!mayOverwrite(object)) return { live, altered, ...(await this.#handsOff(resource, key, object, live)) }
      // no watch reports objects that somebody else made
      return { live, altered, ...(!isOurs(seen, DOWNSYNCED) && this.#lookAgain(text)) }
    }
    if (!this.#deps.adoptExisting && !mayAdopt(object) && isStrangers(seen))
      return { refusal: ALREADY_IN_CLUSTER, ...this.#lookAgain(text) }
    const left = leftFieldsOf(object)
    const alone = sentCopy(object, { apiVersion: apiVersionOf(resource), mark: isMade(object, seen), owner })
    let copy = await this.#deps.owners.complete(key, object, alone, { fresh: false })
    let state = this.#deps.echoes.compare(text, copy, live)
    const isOld = state === 'same' && this.#deps.echoes.isAhead(text, live)
    if (cached && (state === 'drifted' || isOld)) {
      // The watch may be behind our own write.
      live = await unlessGone(this.#deps.cluster.get(resource, refOf(key)))
      // gone, or made anew: whose it is now is judged when the watch tells of it
      if (live === undefined || live.metadata.uid !== cached.metadata.uid) return {}
      state = this.#deps.echoes.compare(text, copy, live)
    }
    if (state === 'same') {
      this.#deps.echoes.stands(text, object, live)
      this.#deps.owners.stands(key, object, live)
      const altered = alteredFields(key, copy, live)
      if (!this.#mayHoldMore(text, altered)) return { live, altered, liveFields: liveFields(key, object, live) }
    }
    // Only what the cluster changed is a repair: what the center changed must never wait behind a quarrel.
    const drifted = state === 'drifted'
    const waitMs = drifted ? this.#pace.waitMs(text) : 0
    if (waitMs > 0) return { requeueAfterMs: waitMs, trouble: fought(key, copy, live) }
    copy = await this.#deps.owners.complete(key, object, alone, { fresh: true })
    try {
      const claimed = this.#deps.echoes.claimed(text, live)
      const result = await this.#deps.writer.apply(resource, key, copy, claimed, left)
      this.#deps.echoes.wrote(text, copy, result, object)
      this.#deps.owners.stands(key, object, result)
      if (drifted && result.metadata.resourceVersion !== live.metadata.resourceVersion) this.#repaired(key)
      return this.#held(key, object, { sent: copy, live: result })
    } catch (error) {
      if (isStatusError(error, 'NotFound') && namespaceTrouble(error) === undefined) await served.refresh()
      const replaced = isStatusError(error, 'Invalid') && (await this.#replace(resource, key, live, object))
      if (replaced) return { ...replaced, trouble: GOING }
      if (await this.#deps.writer.chooseAnew(resource, key, copy, error)) return { ...SOON, trouble: troubleOf(error) }
      throw error
    }
  }

  /** Whether the cluster's object was somebody else's at the last look. */
  isStrangers(key: SyncKey): boolean {
    return this.#strangers.has(keyText(key))
  }

  #lookAgain(text: string): { requeueAfterMs: number } {
    this.#strangers.add(text)
    const { each, together, seldom } = STRANGER_LOOK_MS
    return { requeueAfterMs: Math.min(Math.max(each, together * this.#strangers.size), seldom) }
  }

  /** The cluster's copy must say so too: its annotation decides about deletion. */
  async #handsOff(
    resource: DiscoveredResource,
    key: SyncKey,
    object: Readonly<KubeObject>,
    live: Readonly<KubeObject>,
  ): Promise<ReconcileResult> {
    const value = object.metadata.annotations?.[OVERWRITE]
    if (live.metadata.annotations?.[OVERWRITE] === value && isProjected(live)) return {}
    const metadata = { annotations: { [OVERWRITE]: value }, labels: { [PROJECTED_LABEL]: PROJECTED_VALUE } }
    await this.#deps.writer
      .as(ownerOf(object))
      .patch(resource, refOf(key), 'merge', { metadata }, { fieldManager: SYNCER_MANAGER })
    this.#deps.echoes.forget(keyText(key))
    return {}
  }

  /** Deleted and made anew in the center with other immutable fields: the cluster's copy goes the same way. */
  async #replace(
    resource: DiscoveredResource,
    key: SyncKey,
    live: Readonly<KubeObject>,
    object: Readonly<KubeObject>,
  ): Promise<ReconcileResult | undefined> {
    const { echoes } = this.#deps
    const before = echoes.get(keyText(key))?.sourceUid
    const isOwn = isOurs(echoes.recognized(keyText(key), live), DOWNSYNCED)
    if (before === undefined || before === object.metadata.uid || !isOwn) return undefined
    return await this.#deps.removals.delete(resource, key, live, 'replaced')
  }

  async ensureNamespace(name: string, owner: string | undefined): Promise<boolean> {
    const { mirror, plan } = this.#deps
    const namespace = { ...NAMESPACES, namespace: '', name }
    const mirrored = mirror.get(namespace)
    if (!mirrored || !plan().wantsDown(namespace, '', name)) return false
    await this.carry(namespace, mirrored, owner)
    return true
  }

  async #served(key: SyncKey, version: string): Promise<DiscoveredResource | undefined> {
    const { served, logger } = this.#deps
    const name = groupResourceName(key)
    const resource = served.at(key, version)
    if (resource !== undefined) {
      this.#unserved.delete(name)
      return resource
    }
    await served.refresh()
    const now = served.at(key, version)
    if (now === undefined && !this.#unserved.has(name)) {
      this.#unserved.add(name)
      logger.info({ resource: name }, 'the cluster does not serve this kind; its objects wait for it')
    }
    return now
  }

  /** The outcome of a write by the cluster's answer. */
  #held(
    key: SyncKey,
    object: Readonly<KubeObject>,
    { sent, live }: Readonly<Record<'sent' | 'live', Readonly<KubeObject>>>,
  ): Outcome {
    const altered = alteredFields(key, sent, live)
    const held: Outcome = { live, altered, liveFields: liveFields(key, object, live) }
    if (!altered?.isCut) return held
    this.#cutAtMs.set(keyText(key), steadyMs(this.#deps.clock))
    return { ...held, requeueAfterMs: CUT_RETRY_MS }
  }

  /** Whether the cluster may know by now what it dropped. Changes of its admission would recur. */
  #mayHoldMore(text: string, altered: AlteredFields | undefined): boolean {
    const atMs = this.#cutAtMs.get(text) ?? Number.NEGATIVE_INFINITY
    return altered?.isCut === true && steadyMs(this.#deps.clock) - atMs >= CUT_RETRY_MS
  }

  #repaired(key: SyncKey): void {
    if (!this.#pace.repaired(keyText(key))) return
    const { resource, group, namespace, name } = key
    this.#deps.logger.warn(
      { resource, group, namespace, name },
      'somebody in the cluster keeps changing fields of this object that the center sets; repairing it less often',
    )
  }

  /** It is not to be carried now, so nobody looks for it. */
  leaves(key: SyncKey): void {
    this.#strangers.delete(keyText(key))
  }

  /** Nothing of ours is there any more. */
  forget(key: SyncKey): void {
    this.#pace.forget(keyText(key))
    this.#met.delete(keyText(key))
    this.#cutAtMs.delete(keyText(key))
  }
}

/** Reference for the cluster's own definition: one that it keeps bears no mark. */
function definitionOf({ apiVersion, kind, metadata: { name }, spec }: Readonly<KubeObject>): KubeObject {
  return { apiVersion, kind, metadata: { ...(name !== undefined && { name }) }, spec }
}
