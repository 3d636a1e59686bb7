/**
 * The status of an object in a workload space while it runs in exactly one cluster and a placement asks for it: what is reported
 * there, whole. Otherwise it is what the object was born with, if it was returned from a cluster; what others wrote stays.
 */
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import { inOurGenerations } from '../../apimachinery/observedGeneration.ts'
import { isProjected } from '../../apimachinery/placement.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client, ObjectRef } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { Mailbox, Meaning } from './mailbox.ts'
import { FIELD_MANAGER, resourceKey } from './names.ts'
import type { ObjectCache } from './objectCache.ts'
import type { PlacementJoin } from './placementJoin.ts'
import { hasReturnedStatus, withBornStatus } from './returnedStatus.ts'
import type { Destination } from './ways.ts'
import type { ObjectFact } from './workload.ts'

export interface SingletonStatusDeps {
  client: Client
  join: PlacementJoin
  cache: ObjectCache
  /** The mailbox, as far as it is known. */
  mailbox: (name: string) => Mailbox | undefined
}

/** Their status belongs to each server. */
const NO_STATUS: ReadonlySet<string> = new Set([resourceKey(NAMESPACES), resourceKey(CRDS)])

/** What the copy reports, with the object's own generations where it speaks of the copy's. */
function inGenerationsOf(
  object: Readonly<KubeObject>,
  { metadata: { uid, generation }, status }: Readonly<KubeObject>,
  meaning: Meaning | undefined,
): unknown {
  if (object.metadata.generation === undefined || generation === undefined) return status
  const known = meaning?.uid === uid ? meaning : undefined
  return inOurGenerations(status, known && { here: known.source, there: known.generation }, object.status)
}

export class SingletonStatus {
  readonly #deps: SingletonStatusDeps
  /** By space, what it serves, by resource key: whether it has a `status` sub-resource. */
  readonly #statusKinds = new Map<string, Promise<ReadonlyMap<string, boolean>>>()

  constructor(deps: SingletonStatusDeps) {
    this.#deps = deps
  }

  /** What a space serves is asked again at the next need. */
  forgetKinds(space: string): void {
    this.#statusKinds.delete(space)
  }

  /** `destination` is the only one, and all is known; `before` is the object before it was counted. */
  async give(space: string, fact: ObjectFact, destination: Destination, before: Readonly<KubeObject>): Promise<void> {
    if (NO_STATUS.has(resourceKey(fact.resource))) return
    const mailbox = this.#deps.mailbox(destination.mailbox)
    const copy = mailbox?.copies.get(fact.key)
    if (copy && copy.owner !== space) return // it is about to be taken over
    const reported =
      mailbox &&
      copy &&
      (this.#deps.cache.get(mailbox.space, fact.key, copy.resourceVersion) ?? (await this.#get(mailbox.space, fact)))
    if (reported && !isProjected(reported)) return // put right in a moment
    if (!(await this.#hasStatus(space, fact.resource))) return
    const object = await this.#get(space, fact)
    if (!object) return
    // of a copy that is not there, or of which nothing is heard yet, nothing is known: least of all what another cluster said
    if (reported?.status === undefined) {
      if (hasReturnedStatus(before)) await this.#write(space, fact, withBornStatus(object))
      return
    }
    const status = inGenerationsOf(object, reported, mailbox?.meanings.get(fact.key))
    if (!equalJson(object.status, status)) await this.#write(space, fact, { ...object, status })
  }

  /** `indexed` is of the version that the fact tells of. */
  async takeBack(space: string, fact: ObjectFact, indexed: Readonly<KubeObject>): Promise<void> {
    if (NO_STATUS.has(resourceKey(fact.resource))) return
    const object = fact.isOld ? await this.#get(space, fact) : indexed
    if (object && hasReturnedStatus(object) && (await this.#hasStatus(space, fact.resource)))
      await this.#write(space, fact, withBornStatus(object))
  }

  async #write(space: string, fact: ObjectFact, object: KubeObject): Promise<void> {
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER }
    const written = await this.#deps.client.in(space).update(fact.resource, object, options)
    if (hasReturnedStatus(written)) {
      this.#deps.join.workload(space).noteFeedback(fact.key, Number(written.metadata.resourceVersion))
    }
  }

  #get(space: string, fact: ObjectFact): Promise<KubeObject | undefined> {
    const ref: ObjectRef = { ...(fact.namespace && { namespace: fact.namespace }), name: fact.name }
    return unlessGone(this.#deps.client.in(space).get(fact.resource, ref))
  }

  async #hasStatus(space: string, gr: GroupResource): Promise<boolean> {
    let asked = this.#statusKinds.get(space)
    if (!asked) {
      asked = this.#discover(space)
      this.#statusKinds.set(space, asked)
    }
    try {
      return (await asked).get(resourceKey(gr)) ?? false
    } catch (error) {
      if (this.#statusKinds.get(space) === asked) this.#statusKinds.delete(space)
      throw error
    }
  }

  async #discover(space: string): Promise<ReadonlyMap<string, boolean>> {
    const served = await this.#deps.client.in(space).discover()
    return new Map(served.map(kind => [resourceKey(kind), kind.subresources.includes('status')]))
  }
}
