/**
 * Which writes an API thread prepares: it finds out what is to be stored, by the same steps as the main thread, and sends that to be
 * compared and written there. So the one writer does of each what it alone can do. It prepares what every step judges by the replica; what
 * a step would ask somebody, or remember, crosses whole, as does what is large: long work has its turns over there. What a thread found may
 * be older when it is written, as what the main thread finds before it asks a webhook; but whether the place takes anything new
 * is asked there once more, so that nothing is left in a space or namespace that is emptied.
 */
import { groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { sizeOf } from '../../storage/sharedStored.ts'
import type { Store } from '../../storage/store.ts'
import { type Admission, stepsFor } from '../registry/admission.ts'
import { keyOf } from '../registry/keys.ts'
import { LARGE_BYTES } from '../registry/largeWrites.ts'
import type { ResourceRequest } from '../request/requestInfo.ts'
import type { Target } from '../server/dispatch.ts'

/** What each verb may come to. */
const OPERATIONS: Readonly<Record<string, readonly ('CREATE' | 'UPDATE')[]>> = {
  create: ['CREATE'],
  // what is not there may be made
  update: ['CREATE', 'UPDATE'],
  patch: ['CREATE', 'UPDATE'],
}

export interface OwnWritesDeps {
  /** Kinds that this server has by itself. */
  builtin: readonly Pick<ResourceType, 'group' | 'resource' | 'form'>[]
  /** The replica. */
  store: Pick<Store, 'get'>
  admission: readonly Admission[]
}

export class OwnWrites {
  readonly #deps: OwnWritesDeps
  readonly #kinds: ReadonlySet<string>

  constructor(deps: OwnWritesDeps) {
    this.#deps = deps
    const structs = deps.builtin.filter(({ form }) => form === 'struct')
    this.#kinds = new Set(structs.map(groupResourceName))
  }

  /** Whether any of that kind may be among them: asked before it is known who sends it, which what crosses is asked over there. */
  mayHave(resource: ResourceRequest): boolean {
    const { subresource } = resource
    // definitions come and go with their instances, by the main thread's hand
    return (subresource === '' || subresource === 'status') && this.#kinds.has(groupResourceName(resource))
  }

  has({ info, type, resource, space, user }: Target): boolean {
    const { store, admission } = this.#deps
    const { namespace, name, subresource } = resource
    if (type.form !== 'struct' || !this.mayHave(resource)) return false
    const at = { space, namespace, subresource, user }
    const operations = OPERATIONS[info.verb]
    if (operations === undefined) return false
    for (const operation of operations)
      if (stepsFor(admission, type, operation, at).some(step => !step.judgesAnywhere)) return false
    const current = name === '' ? undefined : store.get(keyOf(space, type, namespace, name))
    return !(current instanceof Promise) && (current === undefined || sizeOf(current) <= LARGE_BYTES)
  }
}
