/**
 * Contents of placement revisions are for the server alone, and no role changes that. They may be Secrets that are deleted in the space
 * by now.
 */
import { type GroupResource, isSameResource } from '../../apimachinery/object.ts'
import { PLACEMENT_CONTENTS } from '../../placement/words/placement.ts'
import type { BuiltinRules, Decision, UserInfo } from '../auth/types.ts'
import { effectiveUser, GROUPS } from '../auth/users.ts'

const DENIED: Decision = {
  allowed: false,
  reason:
    'the server alone reads and writes the contents of revisions; see PlacementRevisions, and `kubectl kubestellar rollout history`',
}

/** The rules of the server, and this one. */
export function withContentRules(rules: BuiltinRules): BuiltinRules {
  return {
    decide(attributes) {
      const { resource } = attributes
      return resource && isSameResource(resource, PLACEMENT_CONTENTS) ? DENIED : rules.decide(attributes)
    },
  }
}

/** Whether a stream of all that a space holds leaves out a kind for this reader. */
export function hidesContent(user: UserInfo, space: string, kind: GroupResource): boolean {
  return isSameResource(kind, PLACEMENT_CONTENTS) && !effectiveUser(user, space).groups.includes(GROUPS.masters)
}
