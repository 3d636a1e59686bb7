/**
 * Items of summaries read statuses here: of one object's copies in all clusters through {@link WorkStatuses}, of objects that were
 * carried up from their mailboxes.
 */

import { at, record } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { LAST_APPLIED_ANNOTATION } from '../../../apimachinery/resources.ts'
import { toCel } from '../../../apimachinery/structural/celValues.ts'
import type { Client } from '../../../client/client.ts'
import { refOf } from '../../../client/refOf.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { associatedWith, isAssociable, matchesKinds } from '../../../placement/associated/associated.ts'
import { type CarriedTests, upsyncs } from '../../../placement/select/placementSpec.ts'
import type { Origin } from '../../../placement/summary/combination.ts'
import type { CarriedSubject } from '../../../placement/summary/combinedStatus.ts'
import { type Collected, type Reading, read } from '../../../placement/summary/reading.ts'
import { describeObject, parseObjectKey } from '../../../placement/words/names.ts'
import type { Ways } from '../../../placement/words/ways.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { WorkStatuses } from '../status/workStatuses/workStatuses.ts'
import type { UsedCollector } from './collectors.ts'
import type { Item, ItemSource } from './readings.ts'

interface Common {
  readonly space: string
  /** Mailboxes of the clusters that the placement leads to. */
  readonly mailboxes: Pick<Ways, 'has' | 'keys'>
  readonly collectors: readonly UsedCollector[]
  readonly mailbox: (name: string) => Mailbox | undefined
  /** As the space calls the cluster of a mailbox. */
  readonly labelOf: (mailbox: string) => string
  /** Whether the cluster of a mailbox is silent. */
  readonly isStale: (mailbox: string) => boolean
  /** Counts. */
  readonly evaluated: () => void
  /** Whether object, placement and clusters are still those. */
  readonly isCurrent: () => boolean
}

export interface CopyItemsDeps extends Common {
  readonly fact: ObjectFact
  readonly source: KubeObject
  readonly statuses: Pick<WorkStatuses, 'at'>
  /** Remembers a copy that is answered as being written. */
  readonly early: (mailbox: string, key: string) => void
}

/** By mailbox. */
export class CopyItems implements ItemSource {
  readonly #deps: CopyItemsDeps
  #object: unknown

  constructor(deps: CopyItemsDeps) {
    this.#deps = deps
  }

  isCurrent(): boolean {
    return this.#deps.isCurrent()
  }

  ids(): Iterable<string> {
    return this.#deps.mailboxes.keys()
  }

  async read(id: string, known: Item | undefined): Promise<Item | undefined> {
    const { space, fact, mailboxes, collectors, statuses, mailbox, labelOf, isStale, early } = this.#deps
    if (!mailboxes.has(id)) return undefined
    const origin = { cluster: labelOf(id) }
    if (isStale(id)) return staleItem(origin)
    const row = await statuses.at(space, id, fact.key)
    if (!row) return undefined
    const { state, reason, message, health, healthMessage } = record(row.head, 'status')
    if (state === 'Projecting') early(id, fact.key)
    const revision = Number(mailbox(id)?.copies.get(fact.key)?.resourceVersion ?? 0)
    const reads = collectors.some(({ collector }) => collector.readsObject)
    const stamp = [
      origin.cluster,
      revision,
      reads && fact.revision,
      state,
      reason,
      message,
      health,
      healthMessage,
    ].join('\n')
    if (known?.stamp === stamp) return known
    const whole = await row.whole()
    if (!whole) return undefined
    const reported = at(whole, 'status', 'reported')
    const lastReturnedUpdateTimestamp = at(whole, 'status', 'reportedTime')
    const propagation = { state, reason, message, health, healthMessage, lastReturnedUpdateTimestamp }
    this.#object ??= reads ? toCel(shownOf(this.#deps.source, false), undefined) : {}
    const collected = collectedOf(origin, this.#object, reported, propagation)
    this.#deps.evaluated()
    return { origin, isStale: false, readings: readAll(collectors, collected), revision, stamp }
  }
}

export interface CarriedItemsDeps extends Common {
  readonly tests: CarriedTests
  readonly subject: CarriedSubject
  readonly client: Client
  readonly join: Pick<PlacementJoin, 'sourcesOf' | 'associatedOf'>
}

/** Objects that one summary is about. */
export const MAX_CARRIED_ITEMS = 20_000

/** By mailbox and key. */
export class CarriedItems implements ItemSource {
  readonly #deps: CarriedItemsDeps

  constructor(deps: CarriedItemsDeps) {
    this.#deps = deps
  }

  isCurrent(): boolean {
    return this.#deps.isCurrent()
  }

  *ids(): Generator<string | undefined> {
    let left = MAX_CARRIED_ITEMS
    for (const name of this.#deps.mailboxes.keys()) {
      const granted = memo((root: string) => this.#granted(name, root))
      for (const key of this.#deps.mailbox(name)?.carried.keys() ?? []) {
        const isRequested = this.#isRequested(name, key, granted)
        yield isRequested ? `${name} ${key}` : undefined
        if (isRequested && --left === 0) return
      }
    }
  }

  async read(id: string, known: Item | undefined, count: number): Promise<Item | undefined> {
    const { collectors, client, mailbox, labelOf, isStale } = this.#deps
    const blank = id.indexOf(' ')
    const [name, key] = [id.slice(0, blank), id.slice(blank + 1)]
    const box = mailbox(name)
    const carried = box?.carried.get(key)
    if (!box || !carried || !this.#isRequested(name, key, root => this.#granted(name, root))) return undefined
    if (!known && count >= MAX_CARRIED_ITEMS) return undefined
    const origin = { cluster: labelOf(name), object: describeObject(parseObjectKey(key)) }
    if (isStale(name)) return staleItem(origin)
    const stamp = `${origin.cluster}\n${carried.resourceVersion}`
    if (known?.stamp === stamp) return known
    const object = await unlessGone(client.in(box.space).get(carried.resource, refOf(parseObjectKey(key))))
    if (!object) return undefined
    const { health, message } = associatedWith(object) ?? {}
    const propagation = { ...(health && { health }), ...(message && { healthMessage: message }) }
    const collected = collectedOf(origin, toCel(shownOf(object, true), undefined), object.status, propagation)
    this.#deps.evaluated()
    return {
      origin,
      isStale: false,
      readings: readAll(collectors, collected),
      revision: Number(carried.resourceVersion),
      stamp,
    }
  }

  /** @param granted kinds that belong to the placement by a copy */
  #isRequested(name: string, key: string, granted: (root: string) => readonly string[]): boolean {
    const { space, tests, mailboxes, mailbox } = this.#deps
    const box = mailbox(name)
    if (!box || !mailboxes.has(name)) return false
    const { group, resource, namespace, name: objectName } = parseObjectKey(key)
    const object = { resource: { group, resource }, namespace, name: objectName }
    if (upsyncs(tests.upsync, object) && box.share?.requestedBy(object).includes(space)) return true
    const { root, requestedBy } = box.carried.get(key) ?? {}
    if (!tests.associated || root === undefined || !requestedBy?.split(',').includes(space)) return false
    return isAssociable(object.resource) && matchesKinds(granted(root), object.resource)
  }

  #granted(mailbox: string, root: string): readonly string[] {
    const { space, subject, join } = this.#deps
    const claim = join.sourcesOf(mailbox, root).find(one => one.space === space)
    const asks = claim ? join.associatedOf(claim) : []
    return asks.find(({ placement }) => placement === subject.placement)?.kinds ?? []
  }
}

/** The same for the same text. */
function memo<T>(of: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return text => {
    if (!known.has(text)) known.set(text, of(text))
    return known.get(text)!
  }
}

function staleItem(origin: Origin): Item {
  return { origin, isStale: true, readings: [], revision: 0, stamp: '' }
}

function readAll(collectors: readonly UsedCollector[], collected: Collected): Reading[] {
  return collectors.map(({ collector }) => read(collector, collected))
}

/** @param object as CEL has it */
function collectedOf(origin: Origin, object: unknown, status: unknown, propagation: object): Collected {
  const rest = {
    returned: { ...(status !== undefined && { status }) },
    inventory: { name: origin.cluster },
    propagation,
  }
  return { obj: object, ...(toCel(rest, undefined) as Omit<Collected, 'obj'>) }
}

/** The object without contents of Secrets and bookkeeping: readers of summaries need no right on the object. */
function shownOf(object: KubeObject, withStatus: boolean): object {
  const { managedFields: _, annotations, ...metadata } = object.metadata
  const { [LAST_APPLIED_ANNOTATION]: __, ...shown } = annotations ?? {}
  const { status, data, stringData, ...rest } = object
  const isSecret = object.kind === 'Secret' && object.apiVersion === 'v1'
  return {
    ...rest,
    ...(!isSecret && data !== undefined && { data }),
    ...(!isSecret && stringData !== undefined && { stringData }),
    ...(withStatus && status !== undefined && { status }),
    metadata: { ...metadata, ...(annotations && { annotations: shown }) },
  }
}
