/** Work that yields where others may have their turn, done at once, with how often it yielded. */
import type { Steps } from '../../src/apimachinery/steps.ts'

export function countSteps<T>(work: Steps<T>): { result: T; steps: number } {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done) return { result: value, steps }
  }
}
