/** Followers of work statuses, and the names of those that may have changed. */
import type { AnswerFollower } from '../../../../placement/desks/answered.ts'
import { workStatusName } from '../../../../placement/words/workStatusNames.ts'
import type { PendingMarks } from '../../join/pendingMarks.ts'
import type { PlacementJoin } from '../../join/placementJoin.ts'
import type { SpaceLocations } from '../../join/spaceLocations.ts'
import type { ClaimedBy, CopyChange } from '../../signals/signals.ts'
import { MAX_NOTIFIED, SpaceFollowers } from '../spaceFollowers.ts'

export interface WorkStatusFollowersDeps {
  join: Pick<PlacementJoin, 'workload' | 'claimsIn'>
  locations: SpaceLocations
  pendingMarks: Pick<PendingMarks, 'isOpen'>
}

export class WorkStatusFollowers {
  readonly #deps: WorkStatusFollowersDeps
  readonly #followers = new SpaceFollowers()

  constructor(deps: WorkStatusFollowersDeps) {
    this.#deps = deps
    deps.locations.renamed.on(space => this.#followers.lost(space))
  }

  /** Follows statuses of namespaced objects, or of those without. */
  follow(space: string, isNamespaced: boolean, follower: AnswerFollower): () => void {
    return this.#followers.follow(space, {
      touched: name => {
        if (isNamespaced === (name.namespace !== '')) follower.touched(name)
      },
      lost: () => follower.lost(),
    })
  }

  /** Outcome that was answered before it was known whether it may have to change. */
  answeredEarly(space: string, mailbox: string, key: string): void {
    if (this.#deps.pendingMarks.isOpen(space)) this.#followers.noteEarly(space, mailbox, key)
  }

  /** Objects may be gone: copies that no placement wants stay for a while. */
  claimsChanged(space: string, mailboxes: readonly string[], keys: readonly string[]): void {
    if (!this.#followers.has(space)) return
    if (mailboxes.length * keys.length > MAX_NOTIFIED) this.#followers.lost(space)
    else for (const mailbox of mailboxes) for (const key of keys) this.#notify(space, mailbox, key)
  }

  copyChanged(mailbox: string, key: string, what: CopyChange, claims?: readonly ClaimedBy[]): void {
    if (what === 'carried') return
    if (what === 'retained') {
      for (const { space } of claims ?? []) if (this.#followers.has(space)) this.#notify(space, mailbox, key)
      return
    }
    for (const space of this.#followers.spaces())
      if (this.#deps.join.workload(space).get(key)) this.#notify(space, mailbox, key)
  }

  mailboxChanged(mailbox: string): void {
    for (const space of this.#followers.spaces()) {
      if (!this.#deps.locations.of(space).byMailbox.has(mailbox)) continue
      const workload = this.#deps.join.workload(space)
      const own: string[] = []
      for (const key of this.#deps.join.claimsIn(mailbox).keys())
        if (workload.get(key) && own.push(key) > MAX_NOTIFIED) break
      if (own.length > MAX_NOTIFIED) this.#followers.lost(space)
      else for (const key of own) this.#notify(space, mailbox, key)
    }
  }

  /** Everything of a space, or what goes to one mailbox, is named by now. */
  named(space: string): void {
    const early = this.#followers.takeEarly(space)
    if (!early) this.#followers.lost(space)
    else for (const { mailbox, key } of early) this.#notify(space, mailbox, key)
  }

  #notify(space: string, mailbox: string, key: string): void {
    const label = this.#deps.locations.labelOf(space, mailbox)
    if (label === undefined) return
    this.answeredEarly(space, mailbox, key)
    this.#followers.touched(space, workStatusName(label, key))
  }
}
