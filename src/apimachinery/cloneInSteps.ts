/** Copies of large JSON, in steps. */
import type { Pace } from './pace.ts'
import type { Steps } from './steps.ts'
import { isStructure, setMember } from './values.ts'

/**
 * As `cloneJson`: an independent copy with its members in the same order. `textOf`: what stands in the copy for a string value;
 * default: the same.
 */
export function* cloneInSteps<T>(value: T, pace: Pace, textOf?: (text: string) => string): Steps<T> {
  const leaf = (member: unknown): unknown => (textOf && typeof member === 'string' ? textOf(member) : member)
  if (!isStructure(value)) return leaf(value) as T
  const whole = emptyAs(value)
  const begun: [of: object, copy: object][] = [[value, whole]]
  /** The copy of a member, to be filled later. */
  const copyOf = (member: unknown): unknown => {
    if (!isStructure(member)) return leaf(member)
    const copy = emptyAs(member)
    begun.push([member, copy])
    return copy
  }
  for (let next = begun.pop(); next !== undefined; next = begun.pop()) {
    const [of, copy] = next
    if (Array.isArray(of)) {
      for (const item of of) {
        ;(copy as unknown[]).push(copyOf(item))
        if (pace.due()) yield
      }
      continue
    }
    const members = of as Record<string, unknown>
    for (const key in members) {
      if (members[key] !== undefined) setMember(copy as Record<string, unknown>, key, copyOf(members[key]))
      if (pace.due()) yield
    }
  }
  return whole as T
}

function emptyAs(value: object): object {
  return Array.isArray(value) ? [] : {}
}
