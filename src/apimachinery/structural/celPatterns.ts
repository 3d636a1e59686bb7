/**
 * Regular expressions that rules use, compiled once. Rules may build them at run time, so the size of each and the number of
 * those kept are bounded: `(a{1000})(b{1000})` is a short text and a large program.
 */
import { BoundedCache } from '../boundedCache.ts'
import { compileLinearRegExp, type LinearRegExp } from './linearRegExp.ts'

/** What compiles within a tenth of a second and into a few MB; Kubernetes' own patterns have some hundreds. */
const MAX_SIZE = 64 * 1024
const MAX_KEPT = 256
const MAX_KEPT_SIZE = 4 * MAX_SIZE

// A memo of a pure function.
const kept = new BoundedCache<string, LinearRegExp>({
  entries: MAX_KEPT,
  weight: { limit: MAX_KEPT_SIZE, of: ({ size }) => size },
})

export function isKnownPattern(source: string): boolean {
  return kept.has(source)
}

/** @throws Error for a pattern that is too large, or no RE2 pattern */
export function celPattern(source: string): LinearRegExp {
  const known = kept.get(source)
  if (known !== undefined) return known
  const size = patternSize(source)
  if (size > MAX_SIZE) {
    throw new Error(
      `the regular expression is too large: with its repetitions written out it has ${size} parts of at most ${MAX_SIZE}`,
    )
  }
  const compiled = compileLinearRegExp(source)
  kept.set(source, compiled)
  return compiled
}

/** How many single characters and classes the pattern has once its counted repetitions are written out; not compiled for it. */
export function patternSize(source: string): number {
  interface Group {
    before: number
    /** What a repetition would repeat. */
    last: number
  }
  // linear: none of these fails far behind where it began
  const part = /\\Q([\s\S]*?)(?:\\E|$)|\\.|\[\^?\]?(?:\\.?|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|[\s\S]/gsu
  let group: Group = { before: 0, last: 0 }
  const open: Group[] = []
  for (const [text, quoted, low, high] of source.matchAll(part)) {
    if (quoted !== undefined) {
      // a repetition behind it is of its last character
      if (quoted !== '') group = { before: group.before + group.last + quoted.length - 1, last: 1 }
    } else if (low !== undefined) group.last *= Math.max(1, Number(low), Number(high ?? 0))
    else if (text === '(') {
      open.push(group)
      group = { before: 0, last: 0 }
    } else if (text === ')' && open.length > 0) {
      const inner = group.before + group.last
      group = open.pop()!
      group = { before: group.before + group.last, last: inner }
    } else group = { before: group.before + group.last, last: 1 }
  }
  return open.reduce((sum, { before, last }) => sum + before + last, group.before + group.last)
}
