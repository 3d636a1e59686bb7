/** What is decided at another place is not decided here: what waits for a cluster is judged there. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { UserInfo } from '../auth/types.ts'
import type { Admission } from '../registry/admission.ts'

/** Whoever builds the server knows what lives at another place; the server itself does not. */
export interface Elsewhere {
  /**
   * Whether what a user writes into a space is judged at another place. `user` is `''` for all but the server's own, `path` that
   * of the space from the root.
   */
  judges(user: string, path: string): boolean
  /** Whether an object only waits here for another place: as a setting of admission it does not act here. */
  isCopy(object: Readonly<KubeObject>): boolean
}

/** The step, of what is judged here alone. */
export function unlessElsewhere(step: Admission, isElsewhere: (user: UserInfo, space: string) => boolean): Admission {
  return {
    ...step,
    handles: (type, operation, target) =>
      step.handles(type, operation, target) && !isElsewhere(target.user, target.space),
  }
}
