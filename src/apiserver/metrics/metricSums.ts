/**
 * Metrics of several threads as those of one server, in the text exposition format: samples of the same name and labels are added.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */

/** Metrics without a meaningful sum: those of the first stand. */
const NOT_ADDED = /^apiserver_flowcontrol_(seat_fair_frac|demand_seats_stdev)\b/
const TYPE = /^# TYPE (\S+) (\S+)$/

/** Everything in the order in which it comes first. */
export function sumMetrics(texts: readonly string[]): string {
  const sums = new Map<string, number>()
  /** By metric: its comments and samples. */
  const metrics = new Map<string, { head: string[]; samples: Set<string> }>()
  for (const text of texts) {
    let metric: { head: string[]; samples: Set<string> } | undefined
    for (const line of linesOf(text)) {
      if (line.startsWith('#')) {
        const name = line.split(' ', 3)[2]!
        metric = metrics.get(name) ?? { head: [], samples: new Set() }
        metrics.set(name, metric)
        if (!metric.head.includes(line)) metric.head.push(line)
        continue
      }
      const { sample, value } = sampleOf(line)
      metric?.samples.add(sample)
      const known = sums.get(sample)
      if (known === undefined) sums.set(sample, value)
      else if (!NOT_ADDED.test(sample)) sums.set(sample, known + value)
    }
  }
  let text = ''
  for (const { head, samples } of metrics.values()) {
    for (const line of head) text += `${line}\n`
    for (const sample of samples) text += `${sample} ${sums.get(sample)}\n`
  }
  return text
}

/** Metrics that only go up. */
export function countersOf(text: string): string {
  let kept = ''
  let isCounter = false
  let help = ''
  for (const line of linesOf(text)) {
    const type = TYPE.exec(line)
    if (type) isCounter = type[2] !== 'gauge'
    if (line.startsWith('# HELP ')) help = `${line}\n`
    else if (isCounter) {
      kept += type ? `${help}${line}\n` : `${line}\n`
    }
  }
  return kept
}

function linesOf(text: string): string[] {
  return text.split('\n').filter(line => line !== '')
}

function sampleOf(line: string): { sample: string; value: number } {
  const end = line.lastIndexOf(' ')
  return { sample: line.slice(0, end), value: Number(line.slice(end + 1)) }
}
