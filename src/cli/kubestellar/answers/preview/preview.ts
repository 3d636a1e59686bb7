/** Answer of a PlacementPreview, for people and programs. Pure but for the diff of texts. */
import { createTwoFilesPatch } from 'diff'
import { stringify } from 'yaml'
import { list, num, objects, str, strings } from '../../../../apimachinery/fields.ts'
import { isRecord } from '../../../../apimachinery/object.ts'
import { ANSWERS_VERSION } from '../../../shell/output.ts'
import type { Clusters } from '../clusters.ts'
import type { Place } from '../destinations.ts'
import { nameOfObject } from '../objectArgument.ts'

/** A cluster, and the Location by which it is reached. */
interface ClusterPlace extends Place {
  readonly syncTarget: string
}

export interface GroupAnswer {
  readonly action: string
  /** How many clusters. */
  readonly count: number
  /** Some of them. */
  readonly locations: readonly ClusterPlace[]
  readonly before?: unknown
  readonly after?: unknown
  readonly reason?: string
  readonly message?: string
}

export interface ObjectAnswer {
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly operation: string
  readonly placements: readonly string[]
  readonly message?: string
  readonly groups: readonly GroupAnswer[]
  /** Effects of an EdgePlacement on the copies of all objects that it moves, of which few are shown. */
  readonly moves?: MovesAnswer
  /** Unknown part of its moves. */
  readonly unknown?: string
  /** Present where the question includes the clusters' live content: beside their desired content. */
  readonly live?: readonly GroupAnswer[]
  /** Warnings of its write. */
  readonly warnings?: readonly string[]
}

export interface MovesAnswer {
  readonly creates: number
  readonly deletes: number
  readonly unknown: number
  readonly clusters: number
  readonly locations: readonly (ClusterPlace & {
    readonly creates: number
    readonly deletes: number
    readonly unknown: number
  })[]
  readonly isPartial?: true
  readonly isHeld?: true
}

interface StageGroupAnswer {
  /** Absent: clusters that are in no group. */
  readonly name?: string
  readonly approval?: true
  readonly windows: readonly string[]
  readonly count: number
  /** The first of them, in the order in which they begin. */
  readonly locations: readonly (ClusterPlace & { readonly isAway: boolean })[]
}

/** The stages in which an edit comes to the clusters of a placement. */
export interface RolloutPreviewAnswer {
  readonly placement: string
  /** Clusters keep this revision. */
  readonly pinned?: number
  readonly minSuccessSeconds: number
  /** When clusters begin, of whatever group. */
  readonly windows: readonly string[]
  readonly stages: readonly {
    readonly atOnce: number
    readonly mayFail: number
    readonly groups: readonly StageGroupAnswer[]
  }[]
  /** Why the stages are not known. */
  readonly message?: string
}

export interface PreviewAnswer {
  readonly apiVersion: string
  readonly kind: 'Preview'
  /** Whether anything would change in a cluster. */
  readonly changes: boolean
  /** Whether it could not be found out what else would change. */
  readonly unknown?: true
  /** Clusters by action, over all objects; also over those that are moved and not shown. */
  readonly counts: Readonly<Record<string, number>>
  readonly objects: readonly ObjectAnswer[]
  readonly rollouts: readonly RolloutPreviewAnswer[]
}

const STAYS: ReadonlySet<string> = new Set(['namespaces', 'customresourcedefinitions'])
const CHANGES: ReadonlySet<string> = new Set(['Create', 'Update', 'Delete'])
/** Actions of copies that are counted without their objects being shown. */
const COUNTED = [
  ['Create', 'creates'],
  ['Delete', 'deletes'],
  ['Unknown', 'unknown'],
] as const

/** @param documents `status.objects` of the answers, in order; `rollouts`: `status.rollouts` of all of them */
export function readPreview(
  documents: readonly Record<string, unknown>[],
  clusters: Clusters,
  rollouts: readonly Record<string, unknown>[] = [],
): PreviewAnswer {
  const answers = documents.map((one): ObjectAnswer => {
    const namespace = str(one, 'namespace')
    const message = str(one, 'message')
    return {
      group: str(one, 'group'),
      resource: str(one, 'resource'),
      kind: str(one, 'kind'),
      ...(namespace !== '' && { namespace }),
      name: str(one, 'name'),
      operation: str(one, 'operation'),
      placements: strings(one, 'placements'),
      ...(message !== '' && { message }),
      groups: objects(one, 'groups').map(group => readGroup(group, clusters)),
      ...(Array.isArray(one.live) && { live: objects(one, 'live').map(group => readGroup(group, clusters)) }),
      ...(isRecord(one.moves) && { moves: readMoves(one.moves, clusters) }),
      ...(str(one, 'unknown') !== '' && { unknown: str(one, 'unknown') }),
      ...(strings(one, 'warnings').length > 0 && { warnings: strings(one, 'warnings') }),
    }
  })
  const counts = countsOf(answers, new Set(answers.filter((_, i) => documents[i]!.isMoved === true)))
  const changes = Object.keys(counts).some(action => CHANGES.has(action))
  const unknown = answers.some(answer => answer.unknown !== undefined)
  return {
    apiVersion: ANSWERS_VERSION,
    kind: 'Preview',
    changes,
    ...(unknown && { unknown: true }),
    counts,
    objects: answers,
    rollouts: readRollouts(rollouts, clusters),
  }
}

/** Several answers may have the stages of one placement. */
function readRollouts(documents: readonly Record<string, unknown>[], clusters: Clusters): RolloutPreviewAnswer[] {
  const byName = new Map(documents.map(one => [str(one, 'placement'), one]))
  return [...byName].map(([placement, one]) => ({
    placement,
    ...(num(one, 'pinned') > 0 && { pinned: num(one, 'pinned') }),
    minSuccessSeconds: num(one, 'minSuccessSeconds'),
    windows: strings(one, 'windows'),
    stages: objects(one, 'stages').map(stage => ({
      atOnce: num(stage, 'atOnce'),
      mayFail: num(stage, 'mayFail'),
      groups: objects(stage, 'groups').map(group => ({
        ...(str(group, 'name') !== '' && { name: str(group, 'name') }),
        ...(group.approval === true && { approval: true as const }),
        windows: strings(group, 'windows'),
        count: num(group, 'count'),
        locations: objects(group, 'locations').map(at => ({ ...clusterPlace(at, clusters), isAway: at.away === true })),
      })),
    })),
    ...(str(one, 'message') !== '' && { message: str(one, 'message') }),
  }))
}

/** Counts over all objects that EdgePlacements move, where the shown ones are a part of them. */
function countsOf(answers: readonly ObjectAnswer[], moved: ReadonlySet<ObjectAnswer>): Record<string, number> {
  const sum = (some: readonly ObjectAnswer[]): Record<string, number> => {
    const counts: Record<string, number> = {}
    for (const { action, count } of some.flatMap(({ groups }) => groups)) counts[action] = (counts[action] ?? 0) + count
    return counts
  }
  const counts = sum(answers.filter(answer => !moved.has(answer)))
  // as the brake counts: they stay as long as what is held needs them
  const isHeld = answers.some(({ moves }) => moves?.isHeld)
  const shown = sum([...moved].filter(({ resource }) => !isHeld || !STAYS.has(resource)))
  for (const [action, field] of COUNTED) {
    const all = answers.reduce((total, { moves }) => total + (moves?.[field] ?? 0), 0)
    if (all > (shown[action] ?? 0)) shown[action] = all
  }
  for (const [action, count] of Object.entries(shown)) counts[action] = (counts[action] ?? 0) + count
  return counts
}

function readMoves(moves: Record<string, unknown>, clusters: Clusters): MovesAnswer {
  const counts = (of: Record<string, unknown>) => ({
    creates: num(of, 'creates'),
    deletes: num(of, 'deletes'),
    unknown: num(of, 'unknown'),
  })
  return {
    ...counts(moves),
    clusters: num(moves, 'clusters'),
    locations: objects(moves, 'locations').map(one => ({
      ...clusterPlace(one, clusters),
      ...counts(one),
    })),
    ...(moves.isPartial === true && { isPartial: true }),
    ...(moves.isHeld === true && { isHeld: true }),
  }
}

/** @param sentences about EdgePlacements, by name: each chooses other locations */
export function withSentences(answer: PreviewAnswer, sentences: ReadonlyMap<string, string>): PreviewAnswer {
  if (sentences.size === 0) return answer
  const objects = answer.objects.map(object => {
    const sentence = object.kind === 'EdgePlacement' ? sentences.get(object.name) : undefined
    if (sentence === undefined) return object
    const message = object.message === undefined ? sentence : `${object.message}; ${sentence}`
    return { ...object, message }
  })
  return { ...answer, objects }
}

function clusterPlace(one: unknown, clusters: Clusters): ClusterPlace {
  const [inventory, location] = [str(one, 'cluster'), str(one, 'name')]
  const syncTarget = str(one, 'syncTarget') || location
  const place = clusters.places.of(inventory, location)
  return { ...place, location: clusters.labelOf({ inventory, location, syncTarget }), syncTarget }
}

function readGroup(group: Record<string, unknown>, clusters: Clusters): GroupAnswer {
  const [reason, message] = [str(group, 'reason'), str(group, 'message')]
  return {
    action: str(group, 'action'),
    count: num(group, 'count'),
    locations: list(group, 'locations').map(one => clusterPlace(one, clusters)),
    ...(isRecord(group.before) && { before: group.before }),
    ...(isRecord(group.after) && { after: group.after }),
    ...(reason !== '' && { reason }),
    ...(message !== '' && { message }),
  }
}

export function changesSomething({ groups }: ObjectAnswer): boolean {
  return groups.some(({ action }) => CHANGES.has(action))
}

export function titleOf({ group, resource, namespace = '', name }: ObjectAnswer): string {
  return nameOfObject({ group, resource }, namespace, name)
}

const LINES = 3
/** Lines that may be removed and added before a text is shown as replaced as a whole: time grows with its square. */
const MAX_EDITS = 1000

/** As `diff -u`, by YAML; nothing where neither side is known. */
export function diffOf(
  { before, after }: Pick<GroupAnswer, 'before' | 'after'>,
  sides: readonly [string, string] = ['now', 'then'],
): string[] {
  if (before === undefined && after === undefined) return []
  const options = { context: LINES, maxEditLength: MAX_EDITS }
  const [from, to] = [textOf(before), textOf(after)]
  const patch: string | undefined = createTwoFilesPatch(...sides, from, to, '', '', options)
  const text = patch ?? wholly(from, to, sides)
  // the first line is a rule of equal signs
  return text
    .split('\n')
    .filter((line, i) => !(i === 0 && line.startsWith('==')) && line !== '')
    .map(line => (line.startsWith('---') || line.startsWith('+++') ? line.trimEnd() : line))
}

function wholly(from: string, to: string, [one, other]: readonly [string, string]): string {
  const each = (text: string, mark: string) =>
    text
      .trimEnd()
      .split('\n')
      .map(line => `${mark}${line}`)
  return [`--- ${one}`, `+++ ${other}`, ...each(from, '-'), ...each(to, '+')].join('\n')
}

function textOf(value: unknown): string {
  return value === undefined ? '' : stringify(value, { lineWidth: 0, sortMapEntries: true })
}
