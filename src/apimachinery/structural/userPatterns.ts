/**
 * Regular expressions of schemas and of rules, compiled once. Rules may build them at run time, so the size of each and the number of
 * retained ones are bounded. `(a{1000})(b{1000})` is a short text and a large program.
 */
import { BoundedCache } from '../boundedCache.ts'
import type { WorkBudget } from '../workBudget.ts'
import { compileLinearRegExp, type LinearRegExp, type Steps } from './linearRegExp.ts'

/** Bound within which a pattern compiles in a tenth of a second and into a few MB; Kubernetes' own patterns have some hundreds. */
export const MAX_SIZE = 16 * 1024
/** Characters. A text that was sent may become a pattern: to look through a megabyte each time that a rule asks takes too long. */
export const MAX_LENGTH = 64 * 1024
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
/** For each character of it. */
const LOOK = 0.05
/** Cost of an instruction of a match, in units of the budget. */
const STEP = 0.2

/** @throws the budget's error, or Error for a pattern that is too large or no RE2 pattern */
export function paidPattern(source: string, budget: WorkBudget): LinearRegExp {
  const known = knownPattern(source)
  if (known !== undefined) return known
  // also for one that is refused: a rule may go on to the next one
  budget.spend(COMPILE_ANY + source.length * LOOK)
  const size = patternSize(source)
  if (size <= MAX_SIZE) budget.spend(size * COMPILE)
  return userPattern(source)
}

/** Receiver of a match's steps. */
export function paidSteps(budget: WorkBudget): Steps {
  return count => budget.spend(count * STEP)
}

/** @throws Error for a pattern that is too large, or no RE2 pattern */
export function userPattern(source: string): LinearRegExp {
  const known = knownPattern(source)
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

/** @throws Error for one that is too long to be looked at */
function knownPattern(source: string): LinearRegExp | undefined {
  if (isTooLong(source))
    throw new Error(`the regular expression is too large: it has ${source.length} characters of at most ${MAX_LENGTH}`)
  return kept.get(source)
}

export function isTooLong(source: string): boolean {
  return source.length > MAX_LENGTH
}

const REPETITION = /\{(\d+)(?:,(\d*))?\}/y

/** A group that is open, in parts. */
interface Group {
  before: number
  /** End of the repeated part. */
  last: number
}

/** How many single characters and classes the pattern has once its counted repetitions are written out; not compiled for it. */
export function patternSize(source: string): number {
  let group: Group = { before: 0, last: 0 }
  const open: Group[] = []
  /** Those next to one another, of which the last one may be repeated. */
  const add = (parts: number): void => {
    group = { before: group.before + group.last + parts - 1, last: 1 }
  }
  for (let at = 0; at < source.length; ) {
    const sign = source[at]
    if (sign === '{') {
      REPETITION.lastIndex = at
      const repetition = REPETITION.exec(source)
      if (repetition) {
        const [text, low, high] = repetition
        group.last *= Math.max(1, Number(low), Number(high ?? 0))
        at += text.length
        continue
      }
    }
    if (sign === '\\' && source[at + 1] === 'Q') {
      const end = source.indexOf('\\E', at + 2)
      const parts = (end < 0 ? source.length : end) - (at + 2)
      if (parts > 0) add(parts)
      at = end < 0 ? source.length : end + 2
      continue
    }
    if (sign === '(') {
      open.push(group)
      group = { before: 0, last: 0 }
    } else if (sign === ')' && open.length > 0) {
      const inner = group.before + group.last
      group = open.pop()!
      group = { before: group.before + group.last, last: inner }
    } else add(1)
    at = sign === '[' ? endOfClass(source, at) : at + (sign === '\\' ? 2 : 1)
  }
  return open.reduce((sum, { before, last }) => sum + before + last, group.before + group.last)
}

/** Behind the class of characters that begins there. */
function endOfClass(source: string, start: number): number {
  let at = start + 1
  if (source[at] === '^') at++
  if (source[at] === ']') at++
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1
  return at + 1
}
