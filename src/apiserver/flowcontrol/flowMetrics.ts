/**
 * The figures of flow control as metrics, named as upstream's. Labels hold names of the root space's objects only, so no tenant
 * can make series.
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#observability
 */

import type { Distribution } from '../../apimachinery/distribution.ts'
import type { Labels, Metric, Samples } from '../metrics/metric.ts'
import type { FlowControl, Level, Schema } from './flowControl.ts'
import type { FlowFigures } from './flowFigures.ts'

const OF_SCHEMA = { priority_level: [], flow_schema: [] }

export function flowMetrics(control: Pick<FlowControl, 'schemas' | 'levels' | 'fairFraction'>): Metric[] {
  const metric = (name: string, facts: Omit<Metric, 'name' | 'isOfThreads'>): Metric => ({
    name: `apiserver_flowcontrol_${name}`,
    isOfThreads: true,
    ...facts,
  })
  const perSchema = (name: string, type: Metric['type'], help: string, value: (figures: FlowFigures) => number) => {
    const samples = (): Samples => control.schemas.map(schema => [labelsOf(schema), value(schema.figures)])
    return metric(name, { type, help, labels: OF_SCHEMA, samples })
  }
  const perLevel = (name: string, help: string, value: (level: Level) => number) => {
    const samples = (): Samples =>
      Array.from(control.levels, level => [{ priority_level: level.spec.name }, value(level)])
    return metric(name, { type: 'gauge', help, labels: { priority_level: [] }, samples })
  }
  /** @param by a further label, with the figures of each of its values */
  const distributed = (
    name: string,
    help: string,
    by: readonly [label: string, of: Readonly<Record<string, (figures: FlowFigures) => Distribution>>],
  ): Metric => {
    const [label, of] = by
    const samples = (): Samples =>
      control.schemas.flatMap(schema =>
        Object.entries(of).map(([value, figuresOf]) => [
          { ...labelsOf(schema), [label]: value },
          figuresOf(schema.figures),
        ]),
      )
    return metric(name, { type: 'histogram', help, labels: { ...OF_SCHEMA, [label]: Object.keys(of) }, samples })
  }

  return [
    metric('rejected_requests_total', {
      type: 'counter',
      help: 'Requests that were turned away; unread ones are watches that were ended.',
      labels: {
        ...OF_SCHEMA,
        reason: ['queue-full', 'concurrency-limit', 'time-out', 'cancelled', 'held', 'watches', 'unread'],
      },
      samples: () =>
        control.schemas.flatMap(schema =>
          [...schema.figures.rejected].map(([reason, count]) => [{ ...labelsOf(schema), reason }, count] as const),
        ),
    }),
    perSchema('dispatched_requests_total', 'counter', 'Requests that ran.', figures => figures.dispatched),
    perSchema('current_inqueue_requests', 'gauge', 'Requests that wait for their turn.', figures => figures.waiting),
    perSchema('current_inqueue_seats', 'gauge', 'Seats that they wait for.', figures => figures.waitingSeats),
    perSchema('current_executing_requests', 'gauge', 'Requests that run.', figures => figures.executing),
    perSchema('current_executing_seats', 'gauge', 'Seats that they have.', figures => figures.executingSeats),
    distributed('request_wait_duration_seconds', 'How long requests waited for their turn.', [
      'execute',
      { true: figures => figures.waitSeconds, false: figures => figures.vainSeconds },
    ]),
    distributed('request_execution_seconds', 'How long requests had their seats.', [
      'type',
      { regular: figures => figures.regularSeconds, watch: figures => figures.watchSeconds },
    ]),
    metric('work_estimated_seats', {
      type: 'histogram',
      help: 'How many seats requests were thought to need.',
      labels: OF_SCHEMA,
      samples: () => control.schemas.map(schema => [labelsOf(schema), schema.figures.seats]),
    }),
    perLevel('nominal_limit_seats', 'Seats of a level, before any are lent.', ({ bounds }) => bounds.nominal),
    perLevel('lower_limit_seats', 'Seats that nobody else ever has.', ({ bounds }) => bounds.min),
    perLevel('upper_limit_seats', 'Seats that a level has at most.', ({ bounds }) => bounds.max),
    perLevel('current_limit_seats', 'Seats that a level has now.', ({ set }) => set.limit),
    perLevel('demand_seats', 'Seats in use and wanted now.', ({ set }) => set.demand.value),
    perLevel('demand_seats_high_watermark', 'The most of that in the last period.', ({ demand }) => demand.peak),
    perLevel('demand_seats_average', 'The average of that in the last period.', ({ demand }) => demand.average),
    perLevel('demand_seats_stdev', 'Its deviation.', ({ demand }) => demand.deviation),
    perLevel('demand_seats_smoothed', 'Seats that a level is expected to need.', ({ smoothed }) => smoothed),
    perLevel('target_seats', 'Seats that it was to have.', ({ target }) => target),
    metric('seat_fair_frac', {
      type: 'gauge',
      help: 'Which part of their targets all levels have.',
      labels: {},
      samples: () => [[{}, control.fairFraction]],
    }),
  ]
}

function labelsOf({ spec, level }: Schema): Labels {
  return { priority_level: level.spec.name, flow_schema: spec.name }
}
