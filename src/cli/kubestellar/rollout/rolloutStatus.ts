/** How far rollouts are, for people and programs. Pure. */
import { at, num, records, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { ANSWERS_VERSION, ago, type Cell, type Colour, Footnotes, type TextOptions, table } from '../../shell/output.ts'
import { NO_CHANGE, CHANGE as STOPPED, UNFINISHED } from '../answers/exitCodes.ts'
import { placementOf, revisionOf } from './rollouts.ts'

interface ClusterAnswer {
  readonly location: string
  readonly group: string
  readonly state: string
  readonly revision: number
  /** RFC 3339; absent before its step began. */
  readonly began?: string
  readonly isAway: boolean
  readonly hasJoined: boolean
  readonly reason: string
  readonly message: string
}

export interface RolloutAnswer {
  readonly placement: string
  readonly revision: number
  readonly from: number
  readonly state: string
  readonly reason: string
  readonly message: string
  readonly by: string
  /** RFC 3339. */
  readonly at: string
  readonly isUrgent: boolean
  /** A pause outlasts its rollout: newer edits wait, too. */
  readonly isPaused: boolean
  readonly total: number
  readonly done: number
  readonly clusters: readonly ClusterAnswer[]
}

export interface RolloutsAnswer {
  readonly apiVersion: string
  readonly kind: 'RolloutStatus'
  readonly rollouts: readonly RolloutAnswer[]
}

export function rolloutsAnswer(rollouts: readonly KubeObject[]): RolloutsAnswer {
  return { apiVersion: ANSWERS_VERSION, kind: 'RolloutStatus', rollouts: rollouts.map(answerOf) }
}

function answerOf(rollout: KubeObject): RolloutAnswer {
  const { spec, status } = rollout
  return {
    placement: placementOf(rollout),
    revision: revisionOf(rollout),
    from: num(spec, 'from'),
    state: str(status, 'state') || 'Running',
    reason: str(status, 'reason'),
    message: str(status, 'message'),
    by: str(spec, 'by'),
    at: str(spec, 'at'),
    isUrgent: at(spec, 'urgent') === true,
    isPaused: at(spec, 'paused') === true,
    total: num(status, 'total'),
    done: num(status, 'done'),
    clusters: records(status, 'clusters').map(one => ({
      location: str(one, 'cluster'),
      group: str(one, 'group'),
      state: str(one, 'state'),
      revision: num(one, 'revision'),
      ...(str(one, 'began') !== '' && { began: str(one, 'began') }),
      isAway: one.away === true,
      hasJoined: one.joined === true,
      reason: str(one, 'reason'),
      message: str(one, 'message'),
    })),
  }
}

const ENDED: Readonly<Record<string, number>> = {
  Done: NO_CHANGE,
  Failed: STOPPED,
  RolledBack: STOPPED,
  Superseded: STOPPED,
}

/** Exit code for the gravest of several. */
export function rolloutExit({ rollouts }: RolloutsAnswer): number {
  const codes = rollouts.map(({ state }) => ENDED[state] ?? UNFINISHED)
  return codes.includes(STOPPED) ? STOPPED : codes.includes(UNFINISHED) ? UNFINISHED : NO_CHANGE
}

const COLOURS: Readonly<Record<string, Colour>> = {
  Done: 'good',
  Failed: 'bad',
  Stuck: 'bad',
  RolledBack: 'bad',
  Waiting: 'warn',
  Paused: 'warn',
}

/** Rows of a table; `-o wide` shows all. */
const ROWS = 40
/** Troubles first. */
const ORDER = ['Failed', 'Stuck', 'Running', 'Waiting', 'Paused', 'Planned', 'Done', 'Superseded', 'Skipped']

/** One rollout cluster by cluster. */
export function rolloutText(rollout: RolloutAnswer, { wide, paint, nowMs, columns }: TextOptions): string[] {
  const { placement, revision, from, state, message, by, at, isUrgent, isPaused, clusters } = rollout
  const [who, when] = [by && ` by ${by}`, at && `, ${ago(at, nowMs)} ago`]
  const lines = [
    `${paint(`placement ${placement}`, 'bold')}: revision ${revision}${from > 0 ? ` after ${from}` : ''}${who}${when}`,
    paint(`${state}${message === '' ? '' : `: ${message}`}`, COLOURS[state]),
  ]
  if (isUrgent) lines.push(paint('It goes to all clusters at once, past its stages.', 'warn'))
  if (isPaused)
    lines.push(paint('It is paused, and newer edits wait, too: kubectl kubestellar rollout resume ends that.', 'warn'))
  const rank = (one: ClusterAnswer): number =>
    (ORDER.indexOf(one.state) + 1 || ORDER.length + 1) + (one.isAway ? 0.5 : 0)
  const sorted = clusters.toSorted((a, b) => rank(a) - rank(b) || (a.location < b.location ? -1 : 1))
  const shown = wide ? sorted : sorted.slice(0, ROWS)
  if (shown.length === 0) return lines
  const footnotes = new Footnotes(wide ? [] : shown.map(messageIn))
  const rows = shown.map((one): (Cell | string)[] => [
    one.location,
    one.group || '-',
    { text: one.state, colour: COLOURS[one.state] },
    String(one.revision || '-'),
    ago(one.began, nowMs),
    messageIn(one),
  ])
  lines.push(
    '',
    ...table(['LOCATION', 'GROUP', 'STATE', 'REVISION', 'SINCE', 'MESSAGE'], rows, paint, { columns, footnotes }),
  )
  lines.push(...footnotes.lines)
  if (shown.length < sorted.length) lines.push(`${sorted.length - shown.length} more clusters (-o wide shows them)`)
  return lines
}

function messageIn({ isAway, hasJoined, message }: ClusterAnswer): string {
  return [isAway ? 'away' : '', hasJoined ? 'joined meanwhile' : '', message].filter(text => text !== '').join('; ')
}

/** Rollouts of several placements, one in a line. */
export function rolloutsText({ rollouts }: RolloutsAnswer, { paint, nowMs, columns }: TextOptions): string[] {
  const rows = rollouts.map((one): (Cell | string)[] => [
    one.placement,
    String(one.revision),
    { text: one.state, colour: COLOURS[one.state] },
    `${one.done}/${one.total}`,
    one.by,
    ago(one.at, nowMs),
    one.message,
  ])
  if (rows.length === 0) return ['no placement here has a rollout']
  return table(['PLACEMENT', 'REVISION', 'STATE', 'DONE', 'BY', 'AGE', 'MESSAGE'], rows, paint, {
    columns,
    footnotes: new Footnotes(),
  })
}
