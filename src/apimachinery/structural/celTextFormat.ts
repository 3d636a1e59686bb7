/** `'%s has %d'.format([self.name, self.count])` for CEL: strings extension, version 1. */
import { type Environment, parse } from '@marcbachmann/cel-js'
import { isNumber } from './celEquality.ts'
import { registerAll } from './celRegister.ts'

/** Text as the language's own conversion has it. */
const asText = parse('string(value)')
const MAX_PRECISION = 100

export function addTextFormat(environment: Environment): void {
  registerAll(environment, { 'string.format(list): string': format })
}

function format(template: string, values: unknown[]): string {
  let next = 0
  const text = template.replace(/%(?:\.(\d+))?(.?)/gs, (clause, precision: string | undefined, verb: string) => {
    if (clause === '%%') return '%'
    if (next >= values.length) throw new Error(`index ${next} out of range`)
    return clauseText(verb, values[next++], precision === undefined ? 6 : Number(precision))
  })
  return text
}

function clauseText(verb: string, value: unknown, precision: number): string {
  if (precision > MAX_PRECISION) throw new Error(`precision must not be greater than ${MAX_PRECISION}`)
  switch (verb) {
    case 's':
      return shown(value)
    case 'd':
      if (typeof value === 'bigint' || typeof value === 'number') return String(value)
      break
    case 'f':
      if (isNumber(value)) return Number(value).toFixed(precision)
      break
    case 'e':
      if (isNumber(value))
        return Number(value)
          .toExponential(precision)
          .replace(/e([+-])(\d)$/, 'e$10$2')
      break
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      if (typeof value === 'bigint') return value.toString(2)
      break
    case 'o':
      if (typeof value === 'bigint') return value.toString(8)
      break
    case 'x':
    case 'X': {
      const hex = typeof value === 'bigint' ? value.toString(16) : hexOf(value)
      if (hex !== undefined) return verb === 'X' ? hex.toUpperCase() : hex
      break
    }
    default:
      throw new Error(`could not parse formatting clause: unrecognized formatting clause ${JSON.stringify(verb)}`)
  }
  throw new Error(`error during formatting: %${verb} does not take a value of this type`)
}

function hexOf(value: unknown): string | undefined {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`
  if (typeof value === 'object' && (Object.getPrototypeOf(value) === Object.prototype || value instanceof Map)) {
    const entries = value instanceof Map ? [...value] : Object.entries(value)
    return `{${entries
      .map(([key, member]) => `${shown(key)}: ${shown(member)}`)
      .sort()
      .join(', ')}}`
  }
  return String(asText({ value }))
}
