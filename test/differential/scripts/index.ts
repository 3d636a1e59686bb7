/** All scripts, in the order in which they are played. */
import type { Script } from '../script.ts'
import { access, discovery } from './access.ts'
import { approvals } from './approvals.ts'
import { changes, statusMetadata, warnings } from './changes.ts'
import { claims } from './claims.ts'
import { cluster } from './cluster.ts'
import { connections } from './connections.ts'
import { core, pods } from './core.ts'
import { coreKinds } from './coreKinds.ts'
import { customApply } from './customApply.ts'
import { customBodies } from './customBodies.ts'
import { customNames } from './customNames.ts'
import { customRatchets } from './customRatchets.ts'
import { customReads } from './customReads.ts'
import { customRuleChecks, customRules } from './customRules.ts'
import { customStrictness, customValidation } from './customWrites.ts'
import { definitionNames, definitionSchemas } from './definitionSchemas.ts'
import { customResources, definitions } from './definitions.ts'
import { deletions } from './deletions.ts'
import { emptyFields } from './emptyFields.ts'
import { eventRules } from './eventRules.ts'
import { goWords } from './goWords.ts'
import { identities, identitiesOfCustomResources, identitiesOfOthers } from './identities.ts'
import { inlineVolumes } from './inlineVolumes.ts'
import { lists } from './lists.ts'
import { nulls } from './nulls.ts'
import { objects } from './objects.ts'
import { serverSideApply, strategicMerge } from './patches.ts'
import { customPatchKinds, patchKinds } from './patchKinds.ts'
import { patchTypes } from './patchTypes.ts'
import { podFields } from './podFields.ts'
import { podParts, podStatuses, podUpdates } from './podParts.ts'
import { accessRefusals } from './refusals/access.ts'
import { clusterRefusals } from './refusals/cluster.ts'
import { networkRefusals } from './refusals/network.ts'
import { workloadRefusals } from './refusals/workloads.ts'
import { runtimeClasses } from './runtimeClasses.ts'
import { services } from './services.ts'
import { signingRequests } from './signingRequests.ts'
import { events, namespaces, podLife, scaling } from './subresources.ts'
import { workloads } from './workloads.ts'

export const scripts: readonly Script[] = [
  objects,
  lists,
  strategicMerge,
  serverSideApply,
  core,
  services,
  pods,
  podFields,
  coreKinds,
  podUpdates,
  podStatuses,
  podParts,
  workloads,
  workloadRefusals,
  networkRefusals,
  accessRefusals,
  clusterRefusals,
  statusMetadata,
  changes,
  warnings,
  cluster,
  podLife,
  namespaces,
  events,
  scaling,
  approvals,
  signingRequests,
  inlineVolumes,
  connections,
  definitions,
  customResources,
  definitionNames,
  definitionSchemas,
  customValidation,
  customStrictness,
  customBodies,
  customApply,
  customNames,
  customReads,
  customRules,
  customRuleChecks,
  customRatchets,
  access,
  discovery,
  identities,
  identitiesOfOthers,
  identitiesOfCustomResources,
  nulls,
  emptyFields,
  eventRules,
  goWords,
  claims,
  deletions,
  patchKinds,
  customPatchKinds,
  patchTypes,
  runtimeClasses,
]
