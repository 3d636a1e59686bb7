/** Whether two large values are equal, in steps. */
import { Pace } from './pace.ts'
import type { Steps } from './steps.ts'
import { isStructure } from './values.ts'

/** As `equalJson`. */
export function* equalInSteps(a: unknown, b: unknown, pace = new Pace()): Steps<boolean> {
  if (a === b) return true
  if (!isStructure(a) || !isStructure(b)) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) {
      if (pace.due()) yield
      if (a[i] !== b[i] && !(yield* equalInSteps(a[i], b[i], pace))) return false
    }
    return true
  }
  let members = 0
  for (const key in a) {
    const value = a[key]
    if (value === undefined) continue
    if (pace.due()) yield
    members++
    if (!Object.hasOwn(b, key)) return false
    if (value !== b[key] && !(yield* equalInSteps(value, b[key], pace))) return false
  }
  for (const key in b) if (b[key] !== undefined) members--
  return members === 0
}
