/**
 * Followers of answers by space, and copies that were answered as being written before all of the space was named: these change once more
 * then. Most spaces have no followers, and cost nothing.
 */
import type { AnswerFollower, AnswerName } from '../../../placement/desks/answered.ts'

interface Followed {
  readonly followers: Set<AnswerFollower>
  /** Mailbox and key of each copy, with a blank between. */
  early: Set<string>
}

/** Changes that followers get one by one; more are a loss, and their clients begin anew. */
export const MAX_NOTIFIED = 2000

export class SpaceFollowers {
  readonly #spaces = new Map<string, Followed>()

  /** Spaces with followers. */
  spaces(): Iterable<string> {
    return this.#spaces.keys()
  }

  has(space: string): boolean {
    return this.#spaces.has(space)
  }

  /** @param ended called with the end of the space's last follower */
  follow(space: string, follower: AnswerFollower, ended = (): void => {}): () => void {
    const followed = this.#spaces.get(space) ?? { followers: new Set(), early: new Set<string>() }
    followed.followers.add(follower)
    this.#spaces.set(space, followed)
    return () => {
      followed.followers.delete(follower)
      if (followed.followers.size > 0 || this.#spaces.get(space) !== followed) return
      this.#spaces.delete(space)
      ended()
    }
  }

  touched(space: string, name: AnswerName): void {
    for (const follower of this.#spaces.get(space)?.followers ?? []) follower.touched(name)
  }

  /** Clients that watch the space begin anew. */
  lost(space: string): void {
    for (const follower of this.#spaces.get(space)?.followers ?? []) follower.lost()
  }

  noteEarly(space: string, mailbox: string, key: string): void {
    const early = this.#spaces.get(space)?.early
    if (early && early.size <= MAX_NOTIFIED) early.add(`${mailbox} ${key}`)
  }

  /** All of a space is named by now. @returns copies noted before; `undefined`: too many */
  takeEarly(space: string): readonly { readonly mailbox: string; readonly key: string }[] | undefined {
    const followed = this.#spaces.get(space)
    if (!followed) return []
    const { early } = followed
    followed.early = new Set()
    if (early.size > MAX_NOTIFIED) return undefined
    return Array.from(early, entry => {
      const blank = entry.indexOf(' ')
      return { mailbox: entry.slice(0, blank), key: entry.slice(blank + 1) }
    })
  }
}
