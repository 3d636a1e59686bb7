/**
 * Order in which objects of the mailbox enter the cluster. Those of one space come by wave, and within a wave by the needs of their kinds.
 * Each change takes its place anew.
 *
 * During a snapshot of the mailbox no object enters; present ones are repaired meanwhile.
 *
 * Within a wave whoever comes later waits until the earlier ones were looked at, whatever came of that: nothing there may hold up the rest.
 * A later wave waits until the earlier ones are in the cluster and report that they do their work; but not for ever. Kinds that the cluster
 * does not serve, and objects without a claim, delay no other.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { type Clock, steadyMs } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import { waveOf } from '../../placement/content/wave.ts'
import { isProjected } from '../../placement/words/placement.ts'
import { fieldsOf, keyOf, keyText, type MailboxMirror, type SyncKey } from '../mailbox/mirror.ts'
import { ownerOf } from '../objects/marks.ts'
import type { Trouble } from '../tells/outcomes.ts'
import { earlierWave } from '../tells/verdicts.ts'
import { INTERFERING, PHASE_COUNT, phaseOf } from './phases.ts'

interface ArrivalOrderDeps {
  mirror: Pick<MailboxMirror, 'values'>
  /** Whether a snapshot of the mailbox runs, whose first objects may come last; {@link ArrivalOrder.whole} ends it. */
  isReading: () => boolean
  /** The object is to be looked at again. */
  again(key: SyncKey): void
  logger: Logger
  clock: Clock
}

/** Effect of a wait for an earlier object: `trouble` where it is to be reported. */
interface Hold {
  readonly trouble?: Trouble
  /** Time of the next look, also without an event. */
  readonly requeueAfterMs?: number
}

/** Related changes arrive within a moment. The last object waits for it, and under a stream of new ones so long at most. */
const QUIET_MS = 200
const QUIET_LIMIT_MS = 10_000
/** The reason of a wait is reported anew after this. */
const RETELL_MS = 10_000
/** A wave goes on without an earlier one after this. */
export const WAVE_PATIENCE_MS = 15 * 60_000

interface Place {
  readonly key: SyncKey
  /** A report on a different object does not concern this place. */
  object: Readonly<KubeObject>
  readonly space: Space
  readonly wave: number
  readonly phase: number
  readonly sinceMs: number
}

interface Space {
  /** How many objects of the mailbox are in each wave. */
  readonly waves: Map<number, number>
  /** Not looked at, by wave and phase. */
  readonly open: Map<number, Set<string>>
  /** Not as they are to be before a later wave begins, by wave, with why. */
  readonly unready: Map<number, Map<string, { readonly key: SyncKey; why: string }>>
  readonly parked: Map<string, Place>
  changedAtMs: number
}

export class ArrivalOrder {
  readonly #deps: ArrivalOrderDeps
  /** By whose the objects are. */
  readonly #spaces = new Map<string, Space>()
  #wasWhole = false
  /** Places of objects that have not come yet. */
  readonly #places = new Map<string, Place>()

  constructor(deps: ArrivalOrderDeps) {
    this.#deps = deps
  }

  /** The mailbox is known as a whole, and all of it is going to be looked at. */
  whole(): void {
    this.#wasWhole = true
    this.#spaces.clear()
    this.#places.clear()
    const placed = [...this.#deps.mirror.values()].filter(({ object }) => isProjected(object))
    for (const { object } of placed) this.#count(object, 1)
    for (const { resource, object } of placed) this.#open(keyOf(resource, object), object)
  }

  /** The mailbox says something new of an object, which is going to be looked at. */
  changed(key: SyncKey, object?: Readonly<KubeObject>, previous?: Readonly<KubeObject>): void {
    if (object && previous && asksTheSame(object, previous)) {
      const place = this.#places.get(keyText(key))
      if (place) place.object = object
      return
    }
    this.#close(keyText(key))
    const isNewWave = object !== undefined && isProjected(object) && this.#count(object, 1)
    if (previous && isProjected(previous)) this.#count(previous, -1)
    if (object === undefined || !isProjected(object)) return
    this.#open(key, object)
    if (isNewWave) this.#lookAtEarlier(object)
  }

  /** Reasons for which an object must wait before its write. `isNews`: whether it differs from its desired state. */
  hold(key: SyncKey, { isNews }: { isNews: () => boolean }): Hold | undefined {
    const text = keyText(key)
    const place = this.#places.get(text)
    // what has no place later is only put right
    if (place === undefined && this.#wasWhole) return undefined
    if (this.#deps.isReading() && isNews()) {
      place?.space.parked.set(text, place)
      return {} // all is looked at again when all is told
    }
    if (place === undefined) return undefined
    const wished = this.#holdOf(place)
    const hold = wished && isNews() ? wished : undefined
    if (hold) place.space.parked.set(text, place)
    else place.space.parked.delete(text)
    return hold
  }

  /** It was looked at as `object`, and this came of it: `why` later waves have to wait for it; absent: they have not. */
  looked(key: SyncKey, object: Readonly<KubeObject>, why?: string): void {
    const text = keyText(key)
    const place = this.#places.get(text)
    if (place?.object !== object) return
    if (why === undefined || !hasLater(place)) this.#close(text)
    else {
      this.#await(place, why)
      this.#closeLook(text, place)
    }
  }

  /** A look at it has ended. Without an outcome, nothing waits for it. */
  ended(key: SyncKey, object: Readonly<KubeObject> | undefined): void {
    const text = keyText(key)
    const place = this.#places.get(text)
    if (place === undefined || place.object !== object || place.space.parked.has(text)) return
    if (place.space.open.get(rankOf(place))?.has(text)) this.#close(text)
  }

  #open(key: SyncKey, object: Readonly<KubeObject>): void {
    const text = keyText(key)
    this.#close(text)
    const space = this.#spaceOf(object)
    const sinceMs = steadyMs(this.#deps.clock)
    space.changedAtMs = sinceMs
    const place = { key, object, space, wave: waveOf(object) ?? 0, phase: phaseOf(key), sinceMs }
    this.#places.set(text, place)
    setIn(space.open, rankOf(place), () => new Set<string>()).add(text)
    if (hasLater(place)) this.#await(place, 'it is on its way')
  }

  #await({ key, space, wave }: Place, why: string): void {
    setIn(space.unready, wave, () => new Map<string, { key: SyncKey; why: string }>()).set(keyText(key), { key, why })
  }

  #close(text: string): void {
    const place = this.#places.get(text)
    if (place === undefined) return
    const { space, wave } = place
    this.#places.delete(text)
    space.parked.delete(text)
    const unready = space.unready.get(wave)
    if (unready?.delete(text) && unready.size === 0) {
      space.unready.delete(wave)
      this.#wake(space)
    }
    this.#closeLook(text, place)
  }

  #closeLook(text: string, place: Place): void {
    const { space } = place
    const rank = rankOf(place)
    const open = space.open.get(rank)
    if (!open?.delete(text) || open.size > 0) return
    space.open.delete(rank)
    this.#wake(space)
  }

  /** Somebody may have waited for just this. */
  #wake(space: Space): void {
    for (const [text, place] of space.parked) {
      if (blockedWave(place) !== undefined || isBehind(place)) continue
      space.parked.delete(text)
      this.#deps.again(place.key)
    }
  }

  #holdOf(place: Place): Hold | undefined {
    const { space, wave, phase, sinceMs } = place
    const nowMs = steadyMs(this.#deps.clock)
    const blocked = blockedWave(place)
    const leftMs = sinceMs + WAVE_PATIENCE_MS - nowMs
    const [first] = blocked === undefined ? [] : space.unready.get(blocked)!.values()
    if (first && leftMs > 0)
      return {
        trouble: earlierWave({ wave, blocked: blocked!, ...first }),
        requeueAfterMs: Math.min(leftMs, RETELL_MS),
      }
    if (first)
      this.#deps.logger.warn(
        { ...fieldsOf(place.key), wave },
        `comes without an earlier wave, after ${WAVE_PATIENCE_MS / 60_000} minutes: ` +
          earlierWave({ wave, blocked: blocked!, ...first }).message,
      )
    if (isBehind(place)) return {}
    const isLast = wave > 0 || phase === INTERFERING
    const isLoud = nowMs - space.changedAtMs < QUIET_MS && nowMs - sinceMs < QUIET_LIMIT_MS
    return isLast && isLoud ? { requeueAfterMs: QUIET_MS } : undefined
  }

  /** There are later ones than before: what is in the cluster already may not be ready for them. */
  #lookAtEarlier(newcomer: Readonly<KubeObject>): void {
    const space = this.#spaceOf(newcomer)
    const wave = waveOf(newcomer) ?? 0
    for (const { resource, object } of this.#deps.mirror.values()) {
      if (!isProjected(object) || this.#spaceOf(object) !== space || (waveOf(object) ?? 0) >= wave) continue
      const key = keyOf(resource, object)
      const place = this.#places.get(keyText(key))
      if (place) this.#await(place, 'it is on its way')
      else {
        this.#open(key, object)
        this.#deps.again(key)
      }
    }
  }

  /** Whether it is the first one of its wave. */
  #count(object: Readonly<KubeObject>, by: 1 | -1): boolean {
    const { waves } = this.#spaceOf(object)
    const wave = waveOf(object) ?? 0
    const count = (waves.get(wave) ?? 0) + by
    if (count > 0) waves.set(wave, count)
    else waves.delete(wave)
    if (waves.size === 0) this.#spaces.delete(ownerOf(object) ?? '')
    return count === 1 && by === 1
  }

  #spaceOf(object: Readonly<KubeObject>): Space {
    return setIn(this.#spaces, ownerOf(object) ?? '', () => ({
      waves: new Map(),
      open: new Map(),
      unready: new Map(),
      parked: new Map(),
      changedAtMs: steadyMs(this.#deps.clock),
    }))
  }
}

/** Whether nothing but the status is another. */
function asksTheSame({ metadata: a }: Readonly<KubeObject>, { metadata: b }: Readonly<KubeObject>): boolean {
  return (
    a.generation !== undefined &&
    a.generation === b.generation &&
    a.uid === b.uid &&
    equalJson([a.labels, a.annotations], [b.labels, b.annotations])
  )
}

function rankOf({ wave, phase }: Place): number {
  return wave * PHASE_COUNT + phase
}

/** Whether later waves of the same space are in the mailbox. */
function hasLater({ space, wave }: Place): boolean {
  for (const other of space.waves.keys()) if (other > wave) return true
  return false
}

/** The first wave before this one that is not ready. */
function blockedWave({ space, wave }: Place): number | undefined {
  let first: number | undefined
  for (const other of space.unready.keys()) if (other < wave && (first === undefined || other < first)) first = other
  return first
}

/** Whether there are some of the same wave that were not looked at and go before it. */
function isBehind(place: Place): boolean {
  const { space, wave, phase } = place
  for (let before = 0; before < phase; before++) if (space.open.has(wave * PHASE_COUNT + before)) return true
  return false
}

function setIn<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
