/**
 * Label selectors (text and object form) and field selectors, parsed and worded as kube-apiserver does.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
 */
import { statusError } from './errors.ts'
import { type FieldError, fieldError, formatFieldError } from './fieldErrors.ts'
import { type Token, type TokenType, tokenize } from './labelSelectorLexer.ts'
import { labelValue, qualifiedName } from './nameRules.ts'

export { type FieldSelector, parseFieldSelector } from './fieldSelectors.ts'

type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  /** Sorted, each once. One for `=`, `==`, `!=`, `gt`, `lt`; none for `exists` and `!`. */
  readonly values: readonly string[]
}

/** All requirements must hold. */
export interface LabelSelector {
  /** Sorted by key. */
  readonly requirements: readonly LabelRequirement[]
  readonly isEverything: boolean
  /** True for the selector that an absent object form stands for: it matches nothing. */
  readonly isNothing: boolean
  matches(labels: Readonly<Record<string, string>> | undefined): boolean
  /** Text that parses to an equal selector. */
  toString(): string
}

/** The object form, as in `spec.selector`. */
export interface LabelSelectorObject {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

/** @throws StatusError BadRequest with upstream's wording */
export function parseLabelSelector(text: string): LabelSelector {
  return labelSelector(new Parser(tokenize(text)).parse())
}

/**
 * The selector that an object form means: `undefined` selects nothing, `{}` everything.
 * @throws StatusError BadRequest for an unknown operator, a bad key or bad values
 */
export function labelSelectorFromObject(selector: LabelSelectorObject | undefined): LabelSelector {
  if (selector === undefined) return labelSelector([], true)
  const requirements: LabelRequirement[] = []
  for (const [key, value] of Object.entries(selector.matchLabels ?? {}))
    requirements.push(requirement(key, '=', [value]))
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = OBJECT_OPERATORS[operator]
    if (known === undefined) throw bad(`${JSON.stringify(operator)} is not a valid label selector operator`)
    requirements.push(requirement(key, known, values ?? []))
  }
  return labelSelector(requirements)
}

/** Errors of an object form inside an object, at `field`. */
export function validateLabelSelector(selector: LabelSelectorObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const key = (at: string, value: string) => {
    for (const message of qualifiedName(value)) errors.push(fieldError.invalid(at, value, message))
  }
  for (const [name, value] of Object.entries(selector.matchLabels ?? {})) {
    key(`${field}.matchLabels`, name)
    for (const message of labelValue(value)) errors.push(fieldError.invalid(`${field}.matchLabels`, value, message))
  }
  for (const [index, expression] of (selector.matchExpressions ?? []).entries()) {
    const at = `${field}.matchExpressions[${index}]`
    const count = expression.values?.length ?? 0
    if (expression.operator === 'In' || expression.operator === 'NotIn') {
      if (count === 0) {
        errors.push(fieldError.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
      }
    } else if (expression.operator === 'Exists' || expression.operator === 'DoesNotExist') {
      if (count > 0) {
        errors.push(
          fieldError.forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        )
      }
    } else {
      errors.push(fieldError.invalid(`${at}.operator`, expression.operator ?? '', 'not a valid selector operator'))
    }
    key(`${at}.key`, expression.key ?? '')
    for (const [i, value] of (expression.values ?? []).entries()) {
      for (const message of labelValue(value)) errors.push(fieldError.invalid(`${at}.values[${i}]`, value, message))
    }
  }
  return errors
}

/** The requirements of a selector that labels do not meet, each as text. */
export function unmetRequirements(
  { requirements }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): { readonly key: string; readonly text: string }[] {
  return requirements.filter(one => !isMet(one, labels)).map(one => ({ key: one.key, text: requirementText(one) }))
}

const OBJECT_OPERATORS: Readonly<Record<string, LabelOperator | undefined>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

const bad = (message: string) => statusError.badRequest(message)

function requirement(key: string, operator: LabelOperator, given: readonly string[]): LabelRequirement {
  const values = [...new Set(given)].sort()
  const errors: FieldError[] = []
  const keyErrors = qualifiedName(key)
  if (keyErrors.length > 0) errors.push(fieldError.invalid('key', key, keyErrors.join('; ')))
  const wrong = (detail: string) => errors.push(fieldError.invalid('values', values, detail))
  if (operator === 'in' || operator === 'notin') {
    if (values.length === 0) wrong("for 'in', 'notin' operators, values set can't be empty")
  } else if (operator === 'exists' || operator === '!') {
    if (values.length > 0) wrong('values set must be empty for exists and does not exist')
  } else if (operator === 'gt' || operator === 'lt') {
    for (const [i, value] of values.entries()) {
      if (toInt64(value) === undefined) {
        errors.push(fieldError.invalid(`values[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"))
      }
    }
  }
  for (const [i, value] of values.entries()) {
    const valueErrors = labelValue(value)
    if (valueErrors.length > 0) errors.push(fieldError.invalid(`values[${i}][${key}]`, value, valueErrors.join('; ')))
  }
  if (errors.length === 0) return { key, operator, values }
  const texts = errors.map(formatFieldError)
  throw bad(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
}

function labelSelector(given: LabelRequirement[], isNothing = false): LabelSelector {
  return new Requirements(
    given.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
    isNothing,
  )
}

/** Without closures: placements hold tens of thousands of selectors. */
class Requirements implements LabelSelector {
  readonly requirements: readonly LabelRequirement[]
  readonly isNothing: boolean

  constructor(requirements: readonly LabelRequirement[], isNothing: boolean) {
    this.requirements = requirements
    this.isNothing = isNothing
  }

  get isEverything(): boolean {
    return this.requirements.length === 0 && !this.isNothing
  }

  matches(labels: Readonly<Record<string, string>> = {}): boolean {
    if (this.isNothing) return false
    for (const each of this.requirements) if (!isMet(each, labels)) return false
    return true
  }

  toString(): string {
    return this.requirements.map(requirementText).join(',')
  }
}

/** Whether labels meet one requirement of a selector. */
export function isMet({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case '=':
    case '==':
      return value !== undefined && value === values[0]
    case '!=':
      return value !== values[0]
    case 'in':
      return value !== undefined && isIn(values, value)
    case 'notin':
      return value === undefined || !isIn(values, value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'gt':
    case 'lt': {
      const number = value === undefined ? undefined : toInt64(value)
      const limit = toInt64(values[0]!)!
      return number !== undefined && (operator === 'gt' ? number > limit : number < limit)
    }
  }
}

/** Search in sorted values. */
function isIn(values: readonly string[], value: string): boolean {
  let from = 0
  for (let to = values.length; from < to; ) {
    const middle = (from + to) >> 1
    if (values[middle]! < value) from = middle + 1
    else to = middle
  }
  return values[from] === value
}

/** Text that parses to the requirement. */
export function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`
    case 'gt':
      return `${key}>${values[0]}`
    case 'lt':
      return `${key}<${values[0]}`
    default:
      return `${key}${operator}${values[0]}`
  }
}

function toInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return BigInt.asIntN(64, value) === value ? value : undefined
}

const BINARY_OPERATORS: Partial<Record<TokenType, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
}
const BINARY_OPERATOR_LIST = 'in, notin, =, ==, !=, gt, lt'

/** Recursive descent over the tokens; `in` and `notin` are ordinary words except where an operator is due. */
class Parser {
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    for (;;) {
      const first = this.#peek()
      if (first.type === 'end') return requirements
      if (first.type !== 'identifier' && first.type !== '!') {
        throw bad(`found '${first.text}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const next = this.#take()
      if (next.type === 'end') return requirements
      if (next.type !== ',') throw bad(`found '${next.text}', expected: ',' or 'end of string'`)
      const after = this.#peek()
      if (after.type !== 'identifier' && after.type !== '!') {
        throw bad(`found '${after.text}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): LabelRequirement {
    const fail = (message: string) => bad(`unable to parse requirement: ${message}`)
    let token = this.#take()
    const negated = token.type === '!'
    if (negated) token = this.#take()
    if (token.type !== 'identifier') throw fail(`found '${token.text}', expected: identifier`)
    const key = token.text
    const keyErrors = qualifiedName(key)
    if (keyErrors.length > 0) throw fail(formatFieldError(fieldError.invalid('', key, keyErrors.join('; '))))
    if (negated) return { key, operator: '!', values: [] }
    const next = this.#peek().type
    if (next === 'end' || next === ',') return { key, operator: 'exists', values: [] }
    const operatorToken = this.#take('operator')
    const operator = BINARY_OPERATORS[operatorToken.type]
    if (operator === undefined) throw fail(`found '${operatorToken.text}', expected: ${BINARY_OPERATOR_LIST}`)
    try {
      return requirement(key, operator, operator === 'in' || operator === 'notin' ? this.#values() : this.#exact())
    } catch (error) {
      throw error instanceof Error ? fail(error.message) : error
    }
  }

  #exact(): string[] {
    const next = this.#peek().type
    if (next === 'end' || next === ',') return ['']
    const token = this.#take()
    if (token.type !== 'identifier') throw bad(`found '${token.text}', expected: identifier`)
    return [token.text]
  }

  /** `(a,b,,c)`: empty places stand for the empty value. */
  #values(): string[] {
    const open = this.#take()
    if (open.type !== '(') throw bad(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.type !== ')' && first.type !== ',' && first.type !== 'identifier') {
      throw bad(`found '${first.text}', expected: ',', ')' or identifier`)
    }
    const values: string[] = []
    let value = ''
    for (;;) {
      const token = this.#take()
      if (token.type === 'identifier') {
        value = token.text
        const next = this.#peek()
        if (next.type !== ',' && next.type !== ')') throw bad(`found '${next.text}', expected: ',' or ')'`)
      } else if (token.type === ',' || token.type === ')') {
        values.push(value)
        value = ''
        if (token.type === ')') return values
      } else {
        throw bad(`found '${token.text}', expected: ',', or identifier`)
      }
    }
  }

  #peek(): Token {
    return asWord(this.#tokens[this.#position] ?? END)
  }

  #take(as: 'word' | 'operator' = 'word'): Token {
    const token = this.#tokens[this.#position++] ?? END
    return as === 'operator' ? token : asWord(token)
  }
}

const END: Token = { type: 'end', text: '' }

function asWord(token: Token): Token {
  return token.type === 'in' || token.type === 'notin' ? { type: 'identifier', text: token.text } : token
}
