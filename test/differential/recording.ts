/**
 * Recorded outcomes: one line of JSON for each step, so that a change of behaviour is a line in a review. A line says who judged it, or why
 * nobody did. An answer without a judge and a reason is not recorded.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agrees, type Opinion, reasonOf, withoutVersion } from './judges.ts'
import type { Outcome } from './play.ts'
import { type Script, titleOf } from './script.ts'
import { stepIds } from './stepIds.ts'

/** A step and its answer. */
export interface Line extends Outcome {
  id: string
  step: string
}

export interface Recorded extends Line {
  /** By name and version, the peers that answer the same, each with the parts in which it answers otherwise, explained. */
  judges?: Record<string, string[]>
  /** Why there are none. */
  unjudged?: string
}

const fileOf = (script: Script): string => join(import.meta.dirname, 'recorded', `${script.name}.jsonl`)

/** As they come back from a file: without members that are undefined. */
export function linesOf(script: Script, outcomes: readonly Outcome[]): Line[] {
  const ids = stepIds(script.steps)
  const lines = outcomes.map((outcome, i) => ({ id: ids[i], step: titleOf(script.steps[i]!), ...outcome }))
  return JSON.parse(JSON.stringify(lines)) as Line[]
}

/** The answer, apart from its judges. */
export function lineOf({ judges: _, unjudged: __, ...line }: Recorded): Line {
  return line
}

export function readRecording(script: Script): Recorded[] {
  if (!existsSync(fileOf(script))) return []
  const lines = readFileSync(fileOf(script), 'utf8').split('\n')
  return lines.filter(line => line !== '').map(line => JSON.parse(line) as Recorded)
}

export interface Judged {
  recorded: Recorded[]
  /** Steps that nobody judged, without a reason in the script: they may not be recorded. */
  refused: string[]
}

/**
 * Valid recordings of these outcomes, by the peers' opinions and the recording `before`. A peer that is not here now counts for the answers
 * that are as they were.
 */
export function judged(
  script: Script,
  outcomes: readonly Outcome[],
  opinions: readonly Opinion[],
  before: readonly Recorded[],
): Judged {
  const earlier = new Map(before.map(line => [line.id, line]))
  const here = new Set(opinions.map(({ judge }) => withoutVersion(judge)))
  const refused: string[] = []
  const recorded = linesOf(script, outcomes).map((line, i): Recorded => {
    const { id, step, ...outcome } = line
    const was = earlier.get(id)
    const isSame = was !== undefined && JSON.stringify(lineOf(was)) === JSON.stringify(line)
    const judges = [
      ...Object.entries((isSame ? was.judges : undefined) ?? {}).filter(([judge]) => !here.has(withoutVersion(judge))),
      ...opinions.flatMap(({ judge, verdicts }) => {
        const verdict = verdicts[i]
        return verdict && agrees(verdict) ? [[judge, verdict.explained.toSorted()] as const] : []
      }),
    ].sort(([a], [b]) => (a < b ? -1 : 1))
    if (judges.length > 0) return { id, step, judges: Object.fromEntries(judges), ...outcome }
    const unjudged = reasonOf(script, script.steps[i]!)
    if (unjudged === undefined) refused.push(`${id} ${step}`)
    return { id, step, ...(unjudged !== undefined && { unjudged }), ...outcome }
  })
  return { recorded, refused }
}

export function writeRecording(script: Script, recorded: readonly Recorded[]): void {
  writeFileSync(fileOf(script), `${recorded.map(line => JSON.stringify(line)).join('\n')}\n`)
}
