/** Likely intention behind a name that does not exist. Pure. */

/** How many are suggested. */
const SUGGESTIONS = 3
/** Longer names are cut before they are compared. */
const COMPARED = 80

/** The most alike first; none that is not alike. */
export function nearest(word: string, candidates: Iterable<string>): string[] {
  const wanted = word.toLowerCase().slice(0, COMPARED)
  const allowed = Math.max(1, Math.floor(wanted.length / 3))
  const found: { name: string; distance: number }[] = []
  for (const name of new Set(candidates)) {
    const other = name.toLowerCase().slice(0, COMPARED)
    const distance = contains(other, wanted) ? 0.5 : edits(wanted, other)
    // one letter for another is no likeness
    if (distance <= allowed && distance < wanted.length) found.push({ name, distance })
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
  return found.slice(0, SUGGESTIONS).map(({ name }) => name)
}

/** `did you mean "a" or "b"?`, with a leading separator; `''` without candidates. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const names = nearest(word, candidates).map(name => JSON.stringify(name))
  return names.length === 0 ? '' : `; did you mean ${names.join(' or ')}?`
}

function contains(other: string, wanted: string): boolean {
  return wanted.length >= 3 && (other.includes(wanted) || (other.length >= 3 && wanted.includes(other)))
}

/** Insertions, deletions and replacements of single characters, and two neighbours that changed places. */
function edits(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1, swapped))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
