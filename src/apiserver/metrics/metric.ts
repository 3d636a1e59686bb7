/** A metric, as the part of the server that it is about brings it. It is read when somebody looks. */
import { Distribution } from '../../apimachinery/distribution.ts'

export type Labels = Readonly<Record<string, string>>

export type Samples = Iterable<readonly [Labels, number | Distribution]>

/** `npm run pages` writes it into docs/reference/metrics.md. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  /** The values of each label, or none where the server itself makes the names: no client can make series. */
  readonly labels: Readonly<Record<string, readonly string[]>>
  /** Each thread that answers has its own; the sum is shown. */
  readonly isOfThreads?: true
  samples(): Samples
}

/** One number. */
export function gauge(name: string, help: string, value: () => number): Metric {
  return { name, help, type: 'gauge', labels: {}, samples: () => [[{}, value()]] }
}

/**
 * In the text exposition format, each line ended.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function metricText({ name, help, type, samples }: Metric): string {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
  for (const [labels, value] of samples())
    text += value instanceof Distribution ? histogram(name, labels, value) : line(name, labels, value)
  return text
}

function histogram(name: string, labels: Labels, { bounds, counts, sum }: Distribution): string {
  let below = 0
  let text = ''
  for (const [index, bound] of bounds.entries()) {
    below += counts[index]!
    text += line(`${name}_bucket`, { ...labels, le: String(bound) }, below)
  }
  const all = below + counts.at(-1)!
  if (all === 0) return ''
  text += line(`${name}_bucket`, { ...labels, le: '+Inf' }, all)
  return `${text}${line(`${name}_sum`, labels, sum)}${line(`${name}_count`, labels, all)}`
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, char => (char === '\n' ? '\\n' : `\\${char}`))
}
