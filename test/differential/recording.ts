/** Recorded outcomes: one line of JSON for each step, so that a change of behaviour is a line in a review. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from './play.ts'
import { type Script, titleOf } from './script.ts'

const fileOf = (script: Script): string => join(import.meta.dirname, 'recorded', `${script.name}.jsonl`)

export type Recorded = { step: string } & Outcome

/** As it comes back from its file: without members that are undefined. */
export function recordedForm(script: Script, outcomes: readonly Outcome[]): Recorded[] {
  const named = outcomes.map((outcome, i) => ({ step: titleOf(script.steps[i]!, i), ...outcome }))
  return JSON.parse(JSON.stringify(named)) as Recorded[]
}

export function readRecording(script: Script): Recorded[] {
  if (!existsSync(fileOf(script))) return []
  const lines = readFileSync(fileOf(script), 'utf8').split('\n')
  return lines.filter(line => line !== '').map(line => JSON.parse(line) as Recorded)
}

export function writeRecording(script: Script, outcomes: readonly Outcome[]): void {
  const lines = recordedForm(script, outcomes).map(line => JSON.stringify(line))
  writeFileSync(fileOf(script), `${lines.join('\n')}\n`)
}
