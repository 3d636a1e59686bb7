/**
 * Changing the same object in many spaces: where the objects that are there have one body, the body of one of them after the change is that
 * of the next one. The first one is changed as any object is. An object with another body is changed for itself.
 *
 * What holds for templates.ts holds here: the same sender's object, the same writer, a kind with the same rules.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { KubeObject, ObjectMeta } from '../../apimachinery/object.ts'
import { AlikeText, alikeOf } from '../../storage/alikeText.ts'
import type { Body } from '../../storage/body.ts'
import type { SharedStored } from '../../storage/sharedStored.ts'
import type { Encoded, Revision, Stored } from '../../storage/store.ts'
import { decodeObject } from './codec.ts'
import { type Circumstances, isSameWrite, saysOnce } from './templates.ts'

/** A time in the new text: the present one, one of the old text by its place, or one that all say. */
type Word = 'now' | number | { readonly constant: string }

/** A time in the old text; `undefined`: whatever it is, it stays. */
type Pattern =
  | { readonly fixed: string }
  /** `first`: the first place with the same; claims stand in the order of their times. */
  | { readonly first: number; readonly toNow: number }
  | undefined

/** How objects with one body become what is wanted. */
interface Change {
  readonly circumstances: Circumstances
  readonly patterns: readonly Pattern[]
  readonly body: Body
  readonly words: readonly Word[]
  /** One that became so. */
  readonly like: KubeObject
  /** The times of the last text. */
  last: readonly string[]
}

type Known = BoundedCache<Body, readonly Change[]>

export interface Changed {
  readonly text: Encoded
  /** The object once it is stored under a revision. */
  stored(revision: Revision): KubeObject
}

/** Different bodies of the objects that one is to replace: those with more are changed each for themselves. */
const KEPT_BODIES = 32
/** Changes of one body, which differ in the times that are the same. */
const KEPT_CHANGES = 8

/** One of many objects after its change. */
export interface ChangedAlike {
  readonly text: AlikeText
  /** One that became the same, but for its own values. Nobody ever changes it. */
  readonly like: KubeObject
}

/** An object where it stands, with its metadata, at a time. */
export interface Place {
  readonly current: Stored
  readonly metadata: ObjectMeta
  readonly now: string
}

export class Revisions {
  readonly #known = new WeakMap<object, Known>()

  /** What `current` becomes at the time `now`, if that is known. `metadata` is its own. */
  of(said: object, circumstances: Circumstances, { current, metadata, now }: Place): Changed | undefined {
    const shared = alikeOf(current)
    const text = shared?.own === metadata.uid ? this.alike(said, circumstances, shared!, now)?.text : undefined
    const { space } = current.key
    return text && { text, stored: revision => decodeObject({ bytes: text.body.text(text, space, revision) }) }
  }

  /** The same of one of many, without looking at what it says. */
  alike(said: object, circumstances: Circumstances, stored: SharedStored, now: string): ChangedAlike | undefined {
    const changes = this.#known.get(said)?.get(stored.body)
    const change = changes?.find(one => fits(one, stored, now))
    if (!change || !isSameWrite(change.circumstances, circumstances)) return undefined
    const text = textOf(change, stored, now)
    return text && { text, like: change.like }
  }

  /** What it has become, to be known for the next one. */
  learn(said: object, circumstances: Circumstances, { current, now }: Place, became: Stored): void {
    const [before, after] = [alikeOf(current), alikeOf(became)]
    const change = before && after && changeOf(circumstances, before, after, now)
    if (!change) return
    const known: Known = this.#known.get(said) ?? new BoundedCache<Body, readonly Change[]>(KEPT_BODIES)
    this.#known.set(said, known)
    const others = (known.get(before.body) ?? []).filter(other => !fits(other, before, now))
    known.set(before.body, [change, ...others.slice(0, KEPT_CHANGES - 1)])
  }
}

/** `undefined` where its metadata is not all that tells the object from others. */
function changeOf(
  circumstances: Circumstances,
  before: SharedStored,
  after: SharedStored,
  now: string,
): Change | undefined {
  const like = decodeObject(after)
  const { headTimes: heads } = before.body
  const times = before.rest.slice(0, heads)
  if (before.own !== after.own || like.metadata.deletionTimestamp !== undefined) return undefined
  if (!saysOnce(after, like, [now, ...times])) return undefined
  const [tail, newTail] = [before.rest.slice(heads), after.rest.slice(after.body.headTimes)]
  // a status with a writer of its own stays as it is
  const stays = circumstances.type.subresources.includes('status') && tail.join() === newTail.join()
  const wordOf = (word: string, i: number): Word => {
    const behind = i - after.body.headTimes
    if (behind >= 0) return stays ? heads + behind : { constant: word }
    // a time that was there and is the present one could be either: in each object with this change it is both
    return word === now ? 'now' : times.indexOf(word)
  }
  const words = after.rest.map(wordOf)
  if (words.includes(-1)) return undefined
  const patterns = before.rest.map((word, i): Pattern => {
    if (i < heads) return { first: times.indexOf(word), toNow: toNow(word, now) }
    return stays ? undefined : { fixed: word }
  })
  return { circumstances, patterns, body: after.body, words, like, last: after.rest }
}

function fits({ patterns }: Change, { rest }: SharedStored, now: string): boolean {
  for (let i = 0; i < rest.length; i++) {
    const pattern = patterns[i]
    const word = rest[i]!
    if (pattern === undefined) continue
    if ('fixed' in pattern ? pattern.fixed !== word : toNow(word, now) !== pattern.toNow) return false
    if ('first' in pattern && rest.indexOf(word) !== pattern.first) return false
  }
  return true
}

/** Below, at or above 0 for a time before, at or after now. */
function toNow(time: string, now: string): number {
  return time === now ? 0 : time < now ? -1 : 1
}

/** The text that an object becomes which a change {@link fits}; `undefined` where a value is longer or shorter than its gap. */
function textOf(change: Change, { own, rest, key }: SharedStored, now: string): AlikeText | undefined {
  const { body, words, last } = change
  const times = words.map(word => (word === 'now' ? now : typeof word === 'number' ? rest[word]! : word.constant))
  if (times.some((time, i) => time !== last[i])) change.last = times
  const said = { own, rest: change.last }
  return body.holds(said, key.space) ? new AlikeText(body, said, key.space) : undefined
}
