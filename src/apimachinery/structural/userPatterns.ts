/**
 * Regular expressions of schemas and of rules, compiled once. Rules may build them at run time, so the size of each and the
 * number of those kept are bounded: `(a{1000})(b{1000})` is a short text and a large program.
 */
import { BoundedCache } from '../boundedCache.ts'
import type { WorkBudget } from '../workBudget.ts'
import { compileLinearRegExp, type LinearRegExp, type Steps } from './linearRegExp.ts'

/** What compiles within a tenth of a second and into a few MB; Kubernetes' own patterns have some hundreds. */
const MAX_SIZE = 16 * 1024
const MAX_KEPT = 1000
const MAX_KEPT_SIZE = 16 * MAX_SIZE

// A memo of a pure function.
const kept = new BoundedCache<string, LinearRegExp>({
  entries: MAX_KEPT,
  weight: { limit: MAX_KEPT_SIZE, of: ({ size }) => size },
})

/** Work budget for compiling one that is not known, for each of its parts, and to begin with. */
const COMPILE = 5
const COMPILE_ANY = 50
/** Of the budget for an instruction that is looked at while a match is looked for. */
const STEP = 0.2

/** @throws the budget's error, or Error for a pattern that is too large or no RE2 pattern */
export function paidPattern(source: string, budget: WorkBudget): LinearRegExp {
  const known = kept.get(source)
  if (known !== undefined) return known
  const size = patternSize(source)
  if (size <= MAX_SIZE) budget.spend(COMPILE_ANY + size * COMPILE)
  return userPattern(source)
}

/** What matching tells its steps to. */
export function paidSteps(budget: WorkBudget): Steps {
  return count => budget.spend(count * STEP)
}

/** @throws Error for a pattern that is too large, or no RE2 pattern */
export function userPattern(source: string): LinearRegExp {
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
