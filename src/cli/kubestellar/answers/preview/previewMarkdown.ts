/** A preview as a comment of a pull request: a table of what changes where, and each diff folded. Pure. */
import { someOf } from '../../../../apimachinery/someOf.ts'
import type { GroupAnswer, PreviewAnswer } from './preview.ts'
import { diffOf, titleOf } from './preview.ts'
import { movesText, rolloutText, sentenceOf, summaryOf, WORDS } from './previewText.ts'

/** The hosts of repositories take comments of 64 Ki characters. */
const MOST = 60_000
const MOST_ROWS = 200
/** Names of clusters in a row. */
const FEW = 5

interface Row {
  readonly title: string
  readonly change: string
  readonly where: string
  readonly diff: readonly string[]
}

export function previewMarkdown(answer: PreviewAnswer): string {
  const rows = answer.objects.flatMap((object): Row[] => {
    const title = titleOf(object)
    const sentence = sentenceOf(object)
    if (sentence === undefined) return object.groups.map(group => rowOf(title, group))
    const moves = movesText(object, { wide: false, paint: text => text }).map(line => line.trim())
    return [{ title, change: [sentence, ...moves].join('; '), where: '', diff: [] }]
  })
  const parts = [`**${escaped(summaryOf(answer))}**`]
  const shown = rows.filter(({ change }) => change !== WORDS.Unchanged)
  const some = shown.slice(0, MOST_ROWS).map(tableRow)
  if (some.length > 0) parts.push(['| object | change | clusters |', '|---|---|---|', ...some].join('\n'))
  if (shown.length > some.length) parts.push(`and ${shown.length - some.length} more`)
  for (const rollout of answer.rollouts)
    parts.push(
      rolloutText(rollout, { wide: false })
        .map(line => `- ${code(line)}`)
        .join('\n'),
    )
  const warnings = new Set(answer.objects.flatMap(({ warnings: some = [] }) => some))
  if (warnings.size > 0) parts.push([...warnings].map(text => `- ${code(text)}`).join('\n'))
  const diffs = shown.filter(({ diff }) => diff.length > 0).map(folded)
  return within([...parts, ...diffs])
}

function rowOf(title: string, group: GroupAnswer): Row {
  const { action, count, locations, message } = group
  const named = locations.slice(0, FEW).map(({ location }) => location)
  const change = WORDS[action] ?? action
  return {
    title,
    change: message === undefined ? change : `${change}: ${message}`,
    where: someOf(named, named.length, count),
    diff: action === 'Unchanged' || action === 'Delete' ? [] : diffOf(group),
  }
}

function tableRow({ title, change, where }: Row): string {
  return `| ${[title, change, where].map(code).join(' | ')} |`
}

/** Names and messages come from clusters and other people: as code they mention nobody, and are no markup. */
function code(text: string): string {
  const plain = text.replace(/\s+/g, ' ').replaceAll('`', "'").replaceAll('|', '\\|').trim()
  return plain === '' ? '' : `\`${plain}\``
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function folded({ title, change, where, diff }: Row): string {
  const text = diff.join('\n')
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  const summary = `<code>${escaped(`${title} ${change} in ${where}`.replace(/\s+/g, ' '))}</code>`
  return `<details><summary>${summary}</summary>\n\n${fence}diff\n${text}\n${fence}\n\n</details>`
}

/** Parts that do not fit are counted, and none is cut in two. */
function within(parts: readonly string[]): string {
  const kept: string[] = []
  let length = 0
  for (const part of parts) {
    length += part.length + 2
    if (length > MOST) break
    kept.push(part)
  }
  const left = parts.length - kept.length
  return [
    ...kept,
    ...(left > 0 ? [`${left} more parts do not fit; the command prints them without \`-o markdown\`.`] : []),
  ].join('\n\n')
}
