/** JSON values as CEL sees them: typed by their schema, members under their CEL names. */
import { parse } from '@marcbachmann/cel-js'
import { isRecord } from '../object.ts'
import { Pace } from '../pace.ts'
import type { Schema } from '../schema.ts'
import type { Steps } from '../steps.ts'
import { celName } from './celNames.ts'
import { isBase64, isDateTime } from './formats.ts'

/** A private copy for the evaluator. Integers become `bigint`, as CEL's int. */
export function toCel(value: unknown, schema: Schema | undefined): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'number') return numberToCel(value, schema)
  if (typeof value === 'string') return textToCel(value, schema?.format)
  if (Array.isArray(value)) return value.map(item => toCel(item, schema?.items))
  if (!isRecord(value)) return value
  const { properties } = schema ?? {}
  const additional = typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined
  const copy: Record<string, unknown> = {}
  for (const name in value) {
    const member = value[name]
    if (member === undefined) continue
    const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
    const key = property === undefined ? name : celName(name)
    if (key !== undefined && key !== '__proto__') copy[key] = toCel(member, property ?? additional)
  }
  return copy
}

/** The same of a value without a schema, in steps. */
export function* plainToCelInSteps(value: unknown, pace = new Pace()): Steps<unknown> {
  if (typeof value !== 'object' || value === null) return toCel(value, undefined)
  const isList = Array.isArray(value)
  const copy: unknown[] | Record<string, unknown> = isList ? [] : {}
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string | number, unknown>)[key]
    if (pace.due()) yield
    const isLeaf = typeof member !== 'object' || member === null
    const made = isLeaf ? toCel(member, undefined) : yield* plainToCelInSteps(member, pace)
    if (isList) (copy as unknown[]).push(made)
    else if (member !== undefined && key !== '__proto__') (copy as Record<string, unknown>)[key] = made
  }
  return copy
}

function numberToCel(value: number, schema: Schema | undefined): bigint | number {
  return Number.isInteger(value) && schema?.type !== 'number' ? BigInt(value) : value
}

function textToCel(value: string, format: string | undefined): unknown {
  if (format === 'date-time' && isDateTime(value)) return new Date(value)
  if (format === 'date' && isDateTime(`${value}T00:00:00Z`)) return new Date(`${value}T00:00:00Z`)
  if (format === 'byte' && isBase64(value)) return Buffer.from(value, 'base64')
  if (format === 'duration') return parseDuration(value) ?? value
  return value
}

const GO_DURATION = /^[+-]?(\d+(\.\d+)?(ns|us|µs|μs|ms|s|m|h))+$/
const durationOf = parse('duration(text)')

/** The library keeps its Duration class to itself, so one of its expressions makes the value. */
function parseDuration(text: string): unknown {
  return GO_DURATION.test(text) ? durationOf({ text: text.replaceAll('μ', 'µ') }) : undefined
}
