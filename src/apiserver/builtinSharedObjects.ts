/**
 * Objects that every space shows from the start without storing them: roles, priorities, flow control, APIServices, the Service
 * `kubernetes`, and component statuses.
 */
import type { KubeObject } from '../apimachinery/object.ts'
import type { WorkTurns } from '../program/workTurns.ts'
import type { Store } from '../storage/store.ts'
import { PRIORITY_CLASSES, systemPriorityClasses } from './admission/systemPriorityClasses.ts'
import { bootstrapObjects } from './auth/bootstrapRoles.ts'
import { MOST_BYTES } from './auth/rbacReader.ts'
import { RBAC_GROUP } from './auth/rbacRules.ts'
import { sharedFlows } from './flowcontrol/sharedFlows.ts'
import { takesWrites } from './health/healthChecks.ts'
import type { KubernetesService } from './kubernetesService/kubernetesService.ts'
import { decodeObject } from './registry/codec.ts'
import { componentStatuses } from './registry/componentStatuses.ts'
import { sharedApiServices } from './registry/sharedApiServices.ts'
import { SharedObjects, sharedConstants, sharedRbac } from './registry/sharedObjects.ts'
import { ROOT } from './spaces/tree.ts'
import type { TypeRegistry } from './types/typeRegistry.ts'

interface BuiltinSharedObjectsDeps {
  types: TypeRegistry
  store: Pick<Store, 'list' | 'update'>
  /** RFC 3339: their age. */
  since: string
  /** False for a plain cluster: it has none of Orrery's own kinds. */
  ownKinds: boolean
  kubernetesService: KubernetesService
  /** Where a space's own roles are read in slices. */
  turns: WorkTurns
}

export function builtinSharedObjects({
  types,
  store,
  since,
  ownKinds,
  kubernetesService,
  turns,
}: BuiltinSharedObjectsDeps): SharedObjects {
  return new SharedObjects(
    sharedRbac({
      root: bootstrapObjects({ root: true, ownKinds, creationTimestamp: since }),
      other: bootstrapObjects({ ownKinds, creationTimestamp: since }),
      async ownRoles(space, at) {
        const range = { space, group: RBAC_GROUP, resource: 'clusterroles' }
        const { items } = await store.list(range, at === undefined ? {} : { at })
        const work = turns.begin({ owner: space })
        const roles: KubeObject[] = []
        let bytes = 0
        for (const item of items) {
          bytes += item.bytes.length
          // what is behind this grants nothing
          if (bytes > MOST_BYTES) break
          roles.push(decodeObject(item))
          if (work.due) await work.rest()
        }
        return roles
      },
      turns,
    }),
    kubernetesService.layers(),
    sharedApiServices(types, since, store),
    sharedConstants(PRIORITY_CLASSES, systemPriorityClasses(since), { changeable: true }),
    sharedFlows(since, ROOT),
    componentStatuses(() => takesWrites(store)),
  )
}
