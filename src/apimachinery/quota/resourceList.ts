/** Amounts by resource name (`cpu`, `requests.storage`, `count/widgets.example.com`), and how to reckon with them. */
import { isRecord } from '../object.ts'
import { addQuantities, formatQuantity, parseQuantity, type Quantity, subtractQuantities } from '../quantity.ts'

export type Amounts = ReadonlyMap<string, Quantity>
export const ZERO: Quantity = { nanos: 0n, format: 'DecimalSI' }

/** Amounts of a JSON object, of these names if some are given; what is no quantity is left out. */
export function amountsOf(value: unknown, names?: { has(name: string): boolean }): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>()
  if (!isRecord(value)) return amounts
  for (const [name, text] of Object.entries(value)) {
    const quantity = names?.has(name) === false ? undefined : parseQuantity(String(text))
    if (quantity) amounts.set(name, quantity)
  }
  return amounts
}

/** In order of names. */
export function amountsToJson(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(sorted(amounts).map(([name, quantity]) => [name, formatQuantity(quantity)]))
}

/** `cpu=1,memory=1Gi`, in order of names. */
export function amountsText(amounts: Amounts): string {
  return sorted(amounts)
    .map(([name, quantity]) => `${name}=${formatQuantity(quantity)}`)
    .join(',')
}

export function addAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  return combine(a, b, addQuantities)
}

export function subtractAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  return combine(a, b, subtractQuantities)
}

export function only(amounts: Amounts, names: { has(name: string): boolean }): Map<string, Quantity> {
  return new Map([...amounts].filter(([name]) => names.has(name)))
}

function combine(a: Amounts, b: Amounts, operation: (a: Quantity, b: Quantity) => Quantity): Map<string, Quantity> {
  const result = new Map(a)
  for (const [name, quantity] of b) result.set(name, operation(result.get(name) ?? ZERO, quantity))
  return result
}

function sorted(amounts: Amounts): [string, Quantity][] {
  return [...amounts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}
