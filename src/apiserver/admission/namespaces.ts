/** The Namespace that a request happens in, read when a selector or an expression asks for it. */
import { statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import type { Store } from '../../storage/store.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import type { ParsedCache } from '../registry/codec.ts'
import { keyOf } from '../registry/keys.ts'
import { namespaceOf } from './attributes.ts'

export class NamespaceReader {
  readonly #store: Pick<Store, 'get'>
  readonly #parsed: ParsedCache

  constructor(deps: { store: Pick<Store, 'get'>; parsed: ParsedCache }) {
    this.#store = deps.store
    this.#parsed = deps.parsed
  }

  /** Read-only. @throws StatusError NotFound */
  async get(space: string, name: string): Promise<Readonly<KubeObject>> {
    const stored = await this.#store.get(keyOf(space, NAMESPACES, '', name))
    if (stored === undefined) throw statusError.notFound(NAMESPACES, name)
    return this.#parsed.get(stored)
  }

  /** @throws StatusError NotFound */
  async labels(request: AdmissionRequest): Promise<Readonly<Record<string, string>>> {
    return (await this.get(request.context.space, namespaceOf(request))).metadata.labels ?? {}
  }
}
