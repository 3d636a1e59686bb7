/** The table at the end: one line for each measure, with ratios and the targets of the design. */
export interface Measure {
  what: string
  unit: string
  /** Better is greater, or (times, memory) smaller. */
  better: 'more' | 'less'
  /** By server, in the order of the columns: what each round saw. */
  values: (readonly number[])[]
  /** Ratio to the peer that is aimed at, in the sense of `better`; `limit` is a value to stay below. */
  target?: { ratio: number } | { limit: number }
}

export function renderReport(servers: readonly string[], measures: readonly Measure[]): string {
  const compared = servers.length > 1
  const rows = [
    ['', ...servers, ...(compared ? ['ratio'] : []), 'target', ''],
    ...measures.map(m => {
      const ratio = ratioOf(m)
      return [
        m.what,
        ...m.values.map(value => seen(value, m.unit)),
        ...(compared ? [ratio === undefined ? '' : `${ratio.toFixed(1)}x`] : []),
        targetText(m),
        verdict(m, ratio),
      ]
    }),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  const line = (row: string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  return rows.map(row => line(row).trimEnd()).join('\n')
}

/** How many times better than the peer. */
function ratioOf({ better, values }: Measure): number | undefined {
  const [ours, theirs] = values.map(median)
  if (!ours || !theirs) return undefined
  return better === 'more' ? ours / theirs : theirs / ours
}

function targetText({ target, unit }: Measure): string {
  if (target === undefined) return ''
  return 'ratio' in target ? `${target.ratio}x` : `${number(target.limit)} ${unit}`
}

function verdict({ target, values }: Measure, ratio: number | undefined): string {
  const [ours] = values.map(median)
  if (target === undefined || ours === undefined) return ''
  if ('limit' in target) return ours <= target.limit ? 'met' : 'missed'
  return ratio === undefined ? '' : ratio >= target.ratio ? 'met' : 'missed'
}

/** The median, and what all lie between. */
function seen(values: readonly number[], unit: string): string {
  const middle = median(values)
  if (middle === undefined) return '-'
  const range = values.length > 1 ? ` (${number(Math.min(...values))} to ${number(Math.max(...values))})` : ''
  return `${number(middle)} ${unit}${range}`
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const at = sorted.length / 2
  return sorted.length % 2 === 1
    ? sorted[Math.floor(at)]
    : sorted.length === 0
      ? undefined
      : (sorted[at - 1]! + sorted[at]!) / 2
}

function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}
