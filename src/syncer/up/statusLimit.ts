/** Limit on the size of a status: an oversized one is not sent, and the older one is removed from the center. It stays in the cluster. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Logger } from '../../client/logger.ts'
import { isStatusTooLarge, STATUS_LIMIT_BYTES } from '../../placement/outcome/statusLimit.ts'
import { fieldsOf, keyText, type SyncKey } from '../mailbox/mirror.ts'

export class StatusLimit {
  readonly #logger: Logger
  readonly #logged = new Set<string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Whether the status of this object of the cluster may be reported. */
  allows(key: SyncKey, live: Readonly<KubeObject>): boolean {
    const text = keyText(key)
    if (!isStatusTooLarge(live)) {
      this.#logged.delete(text)
      return true
    }
    if (!this.#logged.has(text)) {
      this.#logged.add(text)
      this.#logger.warn(
        fieldsOf(key),
        `the status of this object is larger than ${STATUS_LIMIT_BYTES} bytes of JSON: it is not reported to the center until ` +
          'it is smaller',
      )
    }
    return false
  }
}

/** A JSON patch from the mailbox's status of an object, `known`, to `status`; `undefined`: they are equal. */
export function statusPatch(status: unknown, known: unknown): object[] | undefined {
  if (status !== undefined)
    return equalJson(status, known) ? undefined : [{ op: 'add', path: '/status', value: status }]
  // what many kinds say who have none
  return known === undefined || equalJson(known, {}) ? undefined : [{ op: 'remove', path: '/status' }]
}
