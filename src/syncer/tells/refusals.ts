/**
 * Refusals in either direction, each one line of the log. Their summary is for administrators of the mailbox; the outcome report
 * carries those of copies to their owners. Each object has one refusal at most, the newest.
 */

import { shortened } from '../../apimachinery/shortened.ts'
import type { Logger } from '../../client/logger.ts'
import type { Refusal } from '../mailbox/clusterAllowance.ts'
import { fieldsOf, keyText, nameOf, type SyncKey } from '../mailbox/mirror.ts'

/** As the status of a SyncerConfig has it. */
export interface RefusalReport {
  readonly count: number
  readonly reasons: Readonly<Record<string, number>>
  /** Some of them. */
  readonly objects: readonly object[]
}

/** The report is part of a status that is written with every change of it. */
const LISTED_LIMIT = 20
const MESSAGE_LIMIT = 500
/** Some kinds have names of any length. */
const NAME_LIMIT = 253

export class Refusals {
  readonly #byKey = new Map<string, Refusal & { key: SyncKey }>()
  readonly #logger: Logger
  readonly #onChange: () => void

  constructor(logger: Logger, onChange: () => void = () => {}) {
    this.#logger = logger
    this.#onChange = onChange
  }

  refuse(key: SyncKey, { reason, message }: Refusal): void {
    if (!this.#set(key, { reason, message })) return
    this.#logger.warn({ ...fieldsOf(key), reason }, `refused: ${nameOf(key)} ${message}`)
  }

  /** A refusal that the caller logs, and tries again. */
  note(key: SyncKey, refusal: Refusal): void {
    this.#set(key, refusal)
  }

  /** The object was carried, or nobody asks for it any more. */
  settle(key: SyncKey): void {
    if (this.#byKey.delete(keyText(key))) this.#onChange()
  }

  /** `undefined` when nothing is refused. */
  get count(): number {
    return this.#byKey.size
  }

  report(): RefusalReport | undefined {
    if (this.#byKey.size === 0) return undefined
    const reasons: Record<string, number> = {}
    const objects: object[] = []
    for (const { key, reason, message } of this.#byKey.values()) {
      reasons[reason] = (reasons[reason] ?? 0) + 1
      if (objects.length < LISTED_LIMIT)
        objects.push({
          ...fieldsOf(key),
          name: key.name.slice(0, NAME_LIMIT),
          reason,
          message: shortened(message, MESSAGE_LIMIT),
        })
    }
    return { count: this.#byKey.size, reasons, objects }
  }

  /** Whether that is news. */
  #set(key: SyncKey, { reason, message }: Refusal): boolean {
    const text = keyText(key)
    const known = this.#byKey.get(text)
    if (known?.reason === reason && known.message === message) return false
    this.#byKey.set(text, { key, reason, message })
    this.#onChange()
    return true
  }
}
