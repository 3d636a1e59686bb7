/**
 * Parameters of a Location, and of a Customizer for it, in strings: `%(name)` becomes the parameter's value, `%%` becomes `%`. A name that
 * nothing defines is a fault. A short text can ask for a long value many times, so what would come of it is measured first.
 */
import { cloneInSteps } from '../../../apimachinery/cloneInSteps.ts'
import { jsonSizeInSteps, jsonTextSize } from '../../../apimachinery/jsonSize.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { Pace } from '../../../apimachinery/pace.ts'
import type { Steps } from '../../../apimachinery/steps.ts'

/** Parameter name to value. */
export type Parameters = Pick<ReadonlyMap<string, string>, 'get' | 'has'>

/** A parameter is a name, an address, perhaps a bundle of certificates: no document. Longer ones stay unexpanded. */
export const MAX_PARAMETER_CHARACTERS = 16 * 1024

/** Labels of a Location come before its annotations of the same name, and `own`, of a Customizer, before both. */
export function parametersOf(location: KubeObject, own: Parameters = NONE): Parameters {
  const { annotations, labels } = location.metadata
  const theirs = new Map([...Object.entries(annotations ?? {}), ...Object.entries(labels ?? {})])
  // a Customizer may have thousands, of which an object names some
  return { get: name => own.get(name) ?? theirs.get(name), has: name => own.has(name) || theirs.has(name) }
}

const NONE: Parameters = new Map()

/** Parameters of one object that are held against those of another Location. */
const MAX_COMPARED = 100

/** References that are read between two places to rest: some tenths of a millisecond. */
const STRIDE = 2000

interface Measured {
  /** Size of the JSON without the texts that expand. */
  readonly bytes: number
  readonly texts: readonly string[]
}

/** Its long work is done in steps: it yields where others may have their turn. */
export class ParameterExpansion {
  readonly #parameters: Parameters
  /** By name: how many bytes more the value has than the reference to it; 0 for what stays. */
  readonly #growths = new Map<string, number>()
  readonly #tooLong = new Set<string>()
  /** The latest measured value. */
  #measured: (Measured & { readonly of: unknown }) | undefined

  constructor(parameters: Parameters) {
    this.#parameters = parameters
  }

  /** Names that were read, present or not. `undefined`: too many to compare. */
  get readParameters(): ReadonlyMap<string, string | undefined> | undefined {
    if (this.#growths.size > MAX_COMPARED) return undefined
    return new Map([...this.#growths.keys()].map(name => [name, this.#parameters.get(name)]))
  }

  /** Names of what was measured that the Location does not define: as many as a text has room for. */
  get undefinedNames(): IteratorObject<string> {
    return this.#growths.keys().filter(name => !this.#parameters.has(name))
  }

  /** Names that were read and stay, because their values are too long. */
  get tooLong(): Iterable<string> {
    return this.#tooLong
  }

  *text(text: string): Steps<string> {
    if (!text.includes('%')) return text
    const parts: string[] = []
    let rest = 0
    let read = 0
    for (const { start, end, name } of references(text)) {
      parts.push(text.slice(rest, start), name === undefined ? '%' : (this.#valueOf(name) ?? text.slice(start, end)))
      rest = end
      if (++read % STRIDE === 0) yield
    }
    return parts.length === 0 ? text : parts.join('') + text.slice(rest)
  }

  /** Bytes that the expanded text has in JSON, without its quotes. More at most where halves of a character would meet. */
  *textSize(text: string): Steps<number> {
    let bytes = jsonTextSize(text)
    if (!text.includes('%')) return bytes
    let read = 0
    for (const { name } of references(text)) {
      bytes += name === undefined ? -1 : this.#growthOf(name)
      if (++read % STRIDE === 0) yield
    }
    return bytes
  }

  /** A copy with every string value expanded; keys are left alone. */
  *value<T>(value: T): Steps<T> {
    const { texts } = yield* this.#measure(value)
    const expanded = new Map<string, string>()
    for (const text of texts) {
      if (expanded.has(text)) continue
      expanded.set(text, yield* this.text(text))
      yield
    }
    return yield* cloneInSteps(value, new Pace(), text => expanded.get(text) ?? text)
  }

  /** Bytes of the JSON of {@link value}'s result; to be called before the value changes. */
  *size(value: unknown): Steps<number> {
    const measured = yield* this.#measure(value)
    this.#measured = { ...measured, of: value }
    let { bytes } = measured
    for (const text of measured.texts) {
      bytes += yield* this.textSize(text)
      yield
    }
    return bytes
  }

  *#measure(value: unknown): Steps<Measured> {
    const known = this.#measured
    if (known !== undefined && known.of === value) return known
    const texts: string[] = []
    const bytes = yield* jsonSizeInSteps(value, new Pace(), text => {
      if (!text.includes('%')) return jsonTextSize(text)
      texts.push(text)
      return 0
    })
    yield
    return { bytes, texts }
  }

  #valueOf(name: string): string | undefined {
    const value = this.#parameters.get(name)
    if (value === undefined || value.length <= MAX_PARAMETER_CHARACTERS) return value
    this.#tooLong.add(name)
    return undefined
  }

  /** Measured once, as a text can name the same parameter tens of thousands of times. */
  #growthOf(name: string): number {
    let growth = this.#growths.get(name)
    if (growth === undefined) {
      const value = this.#valueOf(name)
      growth = value === undefined ? 0 : jsonTextSize(value) - jsonTextSize(`%(${name})`)
      this.#growths.set(name, growth)
    }
    return growth
  }
}

/** Names of parameters in the strings of a value. */
export function parameterNames(value: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (typeof value === 'string') {
    if (value.includes('%(')) for (const { name } of references(value)) if (name !== undefined) names.add(name)
  } else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) parameterNames(one, names)
  return names
}

interface Reference {
  readonly start: number
  readonly end: number
  /** `undefined` for `%%`. */
  readonly name: string | undefined
}

/** From left to right, in time linear in the text also when brackets never close. */
function* references(text: string): Iterable<Reference> {
  const lastClose = text.lastIndexOf(')')
  for (let at = text.indexOf('%'); at >= 0; ) {
    let end = at + 1
    if (text[at + 1] === '%') {
      end = at + 2
      yield { start: at, end, name: undefined }
    } else if (text[at + 1] === '(' && at + 2 <= lastClose) {
      const close = text.indexOf(')', at + 2)
      end = close + 1
      yield { start: at, end, name: text.slice(at + 2, close) }
    }
    at = text.indexOf('%', end)
  }
}
