/** Names for the steps of a script that do not change when other steps come or go. */
import { createHash } from 'node:crypto'
import type { Step } from './script.ts'

const LENGTH = 6

/** One for each step: made of what it asks; the second of two equal requests says so. */
export function stepIds(steps: readonly Step[]): string[] {
  const seen = new Map<string, number>()
  return steps.map(step => {
    const id = digest(step)
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return count === 1 ? id : `${id}-${count}`
  })
}

/** Digest of the request alone: the handling of the answer, and its judges, are no part of a step's identity. */
function digest({ method, path, type, headers, as, watch, until, body }: Step): string {
  const asked = JSON.stringify([method, path, type, headers, as, watch, until, body])
  return createHash('sha256').update(asked).digest('hex').slice(0, LENGTH)
}
