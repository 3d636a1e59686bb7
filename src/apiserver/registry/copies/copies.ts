/**
 * The door for copies: objects of many spaces whose texts are one body. They are created, updated and deleted many at a time, with one wait
 * for the disk.
 *
 * The text of a copy is its body and its own values: its uid, its space and its times. The codec declares their gaps (declaredText.ts), the
 * store keeps the body once. The first copy goes the ordinary way and shows the body; each further copy is that body with its own values.
 * This holds where the ordinary way of each copy leads to the same body (circumstances.ts). No admission step may change the object or
 * judge more than its place.
 *
 * Any other copy needs the ordinary way. Its index in the answer stays empty, and nothing is written of it. The caller takes that way,
 * which also gives the reason of a refusal. The server itself writes copies, so no warnings leave here.
 */
import type { Creations } from '../creations.ts'
import type { Preparation, RegistryDeps } from '../preparation.ts'
import type { Updates } from '../updates.ts'
import { CopyCreations } from './copyCreations.ts'
import { CopyDeletions } from './copyDeletions.ts'
import { CopyUpdates } from './copyUpdates.ts'
import type { Copied, CopyCreation, CopyDeletion, CopyUpdate } from './copyWrites.ts'

export class Copies {
  readonly #creations: CopyCreations
  readonly #updates: CopyUpdates
  readonly #deletions: CopyDeletions

  constructor(
    preparation: Preparation,
    { creations, updates }: { creations: Creations; updates: Updates },
    deps: RegistryDeps,
  ) {
    this.#creations = new CopyCreations(preparation, creations, deps)
    this.#updates = new CopyUpdates(preparation, updates, deps)
    this.#deletions = new CopyDeletions(deps)
  }

  create(creations: readonly CopyCreation[]): Promise<readonly (Copied | undefined)[]> {
    return this.#creations.create(creations)
  }

  update(updates: readonly CopyUpdate[]): Promise<readonly (Copied | undefined)[]> {
    return this.#updates.update(updates)
  }

  /** Whether each is gone. */
  delete(deletions: readonly CopyDeletion[]): Promise<readonly boolean[]> {
    return this.#deletions.delete(deletions)
  }
}
