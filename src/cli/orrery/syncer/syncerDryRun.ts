/** `orrery syncer --dry-run`: what a syncer would do in its cluster, one line for each object. */

import { type Rehearsal, type Rehearsed, rehearse } from '../../../syncer/rehearsal.ts'
import type { SyncerOptions } from '../../../syncer/syncer.ts'
import { type Host, printFound } from '../host.ts'

const EXIT = { nothing: 0, something: 1, refused: 2, unknown: 3 }

/** Its exit code says what came of it. */
export async function printRehearsal(
  options: SyncerOptions,
  settings: Readonly<Record<string, unknown>>,
  host: Host,
): Promise<number> {
  let rehearsal: Rehearsal
  try {
    rehearsal = await rehearse(options)
  } catch (error) {
    return printUnknown(error, host)
  }
  for (const note of rehearsal.notes) host.err(`Note: ${note}`)
  await printFound(settings, rehearsalLines(rehearsal.acts), { kind: 'SyncerRehearsal', acts: rehearsal.acts }, host)
  return exitCodeOf(rehearsal.acts)
}

/** It could not be found out; 1 would say that there is something to do. */
export function printUnknown(error: unknown, host: Host): number {
  host.err(`Error: ${error instanceof Error ? error.message : String(error)}`)
  return EXIT.unknown
}

export function rehearsalLines(acts: readonly Rehearsed[]): string[] {
  const counts = new Map<string, number>()
  for (const { act } of acts) counts.set(act, (counts.get(act) ?? 0) + 1)
  const sum = [...counts].map(([act, count]) => `${count} to ${act}`).join(', ')
  return [
    ...acts.map(({ act, what, message }) => (message === undefined ? `${act} ${what}` : `${act} ${what}: ${message}`)),
    acts.length === 0 ? 'the cluster holds what its mailbox says; nothing to do' : `${sum}; nothing was written`,
  ]
}

export function exitCodeOf(acts: readonly Rehearsed[]): number {
  if (acts.length === 0) return EXIT.nothing
  return acts.some(({ act }) => act === 'refuse' || act === 'fail') ? EXIT.refused : EXIT.something
}
