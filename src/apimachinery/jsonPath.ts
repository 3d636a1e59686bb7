/**
 * The JSONPath subset of printer columns, selectable fields and scale paths, compiled to a function.
 * Supports `.a.b`, `['a.b']`, `.a\.b`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `.*`, `..name` and `[?(@.type=="Ready")]`.
 * @see https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
import { isRecord } from './object.ts'
import { WorkBudget } from './workBudget.ts'

/**
 * All values that the path finds, in document order; missing members find nothing. A path that has to look at more than
 * {@link MAX_LOOKED_AT} values finds nothing either: `..` several times finds the same ones many times over. Neither does one
 * that has to look at more than is left of `all`, which several paths share.
 */
export type JsonPath = (object: unknown, all?: WorkBudget) => unknown[]

/** In one object, for one column of a table or one selector. */
export const MAX_LOOKED_AT = 20_000
/** Filters in filters. Each one is looked through again by all that it stands in. */
export const MAX_FILTERS = 8

type Step = (values: unknown[], budget: WorkBudget) => unknown[]

function tooMany(): Error {
  return new Error(`the path looks at more than ${MAX_LOOKED_AT} values`)
}

/** @throws Error that says where the path is not understood */
export function compileJsonPath(path: string): JsonPath {
  const find = compileSteps(path)
  return (object, all = new WorkBudget(MAX_LOOKED_AT, tooMany)) => {
    let refused: WorkBudget | undefined
    try {
      return all.part(MAX_LOOKED_AT, tooMany, budget => {
        refused = budget
        return find([object], budget)
      })
    } catch (error) {
      if (error === refused?.refusal || error === all.refusal) return []
      throw error
    }
  }
}

/** @param filters that the path stands in */
function compileSteps(path: string, filters = 0): Step {
  const text = path.startsWith('{') && path.endsWith('}') ? path.slice(1, -1) : path
  const steps = new Reader(text, filters).steps()
  return (objects, budget) => {
    let values = objects
    for (const step of steps) {
      budget.spend(values.length)
      values = step(values, budget)
    }
    return values
  }
}

class Reader {
  readonly #text: string
  readonly #filters: number
  #at = 0

  constructor(text: string, filters: number) {
    this.#text = text
    this.#filters = filters
  }

  steps(): Step[] {
    const steps: Step[] = []
    if (this.#text[0] === '$' || this.#text[0] === '@') this.#at = 1
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at]
      if (character === '.') steps.push(...this.#dotted())
      else if (character === '[') steps.push(this.#bracket())
      else if (this.#at === 0) steps.push(member(this.#name()))
      else throw this.#error('expected . or [')
    }
    return steps
  }

  #dotted(): Step[] {
    this.#at++
    if (this.#text[this.#at] === '.') {
      this.#at++
      return [descendants, this.#text[this.#at] === '[' ? this.#bracket() : this.#memberOrAll()]
    }
    // a lone dot is the object itself; `.[` is the same as `[`
    if (this.#at === this.#text.length || this.#text[this.#at] === '[') return []
    return [this.#memberOrAll()]
  }

  #memberOrAll(): Step {
    if (this.#text[this.#at] !== '*') return member(this.#name())
    this.#at++
    return children
  }

  #name(): string {
    let name = ''
    while (this.#at < this.#text.length && this.#text[this.#at] !== '.' && this.#text[this.#at] !== '[') {
      if (this.#text[this.#at] === '\\') this.#at++
      name += this.#text[this.#at++] ?? ''
    }
    if (name === '') throw this.#error('expected a name')
    return name
  }

  #bracket(): Step {
    const end = this.#closing()
    const inner = this.#text.slice(this.#at + 1, end).trim()
    const at = this.#at
    this.#at = end + 1
    if (inner === '*') return children
    if (/^-?\d+$/.test(inner)) return element(Number(inner))
    if (/^-?\d*:-?\d*$/.test(inner)) {
      const [from = '', to = ''] = inner.split(':')
      return slice(from === '' ? 0 : Number(from), to === '' ? undefined : Number(to))
    }
    const quoted = unquote(inner)
    if (quoted !== undefined) return member(quoted)
    const filter = /^\?\((.*)\)$/s.exec(inner)
    if (filter !== null) return this.#filter(filter[1]!.trim())
    throw new Error(`invalid JSONPath "${this.#text}": cannot read [${inner}] at ${at}`)
  }

  #filter(condition: string): Step {
    if (this.#filters >= MAX_FILTERS) throw this.#error(`more than ${MAX_FILTERS} filters in one another`)
    // Blanks are trimmed afterwards: here they would be tried in all ways.
    const match = /^@(.*?)(==|!=|<=|>=|<|>)(.+)$/s.exec(condition)
    const looked = match === null ? condition.replace(/^@/, '') : match[1]!.trimEnd()
    const path = compileSteps(`@${looked}`, this.#filters + 1)
    if (match === null) {
      return (items, budget) => elements(items, budget).filter(item => path([item], budget).length > 0)
    }
    const wanted = literal(match[3]!.trim())
    if (wanted === undefined) throw this.#error(`cannot read the value ${match[3]}`)
    const test = COMPARE[match[2]!]!
    return (items, budget) =>
      elements(items, budget).filter(item => path([item], budget).some(value => test(value, wanted)))
  }

  /** Index of the `]` that closes the bracket at the current place, quotes and nested brackets respected. */
  #closing(): number {
    let depth = 0
    let quote = ''
    for (let i = this.#at; i < this.#text.length; i++) {
      const character = this.#text[i]!
      if (quote !== '') {
        if (character === '\\') i++
        else if (character === quote) quote = ''
      } else if (character === '"' || character === "'") quote = character
      else if (character === '[') depth++
      else if (character === ']' && --depth === 0) return i
    }
    throw this.#error('unterminated array')
  }

  #error(why: string): Error {
    return new Error(`invalid JSONPath "${this.#text}": ${why} at ${this.#at}`)
  }
}

const member =
  (name: string): Step =>
  values =>
    values.flatMap(value => (isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : []))

const element =
  (index: number): Step =>
  values =>
    values.flatMap(value => (Array.isArray(value) && value.at(index) !== undefined ? [value.at(index)] : []))

const slice =
  (from: number, to: number | undefined): Step =>
  values =>
    values.flatMap(value => (Array.isArray(value) ? value.slice(from, to) : []))

const children: Step = (values, budget) => {
  const found: unknown[] = []
  for (const value of values) {
    const members: unknown[] = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
    budget.spend(members.length)
    for (const member of members) found.push(member)
  }
  return found
}

const elements: Step = values => values.flatMap(value => (Array.isArray(value) ? value : [value]))

const descendants: Step = (values, budget) => {
  const found: unknown[] = []
  const visit = (value: unknown): void => {
    budget.spend()
    found.push(value)
    for (const child of children([value], budget)) if (typeof child === 'object') visit(child)
  }
  for (const value of values) visit(value)
  return found
}

type Scalar = string | number | boolean | null
const COMPARE: Readonly<Record<string, (a: unknown, b: Scalar) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => typeof a === typeof b && (a as number) < (b as number),
  '<=': (a, b) => typeof a === typeof b && (a as number) <= (b as number),
  '>': (a, b) => typeof a === typeof b && (a as number) > (b as number),
  '>=': (a, b) => typeof a === typeof b && (a as number) >= (b as number),
}

function literal(text: string): Scalar | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return unquote(text)
}

function unquote(text: string): string | undefined {
  const quote = text[0]
  if (text.length < 2 || (quote !== '"' && quote !== "'") || text.at(-1) !== quote) return undefined
  return text.slice(1, -1).replace(/\\(.)/g, '$1')
}
