/**
 * Reports made lately: whoever lists them again, and each further watcher of a change, gets the same bytes. Bounded, and made anew from
 * the stored object at any time. Marks are not stored, so reports with marks are not kept.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { ReportedTo } from '../../placement/content/reportedObject.ts'
import { Scratch } from '../../storage/scratch.ts'
import type { Stored } from '../../storage/store.ts'

/** Bytes of texts; an entry takes some bytes beside. */
const KEPT_BYTES = 24 * 1024 * 1024
const ENTRY_BYTES = 250
const KEPT = 100_000

interface Kept {
  readonly location: string
  readonly report: Stored
}

export class KeptReports {
  /** Memory for the text of the object that a report is made of. */
  readonly scratch = new Scratch()
  /** By revision: each version of each object has its own. */
  readonly #kept = new BoundedCache<number, Kept>({
    entries: KEPT,
    weight: { limit: KEPT_BYTES, of: ({ report }) => report.bytes.length + ENTRY_BYTES },
  })
  /** Reports that found no room since all were forgotten. */
  #withoutRoom = 0

  of({ revision }: Stored, { space, location }: ReportedTo): Stored | undefined {
    const known = this.#kept.peek(revision)
    return known && known.location === location && known.report.key.space === space ? known.report : undefined
  }

  /** A list that is longer than there is room for does not drive out its own beginning. */
  keep(report: Stored, { location }: ReportedTo): void {
    const { revision } = report
    if (this.#kept.has(revision) || this.#kept.setIfRoom(revision, { location, report })) return
    if (++this.#withoutRoom <= this.#kept.size) return
    this.#kept.clear()
    this.#withoutRoom = 0
  }
}
