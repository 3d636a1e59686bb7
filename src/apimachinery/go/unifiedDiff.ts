/**
 * What differs between two texts, line by line, as `diff -u` shows it without the names of files.
 * @see https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
 */
import { structuredPatch } from 'diff'

/** Lines that may be removed and added; texts that differ in more are shown as replaced as a whole. Time grows with its square. */
const MAX_EDITS = 500

/** `context` counts the equal lines around a change. `''` when the texts are the same; else each line ends with a newline. */
export function unifiedDiff(before: string, after: string, context = 3): string {
  const [a, b] = [`${before}\n`, `${after}\n`]
  const patch = structuredPatch('', '', a, b, '', '', { context, maxEditLength: MAX_EDITS })
  if (patch === undefined) return hunkOf({ ...whole(a, b), lines: [...signed('-', a), ...signed('+', b)] })
  return patch.hunks.map(hunkOf).join('')
}

interface Hunk {
  oldStart: number
  oldLines: number
  newStart: number
  newLines: number
  lines: readonly string[]
}

function hunkOf({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  const head = `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n`
  return head + lines.map(line => `${line}\n`).join('')
}

/** Lines are counted from 1; none is told by the line before it. */
function range(start: number, count: number): string {
  if (count === 1) return String(start)
  return `${count === 0 ? start - 1 : start},${count}`
}

function whole(a: string, b: string): Omit<Hunk, 'lines'> {
  const count = (text: string): number => text.split('\n').length - 1
  return { oldStart: 1, oldLines: count(a), newStart: 1, newLines: count(b) }
}

function signed(sign: string, text: string): string[] {
  return text
    .slice(0, -1)
    .split('\n')
    .map(line => sign + line)
}
