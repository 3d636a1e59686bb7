import { CREDENTIAL_ANNOTATION } from '../../placement/spaces/syncerCredential.ts'
import { isMailbox } from '../../placement/words/placement.ts'
import type { UserInfo } from '../auth/types.ts'
import { EXTRAS } from '../auth/users.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { SYNCER_USER } from './syncerReach.ts'

/** Whether somebody only looks at what a syncer would do: it reads as one, and is none. */
export function isOnlooker({ extra }: UserInfo): boolean {
  return extra?.[CREDENTIAL_ANNOTATION] !== undefined
}

/** Whether somebody is the syncer of a mailbox: by the account and its space, not by a name that any space can give. */
export function isSyncerOf(user: UserInfo, tree: Pick<SpaceTree, 'pathOf'>): boolean {
  const { name, extra } = user
  if (name !== SYNCER_USER || isOnlooker(user) || extra?.[EXTRAS.scopes] !== undefined) return false
  const homes = extra?.[EXTRAS.clusterName] ?? []
  return homes.length === 1 && isMailbox(tree.pathOf(homes[0]!) ?? '')
}
