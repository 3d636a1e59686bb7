/**
 * The difference between two revisions of a placement, or between one and the objects as they are in the space now. Contents of revisions
 * are read from the store. They are shown to users who may get the objects, and values of Secrets are hashes.
 */

import { StatusError, statusError } from '../../../apimachinery/errors.ts'
import { at, num, record, str } from '../../../apimachinery/fields.ts'
import { JsonDigests } from '../../../apimachinery/jsonDigests.ts'
import { type GroupVersionResource, isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { inSlices } from '../../../apimachinery/steps.ts'
import type { Client, SpaceClient } from '../../../client/client.ts'
import { refOf } from '../../../client/refOf.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { MAX_COMPARED, MAX_COMPARED_BYTES } from '../../../placement/desks/comparedRevisions.ts'
import type { ObjectPreview, Previews, RevisionsRequest } from '../../../placement/desks/placementPreview.ts'
import { revisionName } from '../../../placement/rollout/revisionNames.ts'
import { objectKey, parseObjectKey } from '../../../placement/words/names.ts'
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  LOCATIONS,
  PLACEMENT_CONTENTS,
  PLACEMENT_REVISIONS,
} from '../../../placement/words/placement.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import { storedPages } from '../rollout/revisionStore.ts'
import { customizerKey } from '../rollout/stagedPlacement.ts'
import { PreviewGroups } from './previewGroups.ts'

export interface PreviewRevisionsDeps {
  client: Client
  join: Pick<PlacementJoin, 'workload'>
  knows: (space: string, key: string) => boolean
}

/** An object at one of the two times. */
interface Side {
  readonly resource: GroupVersionResource
  /** Equal versions have equal contents; `''`: unknown. */
  readonly version: string
  /** The revision since which it is so. */
  readonly since?: number
  read(): Promise<KubeObject | undefined>
}

interface Pair {
  before?: Side
  after?: Side
}

export async function previewRevisions(deps: PreviewRevisionsDeps, request: RevisionsRequest): Promise<Previews> {
  const { space, placement, to, objects, mayGet, gone, work } = request
  const api = deps.client.in(space)
  const wanted = objects && new Set(objects.map(one => objectKey(one, one.namespace, one.name)))
  const pairs = await storedPairs(api, request, wanted)
  if (to === undefined) addPresent(deps, request, { api, pairs, wanted })
  const groups = new PreviewGroups(new JsonDigests())
  const found: ObjectPreview[] = []
  let [hidden, more, looked] = [0, 0, 0]
  for (const [key, { before, after }] of [...pairs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (gone?.aborted) break
    if (work?.due) await work.rest()
    if (wanted === undefined && before && before.version !== '' && before.version === after?.version) continue
    if (looked === MAX_COMPARED || groups.comparedBytes >= MAX_COMPARED_BYTES) {
      more++
      continue
    }
    const { namespace, name, group, resource } = parseObjectKey(key)
    const place = { namespace, name }
    if (!(await mayGet((after ?? before)!.resource, place))) {
      hidden++
      continue
    }
    looked++
    const [then, now] = [await before?.read(), await after?.read()]
    const body = now ?? then
    if (!body) continue
    const compared = await inSlices(groups.compared({ before: then, after: now }), work)
    if (compared.action === 'Unchanged' && wanted === undefined) continue
    const about = { group, resource, kind: body.kind, ...(namespace !== '' && { namespace }), name }
    const since = then && before?.since !== undefined ? { revision: before.since } : {}
    found.push({ ...about, operation: 'unchanged', placements: [placement], groups: [compared], ...since })
  }
  return { objects: found, rollouts: [], ...(hidden > 0 && { hidden }), ...(more > 0 && { more }) }
}

/** Rows of the revisions, by the object's key. */
async function storedPairs(
  api: SpaceClient,
  { placement, from, to, gone, work }: RevisionsRequest,
  wanted: ReadonlySet<string> | undefined,
): Promise<Map<string, Pair>> {
  const uidAt = async (number = 0) => (number === 0 ? undefined : await uidOf(api, placement, number))
  const [before, after] = [await uidAt(from), await uidAt(to)]
  const pairs = new Map<string, Pair>()
  for await (const contents of storedPages(api, PLACEMENT_CONTENTS, placement)) {
    for (const { metadata, spec } of contents) {
      const key = str(spec, 'key')
      if (wanted?.has(key) === false) continue
      // Locations of an inventory are no objects of this space
      const { group, resource } = record(spec, 'resource')
      if (group === LOCATIONS.group && resource === LOCATIONS.resource) continue
      const uid = str(spec, 'placementUID')
      const [isBefore, isAfter] = [uid === before && isIn(spec, from), uid === after && isIn(spec, to ?? 0)]
      if (!isBefore && !isAfter) continue
      const side = sideOf(api, metadata.name ?? '', spec)
      pairs.set(key, { ...pairs.get(key), ...(isBefore && { before: side }), ...(isAfter && { after: side }) })
    }
    if (work?.due) await work.rest()
    if (gone?.aborted) break
  }
  return pairs
}

/** @throws StatusError NotFound */
async function uidOf(api: SpaceClient, placement: string, number: number): Promise<string> {
  const name = revisionName(placement, number)
  const { spec } = await api.get(PLACEMENT_REVISIONS, { name })
  if (str(spec, 'placement') !== placement) throw statusError.notFound(PLACEMENT_REVISIONS, name)
  return str(spec, 'placementUID')
}

function isIn(spec: unknown, revision: number): boolean {
  const until = num(spec, 'until')
  return num(spec, 'from') <= revision && (until === 0 || revision < until)
}

function sideOf(api: SpaceClient, name: string, spec: unknown): Side {
  const { group, version, resource } = record(spec, 'resource')
  return {
    resource: { group: String(group), version: String(version), resource: String(resource) },
    version: str(spec, 'object', 'metadata', 'resourceVersion'),
    since: num(spec, 'from'),
    async read() {
      const content = await unlessGone(api.get(PLACEMENT_CONTENTS, { name }))
      const object = at(content?.spec, 'object')
      if (!isRecord(object))
        throw new StatusError('ServiceUnavailable', 'a revision is just being forgotten; try again', {
          retryAfterSeconds: 1,
        })
      return object as KubeObject
    },
  }
}

interface Present {
  readonly api: SpaceClient
  readonly pairs: Map<string, Pair>
  readonly wanted: ReadonlySet<string> | undefined
}

/** The objects as they are now: those of the question, else all that the placement selects. */
function addPresent(
  { join, knows }: PreviewRevisionsDeps,
  { space, placement }: RevisionsRequest,
  { api, pairs, wanted }: Present,
): void {
  if (!knows(space, objectKey(EDGE_PLACEMENTS, '', placement)))
    throw new StatusError('ServiceUnavailable', 'it is not known yet what is in this space; try again')
  const workload = join.workload(space)
  const read = (resource: GroupVersionResource, key: string) => async () =>
    await unlessGone(api.get(resource, refOf(parseObjectKey(key))))
  for (const key of wanted ?? workload.selectedBy(placement)) {
    const fact = workload.get(key)
    const resource = fact?.resource ?? pairs.get(key)?.before?.resource
    if (!resource) continue
    const version = fact ? String(fact.revision) : ''
    pairs.set(key, { ...pairs.get(key), after: { resource, version, read: read(resource, key) } })
    if (wanted || !fact?.customizer) continue
    const customizer = customizerKey(fact.customizer)
    const after = { resource: CUSTOMIZERS, version: '', read: read(CUSTOMIZERS, customizer) }
    pairs.set(customizer, { ...pairs.get(customizer), after })
  }
}
