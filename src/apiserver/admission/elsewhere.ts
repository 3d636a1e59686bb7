/** What is decided at another place is not decided here: what waits for a cluster is judged there. */
import type { UserInfo } from '../auth/types.ts'
import type { Admission, AdmissionTarget } from '../registry/admission.ts'

/** Whoever builds the server knows what lives at another place; the server itself does not. */
export interface Elsewhere {
  /**
   * Whether what a user writes into a space is judged at another place. `user` is `''` for all but the server's own, `path` that
   * of the space from the root.
   */
  judges(user: string, path: string): boolean
}

/** The steps, for what is judged here alone. They are asked about one write after the other, and where that is judged is one answer. */
export function unlessElsewhere(
  steps: readonly Admission[],
  isElsewhere: (user: UserInfo, space: string) => boolean,
): Admission[] {
  let asked: AdmissionTarget | undefined
  let answer = false
  const judgedElsewhere = (target: AdmissionTarget): boolean => {
    if (target !== asked) {
      asked = target
      answer = isElsewhere(target.user, target.space)
    }
    return answer
  }
  return steps.map(step => ({
    ...step,
    reaches: (target, type, operation) => (step.reaches?.(target, type, operation) ?? true) && !judgedElsewhere(target),
  }))
}
