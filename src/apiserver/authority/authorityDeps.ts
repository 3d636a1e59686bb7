/** Dependencies of this folder's steps. */
import type { Nature } from '../../placement/spaces/nature.ts'
import type { Store } from '../../storage/store.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import type { ParsedCache } from '../registry/codec.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import type { PreviewInbox } from './previewInbox.ts'
import type { UpsyncDemands } from './upsyncDemands.ts'

export interface AuthorityDeps {
  store: Pick<Store, 'get' | 'list'>
  parsed: ParsedCache
  tree: SpaceTree
  nature: Nature
  authorizer: RbacAuthorizer
  demands: UpsyncDemands
  types: Pick<TypeRegistry, 'in'>
  clock: () => Date
  previews: Pick<PreviewInbox, 'consequence' | 'locationFaults'>
}
