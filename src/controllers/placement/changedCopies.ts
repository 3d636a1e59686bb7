/** Tasks that follow from changes of copies: of the copy, of its source, and of the placements that claim it. */
import type { PlacementJoin } from './join/placementJoin.ts'
import type { Tasks } from './join/tasks.ts'
import type { Mailboxes } from './mailboxes/mailboxes.ts'
import type { ClaimedBy, CopyChange } from './signals/signals.ts'

export class ChangedCopies {
  readonly #tasks: Tasks
  readonly #join: PlacementJoin
  readonly #mailboxes: Mailboxes

  constructor(tasks: Tasks, join: PlacementJoin, mailboxes: Mailboxes) {
    this.#tasks = tasks
    this.#join = join
    this.#mailboxes = mailboxes
  }

  copyChanged(mailbox: string, key: string, what: CopyChange, claims?: readonly ClaimedBy[]): void {
    const [tasks, join] = [this.#tasks, this.#join]
    switch (what) {
      case 'content':
        tasks.add({ type: 'copy', mailbox, key, origin: this.#mailboxes.get(mailbox)?.ownerOf(key) })
        this.#associated(mailbox, key, this.#mailboxes.get(mailbox)?.copies.get(key)?.owner)
        break
      case 'standing':
        for (const { space } of claims ?? join.sourcesOf(mailbox, key)) tasks.add({ type: 'source', space, key })
        break
      case 'status':
      case 'generation':
        for (const { space } of claims ?? join.sourcesOf(mailbox, key))
          if (join.wantedState(space, key) || join.fact(space, key)?.annotated)
            tasks.add({ type: 'source', space, key })
        break
      case 'health':
      case 'converged':
        for (const { space, placements } of claims ?? join.sourcesOf(mailbox, key))
          for (const name of placements) tasks.report(space, name)
        if (what === 'converged') this.#associated(mailbox, key)
        break
      case 'remark':
        tasks.reportAll(join.leadsFor(mailbox, key))
    }
  }

  /**
   * Others may ask for what belongs to a copy that is written, or gone.
   * @param owner of a copy that the center did not write: what names that space needs no look at each status
   */
  #associated(mailbox: string, root: string, owner?: string): void {
    const at = this.#mailboxes.get(mailbox)
    for (const key of at?.associated.of(root) ?? []) {
      const isNamed = owner !== undefined && at?.carried.get(key)?.requestedBy.split(',').includes(owner) === true
      if (!isNamed) this.#tasks.add({ type: 'requesters', mailbox, key })
    }
  }

  mailboxChanged(mailbox: string): void {
    this.#tasks.reportAll(this.#join.placementsOf(mailbox))
  }
}
