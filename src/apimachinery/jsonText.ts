/** Plain values as JSON text, in steps: as JSON.stringify writes them, which takes some 10 ms for each megabyte of many fields. */
import { hasMoreValues } from './objectSize.ts'
import type { Steps } from './steps.ts'

/** What has no more fields and elements is written at once. */
const AT_ONCE = 500
/** Characters of a step: a fraction of a millisecond. */
const STEP_LENGTH = 16 * 1024

export function* jsonTextInSteps(value: object): Steps<string> {
  return yield* textOf(value, { left: STEP_LENGTH })
}

function* textOf(value: unknown, step: { left: number }): Steps<string> {
  if (!isStructure(value) || !hasMoreValues(value, AT_ONCE)) {
    const text = JSON.stringify(value) ?? 'null'
    step.left -= text.length
    return text
  }
  const isList = Array.isArray(value)
  let text = ''
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string | number, unknown>)[key]
    if (!isList && member === undefined) continue
    if (text !== '') text += ','
    const name = isList ? '' : `${JSON.stringify(key)}:`
    text += name + (yield* textOf(member, step))
    step.left -= name.length
    if (step.left > 0) continue
    step.left = STEP_LENGTH
    yield
  }
  return isList ? `[${text}]` : `{${text}}`
}

function isStructure(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
