/**
 * Names that spaces have for the mailboxes of their clusters, and since which revision those are the names. Events in a mailbox follow the
 * log, and so does a cluster that joins or leaves. A name that passes to another mailbox, or a mailbox that gets another name, is in no
 * log: an earlier reader reads anew.
 */
import { createHash } from 'node:crypto'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { ReportedCluster } from '../../placement/desks/reported.ts'
import type { Revision } from '../../storage/store.ts'

export interface Names {
  /** By logical-cluster id of the mailbox; also those that nothing leads to any more, whose last changes are to come. */
  readonly byMailbox: ReadonlyMap<string, ReportedCluster>
  readonly since: Revision
}

/** Spaces that a reader of several is served, and since when. */
interface Served {
  readonly spaces: string
  readonly isWhole: boolean
  readonly since: Revision
}

/** Readers of several spaces, each with a kind. */
const MAX_READERS = 10_000
/** Names of all spaces together. */
const MAX_NAMES = 500_000
/** Mailboxes of a space to which nothing leads any more. */
export const MAX_FORMER = 1000

export class ReportedNames {
  readonly #kept = new BoundedCache<string, Names>({
    entries: MAX_NAMES,
    weight: { limit: MAX_NAMES, of: ({ byMailbox }) => byMailbox.size + 1 },
  })
  readonly #served = new BoundedCache<string, Served>(MAX_READERS)

  /** `clusters`: those of the reading, which is a space's or of one of its locations, as of `revision`. The same object for the same names. */
  of(reading: string, clusters: readonly ReportedCluster[], revision: Revision): Names {
    const known = this.#kept.get(reading)
    const names = (known && added(known, clusters)) ?? {
      byMailbox: new Map(clusters.map(cluster => [cluster.mailbox, cluster])),
      since: revision,
    }
    if (names !== known) this.#kept.set(reading, names)
    return names
  }

  /**
   * Revision since which a reader of several spaces is served these. `isWhole`: none was left out that was not known.
   * @param reader the user and the kind
   */
  servedSince(reader: string, spaces: Iterable<string>, isWhole: boolean, revision: Revision): Revision {
    const id = createHash('sha256')
      .update([...spaces].sort().join())
      .digest('base64')
    const known = this.#served.get(reader)
    if (known?.spaces === id) return known.since
    // a space becomes known without a revision of its own
    const since = known?.isWhole === false ? revision + 1 : revision
    this.#served.set(reader, { spaces: id, isWhole, since })
    return since
  }

  clear(): void {
    this.#served.clear()
    this.#kept.clear()
  }
}

/** `undefined`: a name is another's now, or too many are of the past. */
function added(known: Names, clusters: readonly ReportedCluster[]): Names | undefined {
  const fresh = clusters.filter(({ mailbox, location }) => known.byMailbox.get(mailbox)?.location !== location)
  if (fresh.length === 0) return known
  const taken = new Set([...known.byMailbox.values()].map(({ location }) => location))
  if (fresh.some(({ mailbox, location }) => known.byMailbox.has(mailbox) || taken.has(location))) return undefined
  if (known.byMailbox.size + fresh.length > clusters.length + MAX_FORMER) return undefined
  const more = fresh.map(cluster => [cluster.mailbox, cluster] as const)
  return { byMailbox: new Map([...known.byMailbox, ...more]), since: known.since }
}
