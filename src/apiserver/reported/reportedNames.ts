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
  readonly since: Revision
}

/** A reader may have a right to list in a space, and none to watch there: each verb has its spaces. */
interface ServedReader {
  /** Whether none was left out of the last answer that was not known. */
  readonly isWhole: boolean
  readonly lists: Served | undefined
  readonly watches: Served | undefined
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
  /** By a digest: clients choose the length of what they ask for. */
  readonly #served = new BoundedCache<string, ServedReader>(MAX_READERS)

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
   * @param reader the user, and all that its rights depend on but the verb
   */
  servedSince(
    { reader, isWatch }: { reader: string; isWatch: boolean },
    { spaces, isWhole }: { spaces: Iterable<string>; isWhole: boolean },
    revision: Revision,
  ): Revision {
    const key = digestOf(reader)
    const known = this.#served.get(key)
    const { lists, watches } = known ?? {}
    // a space becomes known without a revision of its own
    const now = {
      spaces: digestOf([...spaces].sort().join()),
      since: known?.isWhole === false ? revision + 1 : revision,
    }
    const before = isWatch ? (watches ?? lists) : lists
    const served = before?.spaces === now.spaces ? before : now
    // a watch goes on from a list: after a list of other spaces it is compared with that one
    const kept = isWatch
      ? { lists, watches: served }
      : { lists: served, watches: served === lists ? watches : undefined }
    this.#served.set(key, { isWhole, ...kept })
    return served.since
  }

  clear(): void {
    this.#served.clear()
    this.#kept.clear()
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
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
