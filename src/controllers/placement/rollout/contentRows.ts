/**
 * Contents of one placement's revisions in memory. A row is one object as it is in a run of revisions, so that a revision keeps only
 * what differs from the one before. Bodies stay in the store; those of Customizers and Locations are kept, which are few or small.
 */
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import type { ObjectFact } from '../join/workload.ts'

export interface ContentRow {
  /** Name of the PlacementContent. */
  readonly name: string
  readonly key: string
  /** The first revision with it, and the first without it; absent: the newest revision has it. */
  readonly from: number
  until?: number | undefined
  readonly resource: GroupVersionResource
  /** A definition that nobody selected: it came along with objects of its kind. */
  readonly implied: boolean
  readonly digest: string
  /** Absent for a Customizer and a Location. */
  readonly fact: ObjectFact | undefined
  readonly customizer: KubeObject | undefined
  readonly location: KubeObject | undefined
  /** Names of labels and annotations of Locations that it reads. */
  readonly reads: readonly string[]
  /** The newest version of the object in the space that is known to say the same. */
  seen: number
}

export interface Revision {
  /** Author of the revision. */
  readonly by: string
  /** RFC 3339. */
  readonly at: string
  /** Objects in it. */
  readonly objects: number
}

export class ContentRows {
  /** By key, the oldest first. */
  readonly #rows = new Map<string, ContentRow[]>()
  readonly #revisions = new Map<number, Revision>()
  readonly #reads = new Map<number, ReadonlySet<string>>()

  /** The newest revision; 0: there is none. */
  get newest(): number {
    return Math.max(0, ...this.#revisions.keys())
  }

  has(revision: number): boolean {
    return this.#revisions.has(revision)
  }

  get revisions(): readonly number[] {
    return [...this.#revisions.keys()].sort((a, b) => a - b)
  }

  *all(): Generator<ContentRow> {
    for (const rows of this.#rows.values()) yield* rows
  }

  /** Keys of all objects of all revisions. */
  objectKeys(): readonly string[] {
    const keys: string[] = []
    for (const [key, rows] of this.#rows) if (rows[0]?.fact) keys.push(key)
    return keys
  }

  at(key: string, revision: number): ContentRow | undefined {
    return this.#rows.get(key)?.find(row => isIn(row, revision))
  }

  /** The newest row of a key. */
  last(key: string): ContentRow | undefined {
    return this.#rows.get(key)?.at(-1)
  }

  /** The newest revision, up to this one, in which a Location changed. */
  locationsOf(revision: number): number {
    let newest = 0
    for (const { location, from } of this.in(revision)) if (location && from > newest) newest = from
    return newest
  }

  /** Names of labels and annotations of Locations that a revision reads. */
  reads(revision: number): ReadonlySet<string> {
    const known = this.#reads.get(revision)
    if (known) return known
    const names = new Set<string>()
    for (const { reads } of this.in(revision)) for (const name of reads) names.add(name)
    this.#reads.set(revision, names)
    return names
  }

  /** Names that any revision reads. */
  get readsOfAny(): ReadonlySet<string> {
    return new Set([...this.all()].flatMap(({ reads }) => reads))
  }

  *in(revision: number): Generator<ContentRow> {
    for (const rows of this.#rows.values()) for (const row of rows) if (isIn(row, revision)) yield row
  }

  add(row: ContentRow): void {
    if (row.reads.length > 0) this.#reads.clear()
    const rows = this.#rows.get(row.key)
    if (!rows) this.#rows.set(row.key, [row])
    else {
      rows.push(row)
      rows.sort((a, b) => a.from - b.from)
    }
  }

  commit(number: number, revision: Revision): void {
    this.#reads.clear()
    this.#revisions.set(number, revision)
  }

  authorOf(revision: number): string {
    return this.#revisions.get(revision)?.by ?? ''
  }

  /** When a revision was made; `''`: there is none. */
  madeAt(revision: number): string {
    return this.#revisions.get(revision)?.at ?? ''
  }

  /** Whether a revision has no objects. */
  isEmpty(revision: number): boolean {
    return this.#revisions.get(revision)?.objects === 0
  }

  /** Whether all objects of a revision are there: of another one nobody may conclude that something left it. */
  isWhole(number: number): boolean {
    const revision = this.#revisions.get(number)
    let objects = 0
    for (const { fact } of this.in(number)) if (fact) objects++
    return revision?.objects === objects
  }

  /** A revision is forgotten. Answers the rows that no revision has any more. */
  drop(revision: number): ContentRow[] {
    this.#revisions.delete(revision)
    return this.takeUnused()
  }

  /** Rows that no revision has. */
  takeUnused(): ContentRow[] {
    this.#reads.clear()
    const unused: ContentRow[] = []
    const kept = this.revisions
    for (const [key, rows] of this.#rows) {
      const used = rows.filter(row => kept.some(revision => isIn(row, revision)))
      if (used.length === rows.length) continue
      unused.push(...rows.filter(row => !used.includes(row)))
      if (used.length > 0) this.#rows.set(key, used)
      else this.#rows.delete(key)
    }
    return unused
  }
}

function isIn({ from, until }: ContentRow, revision: number): boolean {
  return from <= revision && (until === undefined || revision < until)
}
