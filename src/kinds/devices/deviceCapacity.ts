/** How much of a capacity of a device one claim may ask for, where several claims share the device. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, record } from '../../apimachinery/fields.ts'
import { compareQuantities, formatQuantity, type Quantity } from '../../apimachinery/quantity.ts'
import { parsed } from '../pods/resources.ts'
import { when } from '../shapes.ts'
import { eachOf } from './devices.ts'

const MOST_VALUES = 10

/** How much of a capacity one claim may ask for; only where several claims share the device. */
export function validateCapacity(capacity: Fields, path: string, shared: boolean): FieldError[] {
  const field = `${path}.requestPolicy`
  if (!has(capacity, 'requestPolicy')) return []
  if (!shared) return [fieldError.forbidden(field, 'allowMultipleAllocations must be true')]
  const policy = record(capacity, 'requestPolicy')
  const values = list(policy, 'validValues')
  const ranged = has(policy, 'validRange')
  if (values.length > 0 && ranged) {
    const detail = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
    return [fieldError.forbidden(field, detail)]
  }
  const used = values.length > 0 ? 'validValues' : ranged ? 'validRange' : undefined
  if (used === undefined) return []
  if (!has(policy, 'default')) return [fieldError.required(`${field}.default`, `required when ${used} is defined`)]
  return used === 'validValues'
    ? validateValues(policy, capacity.value, `${field}.validValues`)
    : validateRange(record(policy, 'validRange'), policy.default, capacity.value, `${field}.validRange`)
}

/** Negative, 0 or positive; amounts that cannot be read are equal to all others, the schema refuses them. */
function compare(a: unknown, b: unknown): number {
  const [left, right] = [parsed(a), parsed(b)]
  return left && right ? compareQuantities(left, right) : 0
}

function validateValues(policy: Fields, most: unknown, field: string): FieldError[] {
  const values = list(policy, 'validValues')
  return [
    ...values.flatMap((value, i) =>
      when(i > 0 && compare(values[i - 1], value) > 0, () =>
        fieldError.invalid(`${field}[${i}]`, String(value), 'values must be sorted in ascending order'),
      ),
    ),
    ...eachOf(
      values,
      MOST_VALUES,
      field,
      (value, path) =>
        when(compare(value, most) > 0, () =>
          fieldError.invalid(path, String(value), `option is larger than capacity value: ${most}`),
        ),
      value => String(nanos(value)),
    ),
    ...when(!values.some(value => compare(value, policy.default) === 0), () =>
      fieldError.invalid(field, String(policy.default), 'default value is not valid according to the requestPolicy'),
    ),
  ]
}

const nanos = (value: unknown): bigint => parsed(value)?.nanos ?? 0n

function validateRange(range: Fields, preset: unknown, most: unknown, path: string): FieldError[] {
  const { min, max, step } = range
  if (!has(range, 'min')) return [fieldError.required(`${path}.min`, 'required when validRange is defined')]
  const wrong = (field: string, value: unknown, detail: string) =>
    fieldError.invalid(`${path}.${field}`, String(value), detail)
  const errors = [
    ...when(compare(min, most) > 0, () => wrong('min', min, `min is larger than capacity value: ${most}`)),
    ...when(compare(preset, min) < 0, () => wrong('min', preset, `default is less than min: ${min}`)),
  ]
  if (has(range, 'max')) {
    errors.push(
      ...when(compare(min, max) > 0, () => wrong('max', min, `min is larger than max: ${max}`)),
      ...when(compare(max, most) > 0, () => wrong('max', max, `max is larger than capacity value: ${most}`)),
      ...when(compare(preset, max) > 0, () => wrong('max', preset, `default is more than max: ${max}`)),
    )
  }
  const size = parsed(step)
  if (!has(range, 'step') || size === undefined || size.nanos === 0n) return errors
  const off = (value: unknown): FieldError[] =>
    when((nanos(value) - nanos(min)) % size.nanos !== 0n, () =>
      wrong('step', value, `value is not a multiple of a given step (${step}) from (${min})`),
    )
  const bound = nanos(min) + size.nanos
  return [
    ...errors,
    ...when(bound > nanos(most), () =>
      wrong('step', step, `one step ${shown(bound, parsed(min))} is larger than capacity value: ${most}`),
    ),
    ...off(preset),
    ...(has(range, 'max') ? off(max) : []),
  ]
}

function shown(amount: bigint, like: Quantity | undefined): string {
  return like === undefined ? String(amount) : formatQuantity({ ...like, nanos: amount })
}
