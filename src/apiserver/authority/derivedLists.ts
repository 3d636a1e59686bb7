/**
 * SyncerConfigs for readers of KubeStellar's API, who want a list of the objects to carry down. The center stores in SyncerConfig `the-one`
 * only the annotation that it means the projected objects; here the lists are made from the mailbox. Each read of them costs a look at all
 * of it, in slices; syncers need none.
 */
import { type GroupResource, isRecord, isSameResource } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import { type Carried, carriedLists } from '../../placement/desks/carriedObjects.ts'
import { isNeverCarried } from '../../placement/select/upsyncSets.ts'
import {
  CARRIES_ANNOTATION,
  CARRIES_PROJECTED,
  EDGE_GROUP,
  OWNER_ANNOTATION,
  PROJECTED_LABEL,
  PROJECTED_VALUE,
  SYNCER_CONFIGS,
} from '../../placement/words/placement.ts'
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import type { Revision, Store, Stored, StoreEvent } from '../../storage/store.ts'
import { atRevision, versionOf } from '../../storage/texts.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import type { DerivedParts } from '../registry/derivedParts.ts'
import { scanLabels } from '../registry/labelScanner.ts'

export interface DerivedListsDeps {
  store: Pick<Store, 'list'>
  turns: WorkTurns
}

const PAGE = 500
/** Objects that are looked at before the clock is. */
const LOOKED_AT = 64

export class DerivedLists implements DerivedParts {
  readonly #deps: DerivedListsDeps

  constructor(deps: DerivedListsDeps) {
    this.#deps = deps
  }

  concerns(type: GroupResource): boolean {
    return isSameResource(type, SYNCER_CONFIGS)
  }

  async whole(
    stored: Stored,
    { at, work }: { at?: Revision | undefined; work?: Work | undefined } = {},
  ): Promise<Stored> {
    if (!this.concerns(stored.key) || !stored.bytes.includes(CARRIES_ANNOTATION)) return stored
    const object = decodeObject(stored)
    const { [CARRIES_ANNOTATION]: carries, ...annotations } = object.metadata.annotations ?? {}
    if (carries !== CARRIES_PROJECTED) return stored
    const { space } = stored.key
    const lists = carriedLists(await this.#carried(space, at, work ?? this.#deps.turns.begin({ owner: space })))
    const spec = { ...(isRecord(object.spec) && object.spec), ...lists }
    const text = encodeObject({ ...object, metadata: { ...object.metadata, annotations }, spec })
    return versionOf(stored.key, stored.revision, text)
  }

  async events(events: readonly StoreEvent[]): Promise<readonly StoreEvent[]> {
    const derived: StoreEvent[] = []
    /** Configs whose content differs by later changes. */
    let isOld = false
    for (const event of events) {
      if (!this.concerns(event.key)) {
        isOld ||= changes(event)
        derived.push(event)
      } else if (event.type === 'delete') derived.push(event)
      else derived.push({ ...event, stored: await this.whole(event.stored, { at: event.revision }) })
    }
    const last = events.at(-1)
    if (!isOld || !last) return derived
    const { group, resource } = SYNCER_CONFIGS
    const { items } = await this.#deps.store.list(
      { space: last.key.space, group, resource },
      { at: last.revision, uncounted: true },
    )
    for (const previous of items) {
      if (!previous.bytes.includes(CARRIES_ANNOTATION)) continue
      const now = await this.whole(previous, { at: last.revision })
      if (now === previous) continue
      const stored = atRevision(now, last.revision)
      derived.push({ type: 'put', key: previous.key, revision: last.revision, stored, previous })
    }
    return derived
  }

  async #carried(space: string, at: Revision | undefined, work: Work): Promise<Carried[]> {
    const found: Carried[] = []
    let revision = at
    for (let after: Stored['key'] | undefined; ; ) {
      const page = await this.#deps.store.list(
        { space },
        { limit: PAGE, uncounted: true, ...(revision !== undefined && { at: revision }), ...(after && { after }) },
      )
      revision = page.revision
      for (const [i, stored] of page.items.entries()) {
        if (isCarried(stored)) found.push(carriedAs(stored))
        if (i % LOOKED_AT === LOOKED_AT - 1 && work.due) await work.rest()
      }
      after = page.items.at(-1)?.key
      if (!page.more || after === undefined) return found
    }
  }
}

/** Whether more or fewer objects are to be carried than before. */
function changes({ type, stored, previous }: StoreEvent): boolean {
  const before = previous !== undefined && isCarried(previous)
  return before !== (type === 'put' && isCarried(stored))
}

/** A Namespace that came only with its objects is not listed: it is wanted with them. */
function isCarried({ key, bytes }: Stored): boolean {
  if (key.group === EDGE_GROUP || isNeverCarried(key) || !bytes.includes(PROJECTED_LABEL)) return false
  const labels = scanLabels(bytes)
  if (labels === 'unread' || labels?.[PROJECTED_LABEL] !== PROJECTED_VALUE) return false
  return !isSameResource(key, NAMESPACES) || bytes.includes(`"${OWNER_ANNOTATION}"`)
}

const APIVERSION_START = '{"apiVersion":"'.length

function carriedAs({ key, bytes }: Stored): Carried {
  const { group, resource, namespace, name } = key
  const text = bytes.toString('latin1', APIVERSION_START, bytes.indexOf(0x22, APIVERSION_START))
  return { resource: { group, resource, version: text.slice(text.indexOf('/') + 1) }, namespace, name }
}
