/**
 * Spaces that a view of several spaces serves of those that its reader may read. A space that is not known yet is left out and counted,
 * and so is one whose clusters define the kind otherwise than most. None closes the view for the others.
 */
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource } from '../../apimachinery/object.ts'
import type { ReportedPlaces } from '../../placement/desks/reported.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Held } from '../exchange/openAccess.ts'
import type { ReportedKinds, SpaceClusters } from './reportedKinds.ts'

export interface ServedSpacesDeps {
  places: ReportedPlaces
  kinds: Pick<ReportedKinds, 'alike' | 'onChange'>
  /** In whose slices the spaces are looked up. */
  work: Work
}

export class ServedSpaces {
  readonly #deps: ServedSpacesDeps
  readonly #readable: ReadonlySet<string>
  readonly #known = new Map<string, SpaceClusters>()
  readonly #unknown = new Set<string>()
  /** Ids of those that were alike; `''`: none. */
  #served = ''

  private constructor(deps: ServedSpacesDeps, readable: ReadonlySet<string>) {
    this.#deps = deps
    this.#readable = readable
  }

  /** @throws StatusError ServiceUnavailable where no space is known */
  static async of(readable: ReadonlySet<string>, deps: ServedSpacesDeps): Promise<ServedSpaces> {
    const spaces = new ServedSpaces(deps, readable)
    const refusal = await spaces.#look(readable)
    if (refusal && spaces.#known.size === 0) throw refusal
    return spaces
  }

  get known(): readonly SpaceClusters[] {
    return [...this.#known.values()]
  }

  /** How many are not known yet. */
  get unknown(): number {
    return this.#unknown.size
  }

  /** @throws StatusError NotFound: no space is alike in itself */
  alike(kind: GroupVersionResource): readonly SpaceClusters[] {
    const alike = this.#deps.kinds.alike(this.known, kind)
    this.#served = alike
      .map(({ space }) => space)
      .sort()
      .join()
    return alike
  }

  /** The hold ends also when other spaces than those that were {@link alike} may be served. A first look follows at once. */
  hold(kind: GroupVersionResource, end: () => void, begin: (end: () => void) => Held): Held {
    const { places, kinds } = this.#deps
    const [before, unknownBefore] = [this.#served, this.unknown]
    const held = begin(end)
    let refusal: unknown
    let isJudging = false
    let isDoubtful = false
    /** Spaces whose clusters may be others. */
    const stale = new Set(this.#readable)
    const isAsBefore = async (): Promise<boolean> => {
      const looked = [...stale]
      stale.clear()
      await this.#look(looked)
      return this.unknown >= unknownBefore && this.#servedNow(kind) === before
    }
    const judge = async (): Promise<void> => {
      try {
        while (isDoubtful) {
          isDoubtful = false
          if (await isAsBefore()) continue
          refusal = new StatusError(
            'Expired',
            'other spaces are served now, or clusters define the kind otherwise: list again',
          )
          break
        }
      } catch (error) {
        refusal = error
      }
      isJudging = false
      if (refusal !== undefined) end()
    }
    const doubt = (): void => {
      isDoubtful = true
      if (isJudging || refusal !== undefined) return
      isJudging = true
      queueMicrotask(() => void judge())
    }
    const unfollow = [
      kinds.onChange(kind, place => {
        if (this.known.some(({ clusters }) => clusters.some(({ mailbox }) => mailbox === place))) doubt()
      }),
      places.followClusters(space => {
        if (!this.#readable.has(space)) return
        stale.add(space)
        doubt()
      }),
    ]
    doubt()
    return {
      get refusal() {
        return refusal ?? held.refusal
      },
      release() {
        for (const each of unfollow) each()
        held.release()
      },
    }
  }

  /** Answers why some are not known. One that was known stays so while controllers begin again, which ends what is open. */
  async #look(spaces: Iterable<string>): Promise<StatusError | undefined> {
    const { places, work } = this.#deps
    let refusal: StatusError | undefined
    for (const space of spaces) {
      try {
        this.#known.set(space, { space, clusters: places.clusters(space) })
        this.#unknown.delete(space)
      } catch (error) {
        if (!isStatusError(error, 'ServiceUnavailable')) throw error
        refusal = error
        if (!this.#known.has(space)) this.#unknown.add(space)
      }
      if (work.due) await work.rest()
    }
    return refusal
  }

  /** `''`: no definition is served. */
  #servedNow(kind: GroupVersionResource): string {
    this.#served = ''
    try {
      this.alike(kind)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
    return this.#served
  }
}
