/** Validation rules that many kinds share, worded as upstream words them. Each answers the errors it found. */
import { type FieldError, fieldError } from '../apimachinery/fieldErrors.ts'
import { at, type Fields, num, record, str } from '../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, type NameRule } from '../apimachinery/names.ts'
import { isRecord } from '../apimachinery/object.ts'
import { canonicalQuantity, compareQuantities, parseQuantity, quantityProblem } from '../apimachinery/quantity.ts'
import { validateLabelSelector } from '../apimachinery/selectors.ts'
import { sameMeaning } from '../apimachinery/values.ts'

export const IMMUTABLE = 'field is immutable'
export const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
export const MIN_ZERO = 'must be greater than or equal to 0'
const PORT_RANGE = 'must be between 1 and 65535, inclusive'

/** The rule's complaints as errors of a field. */
export function invalidBy(rule: NameRule, value: string, field: string): FieldError[] {
  return rule(value).map(message => fieldError.invalid(field, value, message))
}

/** A name that must be there and follow a rule. */
export function requiredName(value: string, field: string, rule: NameRule = dns1123Label): FieldError[] {
  return value === '' ? [fieldError.required(field)] : invalidBy(rule, value, field)
}

export function required(object: unknown, path: string, member: string, detail = ''): FieldError[] {
  return str(object, member) === '' ? [fieldError.required(`${path}.${member}`, detail)] : []
}

export function nonNegative(object: unknown, path: string, ...members: readonly string[]): FieldError[] {
  return members
    .filter(member => num(object, member) < 0)
    .map(member => fieldError.invalid(`${path}.${member}`, num(object, member), MIN_ZERO))
}

export function immutable(now: unknown, old: unknown, field: string): FieldError[] {
  return sameMeaning(now, old) ? [] : [fieldError.invalid(field, now, IMMUTABLE)]
}

function validPort(port: unknown): port is number {
  return typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65535
}

export function portNumber(port: unknown, field: string): FieldError[] {
  return validPort(port) ? [] : [fieldError.invalid(field, port, PORT_RANGE)]
}

/** A port by number or by name (an IANA service name). */
export function portOrName(port: unknown, field: string): FieldError[] {
  return typeof port === 'string' ? invalidBy(portName, port, field) : portNumber(port ?? 0, field)
}

/** @see https://www.rfc-editor.org/rfc/rfc6335 section 5.1 */
export function portName(value: string): string[] {
  const errors: string[] = []
  if (value.length > 15) errors.push('must be no more than 15 characters')
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)')
  if (value.includes('--')) errors.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

/** Keys of ConfigMaps and Secrets. */
export function configKey(value: string): string[] {
  const errors: string[] = []
  if (value.length > 253) errors.push('must be no more than 253 characters')
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) {
    errors.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    )
  }
  if (value === '.') errors.push("must not be '.'")
  else if (value === '..') errors.push("must not be '..'")
  else if (value.startsWith('..')) errors.push("must not start with '..'")
  return errors
}

/** `*.example.com`. */
export function wildcardSubdomain(value: string): string[] {
  if (!value.startsWith('*.') || dns1123Subdomain(value.slice(2)).length > 0) {
    return [
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ]
  }
  return []
}

/** A count or a percentage such as `25%`; never negative. */
export function intOrPercent(value: unknown, field: string): FieldError[] {
  if (typeof value === 'string') {
    if (/^[0-9]+%$/.test(value)) return []
    const detail =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
    return [fieldError.invalid(field, value, detail)]
  }
  return typeof value === 'number' && value < 0 ? [fieldError.invalid(field, value, MIN_ZERO)] : []
}

export function atMostAll(value: unknown, field: string): FieldError[] {
  if (typeof value !== 'string' || !/^[0-9]+%$/.test(value) || Number.parseInt(value, 10) <= 100) return []
  return [fieldError.invalid(field, value, 'must not be greater than 100%')]
}

/** A selector of pods: its syntax, and not empty where `emptyDetail` says what that would mean. */
export function podSelector(selector: unknown, field: string, emptyDetail?: string): FieldError[] {
  if (!isRecord(selector)) return [fieldError.required(field)]
  const errors = validateLabelSelector(selector, field)
  const terms =
    Object.keys(record(selector, 'matchLabels')).length + ((at(selector, 'matchExpressions') as unknown[])?.length ?? 0)
  if (terms === 0 && emptyDetail !== undefined) errors.push(fieldError.invalid(field, selector, emptyDetail))
  return errors
}

/** A syntax check of an optional selector. */
export function optionalSelector(selector: unknown, field: string): FieldError[] {
  return isRecord(selector) ? validateLabelSelector(selector, field) : []
}

/** One quantity that may not be negative. */
export function quantity(value: unknown, field: string): FieldError[] {
  const parsed = parseQuantity(String(value))
  if (parsed === undefined) return [fieldError.invalid(field, value, quantityProblem(String(value)))]
  return parsed.nanos < 0n ? [fieldError.invalid(field, String(value), MIN_ZERO)] : []
}

/** True when both are quantities and the first is the greater one. */
export function exceeds(value: unknown, limit: unknown): boolean {
  const a = parseQuantity(String(value))
  const b = parseQuantity(String(limit))
  return a !== undefined && b !== undefined && compareQuantities(a, b) > 0
}

/** Rewrites the quantities of a resource list in their canonical form, as decoding does upstream. */
export function canonicalQuantities(resourceList: unknown): void {
  if (!isRecord(resourceList)) return
  for (const [name, value] of Object.entries(resourceList)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    const canonical = canonicalQuantity(String(value)) ?? value
    if (canonical !== value) resourceList[name] = canonical
  }
}

/** Whether each value of a list stands before in it, in its order. */
export function repeats(values: readonly unknown[]): boolean[] {
  const seen = new Set<unknown>()
  return values.map(value => seen.size === seen.add(value).size)
}

/** Repeated values of a list, each at its place. */
export function repeated(values: readonly string[], at: (i: number) => string): FieldError[] {
  const again = repeats(values)
  return values.flatMap((value, i) => (again[i] ? [fieldError.duplicate(at(i), value)] : []))
}

/** Second and later uses of a value that a member of items has. */
export function duplicates(items: readonly Fields[], path: string, member: string): FieldError[] {
  const values = items.map(item => str(item, member))
  const again = repeats(values)
  return values.flatMap((value, i) =>
    again[i] && value !== '' ? [fieldError.duplicate(`${path}[${i}].${member}`, value)] : [],
  )
}
