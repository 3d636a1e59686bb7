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
  /** Keys of `unlike120` or `unlikeToday` that explain something, without their `?`. */
  explained: string[]
  /** Those that explain nothing, though they should. */
  idle: string[]
}

/** An explanation for several steps, of which some need none. */
const MAYBE = /^\?/

/** Against kube-apiserver 1.20. */
export function judge120(step: Step, ours: Outcome, theirs: Outcome): Verdict {
  const found = differences(withoutNewer(ours), withoutNewer(theirs)).filter(difference => !isGoSyntax(difference))
  return explained(found, step.unlike120)
}

/** Against a server of today. It lists the content of maps in any order, and shows values of its structs in words of its own. */
export function judgeToday(step: Step, ours: Outcome, theirs: Outcome): Verdict {
  const found = differences(inOrder(ours), inOrder(theirs)).filter(difference => !isInternal(difference))
  return explained(found, step.unlikeToday)
}

/** Causes in order of their text instead of the message that repeats them. */
function inOrder(outcome: Outcome): Outcome {
  const { body } = outcome
  if (!isRecord(body)) return outcome
  // a step may show the causes alone
  const shown = body['details.causes']
  const all = isRecord(body.details) ? body.details.causes : shown
  if (!Array.isArray(all)) return outcome
  const causes = all.map(withoutInternal).toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
  const message =
    causes.length > 1 && typeof body.message === 'string' ? body.message.split(' is invalid: ')[0] : body.message
  const sorted =
    shown === undefined ? { details: { ...(body.details as object), causes } } : { 'details.causes': causes }
  return { ...outcome, body: { ...body, message, ...sorted } }
}

function textOf(value: unknown): string {
  return JSON.stringify(value)
}

/** A struct of Go, as JSON. */
const STRUCT = /(Invalid value: )(?:\[?\{"(?:Rule|Name|ID)":.*?\}\]?: |\{"rule":.*?\}: )/s

function withoutInternal(cause: unknown): unknown {
  if (!isRecord(cause) || typeof cause.message !== 'string') return cause
  return { ...cause, message: cause.message.replace(STRUCT, '$1') }
}

function isInternal({ path, ours, theirs }: Difference): boolean {
  if (path !== 'body.message' || typeof ours !== 'string' || typeof theirs !== 'string') return false
  return ours.replace(STRUCT, '$1') === theirs.replace(STRUCT, '$1')
}

function explained(found: readonly Difference[], unlike: Readonly<Record<string, string>> = {}): Verdict {
  const explanations = Object.keys(unlike)
  const used = new Set<string>()
  const unexplained = found.filter(({ path }) => {
    const why = explanations.filter(start => covers(start.replace(MAYBE, ''), path))
    for (const start of why) used.add(start)
    return why.length === 0
  })
  return {
    unexplained,
    explained: [...used].map(start => start.replace(MAYBE, '')),
    idle: explanations.filter(start => !used.has(start) && !MAYBE.test(start)),
  }
}

/** One line for each difference, for people. */
export function report(step: Step, id: string, { unexplained, idle }: Verdict): string[] {
  const title = `${id} ${titleOf(step)}`
  const text = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))
  return [
    ...unexplained.map(
      ({ path, ours, theirs }) => `${title}\n    ${path}\n      ours:   ${text(ours)}\n      theirs: ${text(theirs)}`,
    ),
    ...idle.map(start => `${title}\n    the explanation of "${start}" explains nothing`),
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
const GO_VALUE = /(Invalid|Unsupported|Duplicate) value: (?:&|\*|\[\]|map\[|0x|[a-z0-9]+\.[A-Z])/
const VALUE = /^(\w+ value): .*: /

/** The value's error in a cause must be the same; the message repeats the causes. */
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
