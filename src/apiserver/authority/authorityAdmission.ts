/** What the server says about the objects by which workload is placed: who may write them, and what they may say. */
import type { Admission } from '../registry/admission.ts'
import type { AuthorityDeps } from './authorityDeps.ts'
import { bindingAdmission, bindingStatusAdmission } from './bindingAdmission.ts'
import { grantAdmission } from './grantAdmission.ts'
import { grantedLocationAdmission } from './grantedLocationAdmission.ts'

export function authorityAdmission(deps: AuthorityDeps): Admission[] {
  return [bindingAdmission(deps), bindingStatusAdmission, grantAdmission(deps), grantedLocationAdmission]
}
