/**
 * Customization of a workload object for one destination: parameters of the Location first, then the replacements of the
 * object's Customizer. What cannot be done is left undone and said; the rest still happens, so that all faults are told at
 * once. An object with faults is not sent anywhere.
 *
 * A small object and a small Customizer can ask for gigabytes. So sizes are known before anything is made, and the work for
 * one destination has a limit: beyond it, too, things are left undone and said.
 */

import { cloneInSteps } from '../../../apimachinery/cloneInSteps.ts'
import { isNestedDeeper, jsonSize, jsonSizeInSteps, nestingOf } from '../../../apimachinery/jsonSize.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { Pace } from '../../../apimachinery/pace.ts'
import { shortened } from '../../../apimachinery/shortened.ts'
import type { Steps } from '../../../apimachinery/steps.ts'
import { cloneJson } from '../../../apimachinery/values.ts'
import { READ, WorkBudget } from '../../../apimachinery/workBudget.ts'
import { customizerOf, wantsExpansion } from '../../../placement/content/adaptation.ts'
import { toldFaults } from '../../toldFaults.ts'
import { MAX_PARAMETER_CHARACTERS, ParameterExpansion, parametersOf } from './parameterExpansion.ts'
import {
  findPlaces,
  isDefinite,
  isFlat,
  type Place,
  parseReplacementPath,
  putAt,
  type ReplacementPath,
  ReplacementPathError,
  STEP,
} from './replacementPath.ts'
import { undefinedParameters } from './undefinedParameters.ts'

/** As JSON. What etcd takes in a request: a larger copy could not be stored in a cluster. */
export const MAX_OBJECT_BYTES = 1.5 * 1024 * 1024
/** As deep as a request body may be nested. */
const MAX_NESTING = 500
/** For one object and one destination: some ten milliseconds, with which an object of that size can be made several times. */
export const MAX_WORK = 1_000_000
/** Finding and telling what is wrong, in units of work. */
const FAULT = 50
/** Of a text of the user inside a fault. */
const SHOWN = 100

export interface Customization {
  object: KubeObject
  /** In the order in which they were met; empty when all went well. */
  faults: string[]
  /** Units of a {@link WorkBudget}. */
  work: number
  /**
   * What was asked for of the Location's parameters, by name: where these are the same all comes out the same, unless there are faults.
   * `undefined`: too many.
   */
  asked?: ReadonlyMap<string, string | undefined> | undefined
}

export interface CustomizationInputs {
  /** `undefined` when the Location is gone. */
  location: KubeObject | undefined
  locationName: string
  /** `undefined` when the object names none, or one that does not exist. */
  customizer: KubeObject | undefined
}

/** `source` is left as it is. Yields where others may have their turn. */
export function* customize(source: KubeObject, inputs: CustomizationInputs): Steps<Customization> {
  const reference = customizerOf(source)
  if (!wantsExpansion(source) && reference === '') return { object: source, faults: [], work: 0, asked: NOTHING }
  const job: Job = { inputs, faults: [], budget: new WorkBudget(MAX_WORK, () => new TooMuchWorkError()) }
  const expansion = inputs.location && new ParameterExpansion(parametersOf(inputs.location))
  const missing = `Location ${JSON.stringify(inputs.locationName)} not found, its parameters are not expanded`
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
  } else if (inputs.customizer) {
    const expanding = wantsExpansion(inputs.customizer)
    if (expanding && !expansion && !wantsExpansion(source)) job.faults.push(missing)
    const replacing = yield* Replacing.of(job, object, expanding ? expansion : undefined)
    if (!(yield* replacing.run(inputs.customizer.replacements, reference))) object = yield* start()
    restoreIdentity(object, source, job.faults)
  }
  for (const name of expansion?.tooLong ?? []) job.faults.push(tooLong(name, inputs.locationName))
  if (expansion && inputs.location) {
    const { labels = {} } = inputs.location.metadata
    const where = `in Location ${JSON.stringify(inputs.locationName)}`
    job.faults.push(...(yield* undefinedParameters(expansion.undefinedNames, { where, known: Object.keys(labels) })))
  }
  const asked = expansion ? expansion.asked : NOTHING
  return { object, faults: toldFaults(job.faults), work: MAX_WORK - job.budget.left, asked }
}

const NOTHING: ReadonlyMap<string, undefined> = new Map()

interface Job {
  readonly inputs: CustomizationInputs
  readonly faults: string[]
  readonly budget: WorkBudget
}

class TooMuchWorkError extends Error {
  constructor() {
    super('it takes too much work')
    this.name = 'TooMuchWorkError'
  }
}

/** Whether the object may be expanded; if not, why is said. */
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

interface Measured {
  readonly object: KubeObject
  readonly bytes: number
  readonly levels: number
}

/** A Customizer's replacements, one after the other, in an object of our own. */
class Replacing {
  readonly #object: KubeObject
  readonly #faults: string[]
  readonly #budget: WorkBudget
  readonly #expansion: ParameterExpansion | undefined
  readonly #mostBytes: number
  /** Of the object as JSON, at most. */
  #bytes: number
  /** Levels of lists and maps in the object, at most. */
  #levels: number

  private constructor({ faults, budget }: Job, expansion: ParameterExpansion | undefined, object: Measured) {
    this.#object = object.object
    this.#faults = faults
    this.#budget = budget
    this.#expansion = expansion
    this.#bytes = object.bytes
    // one that is too large already may change, but not grow
    this.#mostBytes = Math.max(MAX_OBJECT_BYTES, object.bytes)
    this.#levels = object.levels
  }

  static *of(job: Job, object: KubeObject, expansion: ParameterExpansion | undefined): Steps<Replacing> {
    yield
    const bytes = yield* jsonSizeInSteps(object, new Pace())
    yield
    return new Replacing(job, expansion, { object, bytes, levels: nestingOf(object) })
  }

  /** False when the object has come into a state that cannot be used. */
  *run(replacements: unknown, reference: string): Steps<boolean> {
    for (const [index, item] of (Array.isArray(replacements) ? replacements : []).entries()) {
      if (!isRecord(item) || typeof item.path !== 'string' || typeof item.value !== 'string') continue
      const at = `Customizer ${reference} replacements[${index}]`
      yield
      try {
        this.#budget.spend(STEP)
        const fault = yield* this.#replace(item.path, item.value)
        if (fault) {
          this.#faults.push(`${at}: ${fault}`)
          this.#budget.spend(FAULT)
        }
      } catch (error) {
        if (!(error instanceof TooMuchWorkError)) throw error
        this.#faults.push(
          `${at}: ${error.message}, so it and all behind it are left out; name fewer places, with fewer ..`,
        )
        return true
      }
      if (this.#levels > MAX_NESTING) {
        this.#faults.push(`${at}: it nests the object more than ${MAX_NESTING} levels deep, so no replacement is made`)
        return false
      }
    }
    return true
  }

  /** What was wrong, or `undefined`. */
  *#replace(pathText: string, valueText: string): Steps<string | undefined> {
    const path = yield* this.#expanded(pathText)
    const text = yield* this.#expanded(valueText)
    if (path === undefined || text === undefined) return `expanded it is larger than ${MAX_OBJECT_BYTES} bytes`
    // what Locations say in annotations is not told to those who may place there
    const expanded = text === valueText ? '' : ' once its parameters are in place'
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return `value is not JSON${expanded}: ${shortened(valueText, SHOWN)}`
    }
    if (isNestedDeeper(value, MAX_NESTING)) return `value is nested more than ${MAX_NESTING} levels deep`
    try {
      return yield* this.#put(parseReplacementPath(path), value, pathText)
    } catch (error) {
      if (error instanceof ReplacementPathError)
        return path === pathText
          ? `path ${shortened(path, SHOWN)}: ${error.message}`
          : `path ${shortened(pathText, SHOWN)}: it cannot be read once its parameters are in place`
      throw error
    }
  }

  /** `undefined` when it would be too large. */
  *#expanded(text: string): Steps<string | undefined> {
    if (this.#expansion === undefined) {
      this.#budget.spend(text.length * READ)
      return text
    }
    const bytes = yield* this.#expansion.textSize(text)
    if (bytes > MAX_OBJECT_BYTES && bytes > text.length) return undefined
    this.#budget.spend(bytes * READ)
    return yield* this.#expansion.text(text)
  }

  *#put(path: ReplacementPath, value: unknown, text: string): Steps<string | undefined> {
    const places = yield* findPlaces(this.#object, path, this.#budget)
    if (places.length === 0)
      return isDefinite(path) ? `path ${shortened(text, SHOWN)} leads nowhere in this object` : undefined
    const added = places.length * (jsonSize(value) + (isDefinite(path) ? longestKey(places) : 0))
    const bytes = this.#bytesWith(added, places, path)
    if (bytes > this.#mostBytes) return `with it the object would have ${bytes} bytes, of at most ${this.#mostBytes}`
    this.#budget.spend(added * READ + places.length * STEP)
    putAt(places, value)
    this.#bytes = bytes
    this.#deepen(value)
    return undefined
  }

  /** Looks at the whole object only when adding up is not enough. */
  #deepen(value: unknown): void {
    this.#levels += nestingOf(value)
    if (this.#levels <= MAX_NESTING) return
    this.#budget.spend(this.#bytes * READ)
    this.#levels = isNestedDeeper(this.#object, MAX_NESTING) ? MAX_NESTING + 1 : nestingOf(this.#object)
  }

  /** Of the object with so many bytes more, less what they take the place of; at most. */
  #bytesWith(added: number, places: readonly Place[], path: ReplacementPath): number {
    if (this.#bytes + added <= this.#mostBytes) return this.#bytes + added
    this.#budget.spend(this.#bytes * READ)
    this.#bytes = jsonSize(this.#object)
    return this.#bytes + added - (isFlat(path) ? replacedBytes(places) : 0)
  }
}

/** With quotes, colon and comma. */
function longestKey(places: readonly Place[]): number {
  return places.reduce((most, { key }) => Math.max(most, jsonSize(key) + 2), 0)
}

function replacedBytes(places: readonly Place[]): number {
  const seen = new Map<object, Set<string | number>>()
  let bytes = 0
  for (const { container, key } of places) {
    const keys = seen.get(container) ?? new Set()
    if (!keys.has(key) && Object.hasOwn(container, key)) bytes += jsonSize(Reflect.get(container, key))
    seen.set(container, keys.add(key))
  }
  return bytes
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
