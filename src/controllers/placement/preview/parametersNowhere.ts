/** Parameters that an object names and that no Location defines to which placements of its space lead. */
import { objects } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Steps } from '../../../apimachinery/steps.ts'
import { asAuthored } from '../../../placement/content/asDescribed.ts'
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
}

/** Names that are looked for; what comes behind them is nobody's slip of the pen. */
const MAX_NAMES = 100
const WHERE = 'in any Location that this space places on'

/** Nothing is found while a placement of the space is not known, and in a space that places nowhere. */
export function* parametersNowhere(
  { join, knows, location }: ParametersNowhereDeps,
  space: string,
  object: KubeObject,
): Steps<string[]> {
  const names = yield* namesIn(object)
  const labels = new Set<string>()
  let locations = 0
  for (const placement of names.size === 0 ? [] : join.placementNames(space)) {
    if (!knows(space, objectKey(EDGE_PLACEMENTS, '', placement))) return []
    for (const [, ways] of join.waysOf(space, placement) ?? []) {
      for (const { cluster, locationName } of ways) {
        const found = location(cluster, locationName)
        if (!found) continue
        locations++
        for (const key of Object.keys(found.metadata.labels ?? {})) labels.add(key)
        for (const name of names) if (defines(found, name)) names.delete(name)
        if (names.size === 0) return []
        yield
      }
    }
  }
  return locations === 0 ? [] : yield* undefinedParameters(names, { where: WHERE, known: [...labels] })
}

function* namesIn(object: KubeObject): Steps<Set<string>> {
  const { status: _status, ...described } = asAuthored(object)
  const isCustomizer = object.kind === 'Customizer' && object.apiVersion.startsWith(`${EDGE_GROUP}/`)
  const asked = new ParameterExpansion(new Map())
  // a Customizer's own text is for people
  yield* asked.size(isCustomizer ? objects(object, 'replacements') : described)
  return new Set(asked.undefinedNames.take(MAX_NAMES))
}

function defines({ metadata: { labels = {}, annotations = {} } }: KubeObject, name: string): boolean {
  return Object.hasOwn(labels, name) || Object.hasOwn(annotations, name)
}
