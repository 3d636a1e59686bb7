/** A number as a source file says it: of `NAME = 3 * 1024`, `name: 10_000` or `option ?? 600_000`, exported or not. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** @throws Error when the file is not there, or says no such number */
export function sourceNumber(file: string, name: string): number {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = new RegExp(`\\b${name}(?:: number)? *(?:=|:|\\?\\?) *([\\dA-Z(][\\w.*/ ]*)`).exec(text)?.[1]
  if (found === undefined) throw new Error(`${file} says no number ${name}`)
  return product(found.trim(), file)
}

/** Products, quotients and powers of two, of numbers and names of the same file. */
function product(expression: string, file: string): number {
  const power = /^2 \*\* (\d+)$/.exec(expression)
  if (power) return 2 ** Number(power[1])
  const [first = '', ...rest] = expression.split(/ ([*/]) /)
  let value = factor(first, file)
  for (let i = 0; i < rest.length; i += 2) {
    const next = factor(rest[i + 1]!, file)
    value = rest[i] === '*' ? value * next : value / next
  }
  return value
}

function factor(text: string, file: string): number {
  if (/^[A-Z]/.test(text)) return sourceNumber(file, text)
  const value = Number(text.replaceAll('_', ''))
  if (Number.isNaN(value) || text === '') throw new Error(`${file}: ${text} is no number`)
  return value
}
