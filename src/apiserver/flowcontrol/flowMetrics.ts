/**
 * The figures of flow control as metrics, named as upstream's. Labels hold names of the root space's objects only, so no tenant
 * can make series.
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#observability
 */

import type { Distribution } from '../../apimachinery/distribution.ts'
import type { Labels, Metric, Samples } from '../metrics/metric.ts'
import type { FlowControl, Level, Schema } from './flowControl.ts'
import type { FlowFigures } from './flowFigures.ts'

export function flowMetrics(control: FlowControl): Metric[] {
  const metric = (name: string, type: Metric['type'], help: string, samples: () => Samples): Metric => ({
    name: `apiserver_flowcontrol_${name}`,
    help,
    type,
    isOfThreads: true,
    samples,
  })
  const perSchema = (name: string, type: Metric['type'], help: string, value: (figures: FlowFigures) => number) =>
    metric(name, type, help, () => control.schemas.map(schema => [labelsOf(schema), value(schema.figures)]))
  const perLevel = (name: string, help: string, value: (level: Level) => number) =>
    metric(name, 'gauge', help, () =>
      Array.from(control.levels, level => [{ priority_level: level.spec.name }, value(level)]),
    )
  const distributed = (
    name: string,
    help: string,
    parts: readonly [Labels, (figures: FlowFigures) => Distribution][],
  ): Metric =>
    metric(name, 'histogram', help, () =>
      control.schemas.flatMap(schema =>
        parts.map(([more, of]) => [{ ...labelsOf(schema), ...more }, of(schema.figures)] as const),
      ),
    )

  return [
    metric('rejected_requests_total', 'counter', 'Requests that were turned away.', () =>
      control.schemas.flatMap(schema =>
        [...schema.figures.rejected].map(([reason, count]) => [{ ...labelsOf(schema), reason }, count] as const),
      ),
    ),
    perSchema('dispatched_requests_total', 'counter', 'Requests that ran.', figures => figures.dispatched),
    perSchema('current_inqueue_requests', 'gauge', 'Requests that wait for their turn.', figures => figures.waiting),
    perSchema('current_inqueue_seats', 'gauge', 'Seats that they wait for.', figures => figures.waitingSeats),
    perSchema('current_executing_requests', 'gauge', 'Requests that run.', figures => figures.executing),
    perSchema('current_executing_seats', 'gauge', 'Seats that they have.', figures => figures.executingSeats),
    distributed('request_wait_duration_seconds', 'How long requests waited for their turn.', [
      [{ execute: 'true' }, figures => figures.waitSeconds],
      [{ execute: 'false' }, figures => figures.vainSeconds],
    ]),
    distributed('request_execution_seconds', 'How long requests had their seats.', [
      [{ type: 'regular' }, figures => figures.regularSeconds],
      [{ type: 'watch' }, figures => figures.watchSeconds],
    ]),
    distributed('work_estimated_seats', 'How many seats requests were thought to need.', [
      [{}, figures => figures.seats],
    ]),
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
    metric('seat_fair_frac', 'gauge', 'Which part of their targets all levels have.', () => [
      [{}, control.fairFraction],
    ]),
  ]
}

function labelsOf({ spec, level }: Schema): Labels {
  return { priority_level: level.spec.name, flow_schema: spec.name }
}
