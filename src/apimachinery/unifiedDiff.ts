/**
 * What differs between two texts, line by line, as `diff -u` shows it without the names of files.
 * @see https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
 */
interface Step {
  sign: ' ' | '-' | '+'
  line: string
}

/** `context` counts the equal lines around a change. `''` when the texts are the same; else each line ends with a newline. */
export function unifiedDiff(before: string, after: string, context = 3): string {
  const steps = stepsBetween(before.split('\n'), after.split('\n'))
  const shown = new Set<number>()
  for (const [i, { sign }] of steps.entries()) {
    if (sign === ' ') continue
    for (let near = Math.max(0, i - context); near <= Math.min(steps.length - 1, i + context); near++) shown.add(near)
  }
  let text = ''
  let [a, b] = [0, 0]
  for (let start = 0; start < steps.length; ) {
    let end = start
    while (shown.has(end)) end++
    if (end === start) {
      if (steps[start]!.sign !== '+') a++
      if (steps[start]!.sign !== '-') b++
      start++
      continue
    }
    const hunk = steps.slice(start, end)
    const [removed, added] = ['+', '-'].map(other => hunk.filter(({ sign }) => sign !== other).length)
    text += `@@ -${range(a, removed!)} +${range(b, added!)} @@\n`
    text += hunk.map(({ sign, line }) => `${sign}${line}\n`).join('')
    a += removed!
    b += added!
    start = end
  }
  return text
}

/** Lines are counted from 1; none is told by the line before it. */
function range(offset: number, count: number): string {
  if (count === 1) return String(offset + 1)
  return `${count === 0 ? offset : offset + 1},${count}`
}

/** The equal head and tail are cheap; what is between is compared in full. */
function stepsBetween(a: readonly string[], b: readonly string[]): Step[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const equal = (line: string): Step => ({ sign: ' ', line })
  const middle = longestCommon(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  return [...a.slice(0, head).map(equal), ...middle, ...a.slice(a.length - tail).map(equal)]
}

/** Beyond this many comparisons the middle is shown as replaced. */
const MAX_CELLS = 4_000_000

function longestCommon(a: readonly string[], b: readonly string[]): Step[] {
  const removed = (line: string): Step => ({ sign: '-', line })
  const added = (line: string): Step => ({ sign: '+', line })
  const width = b.length + 1
  if ((a.length + 1) * width > MAX_CELLS) return [...a.map(removed), ...b.map(added)]
  // how many lines the rests of both have in common
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
    }
  }
  const steps: Step[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      steps.push({ sign: ' ', line: a[i++]! })
      j++
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      steps.push(removed(a[i++]!))
    } else steps.push(added(b[j++]!))
  }
  return steps
}
