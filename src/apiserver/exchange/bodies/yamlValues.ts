/**
 * Nodes of a YAML document to plain values, in upstream's order. A map takes its members one after the other, those of `<<` included, and
 * the last one counts. Sizes, depth and aliases were checked before.
 */
import type { LineCounter, Node, YAMLMap } from 'yaml'
import { keyOfWord, taggedWord, type Word, wordOf } from '../../../apimachinery/go/yamlWords.ts'
import { FINDINGS_LIMIT, type RepeatedKey } from '../../../apimachinery/repeatedKeys.ts'
import { yaml } from '../../../apimachinery/yaml.ts'

const TAG = 'tag:yaml.org,2002:'
const MERGED = 'map merge requires map or sequence of maps as the value'

export class YamlValues {
  /** Keys that a map got more than once, in the order of reading. */
  readonly repeated: RepeatedKey[] = []
  readonly #yaml = yaml()
  readonly #anchors = new Map<string, Node>()
  readonly #lines: LineCounter

  constructor(lines: LineCounter) {
    this.#lines = lines
  }

  /** @throws Error for what JSON cannot say */
  valueOf(node: Node | null): unknown {
    if (node === null) return null
    const named = this.#resolved(node)
    if (this.#yaml.isMap(named)) {
      const object = {}
      this.#fill(object, new Set(), named)
      return object
    }
    if (this.#yaml.isSeq(named)) return named.items.map(item => this.valueOf(item as Node | null))
    const { value } = this.#wordOf(named)
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new Error(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value < 0 ? '-Inf' : '+Inf'}`)
    }
    return value
  }

  /** Target of an alias; remembers the targets of anchors. */
  #resolved(node: Node): Node {
    if (this.#yaml.isAlias(node)) return this.#anchors.get(node.source)!
    if ('anchor' in node && node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    return node
  }

  #fill(object: object, seen: Set<Word['value']>, map: YAMLMap): void {
    for (const pair of map.items) {
      const key = this.#resolved(pair.key as Node)
      const value = pair.value as Node | null
      if (isMergeKey(key)) {
        this.#merge(object, seen, value)
        continue
      }
      const word = this.#wordOf(key)
      const name = keyOfWord(word)
      if (seen.has(word.value) && this.repeated.length < FINDINGS_LIMIT) {
        const offset = (value?.range ?? (pair.key as Node).range)?.[0] ?? 0
        this.repeated.push({ path: '', key: name, line: this.#lines.linePos(offset).line })
      }
      seen.add(word.value)
      // a key like __proto__ is a key like any other
      Object.defineProperty(object, name, {
        value: this.valueOf(value),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
  }

  /** The first of several maps counts, so it comes last. */
  #merge(object: object, seen: Set<Word['value']>, from: Node | null): void {
    const source = from === null ? null : this.#resolved(from)
    const maps = this.#yaml.isSeq(source) ? source.items.map(item => this.#resolved(item as Node)) : [source]
    for (const map of maps.reverse()) {
      if (!this.#yaml.isMap(map)) throw new Error(MERGED)
      this.#fill(object, seen, map)
    }
  }

  #wordOf(node: Node): Word {
    if (!this.#yaml.isScalar(node)) throw new Error('only scalars can be keys of a map')
    const text = typeof node.value === 'string' ? node.value : ''
    if (node.tag?.startsWith(TAG)) {
      const value = taggedWord(node.tag.slice(TAG.length), text)
      return { value, tag: typeof value === 'string' ? 'str' : wordOf(text).tag }
    }
    return node.type === 'PLAIN' && node.tag === undefined ? wordOf(text) : { value: text, tag: 'str' }
  }
}

function isMergeKey(key: Node): boolean {
  const { type, value, tag } = key as { type?: string; value?: unknown; tag?: string }
  return value === '<<' && ((type === 'PLAIN' && tag === undefined) || tag === `${TAG}merge`)
}
