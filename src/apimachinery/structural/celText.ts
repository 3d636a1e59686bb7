/** Functions of CEL on text, each in time and memory linear in its arguments and its result. */

import type { Functions } from './celRegister.ts'
import { runningBudget } from './celRunning.ts'
import { paidSteps, userPattern } from './userPatterns.ts'

/**
 * Functions of the library that rules are rewritten not to call. Its `matches` runs on a backtracking engine, and its conversions to ASCII
 * change more than ASCII, so that texts grow.
 */
export const REPLACED: ReadonlyMap<string, string> = new Map([
  ['matches', 'matchesLinear'],
  ['lowerAscii', 'lowerAsciiOnly'],
  ['upperAscii', 'upperAsciiOnly'],
])

/** `maxItems`: matches that a list can hold. */
export function textFunctions(maxItems: number): Functions {
  const matches = (s: string, p: string) => userPattern(p).test(s, paidSteps(runningBudget()))
  return {
    'string.matchesLinear(string): bool': matches,
    'matchesLinear(string, string): bool': matches,
    'string.lowerAsciiOnly(): string': (s: string) => s.replace(/[A-Z]+/g, part => part.toLowerCase()),
    'string.upperAsciiOnly(): string': (s: string) => s.replace(/[a-z]+/g, part => part.toUpperCase()),
    'string.find(string): string': (s: string, p: string) => userPattern(p).find(s, paidSteps(runningBudget())) ?? '',
    'string.findAll(string): list<string>': (s: string, p: string) => findAll(s, p, maxItems),
    'string.findAll(string, int): list<string>': (s: string, p: string, n: bigint) =>
      n < 0n || n > BigInt(maxItems)
        ? findAll(s, p, maxItems)
        : userPattern(p).findAll(s, Number(n), paidSteps(runningBudget())),
    'string.replace(string, string): string': (s: string, from: string, to: string) => replace(s, from, to, -1),
    'string.replace(string, string, int): string': (s: string, from: string, to: string, limit: bigint) =>
      replace(s, from, to, Number(limit)),
    'string.charAt(int): string': charAt,
  }
}

function findAll(text: string, pattern: string, maxItems: number): string[] {
  const found = userPattern(pattern).findAll(text, maxItems + 1, paidSteps(runningBudget()))
  if (found.length > maxItems) throw new Error(`more than ${maxItems} matches of the regular expression`)
  return found
}

/** How often `part` stands in `text` without overlaps, looking no further than `limit`; negative: everywhere. */
export function occurrences(text: string, part: string, limit = -1): number {
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit
  // between all characters, and around them
  if (part === '') return Math.min(most, text.length + 1)
  let count = 0
  for (let at = text.indexOf(part); at >= 0 && count < most; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** `limit` below 0: everywhere. Without `from`, `to` goes before every character and to the end. */
function replace(text: string, from: string, to: string, limit: number): string {
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit
  const parts = new Parts()
  let rest = 0
  let done = 0
  for (; done < most; done++) {
    const at = text.indexOf(from, rest)
    if (at < 0) break
    // behind an empty match one character is passed
    const next = from === '' ? at + widthAt(text, at) : at + from.length
    parts.add(text.slice(rest, at), to, from === '' ? text.slice(at, next) : '')
    rest = next
    if (from === '' && at === text.length) return parts.text()
  }
  return done === 0 ? text : parts.text() + text.slice(rest)
}

/** Joins many small texts without holding all of them. */
class Parts {
  #done = ''
  #parts: string[] = []

  add(...parts: string[]): void {
    this.#parts.push(...parts)
    if (this.#parts.length < 10_000) return
    this.#done += this.#parts.join('')
    this.#parts = []
  }

  text(): string {
    return this.#done + this.#parts.join('')
  }
}

function charAt(text: string, index: bigint): string {
  let at = 0
  let passed = 0n
  for (; passed < index && at < text.length; passed++) at += widthAt(text, at)
  if (passed !== index) throw new Error(`index out of range: ${index}`)
  return text.slice(at, at + widthAt(text, at))
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}
