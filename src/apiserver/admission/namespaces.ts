/** The Namespace that a request happens in, read when a selector or an expression asks for it. */
import { statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import type { Store } from '../../storage/store.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import type { ParsedCache } from '../registry/codec.ts'
import type { WriteContext } from '../registry/context.ts'
import { keyOf } from '../registry/keys.ts'
import { namespaceOf } from './attributes.ts'
import { besideIt } from './namespaceLifecycle.ts'

export class NamespaceReader {
  readonly #store: Pick<Store, 'get'>
  readonly #parsed: ParsedCache

  constructor(deps: { store: Pick<Store, 'get'>; parsed: ParsedCache }) {
    this.#store = deps.store
    this.#parsed = deps.parsed
  }

  /** Read-only. @throws StatusError NotFound */
  async get(context: Pick<WriteContext, 'space' | 'beside'>, name: string): Promise<Readonly<KubeObject>> {
    const stored = await this.#store.get(keyOf(context.space, NAMESPACES, '', name))
    const found = stored ? this.#parsed.get(stored) : besideIt(context, name)
    if (found === undefined) throw statusError.notFound(NAMESPACES, name)
    return found
  }

  /** @throws StatusError NotFound */
  async labels(request: AdmissionRequest): Promise<Readonly<Record<string, string>>> {
    return (await this.get(request.context, namespaceOf(request))).metadata.labels ?? {}
  }
}
