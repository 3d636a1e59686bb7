/**
 * Removals from mailboxes: copies that no placement claims any more go once {@link Brake.submit} allows it. An object that moves is
 * created in its new place first.
 */
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { isNamespaceKey } from '../../../placement/words/names.ts'
import type { CopyFact, Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyDeps } from './copyDeps.ts'
import type { CopyNotes } from './copyNotes.ts'
import type { CopyWriter, GoingCopy } from './copyWriter.ts'
import { decide, mailboxGate, neededBy } from './decide.ts'

export interface CopyRemovalsDeps extends Pick<CopyDeps, 'facts' | 'join' | 'mailbox' | 'brake' | 'again'> {
  notes: Pick<CopyNotes, 'unhindered'>
  writer: Pick<CopyWriter, 'remove' | 'removeTogether'>
  /** Carries out the decision about a copy at once; `behind`: news will say when it can be right. */
  converge: (mailbox: Mailbox, key: string) => Promise<RemovalResult>
}

type RemovalResult = ReconcileResult & { readonly behind?: boolean }

/** How often a removal waits for the copy in the place that the object moves to, and how long at first. */
const MOVE_ATTEMPTS = 6
const MOVE_WAIT_MS = 20

export class CopyRemovals {
  readonly #deps: CopyRemovalsDeps
  /** Removals that waited in vain so far, by mailbox and key. */
  readonly #waited = new Map<string, number>()

  constructor(deps: CopyRemovalsDeps) {
    this.#deps = deps
  }

  /** Nothing is claimed, and nothing is there that could go. */
  none(mailbox: Mailbox, key: string): ReconcileResult {
    this.#releaseNeeded(mailbox, key)
    this.#deps.brake.settled(mailbox, key)
    return {}
  }

  /** Removes a copy that nobody claims, once the brake releases it. */
  async remove(mailbox: Mailbox, key: string, copy: CopyFact): Promise<RemovalResult> {
    const { facts, brake, writer, again } = this.#deps
    this.#releaseNeeded(mailbox, key)
    if (!brake.submit(mailbox, key, copy)) return {}
    const requeueAfterMs = await this.#moved(mailbox, key, copy)
    if (requeueAfterMs !== undefined) return { requeueAfterMs }
    // an undo or a pause may have come meanwhile; the owner was known, also where it is followed no longer
    if (decide({ ...facts, isFollowed: () => true }, mailbox, key).verb !== 'remove') {
      again(mailbox.name, key)
      return { behind: true }
    }
    if (!brake.submit(mailbox, key, copy)) return {}
    // a placement may ask to preserve the copy just before it goes: its cluster learns that, too
    await writer.remove(mailbox, key, copy, brake.isPreserved(mailbox.name, key))
    return {}
  }

  /** A copy that may go at once, with others; `undefined`: it has to be removed by itself. */
  toRemove(mailbox: Mailbox, key: string, copy: CopyFact): GoingCopy | undefined {
    const { join, brake } = this.#deps
    if (!brake.submit(mailbox, key, copy) || brake.isPreserved(mailbox.name, key)) return undefined
    if (copy.owner !== '' && join.destinationsOf(copy.owner, key).size > 0) return undefined
    return { mailbox, key, copy }
  }

  /** A copy that has gone already; `undefined`: it is there, and needed. */
  toForget(mailbox: Mailbox, key: string): GoingCopy | undefined {
    return mailbox.copies.get(key)?.terminating === false ? undefined : { mailbox, key, copy: undefined }
  }

  /** Removes many copies. @returns whether each is done with */
  async removeTogether(copies: readonly GoingCopy[]): Promise<readonly boolean[]> {
    const { brake, notes, writer } = this.#deps
    for (const { mailbox, key, copy } of copies) {
      this.#releaseNeeded(mailbox, key)
      if (!copy) brake.settled(mailbox, key)
      notes.unhindered(mailbox, key)
    }
    return await writer.removeTogether(copies)
  }

  /** Queues the definition and the Namespace of a copy that goes: they wait for it. */
  #releaseNeeded(mailbox: Mailbox, key: string): void {
    const { join, again } = this.#deps
    mailbox.lostOwners.delete(key)
    for (const needed of neededBy(key)) {
      const there = mailbox.copies.get(needed)
      if (!there || (isNamespaceKey(needed) && there.owner === '')) continue
      // a definition may have to make room for that of another space
      const isClaimed = join.sourcesOf(mailbox.name, needed).length > 0
      if (isClaimed && (isNamespaceKey(needed) || !mailbox.refused.has(needed))) continue
      again(mailbox.name, needed)
    }
  }

  /**
   * Creates an object that moves in its new places first. A place that cannot take it delays the removal for some attempts only.
   * @returns how long the removal waits; `undefined`: not at all
   */
  async #moved(mailbox: Mailbox, key: string, copy: CopyFact): Promise<number | undefined> {
    const id = `${mailbox.name} ${key}`
    const waited = this.#waited.get(id) ?? 0
    this.#waited.delete(id)
    let failed = false
    for (const name of this.#deps.join.destinationsOf(copy.owner, key).keys()) {
      const other = this.#deps.mailbox(name)
      if (!other || mailboxGate(this.#deps.facts, name) || other.copies.get(key)?.terminating === false) continue
      try {
        if ((await this.#deps.converge(other, key)).behind) failed = true
      } catch {
        failed = true // the other place's own work says why, and tries again
      }
      this.#deps.again(name, key)
    }
    if (!failed || waited >= MOVE_ATTEMPTS) return undefined
    this.#waited.set(id, waited + 1)
    return MOVE_WAIT_MS * 2 ** waited
  }
}
