/**
 * Status that returns to an object in a workload space on a placement's request: that of its only cluster, or a combination over several.
 * Otherwise a returned status gives way to the initial one; a status by other writers stays.
 *
 * The status of a kind without the sub-resource is plain data of its object, which authors may write as well. It is returned by
 * server-side apply without force, so each field has one owner, and reported fields give way.
 */

import { isStatusError } from '../../../apimachinery/errors.ts'
import { MapOfMaps } from '../../../apimachinery/nestedMaps.ts'
import { apiVersionOf, type GroupResource, groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { Client } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import { refOf } from '../../../client/refOf.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import {
  claimsStatus,
  hasReturnedStatus,
  neverReturns,
  withBornStatus,
} from '../../../placement/content/returnedStatus.ts'
import { combinedStatus, type Figures, figuresOf, type Share } from '../../../placement/outcome/combinedStatus.ts'
import { inOurGenerations, type Produced } from '../../../placement/outcome/observedGeneration.ts'
import { FIELD_MANAGER } from '../../../placement/words/names.ts'
import { isProjected } from '../../../placement/words/placement.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import type { ServedKinds } from '../inventory/servedKinds.ts'
import type { ObjectCache } from '../join/objectCache.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { CopyFact, CopyGenerations, Mailbox } from '../mailboxes/mailbox.ts'
import { ReportPace } from '../status/reportPace.ts'

export interface StatusReturnDeps {
  client: Client
  join: PlacementJoin
  cache: ObjectCache
  kinds: ServedKinds
  /** The mailbox, as far as it is known. */
  mailbox: (name: string) => Mailbox | undefined
  turns: WorkTurns
  clock: Clock
}

/** Copies that are looked at for one that reports a status. */
const MAX_LOOKS = 16

/** Facts of one copy. */
interface Known {
  readonly resourceVersion: string
  readonly figures: Figures | undefined
}

/** The copy's reported status, with the object's own generations in place of the copy's. */
function inGenerationsOf(
  object: Readonly<KubeObject>,
  copy: Readonly<KubeObject>,
  generations: CopyGenerations | undefined,
): unknown {
  if (object.metadata.generation === undefined || copy.metadata.generation === undefined) return copy.status
  return inOurGenerations(copy.status, producedBy(generations, copy.metadata.uid), object.status)
}

function producedBy(generations: CopyGenerations | undefined, uid: string | undefined): Produced | undefined {
  return generations && generations.uid === uid
    ? { here: generations.source, there: generations.generation }
    : undefined
}

export class StatusReturn {
  readonly #deps: StatusReturnDeps
  /** Facts of objects in several clusters whose state is wanted: by space, then by key, then by mailbox. */
  readonly #known = new MapOfMaps<ReadonlyMap<string, Known>>()
  /** An edit that reaches a thousand clusters causes a few reports, not a thousand. */
  readonly #pace = new ReportPace()

  constructor(deps: StatusReturnDeps) {
    this.#deps = deps
  }

  forget(space: string): void {
    this.#deps.kinds.forget(space)
    for (const key of this.#known.deleteAll(space).keys()) this.#pace.forget(`${space} ${key}`)
  }

  /** How long the next look at what runs in several clusters has to wait: each looks at all of them. */
  waitMs(space: string, key: string): number {
    return this.#known.get(space, key) ? this.#pace.waitMs(`${space} ${key}`, this.#deps.clock.now()) : 0
  }

  /**
   * All is known; `from` are the clusters where it runs, one at least; `before` is the object before it was counted. Answers whether it
   * stays away because an author's status is there.
   */
  async give(
    space: string,
    fact: ObjectFact,
    from: readonly Destination[],
    before: Readonly<KubeObject>,
  ): Promise<boolean> {
    if (neverReturns(fact.resource)) return false
    if (from.length > 1) {
      await this.#giveCombined(space, fact, from)
      return false
    }
    this.forgetObject(space, fact.key)
    return await this.#giveOnly(space, fact, from[0]!, before)
  }

  async #giveOnly(
    space: string,
    fact: ObjectFact,
    destination: Destination,
    before: Readonly<KubeObject>,
  ): Promise<boolean> {
    const mailbox = this.#deps.mailbox(destination.mailbox)
    const copy = mailbox?.copies.get(fact.key)
    if (copy && copy.owner !== space) return false // it is about to be taken over
    const reported = mailbox && copy && (await this.#copy(mailbox, fact, copy))
    if (reported && !isProjected(reported)) return false // put right in a moment
    const hasStatus = await this.#hasStatus(space, fact.resource)
    if (!hasStatus && reported?.status === undefined && !claimsStatus(before)) return false
    const object = await this.#get(space, fact)
    if (!object) return false
    if (!hasStatus) return !(await this.#applyPlain(space, fact, object, reported?.status))
    // a copy that is absent or without reports has no known status, least of all another cluster's
    if (reported?.status === undefined) {
      if (hasReturnedStatus(before)) await this.#write(space, fact, withBornStatus(object))
      return false
    }
    const status = inGenerationsOf(object, reported, mailbox?.generations.get(fact.key))
    if (!equalJson(object.status, status)) await this.#write(space, fact, { ...object, status })
    return false
  }

  /**
   * For a kind without the sub-resource. `status` is `undefined` where none is known. Answers whether authors let it stand.
   */
  async #applyPlain(space: string, fact: ObjectFact, object: KubeObject, status: unknown): Promise<boolean> {
    if (status === undefined ? !claimsStatus(object) : equalJson(object.status, status)) return true
    const { uid, name, namespace } = object.metadata
    const body = {
      apiVersion: apiVersionOf(fact.resource),
      kind: object.kind,
      metadata: { ...(uid && { uid }), name, ...(namespace && { namespace }) },
      ...(status !== undefined && { status }),
    }
    try {
      const options = { fieldManager: FIELD_MANAGER, force: false }
      const written = await this.#deps.client.in(space).patch(fact.resource, refOf(fact), 'apply', body, options)
      if (claimsStatus(written))
        this.#deps.join.workload(space).noteFeedback(fact.key, Number(written.metadata.resourceVersion))
      return true
    } catch (error) {
      if (!isStatusError(error, 'Conflict')) throw error
    }
    const now = await this.#get(space, fact)
    if (now === undefined || now.metadata.uid !== uid) return true // it went meanwhile
    // a part of a cluster's status is no status
    await this.#applyPlain(space, fact, now, undefined)
    return false
  }

  async #giveCombined(space: string, fact: ObjectFact, from: readonly Destination[]): Promise<void> {
    const { clock } = this.#deps
    this.#pace.looked(`${space} ${fact.key}`, clock.now())
    const shares = await this.#shares(space, fact, from)
    const object = await this.#get(space, fact)
    if (!object) return
    const status = combinedStatus(fact.resource, object, shares, timestamp(new Date(clock.now())))
    if (!equalJson(object.status, status)) await this.#write(space, fact, { ...object, status })
  }

  /** Statuses of the clusters; a changed one is read again. */
  async #shares(space: string, fact: ObjectFact, from: readonly Destination[]): Promise<Share[]> {
    const before = this.#known.get(space, fact.key)
    const known = new Map<string, Known>()
    const shares: Share[] = []
    const work = this.#deps.turns.begin({ owner: space })
    for (const { mailbox: name, syncTarget, locationName } of from) {
      const mailbox = this.#deps.mailbox(name)
      const copy = mailbox?.copies.get(fact.key)
      let last = before?.get(name)
      if (mailbox && copy?.owner === space) {
        if (last?.resourceVersion !== copy.resourceVersion) {
          const object = await this.#copy(mailbox, fact, copy)
          last = { resourceVersion: copy.resourceVersion, figures: object && figuresOf(fact.resource, object) }
          if (work.due) await work.rest()
        }
        known.set(name, last)
      }
      const produced = copy && producedBy(mailbox?.generations.get(fact.key), copy.uid)
      shares.push({ cluster: syncTarget ?? locationName, figures: known.get(name)?.figures, produced })
    }
    this.#known.set(space, fact.key, known)
    return shares
  }

  /** It is not in several clusters any more, or nobody asks. */
  forgetObject(space: string, key: string): void {
    if (this.#known.delete(space, key)) this.#pace.forget(`${space} ${key}`)
  }

  /** `indexed` is of the version that the fact tells of. */
  async takeBack(space: string, fact: ObjectFact, indexed: Readonly<KubeObject>): Promise<void> {
    this.forgetObject(space, fact.key)
    if (neverReturns(fact.resource)) return
    const object = fact.isOld ? await this.#get(space, fact) : indexed
    if (!object || !hasReturnedStatus(object)) return
    if (await this.#hasStatus(space, fact.resource)) await this.#write(space, fact, withBornStatus(object))
    else await this.#applyPlain(space, fact, object, undefined)
  }

  async #write(space: string, fact: ObjectFact, object: KubeObject): Promise<void> {
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER }
    const written = await this.#deps.client.in(space).update(fact.resource, object, options)
    if (hasReturnedStatus(written)) {
      this.#deps.join.workload(space).noteFeedback(fact.key, Number(written.metadata.resourceVersion))
    }
  }

  async #copy(mailbox: Mailbox, fact: ObjectFact, { resourceVersion }: CopyFact): Promise<KubeObject | undefined> {
    return this.#deps.cache.get(mailbox.space, fact.key, resourceVersion) ?? (await this.#get(mailbox.space, fact))
  }

  #get(space: string, fact: ObjectFact): Promise<KubeObject | undefined> {
    return unlessGone(this.#deps.client.in(space).get(fact.resource, refOf(fact)))
  }

  /** Whether an object has a status in these clusters that may come back. */
  async has(space: string, fact: ObjectFact, own: readonly Destination[]): Promise<boolean> {
    if (neverReturns(fact.resource)) return false
    if (await this.#hasStatus(space, fact.resource)) return true
    if (!this.#deps.join.workload(space).isDefined(fact.resource)) return false
    for (const { mailbox: name } of own.slice(0, MAX_LOOKS)) {
      const mailbox = this.#deps.mailbox(name)
      const copy = mailbox?.copies.get(fact.key)
      if (mailbox && copy?.owner === space && (await this.#copy(mailbox, fact, copy))?.status !== undefined) return true
    }
    return false
  }

  async #hasStatus(space: string, gr: GroupResource): Promise<boolean> {
    return (await this.#deps.kinds.of(space)).get(groupResourceName(gr))?.hasStatus ?? false
  }
}
