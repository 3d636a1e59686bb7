/** The states that are small enough for the center. What is larger stays in the cluster, and that is told once. */
import type { KubeObject } from '../apimachinery/object.ts'
import { isStatusTooLarge, STATUS_LIMIT_BYTES } from '../apimachinery/statusLimit.ts'
import type { Logger } from '../client/logger.ts'
import { fieldsOf, keyText, type SyncKey } from './mirror.ts'

export class StatusLimit {
  readonly #logger: Logger
  readonly #told = new Set<string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Whether the status of this object of the cluster may be reported. */
  allows(key: SyncKey, live: Readonly<KubeObject>): boolean {
    const text = keyText(key)
    if (!isStatusTooLarge(live)) {
      this.#told.delete(text)
      return true
    }
    if (!this.#told.has(text)) {
      this.#told.add(text)
      this.#logger.warn(
        fieldsOf(key),
        `the status of this object is larger than ${STATUS_LIMIT_BYTES} bytes of JSON: the center does not hear of it until ` +
          'it is smaller',
      )
    }
    return false
  }
}
