/**
 * JSON in steps: what JSON.parse makes of it, a piece after the other. At once 3 MB of many fields hold the loop for 50 ms, and a repeated
 * sender holds it for all of its time.
 *
 * Where containers begin and end is looked up first. Long ones are then gone through; runs of their content as long as a piece go to
 * JSON.parse, which judges them.
 */
import { isMistakable } from './jsonParse.ts'
import { endOfString, repeatsKeys } from './repeatedKeys.ts'
import type { Steps } from './steps.ts'
import { NESTING_LIMIT } from './values.ts'

export interface ParsedJson {
  value: unknown
  /** Whether a key repeats somewhere. */
  repeatsKeys: boolean
}

/** A tenth to half of a millisecond. */
export const PIECE = 16 * 1024
/** Characters that are looked at in one step. */
const LOOKED_AT = 128 * 1024

/** In pieces: texts that are not copied, as what they are a part of is kept as long. */
const LONG_TEXT = 8
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_PLAIN = /[\\\u0000-\u001f]/

const [QUOTE, COMMA, OPEN_MAP, CLOSE_MAP, OPEN_LIST, CLOSE_LIST] = [34, 44, 123, 125, 91, 93]

/**
 * `undefined`: it is no JSON, no long list or map, or too deep. Also where a long map has a key that others are mistaken for
 * (jsonParse.ts). JSON.parse knows the words.
 */
export function* jsonInSteps(text: string, piece = PIECE): Steps<ParsedJson | undefined> {
  const ends = yield* endsOfLong(text, piece)
  const open = text.search(/[^ \t\r\n]/)
  const close = ends?.get(open)
  if (ends === undefined || close === undefined || /[^ \t\r\n]/.test(text.slice(close + 1))) return undefined
  try {
    return yield* new Container({ text, ends, piece }, open).parse()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** By where they begin, where containers end that are longer than a piece. */
function* endsOfLong(text: string, piece: number): Steps<Map<number, number> | undefined> {
  const ends = new Map<number, number>()
  const begun: number[] = []
  let rested = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (at < 0) return undefined
    } else if (isOpening(code)) {
      if (begun.push(at) > NESTING_LIMIT) return undefined
    } else if (isClosing(code)) {
      const open = begun.pop()
      if (open === undefined) return undefined
      if (at - open > piece) ends.set(open, at)
    }
    if (at - rested < LOOKED_AT) continue
    rested = at
    yield
  }
  return begun.length === 0 ? ends : undefined
}

interface Source {
  readonly text: string
  readonly ends: ReadonlyMap<number, number>
  readonly piece: number
}

/** One that is longer than a piece. */
class Container {
  readonly #source: Source
  readonly #open: number
  readonly #close: number
  readonly #isList: boolean
  readonly #list: unknown[] = []
  readonly #map: Record<string, unknown> = {}
  #members = 0
  #repeatsKeys = false

  constructor(source: Source, open: number) {
    const { text, ends } = source
    this.#source = source
    this.#open = open
    this.#close = ends.get(open)!
    this.#isList = text.charCodeAt(open) === OPEN_LIST
    if (text.charCodeAt(this.#close) !== (this.#isList ? CLOSE_LIST : CLOSE_MAP)) throw new SyntaxError('wrong end')
  }

  /** @throws SyntaxError */
  *parse(): Steps<ParsedJson> {
    const [{ text, ends, piece }, close] = [this.#source, this.#close]
    // where the run begins that was not parsed, and the member of it that is looked at
    let begin = this.#open + 1
    let member = begin
    let at = begin
    while (at < close) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        const end = endOfString(text, at)
        const isLong = end - at >= LONG_TEXT * piece
        if (isLong) yield
        if (!isLong || !this.#isPlainValue(member, at, end)) {
          at = end + 1
          continue
        }
        if (member > begin) this.#take(begin, member - 1)
        this.#put(this.#keyOf(text.slice(member, at)), text.slice(at + 1, end))
        at = this.#next(end)
        begin = at
        member = at
        yield
        if (at > close) return this.#whole()
      } else if (code === COMMA) {
        at++
        member = at
        if (at - begin < piece) continue
        this.#take(begin, at - 1)
        begin = at
        yield
      } else if (!isOpening(code)) at++
      else if (ends.has(at)) {
        if (member > begin) this.#take(begin, member - 1)
        at = yield* this.#child(member, at)
        begin = at
        member = at
        if (at > close) return this.#whole()
      } else at = endOfShort(text, at)
    }
    this.#take(begin, close)
    return this.#whole()
  }

  /** A long one within it. Answers where the next member begins; beyond the end of this one where there is none. */
  *#child(member: number, open: number): Steps<number> {
    const { text, ends } = this.#source
    const close = ends.get(open)!
    const key = this.#keyOf(text.slice(member, open))
    const { value, repeatsKeys: repeats } = yield* new Container(this.#source, open).parse()
    this.#repeatsKeys ||= repeats
    this.#put(key, value)
    return this.#next(close)
  }

  /** Where the next member begins behind a value that ends there. */
  #next(end: number): number {
    const { text } = this.#source
    let next = end + 1
    while (isSpace(text.charCodeAt(next))) next++
    if (next !== this.#close && text.charCodeAt(next) !== COMMA) throw new SyntaxError('no comma')
    return next + 1
  }

  /** A text that stands for itself, and is no key. JSON.parse would be given a copy of it, and make another. */
  #isPlainValue(member: number, open: number, end: number): boolean {
    const { text } = this.#source
    if (!this.#isList && !/:[ \t\r\n]*$/.test(text.slice(member, open))) return false
    // a part of a text, as its value will be: nothing is copied to look at it
    return !NOT_PLAIN.test(text.slice(open + 1, end))
  }

  /** `before`: what stands between the comma and the value. */
  #keyOf(before: string): string {
    const [key, ...others] = this.#isList
      ? [before.replace(/[ \t\r\n]/g, '')]
      : Object.keys(JSON.parse(`{${before}[]}`) as object)
    if (key === undefined || others.length > 0 || (this.#isList && key !== '')) throw new SyntaxError('no key')
    return key
  }

  /** Whole members and the commas between them. */
  #take(begin: number, end: number): void {
    const run = this.#source.text.slice(begin, end)
    const piece = this.#isList ? `[${run}]` : `{${run}}`
    const value = JSON.parse(piece) as Record<string, unknown> | unknown[]
    this.#repeatsKeys ||= repeatsKeys(piece, value)
    const before = this.#members
    if (Array.isArray(value)) {
      this.#members += value.length
      this.#list.push(...value)
    } else for (const key of Object.keys(value)) this.#put(key, value[key])
    const isAll = begin === this.#open + 1 && end === this.#close
    if (this.#members === before && !isAll) throw new SyntaxError('nothing between commas')
  }

  #put(key: string, value: unknown): void {
    this.#members++
    if (this.#isList) this.#list.push(value)
    else if (isMistakable(key)) throw new SyntaxError('a key that others are mistaken for')
    // assigned, it would be what the map inherits from
    else if (key === '__proto__')
      Object.defineProperty(this.#map, key, { value, configurable: true, enumerable: true, writable: true })
    else this.#map[key] = value
  }

  #whole(): ParsedJson {
    if (this.#isList) return { value: this.#list, repeatsKeys: this.#repeatsKeys }
    const repeats = this.#repeatsKeys || Object.keys(this.#map).length < this.#members
    return { value: this.#map, repeatsKeys: repeats }
  }
}

/** Where what follows a container begins. All of them end: that was looked up. */
function endOfShort(text: string, open: number): number {
  let depth = 0
  for (let at = open; ; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (isOpening(code)) depth++
    else if (isClosing(code) && --depth === 0) return at + 1
  }
}

function isOpening(code: number): boolean {
  return code === OPEN_MAP || code === OPEN_LIST
}

function isClosing(code: number): boolean {
  return code === CLOSE_MAP || code === CLOSE_LIST
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
