/**
 * Reports on retained copies: no placement selects them any more, and they stay because the brake holds them or something is paused. It
 * decides nothing: {@link decide} and {@link Brake.judge} do.
 */

import type { CopyVerdict } from '../../../placement/outcome/copyState.ts'
import { CONFIRM_DELETION_ANNOTATION } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Mailboxes } from '../mailboxes/mailboxes.ts'
import type { Brake } from './brake.ts'
import type { Pauses } from './pauses.ts'

export interface RetainedCopiesDeps {
  join: Pick<PlacementJoin, 'fact' | 'spec' | 'placementsOf'>
  brake: Pick<Brake, 'stayingIn' | 'staysAs' | 'holdIn'>
  pauses: Pick<Pauses, 'locationOf'>
  mailboxes: Pick<Mailboxes, 'get'>
}

export interface RetainedCopy {
  readonly mailbox: string
  readonly key: string
}

export class RetainedCopies {
  readonly #deps: RetainedCopiesDeps

  constructor(deps: RetainedCopiesDeps) {
    this.#deps = deps
  }

  *of(space: string): Generator<RetainedCopy> {
    for (const { mailbox, key } of this.#deps.brake.stayingIn(space))
      if (this.#stands(space, mailbox, key)) yield { mailbox, key }
  }

  /** Whether a copy stays the space's although it does not place it any more. */
  keeps(space: string, mailbox: string, key: string): boolean {
    return this.#deps.brake.staysAs(space, mailbox, key) !== undefined
  }

  /** Copies behind a pause that a placement reports. */
  behindPauseOf(space: string, placement: string, leadsTo: (mailbox: string) => boolean): number {
    const { join, pauses } = this.#deps
    const isPaused = join.spec(space, placement)?.isPaused === true
    let count = 0
    for (const { mailbox, key, isPaused: isKept } of this.#deps.brake.stayingIn(space)) {
      if (!isKept || !leadsTo(mailbox)) continue
      if (isPaused || pauses.locationOf(mailbox) !== undefined || join.fact(space, key)?.isPaused) count++
    }
    return count
  }

  /** Verdict on a copy without a claim; `undefined`: it does not stay. */
  verdict(space: string, mailbox: string, key: string): CopyVerdict | undefined {
    if (!this.#stands(space, mailbox, key)) return undefined
    const as = this.#deps.brake.staysAs(space, mailbox, key)
    if (as === 'held') return this.#held(space)
    if (as === undefined) return undefined
    const { reason, message } = this.#pauseOf(space, mailbox, key)
    return { state: 'Paused', reason, message: `nothing places it there any more; it stays because ${message}` }
  }

  #held(space: string): CopyVerdict {
    const { hold, placement } = this.#deps.brake.holdIn(space) ?? {}
    const confirm = `kubectl annotate --overwrite edgeplacement ${placement ?? 'NAME'} ${CONFIRM_DELETION_ANNOTATION}=${hold?.hash ?? 'HASH'}`
    const message = `nothing places it there any more, and nobody deleted it by name. It stays as it is until the change is undone, or its deletion is confirmed: ${confirm}`
    return { state: 'Held', reason: 'DeletionHeld', message, ...(hold && { since: hold.since }) }
  }

  #pauseOf(space: string, mailbox: string, key: string): Reason {
    const { join, pauses } = this.#deps
    const location = pauses.locationOf(mailbox)
    if (location !== undefined) return { reason: 'LocationPaused', message: `the Location "${location}" is paused` }
    if (join.fact(space, key)?.isPaused) return { reason: 'ObjectPaused', message: 'the object is paused' }
    const paused = join.placementsOf(mailbox).filter(one => one.space === space && join.spec(space, one.name)?.isPaused)
    const names = paused.map(({ name }) => JSON.stringify(name)).sort()
    return { reason: 'PlacementPaused', message: `EdgePlacement ${names.join(', ')}, which leads there, is paused` }
  }

  #stands(space: string, mailbox: string, key: string): boolean {
    const copy = this.#deps.mailboxes.get(mailbox)?.copies.get(key)
    return copy !== undefined && !copy.terminating && copy.owner === space
  }
}
