/**
 * Outcome of each object of a space in each cluster of its placements: a WorkStatus. For an object without a namespace it is a
 * ClusterWorkStatus. Nothing of it is stored. The class {@link SpaceCluster} gives a copy's state, as it does for the counts of placements.
 * The cluster's report is read from the copy on demand.
 */

import { StatusError } from '../../../../apimachinery/errors.ts'
import { at, list, str } from '../../../../apimachinery/fields.ts'
import { fixedUid } from '../../../../apimachinery/fixedUid.ts'
import { apiVersionOf, groupResourceName, type KubeObject } from '../../../../apimachinery/object.ts'
import type { Client } from '../../../../client/client.ts'
import { refOf } from '../../../../client/refOf.ts'
import { unlessGone } from '../../../../client/unlessGone.ts'
import type {
  Answerer,
  AnswerFollower,
  AnswerName,
  AnswerRange,
  AnswerRow,
  Pace,
} from '../../../../placement/desks/answered.ts'
import { type CopyVerdict, healthIn } from '../../../../placement/outcome/copyState.ts'
import { inOurGenerations } from '../../../../placement/outcome/observedGeneration.ts'
import { isShared, parseObjectKey } from '../../../../placement/words/names.ts'
import {
  LOCATION_LABEL,
  LOCATION_LABELS,
  OWNED_SINCE_ANNOTATION,
  WORK_STATUSES,
} from '../../../../placement/words/placement.ts'
import { splitWorkStatusName, tailOf } from '../../../../placement/words/workStatusNames.ts'
import type { SourceReader } from '../../copies/sourceReader.ts'
import type { ServedKind, ServedKinds } from '../../inventory/servedKinds.ts'
import type { ObjectCache } from '../../join/objectCache.ts'
import type { PlacementJoin } from '../../join/placementJoin.ts'
import { inOrder, type SpaceLocation, type SpaceLocations } from '../../join/spaceLocations.ts'
import type { ObjectFact } from '../../join/workload.ts'
import type { CopyFact, Mailbox } from '../../mailboxes/mailbox.ts'
import type { RetainedCopies } from '../../retention/retainedCopies.ts'
import { SpaceCluster, type SpaceClusterDeps } from '../spaceCluster.ts'
import type { WorkStatusFollowers } from './workStatusFollowers.ts'
import { type Keyed, WorkStatusOrder } from './workStatusOrder.ts'

export interface WorkStatusesDeps {
  client: Client
  join: PlacementJoin
  cache: ObjectCache
  sources: Pick<SourceReader, 'read'>
  kinds: ServedKinds
  clusters: SpaceClusterDeps
  mailbox: (name: string) => Mailbox | undefined
  locations: SpaceLocations
  followers: WorkStatusFollowers
  retained: Pick<RetainedCopies, 'of' | 'verdict'>
  /** Whether all is known that a space places, and where. */
  isKnown: (space: string) => boolean
  pathOf: (space: string) => string | undefined
}

const RETRY_SECONDS = 2
const NOTHING: ReadonlyMap<string, string> = new Map()
const MAX_LABEL = 63

export class WorkStatuses implements Answerer {
  readonly #deps: WorkStatusesDeps
  readonly #isNamespaced: boolean
  readonly #order = new WorkStatusOrder()

  constructor(deps: WorkStatusesDeps, { isNamespaced }: { isNamespaced: boolean }) {
    this.#deps = deps
    this.#isNamespaced = isNamespaced
  }

  follow(space: string, follower: AnswerFollower): () => void {
    return this.#deps.followers.follow(space, this.#isNamespaced, follower)
  }

  async row(space: string, { namespace, name }: AnswerName): Promise<AnswerRow | undefined> {
    requireKnown(this.#deps.isKnown(space))
    const requested = splitWorkStatusName(namespace, name)
    const location =
      requested && (this.#deps.locations.of(space).byLabel.get(requested.label) ?? this.#former(space, requested))
    if (!requested || !location || (namespace !== '') !== this.#isNamespaced) return undefined
    const kinds = await this.#deps.kinds.of(space)
    return this.#rowOf(new SpaceCluster(this.#deps.clusters, space, location.mailbox), location, requested.key, {
      kinds,
      fixed: NOTHING,
    })
  }

  /** The work status of an object in the cluster of a mailbox. */
  async at(space: string, mailbox: string, key: string): Promise<AnswerRow | undefined> {
    const location = this.#deps.locations.behind(space, mailbox)
    if (!location) return undefined
    const kinds = await this.#deps.kinds.of(space)
    return this.#rowOf(new SpaceCluster(this.#deps.clusters, space, mailbox), location, key, { kinds, fixed: NOTHING })
  }

  async *rows({ space, namespace, after, fixed }: AnswerRange, pace: Pace): AsyncGenerator<AnswerRow> {
    requireKnown(this.#deps.isKnown(space))
    const kinds = await this.#deps.kinds.of(space)
    const retained = await this.#retained(space, { namespace, fixed }, pace)
    for (const within of this.#namespaces(space, namespace, retained)) {
      if (after && within < after.namespace) continue
      const placed = await this.#keysIn(space, { namespace: within, fixed }, pace)
      const left = retained.get(within)
      for (const location of this.#locationsOf(space, placed.length > 0, left)) {
        const { label, destination } = location
        const last = after?.namespace === within ? after.name : undefined
        if (last !== undefined && `${label}:` < last && !last.startsWith(`${label}:`)) continue
        if ((fixed.get('spec.location.name') ?? destination.locationName) !== destination.locationName) continue
        let cluster = new SpaceCluster(this.#deps.clusters, space, location.mailbox)
        for (const [tail, key] of both(placed, left?.get(location.mailbox))) {
          if (last !== undefined && `${label}:${tail}` <= last) continue
          const row = this.#rowOf(cluster, location, key, { kinds, fixed })
          if (row) yield row
          if (!pace.due) continue
          await pace.rest()
          cluster = new SpaceCluster(this.#deps.clusters, space, location.mailbox)
        }
      }
    }
  }

  #namespaces(space: string, only: string | undefined, retained: Retained): readonly string[] {
    if (!this.#isNamespaced) return ['']
    if (only !== undefined) return [only]
    return [...new Set([...this.#deps.join.workload(space).namespaces(), ...retained.keys()])].sort()
  }

  /** Copies that stay without a placement, by namespace and mailbox; nearly always none. */
  async #retained(
    space: string,
    { namespace, fixed }: { namespace: string | undefined; fixed: AnswerRange['fixed'] },
    pace: Pace,
  ): Promise<Retained> {
    const found: Retained = new Map()
    const resource = fixed.get('spec.sourceRef.resource')
    const name = fixed.get('spec.sourceRef.name')
    for (const { mailbox, key } of this.#deps.retained.of(space)) {
      if (pace.due) await pace.rest()
      const object = parseObjectKey(key)
      if ((object.namespace !== '') !== this.#isNamespaced || (namespace ?? object.namespace) !== object.namespace)
        continue
      if ((name ?? object.name) !== object.name || (resource ?? object.resource) !== object.resource) continue
      const there = found.get(object.namespace) ?? new Map<string, Keyed[]>()
      const keys = there.get(mailbox) ?? []
      keys.push([tailOf(key), key])
      found.set(object.namespace, there.set(mailbox, keys))
    }
    return found
  }

  /** In the order of the names that begin with their labels. */
  #locationsOf(
    space: string,
    isPlaced: boolean,
    left: ReadonlyMap<string, readonly Keyed[]> | undefined,
  ): readonly SpaceLocation[] {
    const { sorted, byMailbox } = this.#deps.locations.of(space)
    if (!left) return isPlaced ? sorted : []
    const more = [...left.keys()].filter(mailbox => !isPlaced || !byMailbox.has(mailbox))
    const others = more.flatMap(mailbox => this.#deps.locations.behind(space, mailbox) ?? [])
    return inOrder([...(isPlaced ? sorted : []), ...others])
  }

  /** Where nothing leads any more, and the object stays. */
  #former(space: string, { label, key }: { label: string; key: string }): SpaceLocation | undefined {
    for (const copy of this.#deps.retained.of(space)) {
      const location = copy.key === key ? this.#deps.locations.behind(space, copy.mailbox) : undefined
      if (location?.label === label) return location
    }
    return undefined
  }

  /** Objects that some placement selects, with the part behind the location in their name, in that order. */
  async #keysIn(
    space: string,
    { namespace, fixed }: { namespace: string; fixed: AnswerRange['fixed'] },
    pace: Pace,
  ): Promise<readonly Keyed[]> {
    const workload = this.#deps.join.workload(space)
    const found: Keyed[] = []
    const resource = fixed.get('spec.sourceRef.resource')
    const name = fixed.get('spec.sourceRef.name')
    for (const keyed of await this.#order.of(space, namespace, workload, pace)) {
      const [, key] = keyed
      const fact = workload.get(key)
      if (!fact || (name ?? fact.name) !== fact.name) continue
      if ((resource ?? fact.resource.resource) !== fact.resource.resource) continue
      if (workload.isSelected(key)) found.push(keyed)
      if (pace.due) await pace.rest()
    }
    return found
  }

  #rowOf(
    cluster: SpaceCluster,
    location: SpaceLocation,
    key: string,
    { kinds, fixed }: { kinds: ReadonlyMap<string, ServedKind>; fixed: AnswerRange['fixed'] },
  ): AnswerRow | undefined {
    const { space } = cluster
    const fact = this.#deps.join.fact(space, key)
    const placements = fact ? cluster.selecting(key) : []
    const retained = placements.length === 0 ? this.#deps.retained.verdict(space, location.mailbox, key) : undefined
    if (placements.length === 0 && !retained) return undefined
    if (cluster.sight.projecting) this.#deps.followers.answeredEarly(space, cluster.name, key)
    const verdict = retained ?? cluster.verdict(key)
    // few of many candidates are returned: those left out here cost no more
    if ((fixed.get('status.state') ?? verdict.state) !== verdict.state) return undefined
    const mailbox = this.#deps.mailbox(location.mailbox)
    const resource = fact?.resource ?? mailbox?.copies.get(key)?.resource
    if (!resource) return undefined
    const object = parseObjectKey(key)
    const { namespace } = object
    const { label, destination } = location
    const name = `${label}:${tailOf(key)}`
    const health = healthIn(verdict, mailbox?.health.of(key), cluster.sight.outcome.exceptions.get(key)?.health)
    const head: KubeObject = {
      apiVersion: apiVersionOf(WORK_STATUSES),
      kind: this.#isNamespaced ? 'WorkStatus' : 'ClusterWorkStatus',
      metadata: {
        name,
        ...(namespace && { namespace }),
        labels: labelsOf(location),
      },
      spec: {
        sourceRef: {
          group: resource.group,
          version: resource.version,
          kind: kinds.get(groupResourceName(resource))?.kind ?? '',
          resource: resource.resource,
          ...(namespace && { namespace }),
          name: object.name,
        },
        location: {
          cluster: this.#deps.pathOf(destination.cluster) ?? '',
          name: destination.locationName,
          syncTarget: destination.syncTarget ?? destination.locationName,
        },
        placements: [...placements].sort(),
      },
      status: {
        ...verdict,
        ...(health && { health: health.health, ...(health.message && { healthMessage: health.message }) }),
      },
    }
    const uid = () => fixedUid(`work status ${space} ${location.mailbox} ${key}`)
    return {
      namespace,
      name,
      head,
      whole: () => this.#whole(head, { space, key, fact, mailbox, isRetained: retained !== undefined, verdict, uid }),
    }
  }

  /** With what only the objects themselves say. */
  async #whole(
    head: KubeObject,
    { space, key, fact, mailbox, isRetained, verdict, uid }: Copied,
  ): Promise<KubeObject | undefined> {
    const source = fact && (await this.#deps.sources.read(space, fact))
    if (!source && !isRetained) return undefined
    const known = mailbox?.copies.get(key)
    // what several need is one object, and another's
    const isOwn = mailbox?.ownerOf(key) === space
    const copy = mailbox && known && (isOwn || isShared(key)) ? await this.#copy(mailbox, key, known) : undefined
    if (!source && !copy) return undefined
    const { uid: sourceUid, creationTimestamp, generation, resourceVersion } = source?.metadata ?? {}
    const isNewest = mailbox?.changes.isBehind(key) === false && source && isOfVersion(source, fact)
    const matchesSource = copy !== undefined && isNewest === true && !isRetained && verdict.state !== 'Paused'
    const meant = matchesSource ? generation : undefined
    const reported = copy && !isShared(key) ? reportedBy(copy, meant) : undefined
    const { sourceRef, ...spec } = head.spec as Record<string, Record<string, unknown>>
    return {
      ...head,
      metadata: {
        ...head.metadata,
        uid: uid(),
        creationTimestamp: (copy && ownedSince(copy)) ?? creationTimestamp ?? '',
      },
      spec: { sourceRef: { ...sourceRef, ...(sourceUid && { uid: sourceUid }) }, ...spec },
      status: {
        ...(head.status as object),
        ...(meant !== undefined && { generation: meant }),
        ...(matchesSource && { sourceResourceVersion: resourceVersion }),
        ...(reported !== undefined && { reported, ...(copy && reportedTimeOf(copy)) }),
      },
    }
  }

  async #copy(mailbox: Mailbox, key: string, { resource, resourceVersion }: CopyFact): Promise<KubeObject | undefined> {
    const cached = this.#deps.cache.get(mailbox.space, key, resourceVersion)
    if (cached) return cached
    return await unlessGone(this.#deps.client.in(mailbox.space).get(resource, refOf(parseObjectKey(key))))
  }
}

/** @throws StatusError ServiceUnavailable: an empty list would say that nothing is placed */
export function requireKnown(isKnown: boolean): void {
  if (isKnown) return
  const message = 'what this space places is not known yet: the server is starting'
  throw new StatusError('ServiceUnavailable', message, { retryAfterSeconds: RETRY_SECONDS })
}

interface Copied {
  readonly space: string
  readonly key: string
  /** `undefined` where the object is there no more. */
  readonly fact: ObjectFact | undefined
  /** Nobody places it any more. */
  readonly isRetained: boolean
  readonly mailbox: Mailbox | undefined
  readonly verdict: CopyVerdict
  /** Uid of the work status. */
  uid(): string
}

type Retained = Map<string, Map<string, Keyed[]>>

function both(placed: readonly Keyed[], retained: readonly Keyed[] | undefined): readonly Keyed[] {
  if (!retained) return placed
  const keys = new Set(placed.map(([, key]) => key))
  return [...placed, ...retained.filter(([, key]) => !keys.has(key))].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** A copy may have been another space's before. */
function ownedSince({ metadata: { annotations, creationTimestamp } }: KubeObject): string | undefined {
  return annotations?.[OWNED_SINCE_ANNOTATION] ?? creationTimestamp
}

function isOfVersion({ metadata }: KubeObject, fact: ObjectFact): boolean {
  return metadata.resourceVersion === String(fact.revision)
}

/** `meant`: the generation of the source that the copy says, where that is known. */
function reportedBy({ metadata, status }: KubeObject, meant: number | undefined): unknown {
  const { generation } = metadata
  if (generation === undefined) return status
  const produced = meant === undefined ? undefined : { here: meant, there: generation }
  return inOurGenerations(status, produced, undefined)
}

/** Time of the last write of the status, as managed fields know it. */
function reportedTimeOf({ metadata: { managedFields } }: KubeObject): { reportedTime?: string } {
  const times = list(managedFields).flatMap(one => (at(one, 'subresource') === 'status' ? str(one, 'time') : []))
  const newest = times.sort().at(-1)
  return newest ? { reportedTime: newest } : {}
}

/** A name that is too long for a label has none. */
function labelsOf({ granted, names }: SpaceLocation): Record<string, string> {
  const labels = Object.fromEntries(
    names.filter(({ length }) => length <= MAX_LABEL).map(name => [`${LOCATION_LABELS}${name}`, 'true'] as const),
  )
  return granted.length <= MAX_LABEL ? { [LOCATION_LABEL]: granted, ...labels } : labels
}
