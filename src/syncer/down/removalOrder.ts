/**
 * Order in which unwanted objects leave the cluster: those of one space in reverse of their arrival, each after its dependents. An object
 * that does not go, because of a finalizer say, delays others for a while and not for ever.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { type Clock, steadyMs } from '../../client/clock.ts'
import { waveOf } from '../../placement/content/wave.ts'
import { keyText, type SyncKey } from '../mailbox/mirror.ts'
import { ownerOf } from '../objects/marks.ts'
import { PHASE_COUNT, phaseOf } from './phases.ts'

/** Related removals arrive within a moment; under a stream of new ones the wait lasts so long at most. */
const QUIET_MS = 200
const QUIET_LIMIT_MS = 2000
const PATIENCE_MS = 60_000

interface Leaving {
  readonly key: SyncKey
  readonly space: Space
  readonly rank: number
  readonly sinceMs: number
}

interface Space {
  readonly owner: string
  /** Objects that are still there, by wave and phase. */
  readonly ranks: Map<number, Map<string, Leaving>>
  readonly parked: Set<string>
  changedAtMs: number
}

export class RemovalOrder {
  readonly #deps: { readonly clock: Clock; readonly again: (key: SyncKey) => void }
  readonly #leaving = new Map<string, Leaving>()
  readonly #spaces = new Map<string, Space>()

  constructor(deps: { clock: Clock; again: (key: SyncKey) => void }) {
    this.#deps = deps
  }

  /** It is to leave the cluster. @param object as the mailbox held it, or as the cluster does */
  left(key: SyncKey, object: Readonly<KubeObject>): void {
    this.over(key)
    const text = keyText(key)
    const nowMs = steadyMs(this.#deps.clock)
    const owner = ownerOf(object) ?? ''
    const space = this.#spaces.get(owner) ?? { owner, ranks: new Map(), parked: new Set<string>(), changedAtMs: nowMs }
    this.#spaces.set(owner, space)
    space.changedAtMs = nowMs
    const leaving = { key, space, rank: (waveOf(object) ?? 0) * PHASE_COUNT + phaseOf(key), sinceMs: nowMs }
    this.#leaving.set(text, leaving)
    const same = space.ranks.get(leaving.rank)
    if (same) same.set(text, leaving)
    else space.ranks.set(leaving.rank, new Map([[text, leaving]]))
  }

  /** It is gone, or stays for good. */
  over(key: SyncKey): void {
    const text = keyText(key)
    const leaving = this.#leaving.get(text)
    if (leaving === undefined) return
    const { space, rank } = leaving
    this.#leaving.delete(text)
    space.parked.delete(text)
    const same = space.ranks.get(rank)
    same?.delete(text)
    if (same?.size !== 0) return
    space.ranks.delete(rank)
    if (space.ranks.size === 0) this.#spaces.delete(space.owner)
    else this.#wake(space)
  }

  /** Objects on their way out: others wait for each of these. */
  *leaving(): Iterable<SyncKey> {
    for (const { key } of this.#leaving.values()) yield key
  }

  /** How long it is to wait at most; `undefined`: it may go now. It is looked at again when its turn has come. */
  waitMs(key: SyncKey): number | undefined {
    const text = keyText(key)
    const leaving = this.#leaving.get(text)
    if (leaving === undefined) return undefined
    const { space, rank, sinceMs } = leaving
    const agoMs = steadyMs(this.#deps.clock) - sinceMs
    space.parked.delete(text)
    if (rank < highestOf(space) && agoMs < PATIENCE_MS) {
      space.parked.add(text)
      return PATIENCE_MS - agoMs
    }
    const isLoud = steadyMs(this.#deps.clock) - space.changedAtMs < QUIET_MS && agoMs < QUIET_LIMIT_MS
    return isLoud ? QUIET_MS : undefined
  }

  #wake(space: Space): void {
    for (const [text, { key }] of space.ranks.get(highestOf(space)) ?? [])
      if (space.parked.delete(text)) this.#deps.again(key)
  }
}

function highestOf({ ranks }: Space): number {
  let highest = Number.NEGATIVE_INFINITY
  for (const rank of ranks.keys()) highest = Math.max(highest, rank)
  return highest
}
