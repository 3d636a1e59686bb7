/** The table at the end: one line for each measure, with ratios and the targets of the design. */
export interface Measure {
  what: string
  unit: string
  /** Better is greater, or (times, memory) smaller. */
  better: 'more' | 'less'
  /** By server, in the order of the columns. */
  values: (number | undefined)[]
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
        ...m.values.map(value => (value === undefined ? '-' : `${number(value)} ${m.unit}`)),
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
function ratioOf({ better, values: [ours, theirs] }: Measure): number | undefined {
  if (!ours || !theirs) return undefined
  return better === 'more' ? ours / theirs : theirs / ours
}

function targetText({ target, unit }: Measure): string {
  if (target === undefined) return ''
  return 'ratio' in target ? `${target.ratio}x` : `${number(target.limit)} ${unit}`
}

function verdict({ target, values: [ours] }: Measure, ratio: number | undefined): string {
  if (target === undefined || ours === undefined) return ''
  if ('limit' in target) return ours <= target.limit ? 'met' : 'missed'
  return ratio === undefined ? '' : ratio >= target.ratio ? 'met' : 'missed'
}

function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}
