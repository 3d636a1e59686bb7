/**
 * Remarks on copies that stay as they were because of their content: the object cannot be customized, or the mailbox refuses the
 * copy. Placements report each remark until the copy is right.
 */
import { shortened } from '../../../apimachinery/shortened.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Source } from '../join/placementProduct.ts'

export const CUSTOMIZATION_FAILED = 'CustomizationFailed'
/** The mailbox refuses the copy. */
export const NOT_TAKEN = 'NotTaken'
const MESSAGE_LIMIT = 500

export interface CopyRemarksDeps {
  reportCopy(source: Source, told: Reason): void
  withdrawCopy(source: Source, reason: string): void
}

export class CopyRemarks {
  readonly #deps: CopyRemarksDeps
  /** `mailbox key` of those that are told. */
  readonly #told = new Set<string>()

  constructor(deps: CopyRemarksDeps) {
    this.#deps = deps
  }

  cannotCustomize(mailbox: string, source: Source, faults: readonly string[]): void {
    this.#tell(mailbox, source, CUSTOMIZATION_FAILED, `its newest version is not sent: ${faults.join('; ')}`)
  }

  /** `remedy`: what ends that; said whole, however long the reason. */
  notTaken(mailbox: string, source: Source, why: string, remedy?: string): void {
    this.#tell(mailbox, source, NOT_TAKEN, why, remedy === undefined ? '' : `; ${remedy}`)
  }

  /** The copy is as it should be, or is to be none. */
  settle(mailbox: string, key: string, sources: () => readonly Source[]): void {
    if (this.#told.size === 0 || !this.#told.delete(`${mailbox} ${key}`)) return
    for (const source of sources())
      for (const reason of [CUSTOMIZATION_FAILED, NOT_TAKEN]) this.#deps.withdrawCopy(source, reason)
  }

  #tell(mailbox: string, source: Source, reason: string, text: string, rest = ''): void {
    this.#told.add(`${mailbox} ${source.fact.key}`)
    const message = shortened(text, MESSAGE_LIMIT - rest.length)
    this.#deps.reportCopy(source, { reason, message: message + rest })
  }
}
