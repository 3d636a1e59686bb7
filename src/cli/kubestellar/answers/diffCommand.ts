/**
 * `kubectl kubestellar diff`: what clusters should have of an object beside what they have, as far as the center knows both: what
 * is on its way to them, and what they say became of it. What is in a cluster itself is not read.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import type { Terminal } from '../../ws/runProgram.ts'
import { type AnswerOptions, checkPlaces, withSpace } from './answerSession.ts'
import { nameOfObject } from './askedObject.ts'
import { isPlace } from './destinations.ts'
import { CHANGE, comparing, NO_CHANGE } from './exitCodes.ts'
import { type Format, painter, printDocument } from './output.ts'
import { changesSomething, type GroupAnswer, type ObjectAnswer } from './preview.ts'
import { askPreview, NoPreviews } from './previewCommand.ts'
import { groupText } from './previewText.ts'
import { ANSWERS_VERSION } from './version.ts'
import { type WhyAnswer, type WhyFacts, why } from './why.ts'
import { Question } from './whyFacts.ts'
import { clusterTable } from './whyText.ts'
import type { ClusterState } from './workStatus.ts'

export interface DiffOptions extends AnswerOptions {
  cluster?: string
  output?: Format
}

export interface DiffAnswer {
  readonly apiVersion: string
  readonly kind: 'Diff'
  readonly object: WhyAnswer['object']
  /** Whether some cluster has, or is given, something else than it should have. */
  readonly differs: boolean
  readonly message: string
  /** What stood beside what. */
  readonly compared: string
  /** Between the object and what is on its way: where they differ the center is behind. */
  readonly center: readonly GroupAnswer[]
  /** Between what is on its way and the clusters, in their words; those that have it are left out. */
  readonly clusters: readonly ClusterState[]
  readonly unknown: readonly string[]
}

const COMPARED =
  'the object, its copies on the way, and what the syncers of the clusters say they hold; the clusters themselves were not read'

/** Resolves to the exit code. */
export async function diffCommand(args: readonly string[], options: DiffOptions, terminal: Terminal): Promise<number> {
  return await comparing(() =>
    withSpace(options, terminal, async asked => {
      await checkPlaces(asked)
      const question = await Question.of(asked, args, options.cluster)
      const facts = await question.facts()
      const answer = diffAnswer(facts, await centerOf(asked, facts), options.cluster)
      await printDiff(answer, options.output ?? 'text', terminal)
      return answer.differs ? CHANGE : NO_CHANGE
    }),
  )
}

/** What is on its way, beside the object; why that is not known. */
async function centerOf(asked: Parameters<typeof askPreview>[0], { object }: WhyFacts): Promise<ObjectAnswer | string> {
  try {
    return (await askPreview(asked, [object])).objects[0]!
  } catch (error) {
    if (isStatusError(error, 'Forbidden') || error instanceof NoPreviews) return `what is on its way: ${error.message}`
    throw error
  }
}

export function diffAnswer(facts: WhyFacts, center: ObjectAnswer | string, cluster: string | undefined): DiffAnswer {
  const { object, clusters, unknown } = why(facts)
  const known = typeof center === 'string' ? undefined : center
  const groups = (known?.groups ?? []).filter(
    ({ locations }) => cluster === undefined || locations.some(place => isPlace(place, cluster)),
  )
  const apart = clusters.filter(({ state }) => state !== 'Applied')
  const differs = apart.length > 0 || (known !== undefined && changesSomething({ ...known, groups }))
  const what = nameOfObject(object, object.namespace ?? '', object.name)
  const message =
    clusters.length === 0 && groups.length === 0
      ? `${what} goes to no cluster: kubectl kubestellar why says why`
      : differs
        ? `${what} is not everywhere as it should be: ${apart.length} of ${clusters.length} clusters differ or are not known`
        : `${what} is as it should be in ${clusters.length} ${clusters.length === 1 ? 'cluster' : 'clusters'}`
  return {
    apiVersion: ANSWERS_VERSION,
    kind: 'Diff',
    object,
    differs,
    message,
    compared: COMPARED,
    center: groups.filter(({ action }) => action !== 'Unchanged'),
    clusters: apart,
    unknown: [...unknown, ...(typeof center === 'string' ? [center] : [])],
  }
}

async function printDiff(answer: DiffAnswer, format: Format, terminal: Terminal): Promise<void> {
  if (format === 'json' || format === 'yaml') return await printDocument(answer, format, terminal)
  if (format === 'name') {
    for (const { location } of answer.clusters) terminal.out(`grantedlocation/${location}`)
    return
  }
  const paint = painter(terminal)
  const options = { wide: format === 'wide', paint, nowMs: Date.now() }
  const { object, message, center, clusters, unknown } = answer
  const title = nameOfObject(object, object.namespace ?? '', object.name)
  const lines = [paint(message, answer.differs ? 'bad' : 'good')]
  if (center.length > 0) lines.push('', 'still to come on the way to clusters:')
  lines.push(...center.flatMap(group => groupText(title, group, options)))
  if (clusters.length > 0) lines.push('', ...clusterTable(clusters, options))
  if (unknown.length > 0) lines.push('', ...unknown.map(text => paint(`not known: ${text}`, 'dim')))
  lines.push('', paint(`compared: ${answer.compared}`, 'dim'))
  for (const line of lines) terminal.out(line)
}
