/**
 * Content of mailboxes that pauses retain: a paused EdgePlacement's copies, a paused object, all objects at a paused Location. Nothing of
 * it is written and nothing is deleted; when the pause ends, all of it is looked at again.
 *
 * A deletion by name under a paused EdgePlacement waits, too: it takes no copy away. The placement behind an unclaimed copy is not known
 * for ever. Unclaimed copies of a space therefore wait wherever a paused placement of the space leads.
 */

import { isStatusError } from '../../../apimachinery/errors.ts'
import { at } from '../../../apimachinery/fields.ts'
import { MapOfMaps } from '../../../apimachinery/nestedMaps.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import type { LabelSelector, LabelSelectorObject } from '../../../apimachinery/selectors.ts'
import { labelSelectorFromObject } from '../../../apimachinery/selectors.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { PAUSED_ANNOTATION } from '../../../placement/words/placement.ts'
import type { Inventory, LocationChange, TargetChange } from '../inventory/inventory.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'
import type { Signals } from '../signals/signals.ts'

export interface PausesDeps {
  inventory: Pick<Inventory, 'targetsOf'>
  join: Pick<PlacementJoin, 'fact' | 'spec' | 'placementsOf'>
  mailboxChanged: Signals['mailboxChanged']
}

export class Pauses {
  readonly #deps: PausesDeps
  /** Instance selectors of the paused Locations, by inventory and name. */
  readonly #selectors = new MapOfMaps<LabelSelector>()
  /** Mailboxes at paused Locations, and the names of those. */
  #paused = new Map<string, string>()

  constructor(deps: PausesDeps) {
    this.#deps = deps
  }

  /** The paused Location that a mailbox is at. */
  locationOf(mailbox: string): string | undefined {
    return this.#paused.get(mailbox)
  }

  /** Whether the copy of a claim stays as it is. `specs`: of the placements as they are, or would be. */
  holdsClaim({ space, fact, placements }: Source, specs: Pick<PlacementJoin, 'spec'> = this.#deps.join): boolean {
    return fact.isPaused === true || placements.every(name => specs.spec(space, name)?.isPaused)
  }

  /** Whether a copy stays that its owner claims no more. */
  holdsCopy(
    mailbox: string,
    key: string,
    owner: string | undefined,
    specs: Pick<PlacementJoin, 'spec'> = this.#deps.join,
  ): boolean {
    const { join } = this.#deps
    if (owner === undefined) return false
    return join.fact(owner, key)?.isPaused === true || this.leadsPaused(owner, mailbox, specs)
  }

  /** Whether a paused placement of a space leads to a mailbox. */
  leadsPaused(owner: string, mailbox: string, specs: Pick<PlacementJoin, 'spec'> = this.#deps.join): boolean {
    const leads = this.#deps.join.placementsOf(mailbox)
    return leads.some(({ space, name }) => space === owner && specs.spec(space, name)?.isPaused)
  }

  locationChanged({ space, name, after }: LocationChange): void {
    const selector = after?.metadata.annotations?.[PAUSED_ANNOTATION] === 'true' ? instancesOf(after) : undefined
    if (!selector && !this.#selectors.get(space, name)) return
    this.#selectors.set(space, name, selector)
    this.#workOut()
  }

  targetChanged({ space, before, after }: TargetChange): void {
    if (this.#selectors.has(space) && !equalJson(before?.labels, after?.labels)) this.#workOut()
  }

  #workOut(): void {
    const now = new Map<string, string>()
    for (const [inventory, selectors] of this.#selectors) {
      for (const [name, selector] of selectors) {
        for (const { mailbox, labels } of this.#deps.inventory.targetsOf(inventory)) {
          if (!now.has(mailbox) && selector.matches(labels)) now.set(mailbox, name)
        }
      }
    }
    const before = this.#paused
    this.#paused = now
    for (const mailbox of new Set([...before.keys(), ...now.keys()])) {
      if (before.get(mailbox) !== now.get(mailbox)) this.#deps.mailboxChanged.send(mailbox, 'gate')
    }
  }
}

/** A malformed selector stands for nothing, as the where-resolver has it. */
function instancesOf({ spec }: KubeObject): LabelSelector | undefined {
  const selector = at(spec, 'instanceSelector')
  if (!isRecord(selector)) return undefined
  try {
    return labelSelectorFromObject(selector as LabelSelectorObject)
  } catch (error) {
    if (isStatusError(error)) return undefined
    throw error
  }
}
