/**
 * A reference to a parameter that no Location defines, `%(regoin)`, is a slip of the pen. So is a selector of a Customizer that matches
 * none. Their author gets a warning. They are accepted all the same, for the Location may get the label later.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { wantsExpansion } from '../../placement/content/adaptation.ts'
import { isCustomizer, selectiveRules } from '../../placement/content/customizerRules.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { content } from '../registry/provenance.ts'
import type { AuthorityDeps } from './authorityDeps.ts'
import { customizerOf } from './previewInbox.ts'

/** A response has room for so many. */
const MAX_WARNINGS = 5

export function locationWarnings({ tree, previews }: Pick<AuthorityDeps, 'tree' | 'previews'>): Admission {
  const warn = async ({ context, object }: AdmissionRequest): Promise<void> => {
    const named = customizerOf(object)
    const isNamed = (one: Readonly<KubeObject>): boolean =>
      isCustomizer(one) && one.metadata.namespace === named?.namespace && one.metadata.name === named?.name
    const customizer = named && context.beside?.find(isNamed)
    const faults = await previews.locationFaults({ space: context.space, object, customizer })
    for (const fault of faults.slice(0, MAX_WARNINGS)) context.warn(fault)
  }
  return {
    stage: 'validate',
    handles: (_type, operation, subresource) => operation !== 'DELETE' && subresource === '',
    // copies of one content are written without such steps, and no mailbox describes anything
    reaches: ({ space, unstored }) => !unstored && tree.typeOf(space).describes,
    concerns: ({ object, old }) =>
      speaksOfLocations(object) && !(old && speaksOfLocations(old) && equalJson(content(object), content(old))),
    admit: request => (speaksOfLocations(request.object) ? warn(request) : undefined),
  }
}

function speaksOfLocations(object: KubeObject): boolean {
  return wantsExpansion(object) || (isCustomizer(object) && selectiveRules(object).length > 0)
}
