/**
 * Validation errors that name a field, worded as kube-apiserver words them.
 * @see https://pkg.go.dev/k8s.io/apimachinery/pkg/util/validation/field
 */
import { escapedAsGo } from './go/goJson.ts'
import { quotedAsGo } from './go/goPrint.ts'

export type FieldErrorType =
  | 'Required'
  | 'Invalid'
  | 'TypeInvalid'
  | 'NotSupported'
  | 'Duplicate'
  | 'Forbidden'
  | 'TooLong'
  | 'TooMany'
  | 'NotFound'
  | 'InternalError'

export interface FieldError {
  type: FieldErrorType
  /** `spec.containers[0].name`; `<nil>` for the whole object is written as the empty string. */
  field: string
  /** The rejected value; shown for every type but Required, Forbidden, TooLong and InternalError. */
  value?: unknown
  /** The value is left out of the message: it is large, or the detail already speaks of it. */
  omitValue?: boolean
  detail: string
}

const LABELS: Record<FieldErrorType, string> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  TypeInvalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Duplicate: 'Duplicate value',
  Forbidden: 'Forbidden',
  TooLong: 'Too long',
  TooMany: 'Too many',
  NotFound: 'Not found',
  InternalError: 'Internal error',
}

/** The `reason` of a `Status` cause. */
export const CAUSE_REASONS: Record<FieldErrorType, string> = {
  Required: 'FieldValueRequired',
  Invalid: 'FieldValueInvalid',
  TypeInvalid: 'FieldValueTypeInvalid',
  NotSupported: 'FieldValueNotSupported',
  Duplicate: 'FieldValueDuplicate',
  Forbidden: 'FieldValueForbidden',
  TooLong: 'FieldValueTooLong',
  TooMany: 'FieldValueTooMany',
  NotFound: 'FieldValueNotFound',
  InternalError: 'InternalError',
}

export const fieldError = {
  required: (field: string, detail = ''): FieldError => ({ type: 'Required', field, detail }),
  invalid: (field: string, value: unknown, detail: string): FieldError => ({ type: 'Invalid', field, value, detail }),
  typeInvalid: (field: string, value: unknown, detail: string): FieldError => ({
    type: 'TypeInvalid',
    field,
    value,
    detail,
  }),
  notSupported: (field: string, value: unknown, supported: readonly string[]): FieldError => ({
    type: 'NotSupported',
    field,
    value,
    detail: supported.length > 0 ? `supported values: ${supported.map(v => JSON.stringify(v)).join(', ')}` : '',
  }),
  duplicate: (field: string, value: unknown): FieldError => ({ type: 'Duplicate', field, value, detail: '' }),
  forbidden: (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail }),
  tooLong: (field: string, limitBytes: number): FieldError => ({
    type: 'TooLong',
    field,
    detail: `may not be more than ${limitBytes} ${limitBytes === 1 ? 'byte' : 'bytes'}`,
  }),
  tooMany: (field: string, actual: number, limit: number): FieldError => ({
    type: 'TooMany',
    field,
    value: actual,
    detail: `must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
  }),
  notFound: (field: string, value: unknown): FieldError => ({ type: 'NotFound', field, value, detail: '' }),
}

/** `Invalid value: "x": must be …`: the message of one cause, without the field. */
export function fieldErrorBody(error: FieldError): string {
  const label = LABELS[error.type]
  const shown = showsValue(error.type) && error.omitValue !== true ? `: ${formatValue(error.value)}` : ''
  return error.detail === '' ? `${label}${shown}` : `${label}${shown}: ${error.detail}`
}

export function formatFieldError(error: FieldError): string {
  return `${error.field === '' ? '<nil>' : error.field}: ${fieldErrorBody(error)}`
}

function showsValue(type: FieldErrorType): boolean {
  return type !== 'Required' && type !== 'Forbidden' && type !== 'TooLong' && type !== 'InternalError'
}

/** Characters of a value that are shown. The sender has the value; the message shows it twice, and each cause once more. */
export const SHOWN_CHARACTERS = 4096

function formatValue(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'string') return shownText(value)
  return typeof value === 'object' ? cut(JSON.stringify(value), escapedAsGo) : String(value)
}

/** The text in quotes; of a long one its beginning. */
export function shownText(text: string): string {
  return cut(text, quotedAsGo)
}

function cut(text: string, format: (text: string) => string): string {
  if (text.length <= SHOWN_CHARACTERS) return format(text)
  return `${format(text.slice(0, SHOWN_CHARACTERS).toWellFormed())} (and ${text.length - SHOWN_CHARACTERS} more characters)`
}

/** An enumeration: required when empty (Go's zero value), unsupported when not listed. */
export function oneOf(value: string, field: string, supported: readonly string[]): FieldError[] {
  if (value === '') return [fieldError.required(field)]
  return supported.includes(value) ? [] : [fieldError.notSupported(field, value, supported)]
}
