/**
 * JSON values as Go's fmt prints them (`%+v`): maps by the order of their keys, texts bare.
 * @see https://pkg.go.dev/fmt
 */

/** Such as `map[metadata:map[name:a] spec:map[replicas:2]]`. */
export function goPrint(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'number') return printNumber(value)
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `map[${members.map(([key, member]) => `${key}:${goPrint(member)}`).join(' ')}]`
}

/** Go keeps exponents below 1e-4 and from 1e21 on, with two digits at least. */
function printNumber(value: number): string {
  const [digits = '', power] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 21) return String(value)
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}
