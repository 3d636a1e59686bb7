/** `kubectl kubestellar rollout history`: revisions of a placement and what became of them. */
import { at, num, str, strings } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { ANSWERS_VERSION, ago, type Cell, Footnotes, type Format, printDocument, table } from '../../shell/output.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { type AnswerOptions, checkPlaces, withSpace } from '../answers/answerSession.ts'
import { textOptions } from '../answers/why/whyText.ts'
import { noRollout, revisionOf, revisionsOf, rolloutsOf } from './rollouts.ts'

interface HistoryOptions extends AnswerOptions {
  output?: Format
}

interface RevisionAnswer {
  readonly revision: number
  readonly by: string
  /** RFC 3339. */
  readonly at: string
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
  await withSpace(options, terminal, async asked => {
    await checkPlaces(asked, terminal)
    const { space } = asked
    const [revisions, rollouts] = await Promise.all([revisionsOf(space, placement), rolloutsOf(space, placement)])
    if (revisions.length === 0) return await noRollout(space, placement)
    const answers = revisions.map(one => answerOf(one, rollouts))
    const format = options.output ?? 'text'
    if (format === 'name') for (const { metadata } of revisions) terminal.out(`placementrevision/${metadata.name}`)
    else if (format === 'json' || format === 'yaml') {
      const document = { apiVersion: ANSWERS_VERSION, kind: 'RolloutHistory', placement, revisions: answers }
      await printDocument(document, format, terminal)
    } else for (const line of historyText(answers, textOptions(format, terminal))) terminal.out(line)
  })
}

function answerOf(revision: KubeObject, rollouts: readonly KubeObject[]): RevisionAnswer {
  const { spec } = revision
  const number = revisionOf(revision)
  const status = rollouts.find(one => revisionOf(one) === number)?.status
  return {
    revision: number,
    by: str(spec, 'by'),
    at: str(spec, 'at'),
    objects: num(spec, 'objects'),
    changed: strings(spec, 'changed'),
    changedCount: num(spec, 'changedCount'),
    isPinned: at(spec, 'pinned') === true,
    state: str(status, 'state'),
    message: str(status, 'message'),
  }
}

function historyText(
  revisions: readonly RevisionAnswer[],
  { wide, paint, nowMs, columns }: ReturnType<typeof textOptions>,
): string[] {
  const rows = revisions.map((one): (Cell | string)[] => {
    const named = wide ? one.changed : one.changed.slice(0, FEW)
    const more = one.changedCount - named.length
    return [
      String(one.revision),
      one.by,
      ago(one.at, nowMs),
      one.isPinned ? { text: `${one.state} (pinned)`.trim(), colour: 'warn' } : one.state,
      String(one.objects),
      `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    ]
  })
  const fit = { columns, footnotes: new Footnotes() }
  return table(['REVISION', 'BY', 'AGE', 'ROLLOUT', 'OBJECTS', 'CHANGED'], rows, paint, fit)
}
