/**
 * Contents of placement revisions are for the server alone, and no role changes that. They may be Secrets that are deleted in the space
 * by now.
 */
import { EDGE_GROUP, PLACEMENT_CONTENTS } from '../../placement/words/placement.ts'
import type { BuiltinRules, Decision } from '../auth/types.ts'

const DENIED: Decision = {
  allowed: false,
  reason:
    'the server alone reads and writes the contents of revisions; see PlacementRevisions, and `kubectl kubestellar history`',
}

/** The rules of the server, and this one. */
export function withContentRules(rules: BuiltinRules): BuiltinRules {
  return {
    decide(attributes) {
      const { group, resource } = attributes.resource ?? {}
      return group === EDGE_GROUP && resource === PLACEMENT_CONTENTS.resource ? DENIED : rules.decide(attributes)
    },
  }
}
