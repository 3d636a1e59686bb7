/**
 * JSON values as YAML, as other tools of Kubernetes write and read it. Members are sorted by the rules of 1.1, and words such as `"no"` and
 * times are quoted. It is written piece by piece, so that a long text can let others have their turn. The library makes a document of it
 * first, in twenty times the time. Which words are quoted, and how, is for the library to say.
 */
import { createRequire } from 'node:module'
import type { Steps } from './steps.ts'
import { yaml } from './yaml.ts'

const STEP = '  '
/** A longer key is written as one that may be anything. */
const KEY_LIMIT = 1024
const VERSION = '1.1'

/** A map or a list that is being written. */
interface Frame {
  /** Keys of a map. */
  keys: readonly string[] | undefined
  values: readonly unknown[]
  at: number
  /** Text before its entries. */
  indent: string
}

export class YamlWriter {
  readonly #frames: Frame[] = []
  #text = ''

  /**
   * `value` is plain JSON; members that are `undefined` are left out. `indent` is what stands before its lines, the first one
   * excepted.
   */
  constructor(value: unknown, indent = '') {
    this.#value(value, '', indent)
  }

  /** About `length` characters more, without the last line's end; `undefined` at the end. */
  next(length: number): string | undefined {
    while (this.#text.length < length && this.#frames.length > 0) this.#entry()
    const text = this.#text
    this.#text = ''
    return text === '' ? undefined : text
  }

  #entry(): void {
    const frame = this.#frames.at(-1)!
    const { keys, values, at, indent } = frame
    if (at === values.length) {
      this.#frames.pop()
      return
    }
    frame.at++
    if (at > 0) this.#text += `\n${indent}`
    const inner = indent + STEP
    if (keys === undefined) {
      this.#text += '- '
      this.#value(values[at], '', inner)
      return
    }
    const key = textOf(keys[at]!, inner, true)
    if (key.length > KEY_LIMIT) {
      this.#text += `? ${key}\n${indent}: `
      this.#value(values[at], '', inner)
    } else {
      this.#text += `${key}:`
      this.#value(values[at], `\n${inner}`, inner, ' ')
    }
  }

  /** `before` what has entries, or else `beforeOther`. */
  #value(value: unknown, before: string, indent: string, beforeOther = before): void {
    if (typeof value !== 'object' || value === null) {
      this.#text += beforeOther + scalarOf(value, indent)
      return
    }
    const isList = Array.isArray(value)
    const members = value as Record<string, unknown>
    const keys = isList
      ? undefined
      : Object.keys(members)
          .filter(key => members[key] !== undefined)
          .sort()
    const values = isList ? value : keys!.map(key => members[key])
    if (values.length === 0) {
      this.#text += `${beforeOther}${isList ? '[]' : '{}'}`
      return
    }
    this.#text += before
    this.#frames.push({ keys, values, at: 0, indent })
  }
}

/** All of it at once: for what is short. */
export function yamlText(value: unknown): string {
  return `${new YamlWriter(value).next(Number.POSITIVE_INFINITY) ?? ''}\n`
}

/** Characters of a step: a fraction of a millisecond. */
const STEP_LENGTH = 4096

/** The same in steps: for what may be long and is kept whole. */
export function* yamlTextInSteps(value: unknown): Steps<string> {
  const writer = new YamlWriter(value)
  let text = ''
  for (let piece = writer.next(STEP_LENGTH); piece !== undefined; piece = writer.next(STEP_LENGTH)) {
    text += piece
    yield
  }
  return `${text}\n`
}

function scalarOf(value: unknown, indent: string): string {
  if (typeof value === 'string') return textOf(value, indent, false)
  if (Object.is(value, -0)) return '-0'
  return JSON.stringify(value ?? null)
}

/** Begins like no number and no time, and holds nothing that means anything in YAML. */
const PLAIN = /^[A-Za-z][A-Za-z0-9_./-]*$/
/** Words with another meaning in 1.1, whatever their case; the library takes `E7` for a number. */
const WORD = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?[0-9]+)$/i
/** One line of ASCII that needs no escapes. */
const SIMPLE = /^[ !#-[\]-~]+$/
/** How of those one begins that means something else without quotes. */
const INDICATOR = /^(?:[ ,[\]{}#&*!|>'%@`]|[?-](?: |$))/
const LETTER = /^[A-Za-z]/
/** Values of all metadata: revisions and times, which are quoted, and uids, which never look like either. */
const NUMBER_OR_TIME = /^(?:[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z)$/
const UID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** A line of spaces alone, or a first one that begins with a space: the library's blocks lose some of them. */
const LOST_IN_BLOCKS = /^\s|\n[ \t]+(?:\n|$)/
/** Characters that JSON leaves as they are and YAML 1.1 takes for a line's end or for none of the text. */
const NOT_IN_QUOTES = /[\u007f-\u009f\u2028\u2029\ufeff]/g

function textOf(value: string, indent: string, implicitKey: boolean): string {
  if (PLAIN.test(value) && !WORD.test(value)) return value
  // Most texts are simple, long ones too; the library looks at each of their characters by itself.
  if (SIMPLE.test(value)) {
    if (needsQuotes(value)) return `"${value}"`
    if (LETTER.test(value) ? !WORD.test(value) : UID.test(value)) return value
    if (NUMBER_OR_TIME.test(value)) return `"${value}"`
  }
  if (value.includes('\n') && LOST_IN_BLOCKS.test(value)) return quoted(value)
  const { stringifyString, context } = library()
  return stringifyString({ value } as never, { ...context, indent, implicitKey } as never)
}

/** Whether one simple line would mean something else, or lose spaces. Nothing here looks at a long text twice. */
function needsQuotes(line: string): boolean {
  return INDICATOR.test(line) || line.endsWith(' ') || line.endsWith(':') || line.includes(': ') || line.includes(' #')
}

/** As JSON writes it, which is YAML in double quotes. */
function quoted(value: string): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replace(NOT_IN_QUOTES, escaped)
}

interface Library {
  stringifyString: typeof import('yaml/util').stringifyString
  context: object
}
let loaded: Library | undefined

/** The part of the library that says how a text is written, and what it needs to know for that. */
function library(): Library {
  loaded ??= {
    stringifyString: (createRequire(import.meta.url)('yaml/util') as typeof import('yaml/util')).stringifyString,
    context: {
      doc: new (yaml().Document)(null, { version: VERSION }),
      actualString: true,
      indentStep: STEP,
      inFlow: null,
      options: {
        blockQuote: true,
        defaultKeyType: null,
        defaultStringType: 'PLAIN',
        doubleQuotedAsJSON: false,
        doubleQuotedMinMultiLineLength: 40,
        lineWidth: 0,
        minContentWidth: 20,
        singleQuote: null,
      },
    },
  }
  return loaded
}
