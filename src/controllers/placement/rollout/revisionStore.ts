/**
 * Revisions in the workload space that they are about: PlacementRevision, PlacementContent and PlacementRollout, which go with their
 * EdgePlacement. A PlacementRevision is written last and commits its contents; those that no revision has are cleared away at a start.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { at, num, record, str } from '../../../apimachinery/fields.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  isRecord,
  type KubeObject,
} from '../../../apimachinery/object.ts'
import type { Client, SpaceClient } from '../../../client/client.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { contentName, revisionName } from '../../../placement/rollout/revisionNames.ts'
import { FIELD_MANAGER, parseObjectKey } from '../../../placement/words/names.ts'
import {
  CUSTOMIZERS,
  EDGE_API_VERSION,
  EDGE_GROUP,
  EDGE_PLACEMENTS,
  LOCATIONS,
  PLACEMENT_CONTENTS,
  PLACEMENT_LABEL,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
} from '../../../placement/words/placement.ts'
import { placementLabel } from '../../../placement/words/placementSlices.ts'
import { factOf } from '../join/workloads.ts'
import { type ContentRow, ContentRows } from './contentRows.ts'
import { locationReads } from './locationContent.ts'

/** A placement of a space. */
export interface PlacementId {
  readonly space: string
  readonly name: string
  readonly uid: string
}

/** An object that a new revision has and the one before has not, or has otherwise. */
export interface NewContent {
  readonly key: string
  readonly resource: GroupVersionResource
  readonly implied: boolean
  readonly digest: string
  readonly object: KubeObject
}

export interface NewRevision {
  readonly revision: number
  readonly by: string
  /** RFC 3339. */
  readonly at: string
  readonly objects: number
  /** The newest revision of the store in it. */
  readonly resourceVersion: number
  readonly contents: readonly NewContent[]
  readonly closed: readonly ContentRow[]
}

const API_VERSION = `${EDGE_GROUP}/${PLACEMENT_REVISIONS.version}`
/** Contents that are read at a time. */
const PAGE = 100
/** Contents that are written at a time. */
const TOGETHER = 16
const MAX_CHANGED = 20

export class RevisionStore {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async load(id: PlacementId): Promise<ContentRows> {
    const rows = new ContentRows()
    for await (const { spec } of this.#listed(id, PLACEMENT_REVISIONS)) {
      const [by, at, objects] = [str(spec, 'by'), str(spec, 'at'), num(spec, 'objects')]
      rows.commit(num(spec, 'revision'), { by, at, objects })
    }
    const { newest } = rows
    for await (const object of this.#listed(id, PLACEMENT_CONTENTS)) {
      const row = rowOf(object)
      if (!row) continue
      // an earlier process ended before the revision that ends it
      if (row.until !== undefined && row.until > newest) {
        await this.#setUntil(id, row, undefined)
        row.until = undefined
      }
      rows.add(row)
    }
    for (const row of rows.takeUnused()) await this.#delete(id, PLACEMENT_CONTENTS, row.name)
    return rows
  }

  /** Contents that existing revisions have, too. */
  async add(id: PlacementId, rows: ContentRows, contents: readonly NewContent[], from: number): Promise<void> {
    for (const row of await this.#writeContents(id, contents, from)) rows.add(row)
  }

  async save(id: PlacementId, rows: ContentRows, news: NewRevision): Promise<void> {
    const { revision, by, at, objects, contents, closed, resourceVersion } = news
    const made = await this.#writeContents(id, contents, revision)
    const ended = [...closed]
    for (const { key } of contents) {
      const before = rows.at(key, revision - 1)
      if (before) ended.push(before)
    }
    for (let from = 0; from < ended.length; from += TOGETHER)
      await Promise.all(ended.slice(from, from + TOGETHER).map(row => this.#setUntil(id, row, revision)))
    const keys = [...contents.map(({ key }) => key), ...closed.map(({ key }) => key)]
    await this.#create(id, PLACEMENT_REVISIONS, {
      ...head(id, 'PlacementRevision', revisionName(id.name, revision)),
      spec: {
        placement: id.name,
        placementUID: id.uid,
        revision,
        by,
        at,
        objects,
        resourceVersion: String(resourceVersion),
        changedCount: keys.length,
        changed: keys.slice(0, MAX_CHANGED).map(textOf),
      },
    })
    for (const row of ended) row.until = revision
    for (const row of made) rows.add(row)
    rows.commit(revision, { by, at, objects })
  }

  async forget(id: PlacementId, rows: ContentRows, revision: number): Promise<void> {
    await this.#delete(id, PLACEMENT_ROLLOUTS, revisionName(id.name, revision))
    await this.#delete(id, PLACEMENT_REVISIONS, revisionName(id.name, revision))
    for (const row of rows.drop(revision)) await this.#delete(id, PLACEMENT_CONTENTS, row.name)
  }

  /** The object as a row has it. */
  async read({ space }: PlacementId, row: ContentRow): Promise<KubeObject | undefined> {
    const content = await unlessGone(this.#client.in(space).get(PLACEMENT_CONTENTS, { name: row.name }))
    const object = at(content?.spec, 'object')
    return isRecord(object) ? (object as KubeObject) : undefined
  }

  /** The EdgePlacement itself. */
  async placement({ space, name }: PlacementId): Promise<KubeObject | undefined> {
    return await unlessGone(this.#client.in(space).get(EDGE_PLACEMENTS, { name }))
  }

  /** The newest revision that somebody pinned. */
  async pinned(id: PlacementId): Promise<number | undefined> {
    let pinned: number | undefined
    for await (const { spec } of this.#listed(id, PLACEMENT_REVISIONS))
      if (at(spec, 'pinned') === true) pinned = Math.max(pinned ?? 0, num(spec, 'revision'))
    return pinned
  }

  async rollouts(id: PlacementId): Promise<KubeObject[]> {
    const found: KubeObject[] = []
    for await (const object of this.#listed(id, PLACEMENT_ROLLOUTS)) found.push(object)
    return found
  }

  async rollout({ space, name }: PlacementId, revision: number): Promise<KubeObject | undefined> {
    return await unlessGone(this.#client.in(space).get(PLACEMENT_ROLLOUTS, { name: revisionName(name, revision) }))
  }

  /** Begins a rollout: the one of its revision, if there was one before, begins anew. */
  async beginRollout(id: PlacementId, spec: Record<string, unknown> & { revision: number }): Promise<KubeObject> {
    const api = this.#client.in(id.space)
    const options = { fieldManager: FIELD_MANAGER }
    const before = await this.rollout(id, spec.revision)
    if (!before || str(before.spec, 'placementUID') !== id.uid) {
      const created = { ...head(id, 'PlacementRollout', revisionName(id.name, spec.revision)), spec }
      return await this.#create(id, PLACEMENT_ROLLOUTS, created)
    }
    const cleared = await this.writeStatus(id, spec.revision, {
      state: 'Running',
      reason: '',
      message: '',
      finishedAt: null,
      clusters: [],
    })
    // what people wrote was about the rollout of before, and of its strategy nothing stays
    return await api.update(PLACEMENT_ROLLOUTS, { ...cleared, spec }, options)
  }

  async writeStatus(id: PlacementId, revision: number, status: object): Promise<KubeObject> {
    const api = this.#client.in(id.space)
    const ref = { name: revisionName(id.name, revision) }
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER }
    return await api.patch(PLACEMENT_ROLLOUTS, ref, 'merge', { status }, options)
  }

  /** An earlier placement of this name may have left one that is not cleared away yet. */
  async #create(id: PlacementId, resource: GroupVersionResource, object: KubeObject): Promise<KubeObject> {
    const api = this.#client.in(id.space)
    const options = { fieldManager: FIELD_MANAGER }
    try {
      return await api.create(resource, object, options)
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      const { name = '' } = object.metadata
      const before = await unlessGone(api.get(resource, { name }))
      if (str(before?.spec, 'placementUID') === id.uid) throw error
      await this.#delete(id, resource, name)
      return await api.create(resource, object, options)
    }
  }

  async #writeContents(id: PlacementId, contents: readonly NewContent[], from: number): Promise<ContentRow[]> {
    const made: ContentRow[] = []
    for (let i = 0; i < contents.length; i += TOGETHER) {
      const some = contents.slice(i, i + TOGETHER)
      made.push(...(await Promise.all(some.map(content => this.#writeContent(id, content, from)))))
    }
    return made
  }

  async #writeContent(id: PlacementId, content: NewContent, revision: number): Promise<ContentRow> {
    const { key, resource, implied, digest, object } = content
    const { status: _status, ...described } = object
    const spec = {
      placement: id.name,
      placementUID: id.uid,
      key,
      resource,
      from: revision,
      ...(implied && { implied }),
      digest,
      object: described,
    }
    const stored = { ...head(id, 'PlacementContent', contentName(id.uid, key, revision)), spec }
    const api = this.#client.in(id.space)
    try {
      await api.create(PLACEMENT_CONTENTS, stored, { fieldManager: FIELD_MANAGER })
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      // of an attempt that ended before its revision was written
      const before = await api.get(PLACEMENT_CONTENTS, { name: stored.metadata.name })
      await api.update(PLACEMENT_CONTENTS, { ...before, spec }, { fieldManager: FIELD_MANAGER })
    }
    return rowOf(stored)!
  }

  async #setUntil({ space }: PlacementId, { name }: ContentRow, until: number | undefined): Promise<void> {
    const body = { spec: { until: until ?? null } }
    const options = { fieldManager: FIELD_MANAGER }
    await unlessGone(this.#client.in(space).patch(PLACEMENT_CONTENTS, { name }, 'merge', body, options))
  }

  async #delete({ space }: PlacementId, resource: GroupVersionResource, name: string): Promise<void> {
    await unlessGone(this.#client.in(space).delete(resource, { name }))
  }

  async *#listed({ space, name, uid }: PlacementId, resource: GroupVersionResource): AsyncGenerator<KubeObject> {
    for await (const objects of storedPages(this.#client.in(space), resource, name))
      for (const object of objects) if (str(object.spec, 'placementUID') === uid) yield object
  }
}

/** All of a kind that is stored of the placements of a name, earlier ones included. */
export async function* storedPages(
  api: SpaceClient,
  resource: GroupVersionResource,
  placement: string,
): AsyncGenerator<readonly KubeObject[]> {
  const labelSelector = `${PLACEMENT_LABEL}=${placementLabel(placement)}`
  let rest: string | undefined
  do {
    const options = { labelSelector, limit: PAGE, ...(rest !== undefined && { continue: rest }) }
    const page = await api.list(resource, options)
    yield page.items
    rest = page.continue
  } while (rest)
}

function head({ name: placement, uid }: PlacementId, kind: string, name: string) {
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: {
      name,
      labels: { [PLACEMENT_LABEL]: placementLabel(placement) },
      ownerReferences: [{ apiVersion: EDGE_API_VERSION, kind: 'EdgePlacement', name: placement, uid }],
    },
  }
}

function rowOf({ metadata, spec }: KubeObject): ContentRow | undefined {
  const [key, from, object] = [str(spec, 'key'), num(spec, 'from'), at(spec, 'object')]
  const { group, version, resource: plural } = record(spec, 'resource')
  if (key === '' || from === 0 || !isRecord(object)) return undefined
  const body = object as KubeObject
  const resource = { group: String(group), version: String(version), resource: String(plural) }
  const is = (kind: GroupResource): boolean => resource.group === kind.group && resource.resource === kind.resource
  const { namespace, name } = parseObjectKey(key)
  const revision = Number(body.metadata.resourceVersion)
  const bodyIn = (): Pick<ContentRow, 'fact' | 'customizer' | 'location' | 'reads'> => {
    const none = { fact: undefined, customizer: undefined, location: undefined, reads: [] }
    if (is(LOCATIONS)) return { ...none, location: body }
    const reads = locationReads(body)
    if (is(CUSTOMIZERS)) return { ...none, customizer: body, reads }
    return { ...none, fact: factOf({ object: body, resource, namespace, name, revision }, key), reads }
  }
  return {
    name: metadata.name ?? '',
    key,
    from,
    until: num(spec, 'until') || undefined,
    resource,
    implied: at(spec, 'implied') === true,
    digest: str(spec, 'digest'),
    ...bodyIn(),
    seen: revision,
  }
}

/** `deployments.apps "web/page"`, without quotes. */
function textOf(key: string): string {
  const { group, resource, namespace, name } = parseObjectKey(key)
  return `${resource}${group && `.${group}`} ${namespace && `${namespace}/`}${name}`
}
