/** Floating point numbers as Go writes them where it is asked for the shortest text. */

/** Of the number with 32 bits that is the nearest, `1e+08` for a hundred million; for finite numbers. */
export function formatFloat32(value: number): string {
  const near = Math.fround(value)
  for (let precision = 1; precision < 9; precision++) {
    const text = near.toExponential(precision - 1)
    if (Math.fround(Number(text)) === near) return withGoExponent(text)
  }
  return withGoExponent(near.toExponential(8))
}

/** From `1.5e+7`: Go keeps exponents below 1e-4 and from 1e6 on, with two digits at least. */
function withGoExponent(exponential: string): string {
  const [digits, power] = exponential.split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return String(Number(exponential))
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}
