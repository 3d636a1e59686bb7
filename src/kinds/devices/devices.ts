/** Common parts of claims on devices and slices of devices: names, lists with bounds, configuration, tolerations. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, record, records, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../apimachinery/names.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { invalidBy, repeated } from '../checks.ts'
import { atMost, when } from '../shapes.ts'
import { csiDriverName } from '../volumes/volumeRules.ts'

const LONGEST_POOL = 253
const LONGEST_ID = 32
const PARAMETERS_LIMIT_BYTES = 10 * 1024
const MOST_SELECTORS = 32
const SELECTOR_LIMIT_BYTES = 10 * 1024
const MOST_CONDITIONS = 4
export const TAINT_EFFECTS = ['NoExecute', 'NoSchedule', 'None']

/** Every item of a list checked, unless there are too many; then keys that come twice, named at their item. */
export function eachOf<T>(
  items: readonly T[],
  limit: number,
  path: string,
  check: (item: T, path: string) => FieldError[],
  key?: (item: T) => string,
): FieldError[] {
  const tooMany = atMost(items, limit, path)
  if (tooMany.length > 0) return tooMany
  return [
    ...items.flatMap((item, i) => check(item, `${path}[${i}]`)),
    ...(key === undefined ? [] : repeated(items.map(key), i => `${path}[${i}]`)),
  ]
}

export function poolName(name: string, field: string): FieldError[] {
  if (name === '') return [fieldError.required(field)]
  return [
    ...when(name.length > LONGEST_POOL, () => fieldError.tooLong(field, LONGEST_POOL)),
    ...name.split('/', LONGEST_POOL).flatMap(part => invalidBy(dns1123Subdomain, part, field)),
  ]
}

/** `[domain/]identifier`. */
export function attributeName(name: string, field: string): FieldError[] {
  const [first = '', second, ...more] = name.split('/')
  if (second === undefined) return identifier(first, field)
  if (more.length > 0) return []
  return [
    ...(first === '' ? [fieldError.invalid(field, '', 'the domain must not be empty')] : csiDriverName(first, field)),
    ...(second === '' ? [fieldError.invalid(field, '', 'the name must not be empty')] : identifier(second, field)),
  ]
}

export function fullAttributeName(name: string, field: string): FieldError[] {
  return [
    ...attributeName(name, field),
    ...when(!name.includes('/'), () =>
      fieldError.invalid(field, name, 'a fully qualified name must be a domain and a name separated by a slash'),
    ),
  ]
}

function identifier(name: string, field: string): FieldError[] {
  return [
    ...when(name.length > LONGEST_ID, () => fieldError.tooLong(field, LONGEST_ID)),
    ...when(!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), () => fieldError.invalid(field, name, NOT_AN_IDENTIFIER)),
  ]
}
const NOT_AN_IDENTIFIER =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"

/** Expressions over devices. Whether they compile is not looked at: that takes the devices' own environment. */
export function selectors(holder: Fields, path: string): FieldError[] {
  return eachOf(records(holder, 'selectors'), MOST_SELECTORS, `${path}.selectors`, (selector, at) => {
    if (!has(selector, 'cel')) return [fieldError.required(`${at}.cel`)]
    const bytes = Buffer.byteLength(str(selector, 'cel', 'expression'))
    return when(bytes > SELECTOR_LIMIT_BYTES, () => fieldError.tooLong(`${at}.cel.expression`, SELECTOR_LIMIT_BYTES))
  })
}

export function configuration(config: Fields, path: string): FieldError[] {
  if (!has(config, 'opaque')) return [fieldError.required(`${path}.opaque`)]
  const opaque = record(config, 'opaque')
  return [
    ...csiDriverName(str(opaque, 'driver'), `${path}.opaque.driver`),
    ...rawObject(opaque.parameters, `${path}.opaque.parameters`, PARAMETERS_LIMIT_BYTES),
  ]
}

/** Any JSON object, but not too large. */
export function rawObject(value: unknown, field: string, limitBytes: number): FieldError[] {
  if (value === undefined || value === null) return [fieldError.required(field)]
  if (Buffer.byteLength(JSON.stringify(value)) > limitBytes) return [fieldError.tooLong(field, limitBytes)]
  return when(!isRecord(value), () => fieldError.invalid(field, '<value omitted>', 'must be a valid JSON object'))
}

export function deviceTolerations(holder: Fields, path: string): FieldError[] {
  return records(holder, 'tolerations').flatMap((toleration, i) => {
    const at = `${path}.tolerations[${i}]`
    const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map(name => str(toleration, name))
    return [
      ...(key ? invalidBy(qualifiedName, key, `${at}.key`) : []),
      ...(operator === 'Exists'
        ? when(value !== '', () => fieldError.invalid(`${at}.value`, value, 'must be empty for operator `Exists`'))
        : operator === 'Equal'
          ? invalidBy(labelValue, value ?? '', `${at}.value`)
          : operator === ''
            ? [fieldError.required(`${at}.operator`)]
            : [fieldError.notSupported(`${at}.operator`, operator, ['Equal', 'Exists'])]),
      ...when(effect !== '' && !TAINT_EFFECTS.includes(effect ?? ''), () =>
        fieldError.notSupported(`${at}.effect`, effect, TAINT_EFFECTS),
      ),
    ]
  })
}

/** Conditions that a device waits for before it is used, and those that say that it will not be. */
export function bindingConditions(holder: Fields, path: string): FieldError[] {
  const [wanted, failing] = [strings(holder, 'bindingConditions'), strings(holder, 'bindingFailureConditions')]
  const known = new Set(wanted)
  const names = (values: readonly string[], field: string): FieldError[] =>
    eachOf(values, MOST_CONDITIONS, field, (value, at) => invalidBy(qualifiedName, value, at))
  const [good, bad] = [`${path}.bindingConditions`, `${path}.bindingFailureConditions`]
  return [
    ...names(wanted, good),
    ...names(failing, bad),
    ...repeated(wanted, i => `${good}[${i}]`),
    ...repeated(failing, i => `${bad}[${i}]`),
    ...failing.flatMap((value, i) =>
      when(known.has(value), () =>
        fieldError.invalid(`${bad}[${i}]`, value, 'bindingFailureConditions must not overlap with bindingConditions'),
      ),
    ),
    ...when(wanted.length === 0 && failing.length > 0, () =>
      fieldError.invalid(good, wanted, 'bindingConditions are required to use bindingFailureConditions'),
    ),
    ...when(failing.length === 0 && wanted.length > 0, () =>
      fieldError.invalid(bad, failing, 'bindingFailureConditions are required to use bindingConditions'),
    ),
  ]
}

export const requestName = (name: string, field: string): FieldError[] => invalidBy(dns1123Label, name, field)
