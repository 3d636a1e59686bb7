/**
 * Rules of a Customizer: its own parameters and its replacements, each for all Locations or for those that a locationSelector
 * matches. Pure.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { type LabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../../apimachinery/selectors.ts'
import { EDGE_GROUP } from '../words/placement.ts'

/** Each is applied to a whole object for each destination. */
export const MAX_PATCHES = 100
export const MAX_PATCH_BYTES = 128 * 1024
/** Values in all `parameters`: a handful for each of a thousand Locations. */
export const MAX_VALUES = 5000

/** A value that may have to be gathered for each Location, in units of a budget. */
const VALUE = 20

export const PATCH_FORMS = ['jsonPatch', 'mergePatch', 'strategicMergePatch'] as const
export type PatchForm = (typeof PATCH_FORMS)[number]

export interface CustomizerRule {
  /** Its field, such as `replacements[2]`. */
  readonly at: string
  readonly content: Readonly<Record<string, unknown>>
  /** Absent: it holds everywhere. */
  readonly selector: LabelSelector | undefined
}

interface CustomizerRules {
  readonly parameters: readonly CustomizerRule[]
  /** Their values, where none has a selector. */
  readonly everywhere: ReadonlyMap<string, string> | undefined
  /** Names that they define for some Location. */
  readonly names: readonly string[]
  readonly replacements: readonly CustomizerRule[]
  /** Those that do not hold everywhere. */
  readonly selective: readonly CustomizerRule[]
  /** To find out which of them hold, in units of a budget. */
  readonly work: number
  /** Faults of selectors that were written before anything judged them. */
  readonly faults: readonly string[]
}

/** The rules that hold in one Location. */
interface RulesThere {
  /** Parameters of its own, by name; where all rules hold everywhere the same map for all Locations. */
  readonly parameters: ReadonlyMap<string, string>
  readonly replacements: readonly CustomizerRule[]
  readonly faults: readonly string[]
  readonly work: number
}

/** A memo of a pure function: each lives as long as the Customizer that it is made of. */
const compiled = new WeakMap<KubeObject, CustomizerRules>()

/** `location`: `undefined` when it is gone. Then nothing is known to match it. */
export function rulesThere(customizer: KubeObject, location: KubeObject | undefined): RulesThere {
  const { parameters, everywhere, replacements, selective, faults, work } = rulesOf(customizer)
  const holds = ({ selector }: CustomizerRule): boolean => !selector || selector.matches(location?.metadata.labels)
  return {
    parameters: everywhere ?? valuesOf(parameters.filter(holds)),
    replacements: selective.length === 0 ? replacements : replacements.filter(holds),
    faults: location === undefined && selective.length > 0 ? [...faults, noLabels(selective[0]!)] : faults,
    work,
  }
}

/** Equal for Locations in which the same rules of a Customizer hold. */
export function choiceThere(customizer: KubeObject | undefined, location: KubeObject | undefined): string {
  if (!customizer) return ''
  const { selective } = rulesOf(customizer)
  return selective.map(({ selector }) => (selector!.matches(location?.metadata.labels) ? '1' : '0')).join('')
}

/** Rules that do not hold everywhere. */
export function selectiveRules(customizer: KubeObject): readonly CustomizerRule[] {
  return rulesOf(customizer).selective
}

export function isCustomizer({ kind, apiVersion }: KubeObject): boolean {
  return kind === 'Customizer' && apiVersion.startsWith(`${EDGE_GROUP}/`)
}

/** Names that a Customizer defines for some Location. */
export function ownNames(customizer: KubeObject): readonly string[] {
  return rulesOf(customizer).names
}

function noLabels({ at }: CustomizerRule): string {
  return `${at}.locationSelector: the Location is gone, and its labels with it`
}

/** Later ones count. */
function valuesOf(parameters: readonly CustomizerRule[]): ReadonlyMap<string, string> {
  return new Map(parameters.flatMap(({ content }) => Object.entries(valuesIn(content))))
}

function valuesIn({ values }: CustomizerRule['content']): Record<string, string> {
  return isRecord(values) ? (values as Record<string, string>) : {}
}

function rulesOf(customizer: KubeObject): CustomizerRules {
  const known = compiled.get(customizer)
  if (known) return known
  const faults: string[] = []
  const [parameters, replacements] = (['parameters', 'replacements'] as const).map(field => {
    const list: readonly unknown[] = Array.isArray(customizer[field]) ? customizer[field] : []
    return list.flatMap((content, i) => (isRecord(content) ? [ruleOf(content, `${field}[${i}]`, faults)] : []))
  }) as [CustomizerRule[], CustomizerRule[]]
  const selective = [...parameters, ...replacements].filter(({ selector }) => selector)
  const requirements = selective.reduce((sum, { selector }) => sum + 1 + selector!.requirements.length, 0)
  const names = parameters.flatMap(({ content }) => Object.keys(valuesIn(content)))
  const everywhere = parameters.some(({ selector }) => selector) ? undefined : valuesOf(parameters)
  const values = everywhere ? 0 : names.length * VALUE
  const rules = { parameters, everywhere, names, replacements, selective, faults, work: requirements + values }
  compiled.set(customizer, rules)
  return rules
}

function ruleOf(content: Record<string, unknown>, at: string, faults: string[]): CustomizerRule {
  const { locationSelector } = content
  if (locationSelector === undefined || locationSelector === null) return { at, content, selector: undefined }
  try {
    return { at, content, selector: labelSelectorFromObject(locationSelector as LabelSelectorObject) }
  } catch (error) {
    if (!isStatusError(error)) throw error
    faults.push(`${at}.locationSelector: ${error.message}`)
    return { at, content, selector: labelSelectorFromObject(undefined) }
  }
}
