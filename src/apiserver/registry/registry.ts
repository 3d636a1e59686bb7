/**
 * Creates and updates: who asks for one need not know in which of the ways it is made. Each has a file.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { WriteContext } from './context.ts'
import { Copies } from './copies/copies.ts'
import { type CreateOptions, Creations } from './creations.ts'
import { Preparation, type RegistryDeps, type UpdateOptions } from './preparation.ts'
import type { Provenance } from './provenance.ts'
import { type Change, Updates } from './updates.ts'
import type { Written } from './written.ts'

export type { Admission, AdmissionRequest } from './admission.ts'

export type { Change, RegistryDeps, Written }

export class Registry {
  /** For operations that stand beside the registry (deletion). */
  readonly deps: RegistryDeps
  /** Many objects of many spaces at a time. */
  readonly copies: Copies
  readonly #preparation: Preparation
  readonly #creations: Creations
  readonly #updates: Updates

  /** Unset fields of objects. Absent where nothing travels. */
  get provenance(): Provenance | undefined {
    return this.#preparation.provenance
  }

  constructor(deps: RegistryDeps) {
    this.deps = deps
    this.#preparation = new Preparation(deps)
    this.#creations = new Creations(this.#preparation, deps)
    this.#updates = new Updates(this.#preparation, this.#creations, deps)
    this.copies = new Copies(this.#preparation, { creations: this.#creations, updates: this.#updates }, deps)
  }

  /** `input` is in the version of `type`; it is taken over and changed. */
  create(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    input: KubeObject,
    options?: CreateOptions,
  ): Promise<Written> {
    return this.#creations.create(context, type, namespace, input, options)
  }

  /** Updates that change nothing write nothing. */
  update(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    name: string,
    change: Change,
    options?: UpdateOptions,
  ): Promise<Written> {
    return this.#updates.update(context, type, namespace, name, change, options)
  }
}
