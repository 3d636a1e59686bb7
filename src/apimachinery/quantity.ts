/**
 * Quantities such as `100m`, `1.5Gi` and `2e3`: exact decimal arithmetic and the canonical form of each number.
 * A quantity keeps the kind of suffix that it was written with, and no more than nine decimal places (rounded up).
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export interface Quantity {
  /** In units of 10^-9. */
  readonly nanos: bigint
  readonly format: QuantityFormat
}

const SHAPE = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?$/
const NANO = 1_000_000_000n
/** Exponents of ten for decimal suffixes, by multiples of three. */
const DECIMAL: readonly (readonly [string, number])[] = [
  ['E', 18],
  ['P', 15],
  ['T', 12],
  ['G', 9],
  ['M', 6],
  ['k', 3],
  ['', 0],
  ['m', -3],
  ['u', -6],
  ['n', -9],
]
/** With what each stands for, in units of 10^-9. */
const DECIMAL_UNITS = DECIMAL.map(([suffix, power]) => [suffix, power, 10n ** BigInt(power + 9)] as const)
/** Exponents of two. */
const BINARY: readonly (readonly [string, number])[] = [
  ['Ei', 60],
  ['Pi', 50],
  ['Ti', 40],
  ['Gi', 30],
  ['Mi', 20],
  ['Ki', 10],
]
/** Larger numbers with a binary suffix are capped, as upstream caps them. */
const MAX_NANOS = ((1n << 63n) - 1n) * NANO
const MAX_EXPONENT = 1000
/** Characters. Numbers are exact: millions of digits would take seconds to read. */
export const MAX_LENGTH = 256

/** Common form of quantities, so that a Pod may have thousands of them: exact without more ado. */
const WHOLE = /^\d{1,15}$/
/** The same for what is canonical already: with a larger suffix it would have a fraction. Values in `Ei` do not reach so far. */
const CANONICAL = /^(?:0|[1-9]\d{0,2}(?:[numkMGTP]|[KMGTP]i)?)$/

/** `undefined` when the text is not a quantity. */
export function parseQuantity(text: string): Quantity | undefined {
  if (WHOLE.test(text)) return { nanos: BigInt(text) * NANO, format: 'DecimalSI' }
  if (text.length > MAX_LENGTH) return undefined
  const match = SHAPE.exec(text)
  if (match === null) return undefined
  const [, sign, number, suffix = ''] = match
  const [whole = '', fraction = ''] = number!.split('.')
  let numerator = BigInt(`${whole}${fraction}` || '0')
  let tens = -fraction.length
  let format: QuantityFormat = 'DecimalSI'
  if (/^[eE][+-]?\d+$/.test(suffix)) {
    format = 'DecimalExponent'
    const exponent = Number(suffix.slice(1))
    if (Math.abs(exponent) > MAX_EXPONENT) return undefined
    tens += exponent
  } else if (suffix.endsWith('i')) {
    format = 'BinarySI'
    numerator <<= BigInt(BINARY.find(([name]) => name === suffix)![1])
  } else if (suffix !== '') {
    tens += DECIMAL.find(([name]) => name === suffix)![1]
  }
  const magnitude = roundUp(numerator, tens + 9)
  const capped = format === 'BinarySI' && magnitude > MAX_NANOS ? MAX_NANOS : magnitude
  return { nanos: sign === '-' ? -capped : capped, format }
}

/** Why a text is no quantity; worded as upstream's but for those that are too long. */
export function quantityProblem(text: string): string {
  return text.length > MAX_LENGTH ? `quantities may have at most ${MAX_LENGTH} characters` : QUANTITY_SHAPE_MESSAGE
}

/** @throws Error worded as upstream's when the text is not a quantity */
export function mustParseQuantity(text: string): Quantity {
  const quantity = parseQuantity(text)
  if (quantity === undefined) throw new Error(quantityProblem(text))
  return quantity
}

export const QUANTITY_SHAPE_MESSAGE =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/** The canonical text: no fraction, the largest suffix that allows that. */
export function formatQuantity(quantity: Quantity): string {
  const { nanos } = quantity
  if (nanos === 0n) return '0'
  const sign = nanos < 0n ? '-' : ''
  const magnitude = nanos < 0n ? -nanos : nanos
  if (quantity.format === 'BinarySI' && magnitude % NANO === 0n && magnitude / NANO >= 1024n) {
    const units = magnitude / NANO
    const [suffix, bits] = BINARY.find(([, power]) => units % (1n << BigInt(power)) === 0n) ?? ['', 0]
    return `${sign}${units >> BigInt(bits)}${suffix}`
  }
  const [suffix, power, unit] = DECIMAL_UNITS.find(([, , nanos]) => magnitude % nanos === 0n)!
  const digits = magnitude / unit
  if (quantity.format !== 'DecimalExponent') return `${sign}${digits}${suffix}`
  return power === 0 ? `${sign}${digits}` : `${sign}${digits}e${power}`
}

/** The canonical form of a quantity's text; `undefined` when it is none. */
export function canonicalQuantity(text: string): string | undefined {
  if (CANONICAL.test(text)) return text
  const quantity = parseQuantity(text)
  return quantity && formatQuantity(quantity)
}

/** Negative, zero or positive, as `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
}

/** The sum, in the format of `a` (of `b` when `a` is zero). */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format }
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { nanos: -b.nanos, format: b.format })
}

/** The number rounded up to a whole one, as most consumers of counts read a quantity. */
export function quantityValue(quantity: Quantity): bigint {
  const whole = quantity.nanos / NANO
  return quantity.nanos > 0n && quantity.nanos % NANO !== 0n ? whole + 1n : whole
}

/** As a floating-point number; may lose precision. */
export function approximateQuantity(quantity: Quantity): number {
  return Number(quantity.nanos) / 1e9
}

/** numerator · 10^power, away from zero where digits are lost. */
function roundUp(numerator: bigint, power: number): bigint {
  if (power >= 0) return numerator * 10n ** BigInt(power)
  const divisor = 10n ** BigInt(-power)
  return (numerator + divisor - 1n) / divisor
}
