/** How many recorded steps were judged by whom, for people. */
import type { Recorded } from './recording.ts'

/** One line for each judge and one for what has none; `recordings` by the name of their script. */
export function countsOf(recordings: ReadonlyMap<string, readonly Recorded[]>): string[] {
  const all = [...recordings.values()].flat()
  const judges = [...new Set(all.flatMap(({ judges = {} }) => Object.keys(judges)))].sort()
  const nobody = all.filter(({ judges }) => judges === undefined)
  const where = [...recordings]
    .map(([name, lines]) => [name, lines.filter(({ judges }) => judges === undefined).length] as const)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
  return [
    `${all.length} steps`,
    ...judges.map(judge => {
      const theirs = all.filter(({ judges = {} }) => judge in judges)
      const inPart = theirs.filter(({ judges = {} }) => judges[judge]!.length > 0)
      return `${theirs.length} judged by ${judge}, ${inPart.length} of them in part`
    }),
    `${nobody.length} judged by nobody${where.length === 0 ? '' : `: ${where.map(entry => entry.join(' ')).join(', ')}`}`,
  ]
}
