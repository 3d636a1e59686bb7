/** The answers of `preview` and `diff` for people: a unified diff for each group of clusters, and a summary. */
import { someOf } from '../../../../apimachinery/someOf.ts'
import { durationText } from '../../../shell/durations.ts'
import type { Colour, Paint } from '../../../shell/output.ts'
import {
  diffOf,
  type GroupAnswer,
  type MovesAnswer,
  type ObjectAnswer,
  type PreviewAnswer,
  type RolloutPreviewAnswer,
  titleOf,
} from './preview.ts'

/** Names of clusters in a head; `-o wide` shows all that are known. */
const FEW = 5
const COLOURS: Readonly<Record<string, Colour>> = {
  Create: 'good',
  Update: 'warn',
  Delete: 'bad',
  Conflict: 'bad',
  Invalid: 'bad',
  NotPermitted: 'bad',
  Paused: 'warn',
  Unknown: 'warn',
}

interface PreviewTextOptions {
  readonly wide: boolean
  readonly paint: Paint
  /** Words for actions, with the preposition before the clusters. Default: those of a preview. */
  readonly words?: Readonly<Record<string, string>>
}

export function previewText(answer: PreviewAnswer, options: PreviewTextOptions): string[] {
  const lines = [
    ...answer.objects.flatMap(object => objectText(object, options)),
    ...answer.rollouts.flatMap(rollout => rolloutText(rollout, options)),
  ]
  return [...lines, ...(lines.length > 0 ? [''] : []), summaryOf(answer)]
}

/** The stages in which what changes comes to clusters. */
export function rolloutText(rollout: RolloutPreviewAnswer, { wide }: Pick<PreviewTextOptions, 'wide'>): string[] {
  const { placement, pinned, minSuccessSeconds, windows, stages, message } = rollout
  const title = `rollout of ${placement}`
  const gates = [
    ...(minSuccessSeconds > 0
      ? [`each cluster is done after ${durationText(minSuccessSeconds * 1000)} of health`]
      : []),
    ...(windows.length > 0 ? [`clusters begin within ${windows.join('; ')}`] : []),
  ]
  const head = message ?? [`${stages.length} ${stages.length === 1 ? 'stage' : 'stages'}`, ...gates].join('; ')
  const lines = [`${title}: ${head}`]
  for (const [i, { atOnce, mayFail, groups }] of stages.entries()) {
    lines.push(`  ${i + 1}. ${atOnce} at once, ${mayFail} may fail`)
    for (const group of groups) lines.push(`     ${stageGroupText(group, wide)}`)
  }
  if (pinned !== undefined)
    lines.push(`  pinned: clusters keep revision ${pinned} until \`kubectl kubestellar rollout unpin ${placement}\``)
  return lines
}

type StageGroup = RolloutPreviewAnswer['stages'][number]['groups'][number]

function stageGroupText({ name, approval, windows, count, locations }: StageGroup, wide: boolean): string {
  const few = locations.slice(0, wide ? locations.length : FEW)
  const named = few.map(({ location, isAway }) => (isAway ? `${location} (away)` : location))
  const clusters = count === 0 ? 'no cluster' : someOf(named, named.length, count)
  const gates = [
    ...(approval ? ['after an approval'] : []),
    ...(windows.length > 0 ? [`within ${windows.join('; ')}`] : []),
  ]
  const head = name === undefined ? 'clusters in no group' : `group ${name}`
  return `${[head, ...gates].join(', ')}: ${clusters}`
}

export function summaryOf({ counts, objects, unknown }: PreviewAnswer): string {
  const changes = Object.entries(counts).map(([action, count]) => `${count} ${WORDS[action] ?? action}`)
  const what = `${objects.length} ${objects.length === 1 ? 'object' : 'objects'}`
  const moves = changes.length > 0 ? [`${changes.join(', ')} in clusters`] : unknown ? [] : ['nothing in any cluster']
  const rest = unknown
    ? [changes.length > 0 ? 'what else would change is not known' : 'what would change is not known']
    : []
  const held = objects.some(object => object.moves?.isHeld) ? ['deletions would be held until they are confirmed'] : []
  return `${what}: ${[...moves, ...rest, ...held].join('; ')}`
}

/** One sentence about the whole object; `undefined` where its groups of clusters say all. */
export function sentenceOf({ message, placements, groups }: ObjectAnswer): string | undefined {
  if (message !== undefined) return message
  if (groups.length > 0) return undefined
  return placements.length === 0
    ? 'no EdgePlacement selects it'
    : `selected by ${placements.join(', ')}, which lead nowhere`
}

/** Objects that an EdgePlacement moves, of which few are shown. */
export function movesText({ moves, unknown }: ObjectAnswer, { wide, paint }: PreviewTextOptions): string[] {
  const lines: string[] = []
  if (moves && moves.clusters > 0) {
    const few = moves.locations.slice(0, wide ? moves.locations.length : FEW)
    const at = moves.isPartial ? 'at least ' : ''
    lines.push(`  copies: ${at}${copies(moves)} in ${moves.clusters} ${moves.clusters === 1 ? 'cluster' : 'clusters'}`)
    for (const one of few) lines.push(`    ${one.location}: ${copies(one)}`)
    if (moves.clusters > few.length) lines.push(`    and ${moves.clusters - few.length} more`)
  }
  if (moves?.isHeld) lines.push(paint(`  ${HELD}`, 'warn'))
  if (unknown !== undefined) lines.push(paint(`  ${unknown}`, 'warn'))
  return lines
}

const HELD =
  'the brake would hold these deletions (DeletionHeld on the EdgePlacement) until somebody confirms them; what is created comes at once'

function copies({ creates, deletes, unknown }: Pick<MovesAnswer, 'creates' | 'deletes' | 'unknown'>): string {
  const counts = [
    [creates, 'created'],
    [deletes, 'deleted'],
    [unknown, 'unknown'],
  ] as const
  return counts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ')
}

/** Words for actions. */
export const WORDS: Readonly<Record<string, string>> = {
  Create: 'created',
  Update: 'updated',
  Delete: 'deleted',
  Unchanged: 'unchanged',
  Conflict: 'in conflict',
  Paused: 'paused',
  NotPermitted: 'not permitted',
  Invalid: 'invalid',
  Unknown: 'unknown',
}

function objectText(object: ObjectAnswer, options: PreviewTextOptions): string[] {
  const title = titleOf(object)
  const sentence = sentenceOf(object)
  if (sentence !== undefined) return [`${title}: ${sentence}`, ...movesText(object, options)]
  return object.groups.flatMap(group => groupText(title, group, options))
}

export function groupText(title: string, group: GroupAnswer, { wide, paint, words }: PreviewTextOptions): string[] {
  const { action, count, locations, message } = group
  const named = locations.slice(0, wide ? locations.length : FEW).map(({ location }) => location)
  const where = someOf(named, named.length, count)
  const head = paint(`${title} ${words?.[action] ?? `${WORDS[action] ?? action} in`} ${where}`, COLOURS[action])
  const lines = message === undefined ? [head] : [`${head}: ${message}`]
  const isFolded = action === 'Unchanged' || (action === 'Delete' && !wide)
  return isFolded ? lines : [...lines, ...diffOf(group).map(line => paint(line, colourOf(line)))]
}

/** Colour of a line of a diff. */
export function colourOf(line: string): Colour | undefined {
  if (line.startsWith('---') || line.startsWith('+++')) return 'bold'
  if (line.startsWith('@@')) return 'dim'
  return line.startsWith('+') ? 'good' : line.startsWith('-') ? 'bad' : undefined
}
