/**
 * Removals from mailboxes: copies with the projected label that no placement wants, unless the brake or a pause holds them, or an object
 * that is still there needs them. An object that moves is created in its new place first. A copy that its owner gives up and other spaces
 * claim counts as removed from the owner: it passes on when it might go.
 *
 * {@link CopyRemovals.stays} and {@link CopyRemovals.toRemove} decide whether an unwanted copy stays.
 */
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { definitionKey, isNamespaceKey, namespaceKey, parseObjectKey } from '../../../placement/words/names.ts'
import type { Source } from '../join/placementProduct.ts'
import { type CopyFact, isEmptyIn, type Mailbox } from '../mailboxes/mailbox.ts'
import { isGivenUp } from '../mailboxes/ownership.ts'
import { type CopyDeps, mayBeAnothers } from './copyDeps.ts'
import type { CopyNotes } from './copyNotes.ts'
import type { CopyWriter, GoingCopy } from './copyWriter.ts'

export interface CopyRemovalsDeps
  extends Pick<
    CopyDeps,
    'client' | 'join' | 'rules' | 'isFollowed' | 'isGoneFrom' | 'mailbox' | 'brake' | 'pauses' | 'again'
  > {
  notes: CopyNotes
  writer: CopyWriter
  /** Has a copy made what it should be, at once; `behind`: news will say when it can be. */
  converge: (mailbox: Mailbox, key: string) => Promise<{ readonly behind?: boolean }>
}

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

  /** Whether an object is there that has to go, or to pass from its owner to others; `undefined`: nobody knows. */
  isUnwanted(mailbox: Mailbox, key: string): boolean | undefined {
    const { join } = this.#deps
    const copy = mailbox.copies.get(key)
    if (!copy || copy.terminating) return false
    if (mayBeAnothers(join, mailbox, key)) return undefined
    const claims = join.sourcesOf(mailbox.name, key)
    return claims.length > 0 ? this.isGivenUp(mailbox, key, claims) : this.#isNeedless(mailbox, key, copy)
  }

  /** Whether a copy that is there is to pass to one of those who claim it only because its owner does so no more. */
  isGivenUp(mailbox: Mailbox, key: string, claims: readonly Source[]): boolean {
    const { join, rules } = this.#deps
    const copy = mailbox.copies.get(key)
    if (!copy || copy.terminating) return false
    const at = { mailbox: mailbox.name, owner: copy.owner || undefined, rules }
    return isGivenUp(claims, at, owner => join.fact(owner, key)?.handOverTo)
  }

  /** Whether a copy that its owner wants no more stays all the same; it is looked at again when it may go, or pass on. */
  stays(mailbox: Mailbox, key: string, copy: CopyFact): boolean {
    const { brake, pauses } = this.#deps
    if (pauses.holdsCopy(mailbox.name, key, copy.owner || undefined)) {
      brake.paused(mailbox, key)
      return true
    }
    return !brake.mayGo(mailbox, key, copy)
  }

  /** One that nobody claims. */
  async remove(mailbox: Mailbox, key: string): Promise<ReconcileResult> {
    const { brake, notes, writer } = this.#deps
    const copy = mailbox.copies.get(key)
    this.#lookAround(mailbox, key)
    if (!copy || copy.terminating || this.isUnwanted(mailbox, key) === false) {
      notes.settled(mailbox, key)
      return {}
    }
    if (this.stays(mailbox, key, copy)) return {}
    const requeueAfterMs = await this.#moved(mailbox, key, copy)
    if (requeueAfterMs !== undefined) return { requeueAfterMs }
    // an undo or a pause may have come meanwhile
    if (this.isUnwanted(mailbox, key) === false || this.stays(mailbox, key, copy)) return {}
    // its cluster hears so even where the placement said it only just before it went
    await writer.remove(mailbox, key, copy, brake.isPreserved(mailbox.name, key))
    return {}
  }

  /**
   * A copy that nobody claims, if it may go at once and nothing else is to be thought of; `undefined`: it is not as simple, see
   * {@link remove}.
   */
  toRemove(mailbox: Mailbox, key: string): GoingCopy | undefined {
    const { join, brake, pauses } = this.#deps
    if (mailbox.refused.has(key) || mailbox.unserved.has(key) || mayBeAnothers(join, mailbox, key)) return undefined
    const known = mailbox.copies.get(key)
    const copy = known?.terminating ? undefined : known
    if (join.sourcesOf(mailbox.name, key).length > 0) return undefined
    if (!copy) return { mailbox, key, copy }
    if (!this.#isNeedless(mailbox, key, copy)) return undefined
    const owner = copy.owner || undefined
    if (owner !== undefined && !this.#deps.isFollowed(owner)) return undefined
    if (pauses.holdsCopy(mailbox.name, key, owner) || !brake.mayGo(mailbox, key, copy)) return undefined
    if (brake.isPreserved(mailbox.name, key)) return undefined
    if (owner !== undefined && join.destinationsOf(owner, key).size > 0) return undefined
    return { mailbox, key, copy }
  }

  /** Of many of them; whether each is done with. */
  async removeTogether(copies: readonly GoingCopy[]): Promise<readonly boolean[]> {
    const { notes, writer } = this.#deps
    for (const { mailbox, key, copy } of copies) {
      this.#lookAround(mailbox, key)
      if (!copy) notes.settled(mailbox, key)
      notes.unhindered(mailbox, key)
    }
    return await writer.removeTogether(copies)
  }

  #lookAround(mailbox: Mailbox, key: string): void {
    mailbox.lostOwners.delete(key)
    const object = parseObjectKey(key)
    this.#lookAtDefinition(mailbox, definitionKey(object))
    if (object.namespace !== '') this.#lookAtNamespace(mailbox, namespaceKey(object.namespace))
  }

  /** Whoever brought the definition of what goes may be gone already. */
  #lookAtDefinition(mailbox: Mailbox, definition: string): void {
    if (!mailbox.copies.has(definition)) return
    // or another space's is to take its place
    if (this.#deps.join.sourcesOf(mailbox.name, definition).length > 0 && !mailbox.refused.has(definition)) return
    this.#deps.again(mailbox.name, definition)
  }

  /** The Namespace of what goes waits for it. */
  #lookAtNamespace(mailbox: Mailbox, namespace: string): void {
    if (!mailbox.copies.get(namespace)?.owner) return
    if (this.#deps.join.sourcesOf(mailbox.name, namespace).length > 0) return
    this.#deps.again(mailbox.name, namespace)
  }

  /**
   * Where the object goes now it is made first, so that a move leaves no moment without it; how long to wait for that.
   * Patience ends: a place that cannot take the object does not keep it from leaving the old one.
   */
  async #moved(mailbox: Mailbox, key: string, copy: CopyFact): Promise<number | undefined> {
    const id = `${mailbox.name} ${key}`
    const waited = this.#waited.get(id) ?? 0
    this.#waited.delete(id)
    let failed = false
    for (const name of this.#deps.join.destinationsOf(copy.owner, key).keys()) {
      const other = this.#deps.mailbox(name)
      if (!other || other.copies.get(key)?.terminating === false) continue
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

  /** Whether nothing that is there needs what nobody claims. */
  #isNeedless(mailbox: Mailbox, key: string, copy: CopyFact): boolean {
    if (isNamespaceKey(key) && !this.#namespaceMayGo(mailbox, copy, parseObjectKey(key).name)) return false
    return !this.#deps.join.needsDefinition(mailbox.name, key)
  }

  /**
   * A Namespace may hold things that are not ours. It goes when nothing needs it and nothing is left in it: also what is held there
   * goes before it. One that its owner deleted takes with it what came from the cluster.
   */
  #namespaceMayGo(mailbox: Mailbox, copy: CopyFact, name: string): boolean {
    if (this.#deps.join.needsNamespace(mailbox.name, name)) return false
    if (isEmptyIn(mailbox, name)) return true
    if (copy.owner === '' || mailbox.copies.hasIn(name)) return false
    return this.#deps.isGoneFrom(copy.owner, namespaceKey(name))
  }
}
