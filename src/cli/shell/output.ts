/** How the answers of commands are printed: tables for people, JSON and YAML for programs. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { humanDuration } from '../../kinds/printers/duration.ts'
import { flag } from './settings.ts'
import type { Terminal } from './terminal.ts'

/** Version of the documents that the commands print for programs; their fields stay while it does. */
export const ANSWERS_VERSION = 'cli.edge.kubestellar.io/v1'

export type Format = 'text' | 'wide' | 'markdown' | 'json' | 'yaml' | 'name'

export const DOCUMENT_FORMATS = ['json', 'yaml', 'name'] as const
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number]

export interface DocumentOptions {
  output?: DocumentFormat
}

const formats = (names: string) =>
  flag('-o, --output <format>', `a document for programs; name: ${names} alone`, { choices: DOCUMENT_FORMATS })

/** `-o` of commands whose table has no more to tell. */
export const NAMES_OUTPUT = formats('names')

/** The same of those that print spaces. */
export const PATHS_OUTPUT = formats('paths')

export const WIDE_OUTPUT = flag('-o, --output <format>', 'wide: all there is to tell; name: names alone', {
  choices: ['wide', 'json', 'yaml', 'name'],
})

export type Colour = 'good' | 'bad' | 'warn' | 'dim' | 'bold'
export type Paint = (text: string, colour: Colour | undefined) => string

const CODES: Readonly<Record<Colour, number>> = { good: 32, bad: 31, warn: 33, dim: 2, bold: 1 }

/** Colours where a person looks at a terminal that has them. */
export function painter(terminal: Terminal, env: NodeJS.ProcessEnv = process.env): Paint {
  const plain = terminal.isTerminal !== true || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  return plain || process.platform === 'win32'
    ? text => text
    : (text, colour) => (colour === undefined || text === '' ? text : `\x1b[${CODES[colour]}m${text}\x1b[0m`)
}

export interface Cell {
  readonly text: string
  readonly colour?: Colour | undefined
}

/** The least width of a last column that is cut; where less is left, its texts stand below. */
const LEAST = 24
const CUT = '(… is cut to the terminal: -o wide shows all of it)'

/** A place for the texts of the last column that do not fit, or come again. */
interface Fit {
  /** The terminal's width. Absent: nothing is cut. */
  readonly columns?: number | undefined
  readonly footnotes: Footnotes
}

/** Aligned columns, the head first; colours do not count as width, and the last column is not filled up. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (Cell | string)[])[],
  paint: Paint,
  fit?: Fit,
): string[] {
  const all: Cell[][] = [head, ...rows].map(row => row.map(cell => (typeof cell === 'string' ? { text: cell } : cell)))
  const widths = head.map((_, column) => Math.max(...all.map(row => row[column]?.text.length ?? 0)))
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width + 3, 0)
  const left = (fit?.columns ?? Number.POSITIVE_INFINITY) - others
  let isCut = false
  const fitted = (text: string): string => {
    const shown = fit?.footnotes.of(text, left < LEAST) ?? text
    if (left < LEAST || shown.length <= left) return shown
    isCut = true
    return `${shown.slice(0, left - 1)}…`
  }
  const lines = all.map(row => {
    const last = row.findLastIndex(({ text }) => text !== '')
    return row
      .slice(0, last + 1)
      .map(
        ({ text, colour }, column) =>
          paint(column === head.length - 1 ? fitted(text) : text, colour) +
          (column === last ? '' : ' '.repeat(widths[column]! - text.length + 3)),
      )
      .join('')
  })
  return isCut ? [...lines, paint(CUT, 'dim')] : lines
}

/** Long messages that would be read several times: each is printed once, below, and a number stands for it. */
export class Footnotes {
  readonly #numbers = new Map<string, number>()
  readonly #repeated = new Set<string>()

  constructor(messages: readonly string[] = []) {
    const seen = new Set<string>()
    for (const one of messages.filter(({ length }) => length > LEAST)) (seen.has(one) ? this.#repeated : seen).add(one)
  }

  /** `(1)`, or the message itself where it comes once. @param isNarrow there is no room for a long one */
  of(message: string, isNarrow = false): string {
    if (!this.#repeated.has(message) && !(isNarrow && message.length > LEAST)) return message
    const number = this.#numbers.get(message) ?? this.#numbers.size + 1
    this.#numbers.set(message, number)
    return `(${number})`
  }

  /** Footnotes that were used, behind an empty line. */
  get lines(): string[] {
    const notes = [...this.#numbers].map(([message, number]) => `(${number}) ${message}`)
    return notes.length > 0 ? ['', ...notes] : []
  }
}

/** Rows of a table without colours, its head first. */
export function columns([head = [], ...rows]: readonly (readonly string[])[]): string[] {
  return table(head, rows, text => text)
}

/** One document, or with `--watch` one of many. */
export async function printDocument(document: unknown, format: 'json' | 'yaml', terminal: Terminal): Promise<void> {
  if (format === 'json') return terminal.out(JSON.stringify(document, undefined, 4))
  const { stringify } = await import('yaml')
  terminal.out(`---\n${stringify(document, { lineWidth: 0 }).trimEnd()}`)
}

/** How lines for people are made. */
export interface TextOptions {
  /** All there is to tell, however long the lines get. */
  readonly wide: boolean
  readonly paint: Paint
  readonly nowMs: number
  /** The terminal's width; tables are cut to it. */
  readonly columns?: number | undefined
}

export function textOptions(format: Format, terminal: Terminal): TextOptions {
  const wide = format === 'wide'
  return { wide, paint: painter(terminal), nowMs: Date.now(), ...(!wide && { columns: terminal.columns }) }
}

interface Forms {
  /** For programs. */
  readonly document: object
  /** The lines of `-o name`. */
  names(): Iterable<string>
  /** The lines for people. */
  text(options: TextOptions): Iterable<string>
}

/** Prints an answer in the form of `-o`. */
export async function printAnswer(
  { document, names, text }: Forms,
  format: Format | undefined,
  terminal: Terminal,
): Promise<void> {
  if (format === 'json' || format === 'yaml') return await printDocument(document, format, terminal)
  const lines = format === 'name' ? names() : text(textOptions(format ?? 'text', terminal))
  for (const line of lines) terminal.out(line)
}

/** Objects as `kubectl get -o json` gives them. */
export function listOf(items: readonly KubeObject[]): object {
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: items.map(shown) }
}

/** Without what only appliers read. */
export function shown(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** How long ago a time was; `''` for none. */
export function ago(time: string | undefined, nowMs: number): string {
  const at = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(at) ? '' : humanDuration(Math.max(0, nowMs - at))
}
