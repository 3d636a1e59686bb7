/** Notes on copies that are as they should be: the brake and remarks let go of them, and their generations are kept. */

import type { Source } from '../join/placementProduct.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyDeps } from './copyDeps.ts'
import { CUSTOMIZATION_FAILED, NOT_TAKEN } from './copyRemarks.ts'

/** A copy, and the generation of its spec. */
export interface CopyVersion {
  readonly uid?: string
  readonly generation?: number | undefined
}

export class CopyNotes {
  readonly #deps: Pick<CopyDeps, 'join' | 'brake' | 'remarks' | 'copyChanged'>

  constructor(deps: Pick<CopyDeps, 'join' | 'brake' | 'remarks' | 'copyChanged'>) {
    this.#deps = deps
  }

  /** Nothing keeps the copy from being right any more. */
  unhindered(mailbox: Mailbox, key: string): void {
    this.#deps.remarks.endAll(mailbox.name, key, CUSTOMIZATION_FAILED, NOT_TAKEN)
  }

  /** A copy is as it should be. `generation`: that of the object that is copied. */
  right(mailbox: Mailbox, source: Source, generation: number | undefined, copy: CopyVersion): void {
    const { key } = source.fact
    this.#deps.brake.settled(mailbox, key)
    this.unhindered(mailbox, key)
    this.noteGenerations(mailbox, source, generation, copy)
  }

  /** Keeps which generation of the source a copy has, where its status returns to that source. */
  noteGenerations(mailbox: Mailbox, source: Source, generation: number | undefined, copy: CopyVersion = {}): void {
    const { space } = source
    const { key } = source.fact
    const { uid = '' } = copy
    if (generation === undefined || copy.generation === undefined || !this.#deps.join.wantedState(space, key)) {
      mailbox.generations.delete(key)
      return
    }
    const before = mailbox.generations.get(key)
    const same = before?.owner === space && before.uid === uid
    if (same && before.source === generation && before.generation === copy.generation) return
    mailbox.generations.set(key, { owner: space, uid, generation: copy.generation, source: generation })
    this.#deps.copyChanged.send(mailbox.name, key, 'generation', [source])
  }
}
