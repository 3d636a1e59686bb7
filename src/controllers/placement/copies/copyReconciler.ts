/**
 * Carries out the decision about one object of one mailbox: creates, updates or removes the copy, and reports the gate that keeps it. Its
 * caller ensures that the mailbox and all that feeds it are known. A claim that cannot be adapted leaves the copy as it was.
 */

import { hasCause, isStatusError, NAMESPACE_TERMINATING, namespaceTrouble } from '../../../apimachinery/errors.ts'
import { NAMESPACES } from '../../../apimachinery/resources.ts'
import { unlessThere } from '../../../client/unlessGone.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { implicitNamespace } from '../../../placement/content/projection.ts'
import { BUDGET_EXCEEDED } from '../../../placement/spaces/spaceBudget.ts'
import { FIELD_MANAGER, namespaceKey, namespaceOf } from '../../../placement/words/names.ts'
import type { Source } from '../join/placementProduct.ts'
import { byRight } from '../mailboxes/copyOwnership.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import { UNSCHEDULABLE } from '../mailboxes/unschedulableMailboxes.ts'
import type { CopyDeps } from './copyDeps.ts'
import type { CopyMaking } from './copyMaking.ts'
import type { CopyNotes } from './copyNotes.ts'
import { notTaken } from './copyRemarks.ts'
import type { CopyRemovals } from './copyRemovals.ts'
import type { CopyWriter } from './copyWriter.ts'
import { type Decision, decide, isOfMailbox } from './decide.ts'
import { holdsData, succeed } from './succession.ts'
import { KIND_NOT_SERVED, UnservedKindError, unservedKind } from './unservedKinds.ts'

export interface CopyReconcilerDeps
  extends Pick<
    CopyDeps,
    'client' | 'facts' | 'join' | 'sources' | 'rules' | 'brake' | 'again' | 'remarks' | 'copyChanged'
  > {
  making: CopyMaking
  notes: CopyNotes
  writer: CopyWriter
  removals: Pick<CopyRemovals, 'remove' | 'none'>
}

export interface CopyResult extends ReconcileResult {
  /** The copy is not as it should be, and news will say when it can be. */
  readonly behind?: boolean
  /** Claims on the object as its write found them; absent where there was none. */
  readonly claims?: readonly Source[]
}

/** The message names neither the mailbox nor others' objects in it. */
const MAILBOX_FULL =
  'the mailbox of that cluster is full; place less there, or ask the operator of the server for a larger budget of the mailbox'

/** A customized object that a mailbox refused is tried again after this, without news. */
const MISFIT_RETRY_MS = 60_000

export class CopyReconciler {
  readonly #deps: CopyReconcilerDeps

  constructor(deps: CopyReconcilerDeps) {
    this.#deps = deps
  }

  async reconcile(
    mailbox: Mailbox,
    key: string,
    decision = decide(this.#deps.facts, mailbox, key),
  ): Promise<CopyResult> {
    if (decision.verb === 'wait') return { postponed: true } // decided again once more is known
    this.#deps.remarks.endUnclaimed(mailbox.name, key, 'claims' in decision ? decision.claims : [])
    if (decision.verb === 'keep' && decision.unwanted) this.#deps.brake.paused(mailbox, key)
    if (decision.verb === 'keep' && isOfMailbox(decision.gate)) return { behind: true }
    const hadNamespace = mailbox.namespaces.has(namespaceOf(key))
    try {
      const result = await this.#carryOut(decision, mailbox, key)
      this.#noteRefusal(mailbox, key, undefined)
      if (!result.behind) this.#deps.notes.unhindered(mailbox, key)
      if (mailbox.unserved.delete(key)) this.#deps.remarks.endAll(mailbox.name, key, KIND_NOT_SERVED)
      return result
    } catch (error) {
      if (error instanceof UnservedKindError) return this.#unserved(mailbox, key, error)
      // no failure: the end of a Namespace wakes all that goes there, also one that the mailbox's stream has yet to report
      const trouble = namespaceTrouble(error)
      if (trouble === NAMESPACE_TERMINATING || (trouble && hadNamespace)) return { behind: true }
      if (isStatusError(error, 'Invalid', 'BadRequest')) {
        this.#noteRefusal(mailbox, key, error.message)
        const succession = await succeed(this.#deps, mailbox, key)
        if (!succession || succession.remedy !== undefined)
          this.#remarkNotTaken(mailbox, key, error.message, succession?.remedy)
        if (succession) return succession
        // the author mends what customizes it, and the remark says so: a retry seldom helps
        if (this.#deps.join.sourcesOf(mailbox.name, key).some(({ fact }) => fact.customized)) {
          return { requeueAfterMs: MISFIT_RETRY_MS }
        }
      }
      if (hasCause(error, BUDGET_EXCEEDED)) {
        this.#noteRefusal(mailbox, key, MAILBOX_FULL)
        this.#remarkNotTaken(mailbox, key, MAILBOX_FULL)
      }
      throw error
    }
  }

  async #carryOut(decision: Exclude<Decision, { verb: 'wait' }>, mailbox: Mailbox, key: string): Promise<CopyResult> {
    const { removals, brake } = this.#deps
    switch (decision.verb) {
      case 'keep':
        if (decision.gate === 'unschedulable') {
          for (const { space } of decision.claims) this.#deps.remarks.set(mailbox.name, space, key, UNSCHEDULABLE)
        } else if (decision.passes) brake.submit(mailbox, key, decision.passes)
        else if (!decision.unwanted) brake.settled(mailbox, key)
        return {}
      case 'none':
        return removals.none(mailbox, key)
      case 'remove':
        return await removals.remove(mailbox, key, decision.copy)
      case 'pass':
        if (!brake.submit(mailbox, key, decision.copy)) return {}
        if (holdsData(key)) return (await succeed(this.#deps, mailbox, key)) ?? {}
        return await this.#write(mailbox, key, decision.claims)
      case 'write':
        // not so for a copy that passes: the brake counts it until it has passed
        brake.settled(mailbox, key)
        return await this.#write(mailbox, key, decision.claims)
    }
  }

  /** `claims`: the owner's first. */
  async #write(mailbox: Mailbox, key: string, claims: readonly Source[]): Promise<CopyResult> {
    const { brake, making, notes, writer } = this.#deps
    const owner = mailbox.ownerOf(key)
    const made = await making.firstGood(mailbox, owner === undefined ? claims : claims.slice(0, 1))
    if (!made) return { behind: true }
    const { source, content } = made
    const { namespace } = content.projection
    if (namespace !== '' && !mailbox.namespaces.has(namespace)) await this.#ensureNamespace(mailbox, namespace)
    const { wrote, copy } = await writer.write(mailbox, key, source.fact.resource, content)
    mailbox.lostOwners.delete(key)
    notes.noteGenerations(mailbox, source, content.generation, copy?.metadata)
    const isNewOwner = owner !== undefined && owner !== source.space
    if (isNewOwner) brake.settled(mailbox, key)
    if (isNewOwner || (wrote && claims.length > 1)) this.#deps.copyChanged.send(mailbox.name, key, 'standing')
    return { claims }
  }

  /** Remarks on a refusal for the space that owns the object, or would own it. */
  #remarkNotTaken(mailbox: Mailbox, key: string, why: string, remedy?: string): void {
    const { join, rules, remarks } = this.#deps
    const claims = join.sourcesOf(mailbox.name, key)
    const [source] = byRight(claims, { mailbox: mailbox.name, owner: mailbox.ownerOf(key), rules })
    if (source) remarks.set(mailbox.name, source.space, key, notTaken(why, remedy))
  }

  /** The error is not thrown on: frequent retries and log lines mend nothing. */
  #unserved(mailbox: Mailbox, key: string, error: UnservedKindError): ReconcileResult {
    const attempt = (mailbox.unserved.get(key) ?? 0) + 1
    mailbox.unserved.set(key, attempt)
    const spaces = this.#deps.join.sourcesOf(mailbox.name, key).map(({ space }) => space)
    const isComing = (definition: string): boolean =>
      !mailbox.refused.has(definition) && this.#deps.join.sourcesOf(mailbox.name, definition).length > 0
    const { retryMs, why } = unservedKind(error, { attempt, copies: mailbox.copies, spaces, isComing })
    for (const space of spaces) {
      if (why) this.#deps.remarks.set(mailbox.name, space, key, why)
      else this.#deps.remarks.end(mailbox.name, space, key, KIND_NOT_SERVED)
    }
    this.#noteRefusal(mailbox, key, why?.message)
    return { requeueAfterMs: retryMs }
  }

  #noteRefusal(mailbox: Mailbox, key: string, why: string | undefined): void {
    if (mailbox.refused.get(key) === why) return
    if (why === undefined) mailbox.refused.delete(key)
    else mailbox.refused.set(key, why)
    this.#deps.copyChanged.send(mailbox.name, key, 'standing')
  }

  async #ensureNamespace(mailbox: Mailbox, name: string): Promise<void> {
    if (mailbox.namespaces.has(name)) return
    const key = namespaceKey(name)
    if (this.#deps.join.sourcesOf(mailbox.name, key).length > 0) {
      try {
        await this.reconcile(mailbox, key)
      } finally {
        this.#deps.again(mailbox.name, key)
      }
      return
    }
    const api = this.#deps.client.in(mailbox.space)
    await unlessThere(api.create(NAMESPACES, implicitNamespace(name), { fieldManager: FIELD_MANAGER }))
  }
}
