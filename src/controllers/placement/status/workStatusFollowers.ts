/**
 * Followers of work statuses, and the names of those that may have changed. Most spaces have none, and cost nothing here.
 *
 * Changes of too many at once end the watches instead, and their clients begin anew.
 */
import type { AnswerFollower } from '../../../placement/desks/answered.ts'
import { workStatusName } from '../../../placement/words/workStatusNames.ts'
import type { PendingMarks } from '../join/pendingMarks.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { SpaceLocations } from '../join/spaceLocations.ts'
import type { ClaimedBy, CopyChange } from '../signals/signals.ts'

export interface WorkStatusFollowersDeps {
  join: Pick<PlacementJoin, 'workload' | 'claimsIn'>
  locations: SpaceLocations
  pendingMarks: Pick<PendingMarks, 'isOpen'>
}

/** Told one by one. */
const MAX_NOTIFIED = 2000

interface Followed {
  /** Of namespaced and of cluster-scoped objects. */
  readonly followers: Set<{ readonly isNamespaced: boolean; readonly follower: AnswerFollower }>
  /** What was told or answered while not everything was named: it says of more than it should that it is being written. */
  early: Set<string>
}

export class WorkStatusFollowers {
  readonly #deps: WorkStatusFollowersDeps
  readonly #spaces = new Map<string, Followed>()

  constructor(deps: WorkStatusFollowersDeps) {
    this.#deps = deps
    deps.locations.onRenamed(space => this.lost(space))
  }

  follow(space: string, isNamespaced: boolean, follower: AnswerFollower): () => void {
    const followed = this.#spaces.get(space) ?? { followers: new Set(), early: new Set<string>() }
    const one = { isNamespaced, follower }
    followed.followers.add(one)
    this.#spaces.set(space, followed)
    return () => {
      followed.followers.delete(one)
      if (followed.followers.size === 0 && this.#spaces.get(space) === followed) this.#spaces.delete(space)
    }
  }

  /** What became of one of a space was answered before it was known whether it may have to change. */
  answeredEarly(space: string, mailbox: string, key: string): void {
    const followed = this.#spaces.get(space)
    if (followed) this.#noteEarly(space, followed, `${mailbox} ${key}`)
  }

  /** Objects may be gone: copies that no placement wants stay for a while. */
  claimsChanged(space: string, mailboxes: readonly string[], keys: readonly string[]): void {
    const followed = this.#spaces.get(space)
    if (!followed) return
    if (mailboxes.length * keys.length > MAX_NOTIFIED) this.lost(space)
    else for (const mailbox of mailboxes) for (const key of keys) this.#notify(space, followed, mailbox, key)
  }

  copyChanged(mailbox: string, key: string, what: CopyChange, claims?: readonly ClaimedBy[]): void {
    if (what === 'carried') return
    if (what === 'retained') {
      for (const { space } of claims ?? []) {
        const followed = this.#spaces.get(space)
        if (followed) this.#notify(space, followed, mailbox, key)
      }
      return
    }
    for (const [space, followed] of this.#spaces)
      if (this.#deps.join.workload(space).get(key)) this.#notify(space, followed, mailbox, key)
  }

  mailboxChanged(mailbox: string): void {
    for (const [space, followed] of this.#spaces) {
      if (!this.#deps.locations.of(space).byMailbox.has(mailbox)) continue
      const workload = this.#deps.join.workload(space)
      const own: string[] = []
      for (const key of this.#deps.join.claimsIn(mailbox).keys())
        if (workload.get(key) && own.push(key) > MAX_NOTIFIED) break
      if (own.length > MAX_NOTIFIED) this.lost(space)
      else for (const key of own) this.#notify(space, followed, mailbox, key)
    }
  }

  /** Everything of a space, or what goes to one mailbox, is named by now. */
  named(space: string): void {
    const followed = this.#spaces.get(space)
    if (!followed) return
    const { early } = followed
    followed.early = new Set()
    if (early.size > MAX_NOTIFIED) this.lost(space)
    else
      for (const entry of early) {
        const blank = entry.indexOf(' ')
        this.#notify(space, followed, entry.slice(0, blank), entry.slice(blank + 1))
      }
  }

  /** Whoever watches the space begins anew. */
  lost(space: string): void {
    for (const { follower } of this.#spaces.get(space)?.followers ?? []) follower.lost()
  }

  #notify(space: string, followed: Followed, mailbox: string, key: string): void {
    const label = this.#deps.locations.labelOf(space, mailbox)
    if (label === undefined) return
    this.#noteEarly(space, followed, `${mailbox} ${key}`)
    const { namespace, name } = workStatusName(label, key)
    for (const { isNamespaced, follower } of followed.followers)
      if (isNamespaced === (namespace !== '')) follower.touched({ namespace, name })
  }

  #noteEarly(space: string, { early }: Followed, entry: string): void {
    if (this.#deps.pendingMarks.isOpen(space) && early.size <= MAX_NOTIFIED) early.add(entry)
  }
}
