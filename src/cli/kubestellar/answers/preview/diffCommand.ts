/**
 * `kubectl kubestellar diff`: the desired content of an object in clusters beside the actual one, as far as the center knows both. It
 * covers the content on its way, its outcome, and the live content, which syncers read for it.
 */

import { isStatusError } from '../../../../apimachinery/errors.ts'
import { onConflict } from '../../../../client/onConflict.ts'
import { CommandError } from '../../../shell/commandError.ts'
import { ANSWERS_VERSION, Footnotes, type Format, printAnswer, type TextOptions } from '../../../shell/output.ts'
import type { Terminal } from '../../../shell/terminal.ts'
import { type AnswerOptions, checkPlaces, withSpace } from '../answerSession.ts'
import type { Clusters } from '../clusters.ts'
import { CHANGE, comparing, NO_CHANGE, TROUBLE } from '../exitCodes.ts'
import { nameOfObject } from '../objectArgument.ts'
import { clustersIn, why } from '../why/why.ts'
import type { WhyAnswer, WhyFacts } from '../why/whyAnswer.ts'
import { Question } from '../why/whyFacts.ts'
import { clusterTable, messageIn } from '../why/whyText.ts'
import { type ClusterState, isDone } from '../workStatus.ts'
import { changesSomething, type GroupAnswer, type ObjectAnswer } from './preview.ts'
import { ATTEMPTS, askPreview, NoPreviews } from './previewCommand.ts'
import { groupText } from './previewText.ts'

interface DiffOptions extends AnswerOptions {
  cluster?: string
  /** Whether clusters are read. Default: they are. */
  live?: boolean
  output?: Format
  /** Beside which the object is compared, and nothing with clusters. */
  revision?: string
}

interface DiffAnswer {
  readonly apiVersion: string
  readonly kind: 'Diff'
  readonly object: WhyAnswer['object']
  /** Whether some cluster has, or is given, something else than it should have. */
  readonly differs: boolean
  readonly message: string
  /** Compared content. */
  readonly compared: string
  /** Between the object and what is on its way: where they differ the center is behind. */
  readonly center: readonly GroupAnswer[]
  /** Differences between the content on its way and the clusters' live content, in the center's fields; equal ones are left out. */
  readonly live: readonly GroupAnswer[]
  /** Between what is on its way and the clusters, in their words; those that have it are left out. */
  readonly clusters: readonly ClusterState[]
  readonly unknown: readonly string[]
}

const REPORTED = 'the object, its copies on the way, and the content that syncers report'

function sum(groups: readonly GroupAnswer[]): number {
  return groups.reduce((all, { count }) => all + count, 0)
}

/** Never silent about what was not read. */
function comparedOf(live: readonly GroupAnswer[] | undefined): string {
  const of = (action: string): number => sum((live ?? []).filter(group => group.action === action))
  const [unread, own] = [of('Unknown'), of('Conflict')]
  const compared = sum(live ?? []) - unread - own
  if (compared + own === 0) return `${REPORTED}; the clusters themselves were not read`
  const clusters = (count: number): string => `${count} ${count === 1 ? 'cluster' : 'clusters'}`
  return [
    REPORTED,
    ...(compared > 0 ? [`of ${clusters(compared)} what is there now, in the fields that the center sets`] : []),
    ...(own > 0 ? [`not of ${clusters(own)}, where what is there is not the center's or is left alone`] : []),
    ...(unread > 0 ? [`${unread} could not be read`] : []),
  ].join('; ')
}

/** Resolves to the exit code. */
export async function diffCommand(options: DiffOptions, terminal: Terminal, ...args: string[]): Promise<number> {
  return await comparing(() =>
    withSpace(options, terminal, async scope => {
      await checkPlaces(scope, terminal)
      const { revision, cluster, live, output } = options
      if (revision !== undefined) {
        if (cluster !== undefined || live === false)
          throw new CommandError('--revision is about the space: leave out --cluster and --no-live', TROUBLE)
        const { revisionDiff } = await import('../../rollout/revisionDiffCommand.ts')
        return await revisionDiff(scope, { revision, ...(output && { output }) }, args, terminal)
      }
      const question = await Question.of(scope, args, options.cluster)
      const answer = await onConflict(ATTEMPTS, async () => {
        const facts = await question.facts()
        return diffAnswer(facts, await centerOf(scope, facts, options), options.cluster)
      })
      const forms = { document: answer, names: () => namesApart(answer) }
      await printAnswer({ ...forms, text: shown => diffText(answer, shown) }, output, terminal)
      return diffExit(answer)
    }),
  )
}

/** Unknown content counts as different. */
export function diffExit({ differs, center, live, unknown }: DiffAnswer): number {
  return differs || unknown.length > 0 || [...center, ...live].some(isUnknown) ? CHANGE : NO_CHANGE
}

const isUnknown = ({ action }: GroupAnswer): boolean => action === 'Unknown'

/** Content on its way, beside the object; the reason where it is unknown. */
async function centerOf(
  scope: Parameters<typeof askPreview>[0],
  facts: WhyFacts,
  { cluster, live = true }: DiffOptions,
): Promise<ObjectAnswer | string> {
  const clusters = clustersIn(facts)
  const keys = cluster === undefined ? [] : [...clusters.named(cluster)]
  // by any of the Locations that lead there
  const chosen = keys.flatMap(key => clusters.of(key)!.places.map(({ name }) => name))
  const wish = { ...(chosen.length > 0 && { locations: [...new Set(chosen)] }) }
  try {
    return (await askPreview(scope, [facts.object], live ? wish : undefined)).objects[0]!
  } catch (error) {
    if (isStatusError(error, 'Forbidden') || error instanceof NoPreviews) return `what is on its way: ${error.message}`
    throw error
  }
}

export function diffAnswer(facts: WhyFacts, center: ObjectAnswer | string, cluster: string | undefined): DiffAnswer {
  const { object, clusters, unknown } = why(facts)
  const known = typeof center === 'string' ? undefined : center
  const requested = cluster === undefined ? undefined : requestedPart(clustersIn(facts), cluster)
  const groups = (known?.groups ?? []).flatMap(group => requested?.(group) ?? group)
  const live = known?.live?.flatMap(group => requested?.(group) ?? group)
  const apart = clusters.filter(({ state, differences = [] }) => !isDone({ state }) || differences.length > 0)
  const drifts = sum((live ?? []).filter(({ action }) => DRIFTED.has(action)))
  const differs = apart.length > 0 || drifts > 0 || (known !== undefined && changesSomething({ ...known, groups }))
  const notKnown = [...unknown, ...(typeof center === 'string' ? [center] : [])]
  const [unread, unsent] = [sum((live ?? []).filter(isUnknown)), sum(groups.filter(isUnknown))]
  const more = [
    ...(drifts > 0 ? [`${drifts} ${drifts === 1 ? 'holds' : 'hold'} something else now`] : []),
    ...(unread > 0 ? [`${unread} could not be read now`] : []),
    ...(unsent > 0 ? [`what is on its way to ${unsent} is not known`] : []),
  ].join('; ')
  const what = nameOfObject(object, object.namespace ?? '', object.name)
  const sentence = (): string => {
    const isKnown = more === '' && notKnown.length === 0
    if (clusters.length === 0 && groups.length === 0) {
      return notKnown.length === 0
        ? `${what} goes to no cluster: kubectl kubestellar why says why`
        : `it is not known whether ${what} is as it should be`
    }
    if (differs) {
      const counted = `${apart.length} of ${clusters.length} clusters differ or are not known`
      return `${what} is not everywhere as it should be: ${counted}${more && `; ${more}`}`
    }
    const summary = `${what} is as it should be in ${clusters.length} ${clusters.length === 1 ? 'cluster' : 'clusters'}`
    return isKnown ? summary : `${summary}, as far as is known${more && `: ${more}`}`
  }
  return {
    apiVersion: ANSWERS_VERSION,
    kind: 'Diff',
    object,
    differs,
    message: sentence(),
    compared: comparedOf(live),
    center: groups.filter(({ action }) => action !== 'Unchanged'),
    live: (live ?? []).filter(({ action }) => action !== 'Unchanged'),
    clusters: apart,
    unknown: notKnown,
  }
}

/** Part of a group that concerns the requested clusters. */
function requestedPart(clusters: Clusters, cluster: string): (group: GroupAnswer) => GroupAnswer[] {
  const keys = clusters.named(cluster)
  return group => {
    const locations = group.locations.filter(
      ({ inventory, name: location, syncTarget, ...place }) =>
        place.location === cluster || keys.has(clusters.keyOf({ inventory, location, syncTarget })),
    )
    if (locations.length === 0) return []
    // of the clusters that are not named some may be meant
    return [{ ...group, locations, ...(group.count === group.locations.length && { count: locations.length }) }]
  }
}

/** The cluster has something else, or none. */
const DRIFTED: ReadonlySet<string> = new Set(['Update', 'Create'])
const HOLDS: Readonly<Record<string, string>> = {
  Update: 'holds something else in',
  Create: 'is missing in',
  Conflict: 'is not compared in',
  Unknown: 'is not known in',
}

function namesApart({ live, clusters }: DiffAnswer): Set<string> {
  const apart = live.filter(group => DRIFTED.has(group.action) || isUnknown(group))
  const places = [...clusters, ...apart.flatMap(({ locations }) => locations)]
  return new Set(places.map(({ location }) => `grantedlocation/${location}`))
}

function diffText(answer: DiffAnswer, options: TextOptions): string[] {
  const { paint } = options
  const { object, message, center, live, clusters, unknown } = answer
  const footnotes = new Footnotes(options.wide ? [] : clusters.map(messageIn))
  const title = nameOfObject(object, object.namespace ?? '', object.name)
  const lines = [paint(message, answer.differs ? 'bad' : diffExit(answer) === NO_CHANGE ? 'good' : 'warn')]
  if (center.length > 0) lines.push('', 'still to come on the way to clusters:')
  lines.push(...center.flatMap(group => groupText(title, group, options)))
  if (live.length > 0) lines.push('', 'in the clusters now, beside what they should hold:')
  lines.push(...live.flatMap(group => groupText(title, group, { ...options, words: HOLDS })))
  if (clusters.length > 0) lines.push('', ...clusterTable(clusters, options, footnotes), ...footnotes.lines)
  if (unknown.length > 0) lines.push('', ...unknown.map(text => paint(`not known: ${text}`, 'dim')))
  return [...lines, '', paint(`compared: ${answer.compared}`, 'dim')]
}
