/** An object or a change as a stream inside the server tells it. */
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { Likeness, StreamEvent } from '../../client/client.ts'
import { mentions } from '../../storage/sharedStored.ts'
import type { Stored } from '../../storage/store.ts'
import { metadataOfLong } from '../registry/decodeInSteps.ts'
import type { RegistryDeps } from '../registry/registry.ts'
import type { StreamForms } from '../registry/streamForms.ts'

export interface StreamedServices {
  /** How streams tell objects. */
  readonly forms: StreamForms
  readonly deps: Pick<RegistryDeps, 'parsed'>
}

/** Parsed when somebody looks, through the cache that the server shares. */
export class SharedEvent implements StreamEvent {
  readonly type: StreamEvent['type']
  readonly #services: StreamedServices
  /** The stream's space or `*`. */
  readonly #of: string
  readonly #stored: Stored
  #converted: KubeObject | undefined
  #resource: GroupVersionResource | undefined
  /** The shared form that bears the unset fields. */
  #shared: KubeObject | undefined

  constructor(services: StreamedServices, of: string, type: StreamEvent['type'], stored: Stored) {
    this.#services = services
    this.#of = of
    this.type = type
    this.#stored = stored
  }

  get space(): string {
    return this.#stored.key.space
  }
  get namespace(): string {
    return this.#stored.key.namespace
  }
  get name(): string {
    return this.#stored.key.name
  }
  get revision(): number {
    return this.#stored.revision
  }
  get resource(): GroupVersionResource {
    const { forms } = this.#services
    this.#resource ??= this.#of === '*' ? forms.servedResource(this.#stored) : forms.resource(this.#stored)
    return this.#resource
  }
  get object(): KubeObject {
    const { deps, forms } = this.#services
    if (forms.isStored(this.#stored)) {
      const shared = deps.parsed.get(this.#stored) as KubeObject
      if (shared !== this.#shared) this.#shared = forms.withProvenance(this.#stored, shared)
      return shared
    }
    const { bytes } = forms.of(this.#stored)
    this.#converted ??= forms.withProvenance(this.#stored, JSON.parse(bytes.toString()) as KubeObject)
    return this.#converted
  }
  get metadata(): Readonly<KubeObject['metadata']> | undefined {
    const known = this.#services.deps.parsed.known(this.#stored)
    return known?.metadata ?? metadataOfLong(this.#stored)
  }
  mentions(text: string): boolean {
    return mentions(this.#stored, text)
  }
  likeness(): Likeness | undefined {
    return this.#services.forms.likeness(this.#stored)
  }
}
