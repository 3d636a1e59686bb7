/**
 * Marks of copies as one space sees them: what their clusters report of them beside status, and the silence of a cluster. Followers get
 * the keys of copies whose marks may be others.
 */

import { equalJson } from '../../../apimachinery/values.ts'
import type { ReportedMarks } from '../../../placement/content/reportedObject.ts'
import type { MarksListener } from '../../../placement/desks/reported.ts'
import type { ClusterOutcome } from '../../../placement/outcome/clusterOutcome.ts'
import type { Exception } from '../../../placement/outcome/outcome.ts'
import type { Inventory } from '../inventory/inventory.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyChange } from '../signals/signals.ts'
import { Signal } from '../signals/signals.ts'

export interface CopyMarksDeps {
  inventory: Pick<Inventory, 'target'>
  mailbox: (name: string) => Pick<Mailbox, 'space' | 'ownerOf' | 'changes'> | undefined
  /** Outcome that its syncer reported, by the mailbox's space. */
  outcome: (space: string) => ClusterOutcome
}

interface Known {
  /** Id of the mailbox's space. */
  readonly space: string
  readonly silentSince: string | undefined
  /** Exceptions with marks, by key. */
  readonly marked: Map<string, Exception>
}

const NOTHING = { silentSince: undefined, marked: new Map<string, Exception>() }

export class CopyMarks {
  readonly #deps: CopyMarksDeps
  readonly changed = new Signal<Parameters<MarksListener>>()
  /** By mailbox, as followers know them. */
  readonly #known = new Map<string, Known>()

  constructor(deps: CopyMarksDeps) {
    this.#deps = deps
  }

  /** Whether any object of a mailbox may have marks. */
  isAny(name: string): boolean {
    const mailbox = this.#deps.mailbox(name)
    if (this.#deps.inventory.target(name)?.silentSince !== undefined) return true
    return mailbox !== undefined && this.#deps.outcome(mailbox.space).exceptions.size > 0
  }

  /** Differences are of the content that the cluster has looked at, and of the space that owned it then. */
  of(name: string, space: string, key: string): ReportedMarks | undefined {
    const mailbox = this.#deps.mailbox(name)
    const silentSince = this.silentSince(name)
    const silence = silentSince === undefined ? undefined : { silentSince }
    const exception = mailbox && this.#deps.outcome(mailbox.space).exceptions.get(key)
    if (!exception || !isMarked(exception)) return silence
    if (mailbox.ownerOf(key) !== space || mailbox.changes.isUnprocessed(key)) return silence
    const { differences, liveFields } = exception
    return { ...silence, ...(differences && { differences }), ...(liveFields && { liveFields }) }
  }

  silentSince(name: string): string | undefined {
    return this.#deps.inventory.target(name)?.silentSince
  }

  copyChanged(name: string, key: string, what: CopyChange): void {
    if (what !== 'outcome' && what !== 'processed') return
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox) return
    const { marked } = this.#known.get(name) ?? NOTHING
    const before = marked.get(key)
    const exception = this.#deps.outcome(mailbox.space).exceptions.get(key)
    const now = exception && isMarked(exception) ? exception : undefined
    if (!before && !now) return
    if (what === 'outcome' && equalJson(before, now)) return
    const { space } = mailbox
    const known = this.#known.get(name) ?? { space, silentSince: undefined, marked: new Map<string, Exception>() }
    this.#known.set(name, known)
    if (now) known.marked.set(key, now)
    else known.marked.delete(key)
    this.#tell(space, [key])
  }

  mailboxChanged(name: string): void {
    const mailbox = this.#deps.mailbox(name)
    const target = this.#deps.inventory.target(name)
    const known = this.#known.get(name)
    if (!mailbox || !target) {
      this.#known.delete(name)
      if (known) this.#tell(known.space, 'gone')
      return
    }
    const before = known ?? NOTHING
    const exceptions = [...this.#deps.outcome(mailbox.space).exceptions].filter(([, one]) => isMarked(one))
    const { silentSince } = target
    const { space } = mailbox
    const marked = new Map(exceptions)
    this.#known.set(name, { space, silentSince, marked })
    const keys = [...new Set([...before.marked.keys(), ...marked.keys()])]
    const isOther = (key: string): boolean => !equalJson(before.marked.get(key), marked.get(key))
    this.#tell(space, before.silentSince === silentSince ? keys.filter(isOther) : 'all')
  }

  #tell(mailbox: string, keys: Parameters<MarksListener>[1]): void {
    if (keys.length > 0) this.changed.send(mailbox, keys)
  }
}

function isMarked({ differences = [], liveFields = [] }: Exception): boolean {
  return differences.length + liveFields.length > 0
}
