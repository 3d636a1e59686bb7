/**
 * The change of copies from one body to another. Each time in the new text is the present, or that of the same claim in the old
 * text. The first copy that changes so shows both bodies; others with the old body get the new one, with their own times.
 */
import { MAX_UPDATE_MANAGERS } from '../../../apimachinery/apply/managers.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import { type Body, joined, timesOf } from '../../../storage/body.ts'
import { CopyText } from '../../../storage/copyText.ts'
import type { SharedStored } from '../../../storage/sharedStored.ts'
import { decodeObject } from '../codec.ts'

/** The time of an object's creation, or of a claim. */
interface Moment {
  readonly of: string
  readonly time: string
}

/** The source of a time: the place of its moment in the old text, or the present. */
type Source = number | 'now'

const CREATION = ''

export class CopyChange {
  /** A copy that changed so. */
  readonly like: Readonly<KubeObject>
  readonly #body: Body
  readonly #sources: readonly Source[]
  /** Moments in the old text, the number of all and the places of two sorts: claims that stay, and that of the writer. */
  readonly #count: number
  readonly #kept: readonly number[]
  readonly #renewed: number | undefined
  /** Whether the writer claimed at the present time before: then the claim looks renewed where it is not. */
  readonly #isRenewedAtOnce: boolean
  /** The times of the last new text; copies that follow each other mostly have the same. */
  #last: string

  /** `undefined` where the texts do not say which time comes from where. */
  static between(
    { subresources }: ResourceType,
    before: SharedStored,
    after: SharedStored,
    now: string,
  ): CopyChange | undefined {
    const like = decodeObject(after)
    const [old, young] = [momentsIn(decodeObject(before)), momentsIn(like)]
    if (!standIn(before, old) || !standIn(after, young)) return undefined
    const [status, newStatus] = [timesOf(before).slice(old.length), timesOf(after).slice(young.length)]
    // only a status with a writer of its own stays as it is; and old claims that melt into one have no single source
    if (status.join() !== newStatus.join() || (status.length > 0 && !subresources.includes('status'))) return undefined
    if (young.length > MAX_UPDATE_MANAGERS) return undefined
    const sources: Source[] = []
    for (const { of, time } of young) {
      const at = old.findIndex(moment => moment.of === of)
      if (of !== CREATION && time === now) sources.push('now')
      else if (old[at]?.time === time) sources.push(at)
      else return undefined
    }
    const renewed = young[sources.indexOf('now')]?.of
    const change = new CopyChange(like, after, sources, old, renewed, now)
    return sources.lastIndexOf('now') === sources.indexOf('now') && change.fits(before, now) ? change : undefined
  }

  private constructor(
    like: KubeObject,
    { body, times }: SharedStored,
    sources: readonly Source[],
    old: readonly Moment[],
    renewed: string | undefined,
    now: string,
  ) {
    this.like = like
    this.#body = body
    this.#sources = sources
    this.#count = old.length
    this.#kept = sources.filter(source => source !== 'now').filter(at => old[at]!.of !== CREATION)
    const at = old.findIndex(({ of }) => of === renewed)
    this.#renewed = at === -1 ? undefined : at
    this.#isRenewedAtOnce = old[at]?.time === now
    this.#last = times
  }

  /** Whether claims of a copy with the old body end up in the same order: they stand in the order of their times. */
  fits(copy: SharedStored, now: string): boolean {
    const times = timesOf(copy)
    const isAtOnce = this.#renewed !== undefined && times[this.#renewed] === now
    return (
      isAtOnce === this.#isRenewedAtOnce && this.#kept.every(at => times[at]!.length === now.length && times[at]! < now)
    )
  }

  /** The new text of a copy that {@link fits}; `undefined` where a value is longer or shorter than its gap. */
  text(copy: SharedStored, now: string): CopyText | undefined {
    const old = timesOf(copy)
    const head = this.#sources.map(source => (source === 'now' ? now : old[source]!))
    const times = joined([...head, ...old.slice(this.#count)])
    if (times !== this.#last) this.#last = times
    const { space } = copy.key
    const own = { uid: copy.uid, times: this.#last }
    return this.#body.holds(own, space) ? new CopyText(this.#body, own, space) : undefined
  }
}

/** In the order of the text. */
function momentsIn({ metadata }: KubeObject): readonly Moment[] {
  return Object.entries(metadata).flatMap(([member, value]): Moment[] => {
    if (member === 'creationTimestamp') return [{ of: CREATION, time: value as string }]
    if (member !== 'managedFields') return []
    return (metadata.managedFields ?? []).flatMap(({ manager, operation, apiVersion, subresource, time }) =>
      time === undefined ? [] : [{ of: JSON.stringify([manager, operation, apiVersion, subresource]), time }],
    )
  })
}

/** Whether these are the times before the revision in the text. */
function standIn(copy: SharedStored, moments: readonly Moment[]): boolean {
  const times = timesOf(copy)
  return moments.length === copy.body.headTimes && moments.every(({ time }, i) => time === times[i])
}
