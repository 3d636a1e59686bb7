/** Plain values as JSON text, in steps: as JSON.stringify writes them, which takes some 10 ms for each megabyte of many fields. */
import type { Steps } from './steps.ts'
import { isStructure } from './values.ts'

/** A value with no more fields and elements, in no more levels, is written at once. It is not searched again at each level above it. */
const [SHORT, LEVELS] = [32, 2]
/** Characters of a step: a fraction of a millisecond. */
const STEP_LENGTH = 16 * 1024

export function* jsonTextInSteps(value: object): Steps<string> {
  return yield* textOf(value, { left: STEP_LENGTH })
}

function* textOf(value: object, step: { left: number }): Steps<string> {
  const isList = Array.isArray(value)
  let text = ''
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string | number, unknown>)[key]
    if (!isList && member === undefined) continue
    if (text !== '') text += ','
    const before = text.length
    if (!isList) text += `${JSON.stringify(key)}:`
    if (isStructure(member) && !isShort(member)) {
      // to find out what a long map has takes milliseconds
      yield
      text += yield* textOf(member, step)
      continue
    }
    text += JSON.stringify(member) ?? 'null'
    step.left -= text.length - before
    if (step.left > 0) continue
    step.left = STEP_LENGTH
    yield
  }
  return isList ? `[${text}]` : `{${text}}`
}

function isShort(value: object): boolean {
  return countUpTo(value, SHORT, LEVELS) <= SHORT
}

/** Members and elements; beyond the limit where there are more, or more levels. */
function countUpTo(value: object, limit: number, levels: number): number {
  if (Array.isArray(value) && value.length > limit) return value.length
  let count = 0
  // of many members `Object.values` takes five times as long
  for (const key in value) {
    if (++count > limit) return count
    const member = (value as Record<string, unknown>)[key]
    if (isStructure(member)) count += levels === 1 ? limit : countUpTo(member, limit - count, levels - 1)
  }
  return count
}
