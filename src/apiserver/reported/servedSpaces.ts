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
  #known: readonly SpaceClusters[] = []
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
    const { places, work } = deps
    const known: SpaceClusters[] = []
    for (const space of readable) {
      try {
        known.push({ space, clusters: places.clusters(space) })
      } catch (error) {
        if (!isStatusError(error, 'ServiceUnavailable')) throw error
        spaces.#unknown.add(space)
        if (spaces.#unknown.size === readable.size) throw error
      }
      if (work.due) await work.rest()
    }
    spaces.#known = known
    return spaces
  }

  get known(): readonly SpaceClusters[] {
    return this.#known
  }

  /** How many are not known yet. */
  get unknown(): number {
    return this.#unknown.size
  }

  /** @throws StatusError NotFound: no space is alike in itself */
  alike(kind: GroupVersionResource): readonly SpaceClusters[] {
    const alike = this.#deps.kinds.alike(this.#known, kind)
    this.#served = alike
      .map(({ space }) => space)
      .sort()
      .join()
    return alike
  }

  /** The hold ends also when other spaces than those that were {@link alike} may be served. A first look follows at once. */
  hold(kind: GroupVersionResource, end: () => void, begin: (end: () => void) => Held): Held {
    const { places, kinds } = this.#deps
    const before = this.#served
    const held = begin(end)
    let refusal: unknown
    let isAwaited = false
    const judge = async (): Promise<void> => {
      isAwaited = false
      try {
        const now = await ServedSpaces.of(this.#readable, this.#deps)
        if (now.unknown >= this.unknown && now.#servedNow(kind) === before) return
      } catch (error) {
        // the controllers begin again, which ends what is open
        if (isStatusError(error, 'ServiceUnavailable')) return
        refusal ??= error
      }
      refusal ??= new StatusError(
        'Expired',
        'other spaces are served now, or clusters define the kind otherwise: list again',
      )
      end()
    }
    const doubt = (): void => {
      if (isAwaited || refusal !== undefined) return
      isAwaited = true
      queueMicrotask(() => void judge())
    }
    const unfollow = [
      kinds.onChange(kind, doubt),
      places.followClusters(space => {
        if (this.#unknown.has(space)) doubt()
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

  /** `''`: no definition is served. */
  #servedNow(kind: GroupVersionResource): string {
    try {
      this.alike(kind)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
    return this.#served
  }
}
