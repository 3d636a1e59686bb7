/**
 * Field selectors: comma-separated `field=value`, `field==value` and `field!=value`.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
 */
import { statusError } from './errors.ts'

export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** All requirements must hold. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[]
  readonly isEverything: boolean
  /** A field that is absent counts as empty. */
  matches(fields: Readonly<Record<string, string>>): boolean
  /** The value that `field` must equal, when the selector demands one. */
  exact(field: string): string | undefined
  /** Text that parses to an equal selector. */
  toString(): string
}

/** @throws StatusError BadRequest with upstream's wording */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort()) {
    if (term !== '') requirements.push(parseTerm(term, text))
  }
  return {
    requirements,
    isEverything: requirements.length === 0,
    matches: fields =>
      requirements.every(
        r => ((Object.hasOwn(fields, r.field) ? fields[r.field] : '') === r.value) === (r.operator === '='),
      ),
    exact: field => requirements.find(r => r.field === field && r.operator === '=')?.value,
    toString: () => requirements.map(r => `${r.field}${r.operator}${escapeFieldValue(r.value)}`).join(','),
  }
}

/** A value as it must be written in a field selector. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, character => `\\${character}`)
}

function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function parseTerm(term: string, whole: string): FieldRequirement {
  for (let i = 0; i < term.length; i++) {
    if (term[i] === '\\') {
      i++
      continue
    }
    const rest = term.slice(i, i + 2)
    const operator = rest === '!=' || rest === '==' ? rest : term[i] === '=' ? '=' : undefined
    if (operator === undefined) continue
    const value = unescapeValue(term.slice(i + operator.length))
    return { field: term.slice(0, i), operator: operator === '!=' ? '!=' : '=', value }
  }
  throw statusError.badRequest(`invalid selector: '${whole}'; can't understand '${term}'`)
}

function unescapeValue(text: string): string {
  let value = ''
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (character === '\\') {
      const next = text[++i] ?? ''
      if (next === '' || !'\\,='.includes(next)) {
        throw statusError.badRequest(`invalid field selector: invalid escape sequence: \\${next}`)
      }
      value += next
    } else if (character === ',' || character === '=') {
      throw statusError.badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`)
    } else {
      value += character
    }
  }
  return value
}
