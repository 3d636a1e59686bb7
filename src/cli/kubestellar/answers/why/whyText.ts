/** The answer of `why` for people. */

import { COPY_STATES, factsOf } from '../../../../placement/outcome/copyStates.ts'
import { ago, type Colour, Footnotes, type TextOptions, table } from '../../../shell/output.ts'
import type { LocationMiss } from '../destinations.ts'
import { type ClusterState, isDone } from '../workStatus.ts'
import type { PlacementAnswer, WhyAnswer } from './whyAnswer.ts'
import type { Note } from './whyNotes.ts'
import { stagesText } from './whyStages.ts'

/** Number of misses; `-o wide` shows all that there are. */
const FEW = 3

export function whyText(answer: WhyAnswer, options: TextOptions): string[] {
  const { wide, paint } = options
  const shown = wide ? answer.placements : someOf(answer.placements)
  const selecting = shown.filter(({ selects }) => selects)
  const notes = [...answer.notes, ...selecting.flatMap(one => one.notes)].map(({ message }) => message)
  const footnotes = new Footnotes(wide ? [] : [...notes, ...answer.clusters.map(messageIn)])
  const noted = notedBy(footnotes)
  const lines = [paint(answer.message, colourOf(answer.clusters[0]) ?? (answer.clusters.length > 0 ? 'good' : 'bad'))]
  for (const note of answer.notes) lines.push(paint(noted(note), 'warn'))
  for (const placement of shown) lines.push('', ...placementText(placement, noted, options))
  const left = answer.placements.length - shown.length
  if (left > 0) lines.push('', `${left} more placements do not select it (-o wide shows them)`)
  if (answer.clusters.length > 0) lines.push('', ...clusterTable(answer.clusters, options, footnotes))
  lines.push(...footnotes.lines)
  if (answer.unknown.length > 0) lines.push('', ...answer.unknown.map(text => paint(`not known: ${text}`, 'dim')))
  return lines
}

/** All that select it, and else the nearest. */
function someOf(placements: readonly PlacementAnswer[]): readonly PlacementAnswer[] {
  const selecting = placements.filter(({ selects }) => selects)
  return selecting.length > 0
    ? [...selecting, ...placements.slice(selecting.length, selecting.length + 1)]
    : placements.slice(0, FEW)
}

function placementText(placement: PlacementAnswer, noted: (note: Note) => string, options: TextOptions): string[] {
  const { wide, paint } = options
  const {
    name,
    selects,
    by,
    implied,
    nearest,
    heldBackBy,
    message,
    notes,
    misses = [],
    leads,
    granted,
    stages,
  } = placement
  const title = paint(`placement ${name}`, 'bold')
  if (!selects) {
    if (!nearest) return [`${title} does not select it: ${message}`]
    return [
      `${title} does not select it; ${nearest.test} comes nearest:`,
      ...nearest.misses.map(miss => `  ${miss.field} ${miss.message}`),
    ]
  }
  const lines = [`${title} selects it${by === undefined ? `: ${implied}` : ` by ${by}`}`]
  if (heldBackBy !== undefined) {
    lines.push(`  ${heldBackBy} names it, too: where it may be carried up it is born in the clusters, and not placed`)
  }
  for (const note of notes) lines.push(`  ${paint(noted(note), 'warn')}`)
  lines.push(
    `  leads to ${leads} of ${granted} ${granted === 1 ? 'location' : 'locations'} that this space may place on`,
  )
  if (stages) lines.push(...stagesText(name, stages, options))
  const few = wide ? misses : misses.slice(0, FEW)
  lines.push(...few.map(missText))
  const left = misses.length - few.length
  if (left > 0) lines.push(`  not to ${left} more (-o wide shows them)`)
  return lines
}

function missText({ location, message }: LocationMiss): string {
  return `  not to ${location}: ${message}`
}

export function clusterTable(
  clusters: readonly ClusterState[],
  { wide, paint, nowMs, columns }: TextOptions,
  footnotes: Footnotes,
): string[] {
  const hasHealth = clusters.some(({ health }) => health !== undefined)
  const head = [
    'LOCATION',
    'STATE',
    ...(hasHealth ? ['HEALTH'] : []),
    'SINCE',
    ...(wide ? ['PLACEMENTS'] : []),
    'REASON',
    'MESSAGE',
  ]
  const rows = clusters.map(one => [
    one.location,
    { text: one.state, colour: colourOf(one) ?? 'good' },
    ...(hasHealth ? [{ text: one.health ?? '', colour: healthColour(one.health) }] : []),
    ago(one.since, nowMs),
    ...(wide ? [one.placements.join(',')] : []),
    one.reason === one.state ? '' : (one.reason ?? ''),
    messageIn(one),
  ])
  return table(head, rows, paint, { columns, footnotes })
}

export function messageIn({ message, healthMessage }: ClusterState): string {
  return message || healthMessage || ''
}

/** Colour of one cluster's state; `undefined` where all is well. */
function colourOf(state: ClusterState | undefined): Colour | undefined {
  if (!state) return undefined
  const { colour } = factsOf(state.state) ?? COPY_STATES.Unknown
  if (!isDone(state)) return colour
  if (state.health === undefined || state.health === 'Healthy') return undefined
  return state.health === 'Degraded' ? 'bad' : 'warn'
}

function healthColour(health: string | undefined): Colour | undefined {
  if (health === undefined) return undefined
  return health === 'Healthy' ? 'good' : health === 'Degraded' ? 'bad' : 'warn'
}

/** Some messages count by reason, and begin with one. */
function notedBy(footnotes: Footnotes): (note: Note) => string {
  return ({ reason, message }) => {
    const words = footnotes.of(message)
    return words.startsWith(`${reason}: `) ? `! ${words}` : `! ${reason}: ${words}`
  }
}
