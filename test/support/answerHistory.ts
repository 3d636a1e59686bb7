/**
 * The promises of answers, as checks over a recorded history. A request after any client's answer, on whatever connection, gets nothing
 * older. Each answer is right about one instant between request and answer. As `watchHistory.ts`, it does not know where a record comes
 * from.
 */
import type { Change } from './watchHistory.ts'

/** The newest version of an object at some revision; none where it is not there. */
export type StateAt = (key: string) => Change | undefined

export interface AnswerRecord {
  readonly name: string
  /** Number of earlier records with an answer at its request. */
  readonly begun: number
  /** The newest revision there was when it was answered. */
  readonly to: number
  /** Knowledge of the answer's holder: all up to a revision has happened, or the deletion of an object has. */
  readonly tells?: number | { readonly deleted: string }
  /** The revision whose state the answer is about, where it says so. */
  readonly at?: number
  /** Whether the answer is right about a state. Default: about each. */
  readonly suits?: (state: StateAt) => boolean
}

/** Faults by answer. `log`: all changes in the order of revisions; `answers`: in the order of their arrival. */
export function brokenAnswers(log: readonly Change[], answers: readonly AnswerRecord[]): string[] {
  const versions = Map.groupBy(log, ({ key }) => key)
  const stateAt =
    (revision: number): StateAt =>
    key => {
      const newest = versions.get(key)?.findLast(change => change.revision <= revision)
      return newest?.type === 'put' ? newest : undefined
    }
  /** Common knowledge after so many answers. */
  const known = [0]
  const broken: string[] = []
  for (const { name, begun, to, tells, at, suits } of answers) {
    const from = known[begun]!
    const add = (why: string): number => broken.push(`${name}, asked at ${from} and answered at ${to}: ${why}`)
    const told = typeof tells === 'object' ? deletionBehind(versions.get(tells.deleted), from) : (tells ?? 0)
    if (told === undefined) add('the deletion is not in the log')
    else if (told > to) add(`it tells of ${told}, which comes later`)
    known.push(Math.max(known.at(-1)!, told ?? 0))
    if (at !== undefined && (at < from || at > to)) add(`it is about ${at}`)
    else if (suits && !instants(log, at ?? from, at ?? to).some(revision => suits(stateAt(revision))))
      add('it was so at no instant between')
  }
  return broken
}

function deletionBehind(versions: readonly Change[] | undefined, revision: number): number | undefined {
  return versions?.find(change => change.type === 'delete' && change.revision > revision)?.revision
}

/** The first one, and each at which something changed. */
function instants(log: readonly Change[], from: number, to: number): number[] {
  return [from, ...log.map(({ revision }) => revision).filter(revision => revision > from && revision <= to)]
}
