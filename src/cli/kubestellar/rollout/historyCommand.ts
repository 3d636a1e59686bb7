/** `kubectl kubestellar rollout history`: revisions of a placement and what became of them; with `--revision` what one of them changed. */
import { at, num, str, strings } from '../../../apimachinery/fields.ts'
import { groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { someOf } from '../../../apimachinery/someOf.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { LOCATIONS } from '../../../placement/words/placement.ts'
import {
  ANSWERS_VERSION,
  ago,
  type Cell,
  Footnotes,
  type Format,
  printAnswer,
  type TextOptions,
  table,
} from '../../shell/output.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { type AnswerOptions, checkPlaces, withSpace } from '../answers/answerSession.ts'
import { compareRevisions, comparisonText, headOf, headText, noRevision, type RevisionHead } from './revisions.ts'
import { noRollout, revisionOf, revisionsOf, rolloutsOf } from './rollouts.ts'

interface HistoryOptions extends AnswerOptions {
  output?: Format
  revision?: number
}

interface RevisionAnswer extends Omit<RevisionHead, 'placement'> {
  readonly objects: number
  readonly changed: readonly string[]
  readonly changedCount: number
  readonly isPinned: boolean
  /** State of its newest rollout; empty where there was none. */
  readonly state: string
  readonly message: string
}

/** Objects that are named in a line. */
const FEW = 3

export async function historyCommand(options: HistoryOptions, terminal: Terminal, placement: string): Promise<void> {
  await withSpace(options, terminal, async scope => {
    await checkPlaces(scope, terminal)
    const { space } = scope
    const [revisions, rollouts] = await Promise.all([revisionsOf(space, placement), rolloutsOf(space, placement)])
    if (revisions.length === 0) return await noRollout(space, placement)
    if (options.revision !== undefined) {
      const found = revisions.find(one => revisionOf(one) === options.revision)
      if (!found) throw noRevision(placement, options.revision, revisions)
      const changes = { space, found, rollouts, earlier: earlierThan(found, revisions) }
      return await printChanges(changes, options.output, terminal)
    }
    const answers = revisions.map(one => answerOf(one, rollouts))
    const document = { apiVersion: ANSWERS_VERSION, kind: 'RolloutHistory', placement, revisions: answers }
    const names = () => revisions.map(({ metadata }) => `placementrevision/${metadata.name}`)
    await printAnswer({ document, names, text: shown => historyText(answers, shown) }, options.output, terminal)
  })
}

/** 0: none is kept. */
function earlierThan(revision: KubeObject, all: readonly KubeObject[]): number {
  return Math.max(0, ...all.map(revisionOf).filter(number => number < revisionOf(revision)))
}

interface Changes {
  readonly space: SpaceClient
  readonly found: KubeObject
  readonly rollouts: readonly KubeObject[]
  readonly earlier: number
}

/** The difference between a revision and the one before. */
async function printChanges(
  { space, found, rollouts, earlier }: Changes,
  format: Format | undefined,
  terminal: Terminal,
): Promise<void> {
  const head = headOf(found)
  const { placement, revision } = head
  const changes = await compareRevisions(space, { placement, from: earlier, to: revision })
  const { state, message } = answerOf(found, rollouts)
  function* text(options: TextOptions): Generator<string> {
    yield options.paint(headText(head, options.nowMs), 'bold')
    if (state !== '') yield `${state}${message && `: ${message}`}`
    if (earlier === 0 && revision > 1) yield 'no earlier revision is kept: all of it is shown'
    yield* comparisonText(changes, [earlier === 0 ? 'nothing' : `revision ${earlier}`, `revision ${revision}`], options)
    // they are the inventory's, and stand in no comparison
    const locations = strings(found.spec, 'changed').filter(changed => changed.startsWith(LOCATION))
    if (locations.length > 0)
      yield `parameters of locations changed: ${locations.map(each => each.slice(each.indexOf('/') + 1)).join(', ')}`
  }
  const document = { apiVersion: ANSWERS_VERSION, kind: 'RevisionChanges', ...head, after: earlier, ...changes }
  const names = () => changes.objects.map(one => `${groupResourceName(one)}/${one.name}`)
  await printAnswer({ document, names, text }, format, terminal)
}

/** Begin of a Location among the changed objects of a revision. */
const LOCATION = `${groupResourceName(LOCATIONS)} `

function answerOf(revision: KubeObject, rollouts: readonly KubeObject[]): RevisionAnswer {
  const { spec } = revision
  const { placement: _, ...head } = headOf(revision)
  const status = rollouts.find(one => revisionOf(one) === head.revision)?.status
  return {
    ...head,
    objects: num(spec, 'objects'),
    changed: strings(spec, 'changed'),
    changedCount: num(spec, 'changedCount'),
    isPinned: at(spec, 'pinned') === true,
    state: str(status, 'state'),
    message: str(status, 'message'),
  }
}

function historyText(revisions: readonly RevisionAnswer[], { wide, paint, nowMs, columns }: TextOptions): string[] {
  const rows = revisions.map((one): (Cell | string)[] => {
    const named = wide ? one.changed : one.changed.slice(0, FEW)
    return [
      String(one.revision),
      one.by,
      ago(one.at, nowMs),
      one.isPinned ? { text: `${one.state} (pinned)`.trim(), colour: 'warn' } : one.state,
      String(one.objects),
      someOf(named, named.length, one.changedCount),
    ]
  })
  const fit = { columns, footnotes: new Footnotes() }
  return table(['REVISION', 'BY', 'AGE', 'ROLLOUT', 'OBJECTS', 'CHANGED'], rows, paint, fit)
}
