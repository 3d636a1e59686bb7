/** What is decided at another place is not decided here: what waits for a cluster is judged there. */
import type { UserInfo } from '../auth/types.ts'
import type { Admission, AdmissionTarget } from '../registry/admission.ts'

/**
 * What is judged at another place. Whoever builds the server knows what lives there; the server itself does not. It can be sent to
 * another thread.
 */
export interface Elsewhere {
  /** What these of the server's own write, by their names. */
  readonly users: ReadonlySet<string>
  /** What is written into spaces whose paths from the root match. */
  readonly paths: RegExp
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
