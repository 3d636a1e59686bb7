/** Parameters that an object names and that no Location defines to which placements of its space lead, nor its Customizer for one of them. */
import { objects } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Steps } from '../../../apimachinery/steps.ts'
import { customizerOf } from '../../../placement/content/adaptation.ts'
import { asAuthored } from '../../../placement/content/asDescribed.ts'
import { ownNames, rulesThere } from '../../../placement/content/customizerRules.ts'
import { objectKey } from '../../../placement/words/names.ts'
import { EDGE_GROUP, EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import { ParameterExpansion } from '../copies/parameterExpansion.ts'
import type { SourceReaderDeps } from '../copies/sourceReader.ts'
import { undefinedParameters } from '../copies/undefinedParameters.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'

export interface ParametersNowhereDeps {
  join: Pick<PlacementJoin, 'placementNames' | 'waysOf'>
  knows: (space: string, key: string) => boolean
  location: SourceReaderDeps['location']
  customizer: SourceReaderDeps['customizer']
}

/** Names that are looked for; what comes behind them is nobody's slip of the pen. */
const MAX_NAMES = 100
const WHERE = 'any Location that this space places on'

/** Nothing is found while a placement of the space is not known, and in a space that places nowhere. */
export function* parametersNowhere(
  { join, knows, location, customizer: customizerIn }: ParametersNowhereDeps,
  space: string,
  object: KubeObject,
): Steps<string[]> {
  const names = yield* namesIn(object)
  const reference = customizerOf(object)
  const customizer = isCustomizer(object) ? object : reference === '' ? undefined : customizerIn(space, reference)
  const known = new Set(customizer && ownNames(customizer))
  const where = known.size > 0 ? `in its Customizer or ${WHERE}` : `in ${WHERE}`
  let locations = 0
  for (const placement of names.size === 0 ? [] : join.placementNames(space)) {
    if (!knows(space, objectKey(EDGE_PLACEMENTS, '', placement))) return []
    for (const [, ways] of join.waysOf(space, placement) ?? []) {
      for (const { cluster, locationName } of ways) {
        const found = location(cluster, locationName)
        if (!found) continue
        locations++
        for (const key of Object.keys(found.metadata.labels ?? {})) known.add(key)
        const own = customizer && rulesThere(customizer, found).parameters
        for (const name of names) if (own?.has(name) || defines(found, name)) names.delete(name)
        if (names.size === 0) return []
        yield
      }
    }
  }
  return locations === 0 ? [] : yield* undefinedParameters(names, { where, known: [...known] })
}

function* namesIn(object: KubeObject): Steps<Set<string>> {
  const { status: _status, ...described } = asAuthored(object)
  const asked = new ParameterExpansion(new Map())
  // a Customizer's own text is for people
  yield* asked.size(isCustomizer(object) ? objects(object, 'replacements') : described)
  return new Set(asked.undefinedNames.take(MAX_NAMES))
}

function isCustomizer({ kind, apiVersion }: KubeObject): boolean {
  return kind === 'Customizer' && apiVersion.startsWith(`${EDGE_GROUP}/`)
}

function defines({ metadata: { labels = {}, annotations = {} } }: KubeObject, name: string): boolean {
  return Object.hasOwn(labels, name) || Object.hasOwn(annotations, name)
}
