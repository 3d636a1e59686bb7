/**
 * The last write and its result on the other side, so that the echo of an own write costs no further write. Kept as digests: two short
 * strings for each object, however large it is.
 */
import { hash } from 'node:crypto'
import type { GroupResource, KubeObject, ManagedFieldsEntry } from '../../apimachinery/object.ts'
import type { HealthVerdict } from '../../placement/outcome/health.ts'
import { DOWNSYNCED } from '../../placement/words/placement.ts'
import { ownPartOf } from '../objects/handOver.ts'
import { asMade, claimsOfOurs, isOurs } from '../objects/marks.ts'
import { isAbout, isOfAnother, ownershipOf } from '../objects/reportedStatus.ts'
import { claimFor, hasDuplicates, withClaims } from '../objects/wholeUpdate.ts'

export interface Echo {
  readonly sent: string
  readonly result: string
  /** The syncer's part of it; absent where it is unknown. */
  readonly own?: string | undefined
  /** The object that it was copied from, as far as it had these. */
  readonly sourceUid: string | undefined
  readonly sourceGeneration: number | undefined
  /** Owner of that; absent where the source is unknown. */
  readonly ownership?: string | undefined
  /** The status at the start of the present ownership, until the owner gets a newer one. */
  readonly formerStatus?: string | undefined
  /** Result of the write. A later generation is another writer's. */
  readonly uid: string | undefined
  readonly generation: number | undefined
  /** Whether that bore the mark of what the syncer made. */
  readonly isMade?: true
  /** Sent fields of an object with duplicates, as a cluster notes no owners then. */
  readonly claim?: ManagedFieldsEntry
  /** That it has run to its end, and how; with a digest of the spec that did. */
  readonly end?: (HealthVerdict & { readonly spec: string }) | undefined
}

export class Echoes {
  readonly #byKey = new Map<string, Echo>()
  readonly #changed = new Set<string>()
  #onChange: (() => void) | undefined

  /** Records of an earlier run. */
  restore(echoes: Iterable<readonly [string, Echo]>): void {
    for (const [key, echo] of echoes) this.#byKey.set(key, echo)
  }

  /** Keys of what was written or forgotten since the last call. */
  takeChanged(): string[] {
    const changed = [...this.#changed]
    this.#changed.clear()
    return changed
  }

  entries(): Iterable<readonly [string, Echo]> {
    return this.#byKey.entries()
  }

  /** Calls back whenever {@link takeChanged} has something new. One listener. */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  get(key: string): Echo | undefined {
    return this.#byKey.get(key)
  }

  /**
   * `same`: `copy` was written before and `live` is still what became of it, as far as that is ours. `drifted`: it was written before, and somebody
   * on the other side changed what became of it. `unwritten`: it never was, so that this side has news.
   */
  compare(key: string, copy: Readonly<KubeObject>, live: Readonly<KubeObject>): 'same' | 'drifted' | 'unwritten' {
    const known = this.#byKey.get(key)
    if (known === undefined || known.sent !== digest(copy)) return 'unwritten'
    return this.isBrought(key, live) ? 'same' : 'drifted'
  }

  /** Whether `live` is still what became of what was written, as far as that is ours; with `source`, of just this one. */
  isBrought(key: string, live: Readonly<KubeObject>, source?: Readonly<KubeObject>): boolean {
    const known = this.#byKey.get(key)
    if (known === undefined) return false
    const { uid, generation } = source?.metadata ?? {}
    if (source && (known.sourceUid !== uid || known.sourceGeneration !== generation)) return false
    if (known.result === digest(essence(live))) return true
    return known.own !== undefined && known.uid === live.metadata.uid && known.own === ownDigest(live)
  }

  /** Whether just this was written last. */
  wasSent(key: string, copy: Readonly<KubeObject>): boolean {
    return this.#byKey.get(key)?.sent === digest(copy)
  }

  wrote(key: string, copy: Readonly<KubeObject>, result: Readonly<KubeObject>, source?: Readonly<KubeObject>): void {
    this.#set(key, {
      ...(source && this.#owned(key, source, result)),
      sent: digest(copy),
      result: digest(essence(result)),
      own: ownDigest(result),
      sourceUid: source?.metadata.uid,
      sourceGeneration: source?.metadata.generation,
      uid: result.metadata.uid,
      generation: result.metadata.generation,
      ...(isOurs(result, DOWNSYNCED) && { isMade: true }),
      ...(hasDuplicates(copy) && claimsOfOurs(result).length === 0 && { claim: claimFor(copy) }),
    })
  }

  /** `live` as whose it is: what was made is marked, whoever in the cluster took that off. Released objects bear no claim. */
  recognized(key: string, live: Readonly<KubeObject>): Readonly<KubeObject> {
    const known = this.#byKey.get(key)
    const isIt = known?.uid !== undefined && known.uid === live.metadata.uid
    return isIt && known.isMade && claimsOfOurs(live).length > 0 ? asMade(live) : live
  }

  /** `live` with the syncer's claim, also where the cluster notes none. */
  claimed(key: string, live: Readonly<KubeObject>): Readonly<KubeObject> {
    const known = this.#byKey.get(key)
    const isNoted = known?.claim === undefined || known.uid !== live.metadata.uid || claimsOfOurs(live).length > 0
    return isNoted ? live : withClaims(live, [known.claim!])
  }

  /** Notes that `live`, which came of `source`, has run to its end, or that it goes on after all. */
  ended(key: string, source: Readonly<KubeObject>, live: Readonly<KubeObject>, how: HealthVerdict | undefined): void {
    const known = this.#byKey.get(key)
    if (known === undefined || known.uid !== live.metadata.uid || known.sourceUid !== source.metadata.uid) return
    if (how === undefined) {
      // on its way out it runs no more
      if (known.end && live.metadata.deletionTimestamp === undefined) this.#set(key, { ...known, end: undefined })
      return
    }
    const end = { ...how, spec: specDigest(source) }
    // the cluster may hold an older spec of it still
    if (known.end || known.sourceGeneration !== source.metadata.generation) return
    this.#set(key, { ...known, end })
  }

  /** How what came of `source` has ended: of this very object, spec and owner. */
  endOf(key: string, source: Readonly<KubeObject>): HealthVerdict | undefined {
    const known = this.#byKey.get(key)
    if (known?.end === undefined || known.sourceUid !== source.metadata.uid) return undefined
    if (known.ownership !== ownershipOf(source) || known.end.spec !== specDigest(source)) return undefined
    const { health, message } = known.end
    return { health, message }
  }

  /** The last write equals a write of `source` now, and `live` holds it. */
  stands(key: string, source: Readonly<KubeObject>, live: Readonly<KubeObject>): void {
    const { uid, generation } = source.metadata
    const known = this.#byKey.get(key)
    if (known === undefined) return
    const owned = this.#owned(key, source, live)
    const isSetBack = this.isAhead(key, live)
    const isOwners = known.ownership === owned.ownership && known.formerStatus === owned.formerStatus
    if (known.sourceUid === uid && known.sourceGeneration === generation && isOwners && !isSetBack) return
    const reached = isSetBack ? live.metadata.generation : known.generation
    this.#set(key, { ...known, ...owned, sourceUid: uid, sourceGeneration: generation, generation: reached })
  }

  /** Whether what was written became a later generation than `live` is: that is old news, or the other side was set back. */
  isAhead(key: string, { metadata: { uid, generation } }: Readonly<KubeObject>): boolean {
    const known = this.#byKey.get(key)
    return (
      known?.uid === uid && generation !== undefined && known?.generation !== undefined && known.generation > generation
    )
  }

  /** Whether the status of `live` may be that of another space's object, and none for the owner of `source`. */
  isFormers(
    key: string,
    resource: Pick<GroupResource, 'group'>,
    source: Readonly<KubeObject>,
    live: Readonly<KubeObject>,
  ): boolean {
    const known = this.#byKey.get(key)
    // what is going is none that was brought for them
    if (known === undefined && live.metadata.deletionTimestamp !== undefined) return true
    if (isOfAnother(source, known?.ownership)) return true
    if (known?.formerStatus === undefined || known.uid !== live.metadata.uid) return false
    const { formerStatus, generation } = known
    const isBrought = this.isBrought(key, live)
    const isSame = formerStatus === digest(live.status)
    if (!isBrought || !isAbout(resource, live.status, { generation, isSame })) return true
    this.#set(key, { ...known, formerStatus: undefined })
    return false
  }

  /** Owner at the write, or at a look that found it right, and the status from before. */
  #owned(
    key: string,
    source: Readonly<KubeObject>,
    live: Readonly<KubeObject>,
  ): Pick<Echo, 'ownership' | 'formerStatus'> {
    const known = this.#byKey.get(key)
    const ownership = ownershipOf(source)
    if (live.status === undefined || (known && known.uid !== live.metadata.uid)) return { ownership }
    const formerStatus = isOfAnother(source, known?.ownership) ? digest(live.status) : known?.formerStatus
    return { ownership, ...(formerStatus !== undefined && { formerStatus }) }
  }

  forget(key: string): void {
    if (this.#byKey.delete(key)) this.#note(key)
  }

  #set(key: string, echo: Echo): void {
    this.#byKey.set(key, echo)
    this.#note(key)
  }

  #note(key: string): void {
    this.#changed.add(key)
    this.#onChange?.()
  }
}

/** Other managers, such as an autoscaler, may change their own fields. */
function ownDigest(object: Readonly<KubeObject>): string | undefined {
  const own = ownPartOf(object)
  return own === undefined ? undefined : digest(own)
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64')
}

/** Labels and annotations make no other run of it. */
function specDigest({ metadata: _metadata, status: _status, ...spec }: Readonly<KubeObject>): string {
  return digest(spec)
}

/** Everything but the status and what changes with every write. */
function essence(object: Readonly<KubeObject>): unknown {
  const { status: _status, metadata, ...rest } = object
  const { resourceVersion: _version, managedFields: _managed, generation: _generation, ...meta } = metadata
  return [rest, meta]
}
