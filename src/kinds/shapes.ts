/** Shapes of values that kinds outside the core group share: names with domains, lists without repetition, conditions. */
import { type FieldError, fieldError } from '../apimachinery/fieldErrors.ts'
import { type Fields, has, num, records, str } from '../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, type NameRule, qualifiedName } from '../apimachinery/names.ts'
import { invalidBy, repeats } from './checks.ts'

/** One error (or warning) when something is wrong, for lists of checks. */
export function when<T = FieldError>(wrong: boolean, error: () => T): T[] {
  return wrong ? [error()] : []
}

/** A name whose rule says what an empty one is missing. */
export function optionalName(value: string, field: string, rule: NameRule): FieldError[] {
  return value === '' ? [] : invalidBy(rule, value, field)
}

/** The value of a field that may be absent, else one of a list. */
export function choice(object: unknown, member: string, field: string, supported: readonly string[]): FieldError[] {
  if (!has(object, member) || supported.includes(str(object, member))) return []
  return [fieldError.notSupported(field, str(object, member), supported)]
}

export function atMost(items: readonly unknown[], limit: number, field: string): FieldError[] {
  return when(items.length > limit, () => fieldError.tooMany(field, items.length, limit))
}

/** `acme.io/foo`. */
export function domainPrefixedPath(value: string, field: string): FieldError[] {
  if (value === '') return [fieldError.required(field)]
  const slash = value.indexOf('/')
  if (slash < 1 || slash === value.length - 1) {
    return [fieldError.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const path = value.slice(slash + 1)
  return [
    ...invalidBy(dns1123Subdomain, value.slice(0, slash), field),
    ...when(!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path), () =>
      fieldError.invalid(field, path, `Invalid path (regex used for validation is '${HTTP_PATH}')`),
    ),
  ]
}
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

/** `a.b.c`: at least three labels. */
export function qualifiedHookName(value: string, field: string): FieldError[] {
  return value === '' ? [fieldError.required(field)] : domain(value, field, 3)
}

/** At least two labels, each at most 63 characters; a dot at the end is let through. */
export function qualifiedDomain(value: string, field: string): FieldError[] {
  if (value === '') return [fieldError.required(field)]
  const name = value.endsWith('.') ? value.slice(0, -1) : value
  const errors = domain(name, field, 2)
  if (errors.length > 0) return errors
  return name.split('.').flatMap(label => {
    const wrong = dns1123Label(label)
    return when(wrong.length > 0, () => fieldError.invalid(field, label, wrong.join(',')))
  })
}

function domain(name: string, field: string, labels: 2 | 3): FieldError[] {
  const errors = dns1123Subdomain(name)
  if (errors.length > 0) return [fieldError.invalid(field, name, errors.join(','))]
  const count = labels === 2 ? 'two' : 'three'
  return when(name.split('.').length < labels, () =>
    fieldError.invalid(field, name, `should be a domain with at least ${count} segments separated by dots`),
  )
}

/** Conditions of today's form (`metav1.Condition`). */
export function conditions(holder: unknown, member: string, field: string): FieldError[] {
  const all = records(holder, member)
  const again = repeats(all.map(({ type }) => type))
  return all.flatMap((condition, i) => {
    const at = `${field}[${i}]`
    return [
      ...when(again[i]!, () => fieldError.duplicate(`${at}.type`, str(condition, 'type'))),
      ...validateCondition(condition, at),
    ]
  })
}

/** Values of a condition. */
export const STATUSES = ['False', 'True', 'Unknown']
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'

function validateCondition(condition: Fields, at: string): FieldError[] {
  const status = str(condition, 'status')
  const reason = str(condition, 'reason')
  return [
    ...invalidBy(qualifiedName, str(condition, 'type'), `${at}.type`),
    ...when(!STATUSES.includes(status), () => fieldError.notSupported(`${at}.status`, status, STATUSES)),
    ...when(num(condition, 'observedGeneration') < 0, () =>
      fieldError.invalid(
        `${at}.observedGeneration`,
        num(condition, 'observedGeneration'),
        'must be greater than or equal to zero',
      ),
    ),
    ...when(str(condition, 'lastTransitionTime') === '', () =>
      fieldError.required(`${at}.lastTransitionTime`, 'must be set'),
    ),
    ...when(reason === '', () => fieldError.required(`${at}.reason`, 'must be set')),
    ...when(reason !== '' && !/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason), () =>
      fieldError.invalid(
        `${at}.reason`,
        reason,
        `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${REASON}')`,
      ),
    ),
    ...when(reason.length > 1024, () => fieldError.tooLong(`${at}.reason`, 1024)),
    ...when(str(condition, 'message').length > 32 * 1024, () => fieldError.tooLong(`${at}.message`, 32 * 1024)),
  ]
}
