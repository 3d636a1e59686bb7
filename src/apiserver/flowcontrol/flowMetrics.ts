/**
 * The figures of flow control as metrics, named as upstream's. Labels hold names of the root space's objects only, so no tenant
 * can make series.
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#observability
 */

import type { Distribution } from '../../apimachinery/distribution.ts'
import type { FlowControl, Level, Schema } from './flowControl.ts'
import type { FlowFigures } from './flowFigures.ts'

const PREFIX = 'apiserver_flowcontrol_'
type Labels = Readonly<Record<string, string>>
type Sample = readonly [suffix: string, labels: Labels, value: number]

/** In the text exposition format, each line ended. */
export function flowMetrics(control: FlowControl): string {
  const schemas = [...control.schemas]
  const levels = [...control.levels]
  const text: string[] = []
  const tell = (name: string, type: string, help: string, samples: readonly Sample[]): void => {
    text.push(metricText(`${PREFIX}${name}`, { type, help }, samples))
  }
  const perSchema = (name: string, type: string, help: string, value: (figures: FlowFigures) => number): void =>
    tell(
      name,
      type,
      help,
      schemas.map(schema => ['', labelsOf(schema), value(schema.figures)]),
    )
  const perLevel = (name: string, help: string, value: (level: Level) => number): void =>
    tell(
      name,
      'gauge',
      help,
      levels.map(level => ['', { priority_level: level.spec.name }, value(level)]),
    )
  const distributed = (
    name: string,
    help: string,
    parts: readonly [Labels, (figures: FlowFigures) => Distribution][],
  ) =>
    tell(
      name,
      'histogram',
      help,
      schemas.flatMap(schema =>
        parts.flatMap(([more, of]) => histogram({ ...labelsOf(schema), ...more }, of(schema.figures))),
      ),
    )

  tell(
    'rejected_requests_total',
    'counter',
    'Requests that were turned away.',
    schemas.flatMap(schema =>
      [...schema.figures.rejected].map(([reason, count]): Sample => ['', { ...labelsOf(schema), reason }, count]),
    ),
  )
  perSchema('dispatched_requests_total', 'counter', 'Requests that ran.', figures => figures.dispatched)
  perSchema('current_inqueue_requests', 'gauge', 'Requests that wait for their turn.', figures => figures.waiting)
  perSchema('current_inqueue_seats', 'gauge', 'Seats that they wait for.', figures => figures.waitingSeats)
  perSchema('current_executing_requests', 'gauge', 'Requests that run.', figures => figures.executing)
  perSchema('current_executing_seats', 'gauge', 'Seats that they have.', figures => figures.executingSeats)
  distributed('request_wait_duration_seconds', 'How long requests waited for their turn.', [
    [{ execute: 'true' }, figures => figures.waitSeconds],
    [{ execute: 'false' }, figures => figures.vainSeconds],
  ])
  distributed('request_execution_seconds', 'How long requests had their seats.', [
    [{ type: 'regular' }, figures => figures.regularSeconds],
    [{ type: 'watch' }, figures => figures.watchSeconds],
  ])
  distributed('work_estimated_seats', 'How many seats requests were thought to need.', [[{}, figures => figures.seats]])
  perLevel('nominal_limit_seats', 'Seats of a level, before any are lent.', ({ bounds }) => bounds.nominal)
  perLevel('lower_limit_seats', 'Seats that nobody else ever has.', ({ bounds }) => bounds.min)
  perLevel('upper_limit_seats', 'Seats that a level has at most.', ({ bounds }) => bounds.max)
  perLevel('current_limit_seats', 'Seats that a level has now.', ({ set }) => set.limit)
  perLevel('demand_seats', 'Seats in use and asked for now.', ({ set }) => set.demand.value)
  perLevel('demand_seats_high_watermark', 'The most of that in the last period.', ({ demand }) => demand.peak)
  perLevel('demand_seats_average', 'The average of that in the last period.', ({ demand }) => demand.average)
  perLevel('demand_seats_stdev', 'Its deviation.', ({ demand }) => demand.deviation)
  perLevel('demand_seats_smoothed', 'What a level is taken to need.', ({ smoothed }) => smoothed)
  perLevel('target_seats', 'Seats that it was to have.', ({ target }) => target)
  tell('seat_fair_frac', 'gauge', 'Which part of their targets all levels have.', [['', {}, control.fairFraction]])
  return text.join('')
}

function labelsOf({ spec, level }: Schema): Labels {
  return { priority_level: level.spec.name, flow_schema: spec.name }
}

/** A histogram of its own, in the text exposition format. */
export function histogramText(name: string, help: string, parts: readonly (readonly [Labels, Distribution])[]): string {
  return metricText(
    name,
    { type: 'histogram', help },
    parts.flatMap(([labels, of]) => histogram(labels, of)),
  )
}

function metricText(name: string, { type, help }: { type: string; help: string }, samples: readonly Sample[]): string {
  const lines = samples.map(([suffix, labels, value]) => `${name}${suffix}${braces(labels)} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function histogram(labels: Labels, { bounds, counts, sum }: Distribution): Sample[] {
  let below = 0
  const buckets = bounds.map((bound, index): Sample => {
    below += counts[index]!
    return ['_bucket', { ...labels, le: String(bound) }, below]
  })
  const all = below + counts.at(-1)!
  if (all === 0) return []
  return [...buckets, ['_bucket', { ...labels, le: '+Inf' }, all], ['_sum', labels, sum], ['_count', labels, all]]
}

/** Names of objects need no escapes. */
function braces(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
