/** The store, and the work of the one writer, as metrics. */
import type { Distribution } from '../../apimachinery/distribution.ts'
import { gauge, type Metric } from './metric.ts'

export function storeMetrics(store: { readonly revision: number }, spaces: { readonly size: number }): Metric[] {
  return [
    gauge(
      'orrery_store_revision',
      'Newest committed revision. Its rate is the rate of all writes, those of controllers included.',
      () => store.revision,
    ),
    gauge('orrery_spaces', 'Spaces that exist.', () => spaces.size),
  ]
}

/** @param setAside `counts`: keys by controller */
export function writerMetrics(
  setAside: { counts(): Iterable<readonly [controller: string, keys: number]> },
  commitSeconds: Distribution,
): Metric[] {
  return [
    {
      name: 'orrery_controller_keys_set_aside',
      help: 'Keys that a controller does not work on for now, because the server may have ended of that.',
      type: 'gauge',
      labels: { controller: [] },
      samples: () => Array.from(setAside.counts(), ([controller, keys]) => [{ controller }, keys]),
    },
    {
      name: 'orrery_store_commit_duration_seconds',
      help: 'Time that a commit takes until it is on disk. Writes share commits, and each waits for two at most.',
      type: 'histogram',
      labels: {},
      samples: () => [[{}, commitSeconds]],
    },
  ]
}
