/**
 * Requests as metrics: those that were answered, those that run, and the connections on which they come. Labels hold built-in
 * resources, verbs and codes; every custom resource counts as one.
 */
import { Distribution } from '../../apimachinery/distribution.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { END_REASONS, type Strangers } from '../connections/strangers.ts'
import type { InFlight } from '../flowcontrol/inFlight.ts'
import type { Labels, Metric } from '../metrics/metric.ts'

interface Observation {
  verb: string
  /** Absent where it is about no resource that is served. */
  type?: Pick<ResourceType, 'group' | 'resource' | 'form'> | undefined
  code: number
  /** From the arrival of the headers to the end of the answer. */
  seconds: number
}

const DURATION_BOUNDS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]

/** As upstream labels them. */
const VERBS: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  head: 'HEAD',
  post: 'POST',
  put: 'PUT',
  options: 'OPTIONS',
}

const VERB_NAMES = [...new Set(Object.values(VERBS)), 'other']

export class RequestMetrics {
  /** By their labels. */
  readonly #requests = new Map<string, { readonly labels: Labels; count: number }>()
  /** Durations of one verb. */
  readonly #durations = new Map<string, Distribution>()

  observe(o: Observation): void {
    const verb = VERBS[o.verb] ?? 'other'
    const { group, resource } = labelsOf(o.type)
    const key = `${verb} ${o.code} ${resource} ${group}`
    let request = this.#requests.get(key)
    if (request === undefined) {
      request = { labels: { verb, group, resource, code: String(o.code) }, count: 0 }
      this.#requests.set(key, request)
    }
    request.count++
    if (verb === 'WATCH') return
    let durations = this.#durations.get(verb)
    if (durations === undefined) {
      durations = new Distribution(DURATION_BOUNDS)
      this.#durations.set(verb, durations)
    }
    durations.add(o.seconds)
  }

  metrics(): Metric[] {
    return [
      {
        name: 'apiserver_request_total',
        help: 'Answered requests by verb, resource and HTTP code. Every custom resource counts as "custom".',
        type: 'counter',
        labels: { verb: VERB_NAMES, group: [], resource: [], code: [] },
        isOfThreads: true,
        samples: () => Array.from(this.#requests.values(), ({ labels, count }) => [labels, count]),
      },
      {
        name: 'apiserver_request_duration_seconds',
        help: 'Time from the arrival of the headers to the end of the answer, watches excluded.',
        type: 'histogram',
        labels: { verb: VERB_NAMES },
        isOfThreads: true,
        samples: () => Array.from(this.#durations, ([verb, durations]) => [{ verb }, durations]),
      },
    ]
  }
}

/** Labels of its counter. */
function labelsOf(type: Observation['type']): { group: string; resource: string } {
  if (type === undefined) return { group: '', resource: '' }
  return type.form === 'custom' ? { group: '', resource: 'custom' } : { group: type.group, resource: type.resource }
}

export function inFlightMetrics(inFlight: Pick<InFlight, 'count'>): Metric[] {
  return [
    {
      name: 'apiserver_current_inflight_requests',
      help: 'Requests that run, long-running ones excluded.',
      type: 'gauge',
      labels: { request_kind: ['readOnly', 'mutating'] },
      isOfThreads: true,
      samples: () => [
        [{ request_kind: 'readOnly' }, inFlight.count('reading')],
        [{ request_kind: 'mutating' }, inFlight.count('mutating')],
      ],
    },
    // threads tell each other how many there are
    {
      name: 'apiserver_longrunning_requests',
      help: 'Watches and space streams that are open, over HTTP and WebSocket.',
      type: 'gauge',
      labels: { verb: ['WATCH'] },
      samples: () => [[{ verb: 'WATCH' }, inFlight.count('watching')]],
    },
  ]
}

export function connectionMetrics(strangers: Pick<Strangers, 'size' | 'connections' | 'ended'>): Metric[] {
  return [
    {
      name: 'orrery_connections',
      help: 'Connections that are open, by whether a credential was shown on them.',
      type: 'gauge',
      labels: { authenticated: ['no', 'yes'] },
      isOfThreads: true,
      samples: () => [
        [{ authenticated: 'no' }, strangers.size],
        [{ authenticated: 'yes' }, strangers.connections - strangers.size],
      ],
    },
    {
      name: 'orrery_connections_ended_total',
      help: 'Connections without a credential that the server ended, by the bound that was reached.',
      type: 'counter',
      labels: { bound: END_REASONS },
      isOfThreads: true,
      samples: () => END_REASONS.map(bound => [{ bound }, strangers.ended(bound)]),
    },
  ]
}
