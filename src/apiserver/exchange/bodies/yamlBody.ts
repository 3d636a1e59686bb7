/**
 * YAML 1.1 text of a request to plain values, in time and memory linear in the length of the text. A sender of a body must not be able to
 * stop the server with it. The library would compare every key of a map with all others, turn keys that are collections into text, and
 * multiply the targets of aliases. All of that is refused or counted before.
 * @see https://yaml.org/spec/1.1/
 */
import type { CST, Document, DocumentOptions, LineCounter, Node, ParseOptions, SchemaOptions } from 'yaml'
import { isMistakable } from '../../../apimachinery/jsonParse.ts'
import { mistakableKeyWords } from '../../../apimachinery/mistakableKeys.ts'
import type { RepeatedKey } from '../../../apimachinery/repeatedKeys.ts'
import { yaml } from '../../../apimachinery/yaml.ts'
import { YamlValues } from './yamlValues.ts'

export const ALIAS_LIMIT = 1000

export interface YamlLimits {
  depth: number
  /** Size of a document, in characters and values, once its aliases are replaced by their targets. */
  size: number
}

/** Value of the text, and its repeated keys: the last one counts, as upstream. */
export interface YamlText {
  value: unknown
  repeated: RepeatedKey[]
}

/** The first of several documents is read, as upstream. @throws Error that names the fault of the text */
export function parseYamlText(text: string, limits: YamlLimits): YamlText {
  const { Composer, LineCounter, Parser } = yaml()
  const lines = new LineCounter()
  if (UNREADABLE.test(text)) throw new Error('control characters are not allowed')
  const tokens = readable(new Parser(lines.addNewLine).parse(text), lines)
  const [document] = new Composer(OPTIONS).compose(tokens, true, text.length)
  if (document === undefined) return { value: null, repeated: [] }
  const [error] = document.errors
  if (error) throw new Error(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`)
  const { explicit, version } = document.directives?.yaml ?? {}
  if (explicit && version !== '1.1') throw new Error('found incompatible YAML document')
  new Check(limits).document(document)
  const values = new YamlValues(lines)
  const value = values.valueOf(document.contents)
  return { value, repeated: values.repeated }
}

/** Stops at the first error: there can be as many as characters, and each takes its time. */
function* readable(tokens: Iterable<CST.Token>, lines: LineCounter): Generator<CST.Token> {
  for (const token of tokens) {
    if (token.type === 'error') throw new Error(`line ${lines.linePos(token.offset).line}: ${token.message}`)
    yield token
  }
}

/** Everything but what YAML lets a text consist of. */
const UNREADABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/** Scalars stay texts: what words mean is ours to say. */
const OPTIONS: DocumentOptions & ParseOptions & SchemaOptions = {
  version: '1.1',
  schema: 'failsafe',
  merge: false,
  uniqueKeys: false,
  logLevel: 'error',
  resolveKnownTags: false,
}

class Check {
  readonly #yaml = yaml()
  readonly #limits: YamlLimits
  /** Sizes of what anchors name; `undefined` while it is being measured. */
  readonly #anchors = new Map<string, number | undefined>()
  #aliases = 0

  constructor(limits: YamlLimits) {
    this.#limits = limits
  }

  document({ contents }: Pick<Document, 'contents'>): void {
    if (contents !== null) this.#size(contents, 0)
  }

  /** Size of a node with everything in it, aliases included. */
  #size(node: Node, depth: number): number {
    if (this.#yaml.isAlias(node)) return this.#sizeOfAlias(node.source)
    if (depth > this.#limits.depth) throw new Error(`nested more than ${this.#limits.depth} levels deep`)
    const anchor =
      this.#yaml.isScalar(node) || this.#yaml.isMap(node) || this.#yaml.isSeq(node) ? node.anchor : undefined
    if (anchor !== undefined) this.#anchors.set(anchor, undefined)
    const size = 1 + this.#sizeWithin(node, depth)
    if (size > this.#limits.size) throw new Error('document contains excessive aliasing')
    if (anchor !== undefined) this.#anchors.set(anchor, size)
    return size
  }

  #sizeWithin(node: Node, depth: number): number {
    let size = 0
    if (this.#yaml.isMap(node)) {
      for (const { key, value } of node.items) {
        size += this.#sizeOfKey(key) + 1 + (value ? this.#size(value as Node, depth + 1) : 1)
      }
    } else if (this.#yaml.isSeq(node)) for (const item of node.items) size += this.#size(item as Node, depth + 1)
    else if (this.#yaml.isScalar(node)) size = typeof node.value === 'string' ? node.value.length : 0
    return size
  }

  #sizeOfAlias(source: string): number {
    this.#aliases++
    const size = this.#anchors.get(source)
    if (this.#aliases > ALIAS_LIMIT) throw new Error('document contains excessive aliasing')
    if (size !== undefined) return size
    const why = this.#anchors.has(source) ? 'value contains itself' : 'unknown anchor'
    throw new Error(`anchor '${source}' ${why}`)
  }

  #sizeOfKey(key: unknown): number {
    if (!this.#yaml.isScalar(key)) throw new Error('only scalars can be keys of a map')
    const text = String(key.value ?? '')
    if (isMistakable(text)) throw new Error(mistakableKeyWords(text))
    const size = text.length
    if (key.anchor !== undefined) this.#anchors.set(key.anchor, 1 + size)
    return size
  }
}
