/**
 * The replacements of a Customizer, one after the other, in an object of our own: values at paths, and patches.
 *
 * A small object and a small Customizer can ask for gigabytes. So sizes are known before anything is made, and the work for
 * one destination has a limit: beyond it, things are left undone and reported.
 */
import { jsonSize, jsonSizeInSteps, nestingOf } from '../../../apimachinery/jsonSize.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { Pace } from '../../../apimachinery/pace.ts'
import { shortened } from '../../../apimachinery/shortened.ts'
import type { Steps } from '../../../apimachinery/steps.ts'
import { equalJson, isNestedDeeper } from '../../../apimachinery/values.ts'
import { READ, type WorkBudget } from '../../../apimachinery/workBudget.ts'
import { type CustomizerRule, PATCH_FORMS } from '../../../placement/content/customizerRules.ts'
import type { BuiltinSchema } from '../../../placement/desks/desks.ts'
import type { ParameterExpansion } from './parameterExpansion.ts'
import { carriedBy, type Patch, PatchError, patchedInSteps } from './patching.ts'
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

/** As JSON. Bound of etcd on a request: a larger copy could not be stored in a cluster. */
export const MAX_OBJECT_BYTES = 1.5 * 1024 * 1024
/** As deep as a request body may be nested. */
const MAX_NESTING = 500
/** A rule, whatever it does, in units of work: its path is read, its value parsed. */
const RULE = 100
/** A byte of an object that is measured: many short values take more than one long text. */
const MEASURED = 0.3
/** Finding and reporting what is wrong. */
const FAULT = 50
/** Characters of a user's text inside a fault. */
export const SHOWN = 100
const SHOWN_OF_PATCH = 300

export class TooMuchWorkError extends Error {
  constructor() {
    super('it takes too much work')
    this.name = 'TooMuchWorkError'
  }
}

export interface ReplacingJob {
  readonly faults: string[]
  readonly budget: WorkBudget
  readonly schema: BuiltinSchema
}

interface Measured {
  readonly object: KubeObject
  readonly bytes: number
  readonly levels: number
}

export class Replacing {
  #object: KubeObject
  readonly #faults: string[]
  readonly #budget: WorkBudget
  readonly #schema: BuiltinSchema
  readonly #expansion: ParameterExpansion | undefined
  readonly #mostBytes: number
  /** Bytes of the object as JSON, at most. */
  #bytes: number
  /** Bytes of it when it was measured last. */
  #exactBytes: number
  /** Levels of lists and maps in the object, at most. */
  #levels: number

  private constructor(
    { faults, budget, schema }: ReplacingJob,
    expansion: ParameterExpansion | undefined,
    object: Measured,
  ) {
    this.#object = object.object
    this.#faults = faults
    this.#budget = budget
    this.#schema = schema
    this.#expansion = expansion
    this.#bytes = object.bytes
    this.#exactBytes = object.bytes
    // one that is too large already may change, but not grow
    this.#mostBytes = Math.max(MAX_OBJECT_BYTES, object.bytes)
    this.#levels = object.levels
  }

  static *of(job: ReplacingJob, object: KubeObject, expansion: ParameterExpansion | undefined): Steps<Replacing> {
    yield
    const bytes = yield* jsonSizeInSteps(object, new Pace())
    yield
    return new Replacing(job, expansion, { object, bytes, levels: nestingOf(object) })
  }

  /** The object as the replacements leave it. `undefined`: its state cannot be used. */
  *run(rules: readonly CustomizerRule[], reference: string): Steps<KubeObject | undefined> {
    for (const rule of rules) {
      const at = `Customizer ${reference} ${rule.at}`
      yield
      try {
        this.#budget.spend(RULE)
        const fault = yield* this.#apply(rule)
        if (fault) {
          this.#faults.push(`${at}: ${fault}`)
          this.#budget.spend(FAULT)
        }
      } catch (error) {
        if (!(error instanceof TooMuchWorkError)) throw error
        const remedy = isPatch(rule) ? 'patch less' : 'name fewer places, with fewer ..'
        this.#faults.push(`${at}: ${error.message}, so it and all behind it are left out; ${remedy}`)
        return this.#object
      }
      if (this.#levels > MAX_NESTING) {
        this.#faults.push(`${at}: it nests the object more than ${MAX_NESTING} levels deep, so no replacement is made`)
        return undefined
      }
    }
    return this.#object
  }

  /** The fault, or `undefined`. */
  *#apply({ content }: CustomizerRule): Steps<string | undefined> {
    const { path, value } = content
    if (typeof path === 'string' && typeof value === 'string') return yield* this.#replace(path, value)
    const form = PATCH_FORMS.find(one => content[one] !== undefined)
    return form ? yield* this.#patch({ form, body: content[form] }) : 'it has neither path and value nor a patch'
  }

  *#patch({ form, body: written }: Patch): Steps<string | undefined> {
    if (isNestedDeeper(written, MAX_NESTING)) return `${form} is nested more than ${MAX_NESTING} levels deep`
    const size = yield* this.#sizeOf(written)
    if (size > MAX_OBJECT_BYTES) return `expanded it is larger than ${MAX_OBJECT_BYTES} bytes`
    this.#budget.spend(size * READ)
    const body = this.#expansion ? yield* this.#expansion.value(written) : written
    const patch = { form, body }
    const carried = carriedBy(patch, this.#bytes)
    const steps = Array.isArray(body) ? body.length * STEP : 0
    this.#budget.spend((2 * this.#bytes + size + carried) * READ + steps)
    let made: KubeObject
    try {
      made = yield* patchedInSteps(this.#object, patch, this.#schema)
    } catch (error) {
      if (!(error instanceof PatchError)) throw error
      // an annotation of a Location stays unknown to those who may place there
      const isExpanded = !equalJson(body, written)
      return isExpanded
        ? `${form} does not apply once its parameters are in place`
        : `${form}: ${shortened(error.message, SHOWN_OF_PATCH)}`
    }
    yield
    // added up as long as that is near enough: to measure is to look at each value of the object
    const most = this.#bytes + size + carried
    const bytes = most <= Math.min(2 * this.#exactBytes, this.#mostBytes) ? most : yield* this.#measured(made)
    if (bytes > this.#mostBytes) return `with it the object would have ${bytes} bytes, of at most ${this.#mostBytes}`
    this.#object = made
    this.#bytes = bytes
    this.#levels = Math.max(this.#levels, form === 'jsonPatch' ? MAX_NESTING : nestingOf(body))
    return undefined
  }

  *#measured(object: KubeObject): Steps<number> {
    this.#exactBytes = yield* jsonSizeInSteps(object, new Pace())
    this.#budget.spend(this.#exactBytes * MEASURED)
    return this.#exactBytes
  }

  *#sizeOf(value: unknown): Steps<number> {
    return yield* this.#expansion ? this.#expansion.size(value) : jsonSizeInSteps(value, new Pace())
  }

  /** The fault, or `undefined`. */
  *#replace(pathText: string, valueText: string): Steps<string | undefined> {
    const path = yield* this.#expanded(pathText)
    const text = yield* this.#expanded(valueText)
    if (path === undefined || text === undefined) return `expanded it is larger than ${MAX_OBJECT_BYTES} bytes`
    // annotations of Locations are not disclosed to authors of placements
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

  /** Bytes of the object with so many more, less what they take the place of; at most. */
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

function isPatch({ content }: CustomizerRule): boolean {
  return PATCH_FORMS.some(form => content[form] !== undefined)
}
