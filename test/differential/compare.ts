/** Differences of two outcomes, less those that have an explanation. */
import { isRecord } from '../../src/apimachinery/object.ts'
import type { Outcome } from './play.ts'
import { type Step, titleOf } from './script.ts'
import { withoutNewer } from './since120.ts'

export interface Difference {
  path: string
  ours: unknown
  theirs: unknown
}

export interface Verdict {
  /** Differences that nothing explains. */
  unexplained: Difference[]
  /** Keys of `unlike120` that explain nothing. */
  idle: string[]
}

/** An explanation for several steps, of which some need none. */
const MAYBE = /^\?/

export function judge(step: Step, ours: Outcome, theirs: Outcome): Verdict {
  if (step.since !== undefined) return { unexplained: [], idle: [] }
  const explanations = Object.keys(step.unlike120 ?? {})
  const used = new Set<string>()
  const unexplained = differences(withoutNewer(ours), withoutNewer(theirs)).filter(difference => {
    if (isGoSyntax(difference)) return false
    const { path } = difference
    const why = explanations.filter(start => covers(start.replace(MAYBE, ''), path))
    for (const start of why) used.add(start)
    return why.length === 0
  })
  return { unexplained, idle: explanations.filter(start => !used.has(start) && !MAYBE.test(start)) }
}

/** One line for each difference, for people. */
export function report(step: Step, index: number, { unexplained, idle }: Verdict): string[] {
  const text = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))
  return [
    ...unexplained.map(
      ({ path, ours, theirs }) =>
        `${titleOf(step, index)}\n    ${path}\n      ours:   ${text(ours)}\n      theirs: ${text(theirs)}`,
    ),
    ...idle.map(start => `${titleOf(step, index)}\n    unlike120 "${start}" explains nothing`),
  ]
}

export function differences(ours: unknown, theirs: unknown, path = ''): Difference[] {
  if (Object.is(ours, theirs)) return []
  const at = (name: string | number): string => (path === '' ? String(name) : `${path}.${name}`)
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length) return [{ path, ours, theirs }]
    return ours.flatMap((item, i) => differences(item, theirs[i], at(i)))
  }
  if (isRecord(ours) && isRecord(theirs)) {
    const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].sort()
    return names.flatMap(name => differences(ours[name], theirs[name], at(name)))
  }
  return [{ path, ours, theirs }]
}

/** Values as Go shows them, where today's servers show JSON. */
const GO_VALUE = /(Invalid|Unsupported|Duplicate) value: (?:&|\*|\[\]|map\[|[a-z0-9]+\.[A-Z])/
const VALUE = /^(\w+ value): .*: /

/** What a cause says about the value must be the same; the message repeats the causes. */
function isGoSyntax({ path, ours, theirs }: Difference): boolean {
  if (typeof ours !== 'string' || typeof theirs !== 'string' || !GO_VALUE.test(theirs)) return false
  if (path === 'body.message') return ours.includes(' is invalid: ')
  return path.endsWith('.message') && ours.replace(VALUE, '$1: ') === theirs.replace(VALUE, '$1: ')
}

function covers(start: string, path: string): boolean {
  if (start === '') return true
  const steps = path.split('.')
  return start.split('.').every((step, i) => step === '*' || step === steps[i])
}
