/** The server's rules for the objects of placement: their writers, and their content. */
import type { Admission } from '../registry/admission.ts'
import type { AuthorityDeps } from './authorityDeps.ts'
import { autoscalerWarnings } from './autoscalerWarnings.ts'
import { bindingAdmission } from './bindingAdmission.ts'
import { collectorAdmission, namedCollectors } from './collectorAdmission.ts'
import { customizerAdmission } from './customizerAdmission.ts'
import { describedObjects } from './describedObjects.ts'
import { grantAdmission } from './grantAdmission.ts'
import { leftFieldsAdmission } from './leftFieldsAdmission.ts'
import { locationWarnings } from './locationWarnings.ts'
import { mailboxCopies } from './mailboxCopies.ts'
import { mailboxDeletion } from './mailboxDeletion.ts'
import { placementAdmission } from './placementAdmission.ts'
import { placementConsequences } from './placementConsequences.ts'
import { placementWarnings } from './placementWarnings.ts'
import { rolloutGate, rolloutWrites } from './rolloutAdmission.ts'
import { serversObjects } from './serversObjects.ts'
import { sinkAdmission } from './sinkAdmission.ts'
import { stayingObjects } from './stayingObjects.ts'
import { stagesEnd, strategyAdmission } from './strategyAdmission.ts'
import { syncerWrites } from './syncerWrites.ts'

export function authorityAdmission(deps: AuthorityDeps): Admission[] {
  return [
    describedObjects(deps),
    stayingObjects(deps),
    bindingAdmission(deps),
    grantAdmission(deps),
    ...serversObjects,
    placementAdmission(deps),
    leftFieldsAdmission,
    customizerAdmission,
    collectorAdmission,
    namedCollectors,
    sinkAdmission(deps),
    strategyAdmission,
    stagesEnd(deps),
    rolloutGate,
    rolloutWrites(deps),
    placementWarnings(deps.types),
    autoscalerWarnings(deps),
    placementConsequences(deps.previews),
    locationWarnings(deps),
    mailboxCopies(deps.tree),
    mailboxDeletion(deps),
    syncerWrites(deps),
  ]
}
