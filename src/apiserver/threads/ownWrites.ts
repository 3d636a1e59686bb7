/**
 * Which writes an API thread prepares: it finds out what is to be stored, by the same steps as the main thread, and sends that to be
 * compared and written there. So the one writer does of each what it alone can do. It prepares what every step judges by the replica; what
 * a step would ask somebody, or remember, crosses whole. What it found is no more true when it arrives than what the main thread finds
 * while it waits for a webhook, but for one thing: whether the place takes anything new is asked there once more, so nothing is
 * left in a space or namespace that is emptied meanwhile.
 */
import { type Admission, stepsFor } from '../registry/admission.ts'
import type { Target } from '../server/dispatch.ts'

/** What each verb may come to. */
const OPERATIONS: Readonly<Record<string, readonly ('CREATE' | 'UPDATE')[]>> = {
  create: ['CREATE'],
  // what is not there may be made
  update: ['CREATE', 'UPDATE'],
  patch: ['CREATE', 'UPDATE'],
}

export class OwnWrites {
  readonly #admission: readonly Admission[]

  constructor(admission: readonly Admission[]) {
    this.#admission = admission
  }

  has({ info, type, resource, space, user }: Target): boolean {
    const { namespace, subresource } = resource
    // definitions come and go with their instances, by the main thread's hand
    if (type.form !== 'struct' || (subresource !== '' && subresource !== 'status')) return false
    const at = { space, namespace, subresource, user }
    const operations = OPERATIONS[info.verb] ?? []
    return (
      operations.length > 0 &&
      operations.every(operation =>
        stepsFor(this.#admission, type, operation, at).every(step => step.judgesAnywhere === true),
      )
    )
  }
}
