/** When the newest changes were committed: an entry for each commit, which holds any number of changes. */

/** Commits that are remembered, at most one in a millisecond: half a minute of a disk that does nothing else. */
const COMMITS = 32_768

export class CommitTimes {
  readonly #newest = new Float64Array(COMMITS)
  readonly #atMs = new Float64Array(COMMITS)
  #count = 0

  /** Everything up to this revision is committed; later calls have higher ones. */
  add(revision: number, atMs: number): void {
    const last = this.#place(this.#count - 1)
    if (this.#count > 0 && this.#atMs[last] === atMs) this.#newest[last] = revision
    else {
      const next = this.#place(this.#count++)
      this.#newest[next] = revision
      this.#atMs[next] = atMs
    }
  }

  /** Milliseconds since the epoch; of a change that came before all that is remembered, when the first of that came. */
  of(revision: number): number | undefined {
    let from = Math.max(0, this.#count - COMMITS)
    let to = this.#count
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      if (this.#newest[this.#place(middle)]! < revision) from = middle + 1
      else to = middle
    }
    return from === this.#count ? undefined : this.#atMs[this.#place(from)]
  }

  #place(index: number): number {
    return index % COMMITS
  }
}
