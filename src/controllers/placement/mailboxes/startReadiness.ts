/** Readiness of a start: all inventories, placements, spaces and mailboxes that existed then were read once. */
import type { Mailbox } from './mailbox.ts'

export interface StartReadinessDeps {
  isTopologyWhole(): boolean
  mailboxes(): Iterable<Pick<Mailbox, 'synced'>>
  /** All is known for the first time. */
  becameWhole(): void
}

export class StartReadiness {
  readonly #deps: StartReadinessDeps
  #workspacesSynced = false
  #wasWhole = false

  constructor(deps: StartReadinessDeps) {
    this.#deps = deps
  }

  /** Every mailbox that there was at the start has been told of. */
  workspacesAreSynced(): void {
    this.#workspacesSynced = true
  }

  get isWhole(): boolean {
    if (this.#wasWhole) return true
    if (!this.#workspacesSynced || !this.#deps.isTopologyWhole()) return false
    for (const { synced } of this.#deps.mailboxes()) if (!synced) return false
    this.#wasWhole = true
    this.#deps.becameWhole()
    return true
  }

  /** More is known than before. True when that was the last that was awaited. */
  completes(): boolean {
    return !this.#wasWhole && this.isWhole
  }
}
