/** How large values are as JSON, without writing that: what is too large is then never made. */

import type { Pace } from './pace.ts'
import { atOnce, type Steps } from './steps.ts'

/** Bytes of the JSON text of a plain value. */
export function jsonSize(value: unknown): number {
  return atOnce(jsonSizeInSteps(value, NEVER))
}

const NEVER: Pick<Pace, 'due'> = { due: () => false }

/** The same in steps. `sizeOfText`: of a string value, without its quotes; default: as it is. */
export function* jsonSizeInSteps(
  value: unknown,
  pace: Pick<Pace, 'due'>,
  sizeOfText: (text: string) => number = jsonTextSize,
): Steps<number> {
  const begun: (Record<string, unknown> | unknown[])[] = []
  const sizeOf = (member: unknown): number => {
    if (typeof member === 'string') return sizeOfText(member) + 2
    if (typeof member !== 'object' || member === null) return JSON.stringify(member)?.length ?? 0
    begun.push(member as Record<string, unknown>)
    return 0
  }
  let bytes = sizeOf(value)
  for (let next = begun.pop(); next !== undefined; next = begun.pop()) {
    if (Array.isArray(next)) {
      bytes += 2 + Math.max(0, next.length - 1)
      for (const item of next) {
        bytes += item === undefined ? 4 : sizeOf(item)
        if (pace.due()) yield
      }
      continue
    }
    let members = 0
    for (const key in next) {
      const member = next[key]
      if (member !== undefined) {
        members++
        bytes += jsonTextSize(key) + 3 + sizeOf(member)
      }
      if (pace.due()) yield
    }
    bytes += 2 + Math.max(0, members - 1)
  }
  return bytes
}

/** Bytes of a string in JSON, without its quotes. */
export function jsonTextSize(text: string): number {
  return NOT_AS_IT_IS.test(text) ? Buffer.byteLength(JSON.stringify(text)) - 2 : text.length
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are escaped
const NOT_AS_IT_IS = /["\\\u0000-\u001f\u0080-\uffff]/

/** How many lists and maps stand in one another at most. */
export function nestingOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let most = 0
  for (const member of Object.values(value)) most = Math.max(most, nestingOf(member))
  return most + 1
}
