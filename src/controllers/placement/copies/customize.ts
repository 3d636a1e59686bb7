/**
 * Customization of a workload object for one destination: parameters first, then the replacements of its Customizer. Parameters of the
 * Customizer come before those of the Location. A fault is reported and the rest still happens, so that all faults are known at once. An
 * object with faults goes nowhere.
 */

import { cloneInSteps } from '../../../apimachinery/cloneInSteps.ts'
import { jsonSizeInSteps } from '../../../apimachinery/jsonSize.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { Pace } from '../../../apimachinery/pace.ts'
import { shortened } from '../../../apimachinery/shortened.ts'
import type { Steps } from '../../../apimachinery/steps.ts'
import { cloneJson } from '../../../apimachinery/values.ts'
import { READ, WorkBudget } from '../../../apimachinery/workBudget.ts'
import { customizerOf, wantsExpansion } from '../../../placement/content/adaptation.ts'
import { ownNames, rulesThere } from '../../../placement/content/customizerRules.ts'
import type { BuiltinSchema } from '../../../placement/desks/desks.ts'
import { listedFaults } from '../../listedFaults.ts'
import { MAX_PARAMETER_CHARACTERS, ParameterExpansion, parametersOf } from './parameterExpansion.ts'
import { MAX_OBJECT_BYTES, Replacing, type ReplacingJob, SHOWN, TooMuchWorkError } from './replacing.ts'
import { undefinedParameters } from './undefinedParameters.ts'

/** For one object and one destination: some ten milliseconds, with which an object of that size can be made several times. */
export const MAX_WORK = 1_000_000
/** Bound on a Customizer's own names among which the nearest is sought. */
const MAX_NAMES = 50

export interface Customization {
  object: KubeObject
  /** In the order in which they were met; empty when all went well. */
  faults: string[]
  /** Units of a {@link WorkBudget}. */
  work: number
  /**
   * The Location's parameters that were read, by name. Where these and the Customizer's rules are the same, the result is the same, unless
   * there are faults. `undefined`: too many.
   */
  readParameters?: ReadonlyMap<string, string | undefined> | undefined
}

export interface CustomizationInputs {
  /** `undefined` when the Location is gone. */
  location: KubeObject | undefined
  locationName: string
  /** `undefined` when the object names none, or one that does not exist. */
  customizer: KubeObject | undefined
  /** Finds how a kind merges strategically. */
  schema: BuiltinSchema
}

/** `source` is left as it is. Yields where others may have their turn. */
export function* customize(source: KubeObject, inputs: CustomizationInputs): Steps<Customization> {
  const reference = customizerOf(source)
  if (!wantsExpansion(source) && reference === '')
    return { object: source, faults: [], work: 0, readParameters: NOTHING }
  const budget = new WorkBudget(MAX_WORK, () => new TooMuchWorkError())
  const job: Job = { inputs, faults: [], budget, schema: inputs.schema }
  const rules = inputs.customizer && rulesThere(inputs.customizer, inputs.location)
  const expansion = inputs.location && new ParameterExpansion(parametersOf(inputs.location, rules?.parameters))
  const missing = `Location ${JSON.stringify(inputs.locationName)} not found, its parameters are not expanded`
  budget.spend(rules?.work ?? 0)
  // the status is the space's own, and no copy has it
  const { status, ...described } = source
  let isExpanded = false
  if (wantsExpansion(source)) {
    if (expansion === undefined) job.faults.push(missing)
    else isExpanded = yield* fits(job, expansion, described)
  }
  const start = function* (): Steps<KubeObject> {
    if (!isExpanded || !expansion) return yield* cloneInSteps(source, new Pace())
    const expanded = yield* expansion.value(described)
    return status === undefined ? expanded : { ...expanded, status: yield* cloneInSteps(status, new Pace()) }
  }
  let object = yield* start()
  if (reference.startsWith('/')) {
    job.faults.push(
      `a cluster-scoped object names its Customizer as namespace/name, not ${JSON.stringify(reference.slice(1))}`,
    )
  } else if (reference !== '' && !inputs.customizer) {
    job.faults.push(`Customizer ${JSON.stringify(reference)} not found`)
  } else if (inputs.customizer && rules) {
    job.faults.push(...rules.faults.map(fault => `Customizer ${reference} ${fault}`))
    const expanding = wantsExpansion(inputs.customizer)
    if (expanding && !expansion && !wantsExpansion(source)) job.faults.push(missing)
    const replacing = yield* Replacing.of(job, object, expanding ? expansion : undefined)
    object = (yield* replacing.run(rules.replacements, reference)) ?? (yield* start())
    restoreIdentity(object, source, job.faults)
  }
  for (const name of expansion?.tooLong ?? []) job.faults.push(tooLong(name, inputs.locationName))
  if (expansion && inputs.location) {
    const { labels = {} } = inputs.location.metadata
    const own = inputs.customizer ? ownNames(inputs.customizer) : []
    const among = own.length > 0 ? `in Customizer ${JSON.stringify(reference)} or ` : 'in '
    const places = {
      where: `${among}Location ${JSON.stringify(inputs.locationName)}`,
      known: [...own.slice(0, MAX_NAMES), ...Object.keys(labels)],
    }
    job.faults.push(...(yield* undefinedParameters(expansion.undefinedNames, places)))
  }
  // where the same rules hold, a Customizer's own parameters are the same
  const isOfLocation = ([name]: [string, unknown]): boolean => !rules?.parameters.has(name)
  const readParameters = expansion
    ? expansion.readParameters && new Map([...expansion.readParameters].filter(isOfLocation))
    : NOTHING
  return { object, faults: listedFaults(job.faults), work: MAX_WORK - job.budget.left, readParameters }
}

const NOTHING: ReadonlyMap<string, undefined> = new Map()

interface Job extends ReplacingJob {
  readonly inputs: CustomizationInputs
}

/** Whether the object may be expanded; a refusal adds its reason. */
function* fits({ inputs, faults, budget }: Job, expansion: ParameterExpansion, described: KubeObject): Steps<boolean> {
  const bytes = yield* expansion.size(described)
  budget.spend(Math.min(bytes, MAX_OBJECT_BYTES) * READ)
  // what is large without parameters is no fault of theirs
  if (bytes > MAX_OBJECT_BYTES && bytes > (yield* jsonSizeInSteps(described, new Pace()))) {
    const location = JSON.stringify(inputs.locationName)
    const why = `it would have ${bytes} bytes, of at most ${MAX_OBJECT_BYTES}`
    faults.push(`the object is not expanded: with the parameters of Location ${location} ${why}`)
    return false
  }
  return true
}

function tooLong(name: string, location: string): string {
  const parameter = `parameter ${JSON.stringify(shortened(name, SHOWN))} of Location ${JSON.stringify(location)}`
  return `${parameter} is not expanded: it has more than ${MAX_PARAMETER_CHARACTERS} characters`
}

/** A replacement may change what an object says, not which object it is. */
function restoreIdentity(object: KubeObject, source: KubeObject, faults: string[]): void {
  const metadata: unknown = object.metadata
  const { name, namespace } = source.metadata
  const kept =
    isRecord(metadata) &&
    (metadata.labels === undefined || isRecord(metadata.labels)) &&
    (metadata.annotations === undefined || isRecord(metadata.annotations))
  if (!kept || metadata.name !== name || metadata.namespace !== namespace) {
    faults.push('a replacement touches metadata.name, metadata.namespace or the form of metadata; metadata is kept')
    object.metadata = cloneJson(source.metadata)
  }
  if (object.apiVersion === source.apiVersion && object.kind === source.kind) return
  faults.push('a replacement touches apiVersion or kind; both are kept')
  object.apiVersion = source.apiVersion
  object.kind = source.kind
}
