/** What the steps of this folder ask. */
import type { Store } from '../../storage/store.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import type { ParsedCache } from '../registry/codec.ts'
import type { SpaceTree } from '../spaces/tree.ts'

export interface AuthorityDeps {
  store: Pick<Store, 'list'>
  parsed: ParsedCache
  tree: SpaceTree
  authorizer: RbacAuthorizer
}
