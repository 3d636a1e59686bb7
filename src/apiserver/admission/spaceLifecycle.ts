/**
 * Nothing new comes into a space that ends. The request was checked at its arrival; this is for one that was long on its way (a webhook was
 * slow). An object stored after the space was emptied would stay for ever, out of everybody's reach.
 */
import type { UserInfo } from '../auth/types.ts'
import type { Admission } from '../registry/admission.ts'
import { refused } from '../registry/admissionFrame.ts'
import type { SpaceTree } from '../spaces/tree.ts'

/** To be the last step. `isMaker`: the server's own, who makes what a space begins with, and empties it afterwards. */
export function spaceLifecycle(tree: SpaceTree, isMaker: (user: UserInfo) => boolean): Admission {
  return {
    stage: 'validate',
    judgesPlaces: true,
    handles: (_type, operation) => operation === 'CREATE',
    reaches: ({ unstored, user }) => !unstored && !isMaker(user),
    admit(request) {
      const { space } = request.context
      if (tree.get(space) !== undefined && !tree.isDeleting(space)) return
      throw refused(request, 'unable to create new content in this space because it is being deleted')
    },
  }
}
