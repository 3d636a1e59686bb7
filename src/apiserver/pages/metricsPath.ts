import type { PathEntry } from '../http/paths.ts'
import type { Metrics } from '../metrics/metrics.ts'

export function metricsPath(metrics: Pick<Metrics, 'render'>): PathEntry {
  return {
    path: '/metrics',
    isServerWide: true,
    async handle(_request, answer) {
      const { contentType, body } = await metrics.render()
      answer.type(contentType).send(body)
    },
  }
}
