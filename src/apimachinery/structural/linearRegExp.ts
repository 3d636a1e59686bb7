/**
 * Users' regular expressions (RE2 syntax, as Go's), matched in time linear in the text whatever the pattern.
 * @see https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS } from 're2js'

export interface LinearRegExp {
  /** Instructions of the compiled program: matching takes at most the text's length times this. */
  readonly size: number
  /** Whether the pattern matches somewhere in `text`. */
  test(text: string): boolean
  /** The first match; `undefined` when there is none. */
  find(text: string): string | undefined
  /** All matches that do not overlap, at most `limit`. */
  findAll(text: string, limit?: number): string[]
}

/** @throws Error when the pattern is not valid RE2 */
export function compileLinearRegExp(pattern: string): LinearRegExp {
  const compiled = RE2JS.compile(pattern)
  const findAll = (text: string, limit = Number.POSITIVE_INFINITY): string[] => {
    const matcher = compiled.matcher(text)
    const found: string[] = []
    while (found.length < limit && matcher.find()) found.push(matcher.group() ?? '')
    return found
  }
  const size = compiled.programSize()
  return { size, test: text => compiled.matcher(text).find(), find: text => findAll(text, 1)[0], findAll }
}
