/**
 * Kinds that a placement asks of clusters, and that these define otherwise. Views of all clusters serve none of them together, so the
 * placement names the clusters.
 */
import { someOf } from '../../../../apimachinery/someOf.ts'
import { upsyncsKind } from '../../../../placement/select/placementSpec.ts'
import type { Reason } from '../../../../placement/words/reason.ts'
import type { PlacementJoin } from '../../join/placementJoin.ts'
import type { SpaceLocations } from '../../join/spaceLocations.ts'
import type { Mailbox } from '../../mailboxes/mailbox.ts'

export interface DifferingDefinitionsDeps {
  join: Pick<PlacementJoin, 'spec'>
  locations: Pick<SpaceLocations, 'of'>
  mailbox: (name: string) => Pick<Mailbox, 'definitions' | 'share'> | undefined
}

/** Kinds that are named. */
const MAX_KINDS = 5
/** Locations that are named of each definition. */
const MAX_NAMED = 10

/** `undefined`: there are none; `unknown`: not all clusters are known, and those that are define all alike. */
export function differingDefinitions(
  { join, locations, mailbox }: DifferingDefinitionsDeps,
  space: string,
  placement: string,
): Reason | 'unknown' | undefined {
  const spec = join.spec(space, placement)
  if (!spec || spec.upsync.length === 0) return undefined
  /** Locations by the digest of their definition, by kind. */
  const found = new Map<string, Map<string, string[]>>()
  let isAllKnown = true
  for (const [name, { label }] of locations.of(space).byMailbox) {
    const { definitions = [], share } = mailbox(name) ?? {}
    isAllKnown &&= share !== undefined
    for (const [definition, { kind, digest }] of definitions) {
      if (!upsyncsKind(spec.upsyncTests, kind) || !share?.requestedForKind(kind).includes(space)) continue
      const byDigest = found.get(definition) ?? new Map<string, string[]>()
      found.set(definition, byDigest.set(digest, [...(byDigest.get(digest) ?? []), label]))
    }
  }
  const differing = [...found].filter(([, byDigest]) => byDigest.size > 1)
  if (differing.length === 0) return isAllKnown ? undefined : 'unknown'
  const named = differing
    .sort()
    .slice(0, MAX_KINDS)
    .map(
      ([definition, byDigest]) =>
        `${definition}: ${[...byDigest.values()]
          .map(at => someOf(at.sort(), MAX_NAMED))
          .sort()
          .join('; ')}`,
    )
  const more = differing.length > MAX_KINDS ? ` and ${differing.length - MAX_KINDS} more kinds` : ''
  return {
    reason: 'DefinedOtherwise',
    message: `clusters define kinds otherwise: ${named.join('. ')}${more}. Reports of all clusters leave these out; read each location, or install one definition`,
  }
}
