/** Whether somebody is the syncer of a mailbox: by the account and its space, not by a name that any space can give. */
import { isMailbox } from '../../apimachinery/placement.ts'
import type { UserInfo } from '../auth/types.ts'
import { EXTRAS } from '../auth/users.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { SYNCER_USER } from './syncerReach.ts'

export function isSyncerOf({ name, extra }: UserInfo, tree: Pick<SpaceTree, 'pathOf'>): boolean {
  if (name !== SYNCER_USER || extra?.[EXTRAS.scopes] !== undefined) return false
  const homes = extra?.[EXTRAS.clusterName] ?? []
  return homes.length === 1 && isMailbox(tree.pathOf(homes[0]!) ?? '')
}
