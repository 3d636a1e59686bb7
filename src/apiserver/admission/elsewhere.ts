/** Decisions of another place are not taken here: an object on its way to a cluster is judged there. */
import { groupResourceName } from '../../apimachinery/object.ts'
import type { UserInfo } from '../auth/types.ts'
import type { Admission, AdmissionTarget } from '../registry/admission.ts'

/**
 * Objects that are judged at another place. The builder of the server knows these; the server itself does not. It can be sent to another
 * thread.
 */
export interface Elsewhere {
  /** Names of the server's own users whose writes these are. */
  readonly users: ReadonlySet<string>
  /** Spaces with these writes, by their paths from the root. */
  readonly paths: RegExp
  /** Kinds, as `resource.group`: webhooks and policies of a space never see their objects. */
  readonly kinds: ReadonlySet<string>
}

/** The steps, for what is judged here alone. They are called for one write after the other, and one answer gives its place. */
export function unlessElsewhere(
  steps: readonly Admission[],
  isElsewhere: (user: UserInfo, space: string) => boolean,
  kinds: ReadonlySet<string> = new Set(),
): Admission[] {
  let judged: AdmissionTarget | undefined
  let answer = false
  const judgedElsewhere = (target: AdmissionTarget): boolean => {
    if (target !== judged) {
      judged = target
      answer = isElsewhere(target.user, target.space)
    }
    return answer
  }
  return steps.map(step => ({
    ...step,
    handles: (type, operation, subresource) =>
      !kinds.has(groupResourceName(type)) && step.handles(type, operation, subresource),
    reaches: (target, type, operation) => (step.reaches?.(target, type, operation) ?? true) && !judgedElsewhere(target),
  }))
}
