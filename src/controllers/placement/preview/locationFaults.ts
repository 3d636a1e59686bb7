/**
 * Faults of an object that concern all Locations to which placements of its space lead. They are selectors of a Customizer that match no
 * Location, and parameters that neither a Location nor its Customizer defines. Before the first placement all Locations count that the
 * space may place on.
 */
import { objects } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { isMet, requirementText } from '../../../apimachinery/selectors.ts'
import { shortened } from '../../../apimachinery/shortened.ts'
import type { Steps } from '../../../apimachinery/steps.ts'
import { customizerOf, wantsExpansion } from '../../../placement/content/adaptation.ts'
import { asAuthored } from '../../../placement/content/asDescribed.ts'
import {
  type CustomizerRule,
  isCustomizer,
  ownNames,
  rulesThere,
  selectiveRules,
} from '../../../placement/content/customizerRules.ts'
import type { PlacementWrite } from '../../../placement/desks/placementPreview.ts'
import { objectKey } from '../../../placement/words/names.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import { ParameterExpansion } from '../copies/parameterExpansion.ts'
import type { SourceReaderDeps } from '../copies/sourceReader.ts'
import { undefinedParameters } from '../copies/undefinedParameters.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'

export interface LocationFaultsDeps {
  join: Pick<PlacementJoin, 'placementNames' | 'waysOf'>
  knows: (space: string, key: string) => boolean
  location: SourceReaderDeps['location']
  locationsFor: (space: string) => Iterable<KubeObject>
  customizer: SourceReaderDeps['customizer']
}

/** Names and selectors that are looked for; those behind them are nobody's slip of the pen. */
const MAX_LOOKED_FOR = 100
/** Units of a budget: with more work there is no warning. */
const MAX_WORK = 1_000_000
/** Ways of all placements to Locations, most of them to the same ones: with more there is no warning. */
const MAX_WAYS = 200_000
/** Characters of the requirements that a fault names. */
const SHOWN = 100

/** Nothing is found while a placement of the space is not known, and in a space that may place nowhere. */
export function* locationFaults(
  deps: LocationFaultsDeps,
  { space, object, customizer: beside }: PlacementWrite,
): Steps<string[]> {
  const names = wantsExpansion(object) ? yield* namesIn(object) : new Set<string>()
  const rules = new Set(isCustomizer(object) ? selectiveRules(object).slice(0, MAX_LOOKED_FOR) : [])
  if (names.size === 0 && rules.size === 0) return []
  const reference = customizerOf(object)
  const named = reference === '' ? undefined : (beside ?? deps.customizer(space, reference))
  const customizer = isCustomizer(object) ? object : named
  const known = new Set(customizer && ownNames(customizer))
  const hasOwn = known.size > 0
  const weight = [...rules].reduce((sum, { selector }) => sum + 1 + selector!.requirements.length, names.size)
  let work = 0
  const settles = (location: KubeObject): boolean => {
    const { labels = {} } = location.metadata
    for (const rule of rules) if (rule.selector!.matches(labels)) rules.delete(rule)
    if (names.size > 0) {
      for (const key of Object.keys(labels)) known.add(key)
      const there = customizer && rulesThere(customizer, location)
      work += there?.work ?? 0
      for (const name of names) if (there?.parameters.has(name) || defines(location, name)) names.delete(name)
    }
    work += weight
    return work > MAX_WORK || (names.size === 0 && rules.size === 0)
  }
  const led = yield* locationsOf(deps, space, settles)
  const locations = led?.size === 0 ? yield* grantedLocations(deps, space, settles) : led
  if (locations === undefined || locations.size === 0) return []
  const places = led?.size === 0 ? 'Location that this space may place on' : 'Location that this space places on'
  const where = `in ${hasOwn ? 'its Customizer or ' : ''}any ${places}`
  const faults = yield* undefinedParameters(names, { where, known: [...known] })
  const unmatched: string[] = []
  for (const rule of rules) unmatched.push(yield* matchesNone(rule, locations, places))
  return [...unmatched, ...faults]
}

/** Each is looked at once. `undefined`: one of them settles it, or they are not known, or too many ways lead to them. */
function* locationsOf(
  { join, knows, location }: LocationFaultsDeps,
  space: string,
  settles: (location: KubeObject) => boolean,
): Steps<Set<KubeObject> | undefined> {
  const locations = new Set<KubeObject>()
  let looked = 0
  for (const placement of join.placementNames(space)) {
    if (!knows(space, objectKey(EDGE_PLACEMENTS, '', placement))) return undefined
    for (const [, ways] of join.waysOf(space, placement) ?? []) {
      for (const { cluster, locationName } of ways) {
        if (++looked > MAX_WAYS) return undefined
        const found = location(cluster, locationName)
        if (!found || locations.has(found)) continue
        locations.add(found)
        if (settles(found)) return undefined
      }
      yield
    }
  }
  return locations
}

/** The same of those that the space may place on. */
function* grantedLocations(
  { locationsFor }: LocationFaultsDeps,
  space: string,
  settles: (location: KubeObject) => boolean,
): Steps<Set<KubeObject> | undefined> {
  const locations = new Set<KubeObject>()
  for (const location of locationsFor(space)) {
    locations.add(location)
    if (locations.size > MAX_WAYS || settles(location)) return undefined
    yield
  }
  return locations
}

/** Names the requirements that no Location meets, where there are such. */
function* matchesNone(
  { at, selector }: CustomizerRule,
  locations: ReadonlySet<KubeObject>,
  places: string,
): Steps<string> {
  const unmet = new Set(selector!.requirements.keys())
  for (const { metadata } of locations) {
    for (const i of unmet) if (isMet(selector!.requirements[i]!, metadata.labels ?? {})) unmet.delete(i)
    if (unmet.size === 0) break
    yield
  }
  const texts = [...unmet].map(i => requirementText(selector!.requirements[i]!))
  const none = texts.length > 0 ? `: none has ${shortened(texts.join(', '), SHOWN)}` : ''
  return `${at}.locationSelector matches no ${places}${none}`
}

function* namesIn(object: KubeObject): Steps<Set<string>> {
  const { status: _status, ...described } = asAuthored(object)
  const expansion = new ParameterExpansion(new Map())
  // a Customizer's own text is for people
  yield* expansion.size(isCustomizer(object) ? objects(object, 'replacements') : described)
  return new Set(expansion.undefinedNames.take(MAX_LOOKED_FOR))
}

function defines({ metadata: { labels = {}, annotations = {} } }: KubeObject, name: string): boolean {
  return Object.hasOwn(labels, name) || Object.hasOwn(annotations, name)
}
