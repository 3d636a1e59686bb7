/**
 * Whole numbers of 64 bits in decimal, as Go's strconv reads them, and why a text is none.
 * @see https://pkg.go.dev/strconv#ParseInt
 */
import { quotedAsGo } from './goPrint.ts'

type Reader = 'Atoi' | 'ParseInt' | 'ParseUint'

/** The number; else a text such as `strconv.ParseInt: parsing "x": invalid syntax`, with the name of the function that reads it. */
export function goInteger(text: string, reader: Reader): bigint | string {
  const wrong = (why: string): string => `strconv.${reader}: parsing ${quotedAsGo(text)}: ${why}`
  const signed = reader !== 'ParseUint'
  if (!(signed ? /^[-+]?\d+$/ : /^\d+$/).test(text)) return wrong('invalid syntax')
  // what has more digits is out of range, however many: BigInt takes time by the square of their number
  const digits = text.replace(/^([-+]?)0+(?=\d)/, '$1').replace('+', '')
  const value = digits.length > 20 ? undefined : BigInt(digits)
  const fits = value !== undefined && (signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)) === value
  return fits ? value : wrong('value out of range')
}
