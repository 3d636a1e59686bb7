/** One word and one sentence on an object, from all that is known of it. */
import { isDone } from '../workStatus.ts'
import type { WhyAnswer, WhyFacts } from './whyAnswer.ts'
import type { Note } from './whyNotes.ts'

interface Judged {
  what: string
  stays: Note | undefined
  facts: WhyFacts
  cluster: string | undefined
}

export function verdictOf(
  { placements, clusters }: Pick<WhyAnswer, 'placements' | 'clusters'>,
  { what, stays, facts, cluster }: Judged,
): Pick<WhyAnswer, 'verdict' | 'message'> {
  const verdictWith = (verdict: string, message: string) => ({ verdict, message: `${what} ${message}` })
  if (stays) return verdictWith(stays.reason, `stays in this space: ${stays.message}`)
  if (facts.placements.unknown !== undefined && clusters.length === 0)
    return verdictWith('Unknown', `may be placed or not: ${facts.placements.unknown}`)
  const selecting = placements.filter(({ selects }) => selects)
  if (selecting.length === 0 && clusters.length === 0) {
    return verdictWith(
      'NotSelected',
      placements.length === 0
        ? 'is placed nowhere: this space has no EdgePlacement'
        : 'is placed nowhere: no EdgePlacement selects it',
    )
  }
  if (clusters.length === 0) {
    const note = selecting.flatMap(({ notes }) => notes)[0]
    const where = cluster === undefined ? 'to no cluster' : `not to ${JSON.stringify(cluster)}`
    return verdictWith(
      'NowhereToPlace',
      `is selected, and led ${where}${cluster === undefined && note ? `: ${note.message}` : ''}`,
    )
  }
  const counts = new Map<string, number>()
  for (const { state, health } of clusters) {
    const word = isDone({ state }) && health !== undefined && health !== 'Healthy' ? `${state} (${health})` : state
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const [first] = clusters
  const states = [...counts].map(([state, count]) => `${state} in ${count}`).join(', ')
  const placed =
    selecting.length > 0 || facts.placements.unknown !== undefined ? '' : 'selected by no EdgePlacement any more, and '
  return verdictWith(
    first!.state === 'Applied' ? (first!.health ?? 'Applied') : first!.state,
    `is ${placed}${states} of ${clusters.length} ${clusters.length === 1 ? 'cluster' : 'clusters'}`,
  )
}
