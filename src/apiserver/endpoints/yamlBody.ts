/**
 * YAML 1.1 text of a request to plain values, in time and memory that grow with the length of the text and not faster: whoever
 * may send a body must not be able to stop the server with it. The library would compare every key of a map with all others,
 * turn keys that are collections into text, and multiply what aliases refer to; all of that is refused or counted before.
 * @see https://yaml.org/spec/1.1/
 */
import type { CST, Document, DocumentOptions, LineCounter, Node, ParseOptions, SchemaOptions } from 'yaml'
import { FINDINGS_LIMIT, type RepeatedKey } from '../../apimachinery/repeatedKeys.ts'
import { yaml } from '../../apimachinery/yaml.ts'

const ALIAS_LIMIT = 1000

export interface YamlLimits {
  depth: number
  /** What a document may come to, in characters and values, once its aliases are replaced by what they stand for. */
  size: number
}

/** What the text says, and the keys that a map says more than once: the last one counts, as upstream. */
export interface YamlText {
  value: unknown
  repeated: RepeatedKey[]
}

/** @throws Error that says what is wrong with the text */
export function parseYamlText(text: string, limits: YamlLimits): YamlText {
  const { Composer, LineCounter, Parser } = yaml()
  const lines = new LineCounter()
  const tokens = readable(new Parser(lines.addNewLine).parse(text), lines)
  const [document, another] = new Composer(OPTIONS).compose(tokens, true, text.length)
  if (document === undefined || another !== undefined) throw new Error('the text holds several documents')
  const [error] = document.errors
  if (error) throw new Error(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`)
  const check = new Check(limits, lines)
  check.document(document)
  return { value: document.toJS({ maxAliasCount: ALIAS_LIMIT }), repeated: check.repeated }
}

/** Stops at the first error: there can be as many as characters, and each takes its time. */
function* readable(tokens: Iterable<CST.Token>, lines: LineCounter): Generator<CST.Token> {
  for (const token of tokens) {
    if (token.type === 'error') throw new Error(`line ${lines.linePos(token.offset).line}: ${token.message}`)
    yield token
  }
}

/** Types without a place in JSON, and base 60, which no YAML library of Go reads: times stay the texts that they are. */
const FOREIGN = /:(binary|omap|pairs|set|timestamp)$/

const OPTIONS: DocumentOptions & ParseOptions & SchemaOptions = {
  schema: 'yaml-1.1',
  merge: true,
  uniqueKeys: false,
  logLevel: 'error',
  resolveKnownTags: false,
  customTags: tags =>
    tags.filter(
      tag => typeof tag === 'string' || !(FOREIGN.test(tag.tag) || ('format' in tag && tag.format === 'TIME')),
    ),
}

class Check {
  readonly repeated: RepeatedKey[] = []
  readonly #yaml = yaml()
  readonly #limits: YamlLimits
  readonly #lines: LineCounter
  /** Sizes of what anchors name; `undefined` while it is being measured. */
  readonly #anchors = new Map<string, number | undefined>()
  #aliases = 0

  constructor(limits: YamlLimits, lines: LineCounter) {
    this.#limits = limits
    this.#lines = lines
  }

  document({ contents }: Pick<Document, 'contents'>): void {
    if (contents !== null) this.#size(contents, 0)
  }

  /** Of a node with everything in it, aliases included. */
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
      const seen = new Set<unknown>()
      for (const { key, value } of node.items) {
        const name = this.#keyOf(key, seen)
        size += name.length + 1 + (value ? this.#size(value as Node, depth + 1) : 1)
      }
    } else if (this.#yaml.isSeq(node)) for (const item of node.items) size += this.#size(item as Node, depth + 1)
    else if (this.#yaml.isScalar(node)) {
      if (typeof node.value === 'number' && !Number.isFinite(node.value))
        throw new Error(`unsupported value: ${node.value}`)
      size = typeof node.value === 'string' ? node.value.length : 0
    }
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

  #keyOf(key: unknown, seen: Set<unknown>): string {
    if (!this.#yaml.isScalar(key)) throw new Error('only scalars can be keys of a map')
    if (key.anchor !== undefined) this.#anchors.set(key.anchor, 1 + String(key.value).length)
    const name = String(key.value ?? '')
    // One may merge several maps, one after the other.
    if (name !== '<<') {
      if (seen.has(name) && this.repeated.length < FINDINGS_LIMIT) {
        this.repeated.push({ path: '', key: name, line: this.#lines.linePos(key.range?.[0] ?? 0).line })
      }
      seen.add(name)
    }
    return name
  }
}
