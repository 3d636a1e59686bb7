/** Numbers in JSON text that are beyond all numbers: parsers make infinity of them, and then null. */
import { endOfString } from '../../../apimachinery/repeatedKeys.ts'

const QUOTE = 34

/** The first one of well-formed JSON, as it stands there. Looks at each character once. */
export function beyondNumbers(text: string): string | undefined {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (isInNumber(code)) {
      const start = at
      while (isInNumber(text.charCodeAt(at + 1))) at++
      const number = text.slice(start, at + 1)
      if (number.length > SHORTEST && Math.abs(Number(number)) === Infinity) return number
    }
  }
  return undefined
}

/** `1e309` is, and nothing shorter. */
const SHORTEST = 4

/** Digits, signs, points and exponents; `e` of `true` and `false` too, which are no numbers. */
function isInNumber(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46 || code === 69 || code === 101
}
