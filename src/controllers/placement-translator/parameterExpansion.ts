/**
 * Parameters of a Location in strings: `%(name)` becomes the parameter's value, `%%` becomes `%`; names that nothing defines
 * stay as they are. A short text can ask for a long value many times, so what would come of it is measured first.
 */
import { jsonSize, jsonTextSize } from '../../apimachinery/jsonSize.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'

/** Parameter name to value. */
export type Parameters = ReadonlyMap<string, string>

/** A parameter is a name, an address, perhaps a bundle of certificates: no document. Longer ones stay unexpanded. */
export const MAX_PARAMETER_CHARACTERS = 16 * 1024

/** Labels of a Location come before its annotations of the same name. */
export function parametersOf(location: KubeObject): Parameters {
  const { annotations, labels } = location.metadata
  return new Map([...Object.entries(annotations ?? {}), ...Object.entries(labels ?? {})])
}

export class ParameterExpansion {
  readonly #parameters: Parameters
  readonly #sizes = new Map<string, number>()
  readonly #tooLong = new Set<string>()

  constructor(parameters: Parameters) {
    this.#parameters = parameters
  }

  /** Names that were asked for and stay, because their values are too long. */
  get tooLong(): Iterable<string> {
    return this.#tooLong
  }

  text(text: string): string {
    if (!text.includes('%')) return text
    const parts: string[] = []
    let rest = 0
    for (const { start, end, name } of references(text)) {
      parts.push(text.slice(rest, start), name === undefined ? '%' : (this.#valueOf(name) ?? text.slice(start, end)))
      rest = end
    }
    return parts.length === 0 ? text : parts.join('') + text.slice(rest)
  }

  /** Bytes that the expanded text has in JSON, without its quotes. More at most where halves of a character would meet. */
  textSize(text: string): number {
    let bytes = jsonTextSize(text)
    if (!text.includes('%')) return bytes
    for (const { start, end, name } of references(text)) {
      if (name === undefined) bytes -= 1
      else {
        const size = this.#sizeOf(name)
        if (size !== undefined) bytes += size - jsonTextSize(text.slice(start, end))
      }
    }
    return bytes
  }

  /** A copy with every string value expanded; keys are left alone. */
  value<T>(value: T): T {
    return this.#value(value) as T
  }

  /** Bytes of the JSON of what {@link value} gives. */
  size(value: unknown): number {
    return jsonSize(value, text => this.textSize(text))
  }

  #value(node: unknown): unknown {
    if (typeof node === 'string') return this.text(node)
    if (Array.isArray(node)) return node.map(item => this.#value(item))
    if (!isRecord(node)) return node
    return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, this.#value(item)]))
  }

  #valueOf(name: string): string | undefined {
    const value = this.#parameters.get(name)
    if (value === undefined || value.length <= MAX_PARAMETER_CHARACTERS) return value
    this.#tooLong.add(name)
    return undefined
  }

  #sizeOf(name: string): number | undefined {
    const known = this.#sizes.get(name)
    if (known !== undefined) return known
    const value = this.#valueOf(name)
    if (value === undefined) return undefined
    const size = jsonTextSize(value)
    this.#sizes.set(name, size)
    return size
  }
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
