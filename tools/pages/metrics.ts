/** docs/reference/metrics.md: the metrics of server and syncer, as the parts that measure them describe them. */
import { collectDefaultMetrics, Registry } from 'prom-client'
import { Distribution } from '../../src/apimachinery/distribution.ts'
import { flowMetrics } from '../../src/apiserver/flowcontrol/flowMetrics.ts'
import { connectionMetrics, inFlightMetrics, RequestMetrics } from '../../src/apiserver/http/requestMetrics.ts'
import { CarryBoard } from '../../src/apiserver/metrics/carryMetrics.ts'
import type { Metric } from '../../src/apiserver/metrics/metric.ts'
import { storeMetrics, writerMetrics } from '../../src/apiserver/metrics/storeMetrics.ts'
import { budgetMetrics } from '../../src/apiserver/spaces/budgetMetrics.ts'
import { threadMetrics } from '../../src/apiserver/threads/threadFigures.ts'
import { SYNCER_METRICS } from '../../src/syncer/tells/syncerStatus.ts'
import { cell, page, table } from './markdown.ts'

/** Metrics of a server at which nothing happens. */
export const SERVER_METRICS: readonly Metric[] = [
  ...storeMetrics({ revision: 0 }, { size: 0 }),
  ...writerMetrics({ counts: () => [] }, new Distribution([])),
  ...budgetMetrics({ fullest: () => [], rooms: [], serverRatios: () => [] }),
  ...new CarryBoard().metrics(),
  ...threadMetrics({ size: 0, ended: { failed: 0, still: 0, behind: 0 } }),
  ...connectionMetrics({ size: 0, connections: 0, ended: () => 0 }),
  ...new RequestMetrics().metrics(),
  ...inFlightMetrics({ count: () => 0 }),
  ...flowMetrics({ schemas: [], levels: new Set(), fairFraction: 0 }),
]

export async function metricsPage(): Promise<string> {
  const process = new Registry()
  collectDefaultMetrics({ register: process })
  const ofProcess = await process.getMetricsAsJSON()
  return page(
    '# Metrics',
    'A reference for operators, which `npm run pages` writes. Alerts and dashboards are in [watch.md](../watch.md#alerts-and-dashboards).',
    '## Server',
    '`/metrics` in the text format of Prometheus. It needs a credential: the group `system:monitoring` has the right. It is about the whole server, so rights in `root` count, for ServiceAccounts of other spaces too; `/clusters/<space>/metrics` is not there. Names of labels without listed values are of the server: no client can make series.',
    metricTable(SERVER_METRICS),
    '## Syncer',
    'At `/metrics` of `--health-address`, without a credential.',
    metricTable(SYNCER_METRICS),
    '## Process',
    "At the server's `/metrics`, about its own process.",
    table(
      ['metric', 'type', 'meaning'],
      ofProcess.map(({ name, type, help }) => [`\`${name}\``, String(type), cell(help)]),
    ),
  )
}

function metricTable(metrics: readonly Pick<Metric, 'name' | 'type' | 'labels' | 'help'>[]): string {
  const labelled = (labels: Metric['labels']): string =>
    Object.entries(labels)
      .map(
        ([label, values]) =>
          `\`${label}\`${values.length === 0 ? '' : `: ${values.map(each => `\`${each}\``).join(', ')}`}`,
      )
      .join('; ')
  return table(
    ['metric', 'type', 'labels', 'meaning'],
    metrics.map(({ name, type, labels, help }) => [`\`${name}\``, type, labelled(labels), cell(help)]),
  )
}
