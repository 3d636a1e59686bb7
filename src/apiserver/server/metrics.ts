/**
 * Prometheus metrics. Labels hold only what the server itself names: built-in resources, verbs, codes; every custom resource
 * counts as one, so no client can make series.
 * @see https://kubernetes.io/docs/reference/instrumentation/metrics/
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { flowMetrics } from '../flowcontrol/flowMetrics.ts'
import { type BudgetGauges, budgetMetrics } from './budgetMetrics.ts'
import type { InFlight } from './inFlight.ts'
import { END_REASONS, type Strangers } from './strangers.ts'

export interface Observation {
  verb: string
  /** Absent where it is about no resource that is served. */
  type?: ResourceType | undefined
  code: number
  /** From the arrival of the headers to the end of the answer. */
  seconds: number
}

export interface Gauges {
  revision(): number
  spaces(): number
  /** Keys that controllers do not work on because the process may have ended of them, by controller. */
  setAside(): ReadonlyMap<string, number>
}

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

export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: Counter
  readonly #durations: Histogram
  #inFlight: InFlight | undefined

  constructor(gauges: Gauges) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, resource and HTTP code.',
      labelNames: ['verb', 'group', 'resource', 'code'],
      registers,
    })
    this.#durations = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time to answer, watches excluded.',
      labelNames: ['verb'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
      registers,
    })
    new Gauge({
      name: 'orrery_store_revision',
      help: 'Newest committed revision.',
      registers,
      collect() {
        this.set(gauges.revision())
      },
    })
    new Gauge({
      name: 'orrery_spaces',
      help: 'Spaces that exist.',
      registers,
      collect() {
        this.set(gauges.spaces())
      },
    })
    new Gauge({
      name: 'orrery_controller_keys_set_aside',
      help: 'Keys that a controller does not work on for now, because the server may have ended of that.',
      labelNames: ['controller'],
      registers,
      collect() {
        this.reset()
        for (const [controller, keys] of gauges.setAside()) this.set({ controller }, keys)
      },
    })
  }

  observe(o: Observation): void {
    const verb = VERBS[o.verb] ?? 'other'
    this.#requests.inc({ verb, ...labelsOf(o.type), code: String(o.code) })
    if (verb !== 'WATCH') this.#durations.observe({ verb }, o.seconds)
  }

  /** Shows what runs at the moment. To be called once. */
  follow(inFlight: InFlight): void {
    const registers = [this.#registry]
    this.#inFlight = inFlight
    new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests that run, long-running ones excluded.',
      labelNames: ['request_kind'],
      registers,
      collect() {
        this.set({ request_kind: 'readOnly' }, inFlight.running('reading'))
        this.set({ request_kind: 'mutating' }, inFlight.running('mutating'))
      },
    })
    new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches and space streams that are open.',
      labelNames: ['verb'],
      registers,
      collect() {
        this.set({ verb: 'WATCH' }, inFlight.running('watching'))
      },
    })
  }

  /** Shows how many are connected. To be called once. */
  followConnections(strangers: Strangers): void {
    const registers = [this.#registry]
    new Gauge({
      name: 'orrery_connections',
      help: 'Connections that are open, by whether a credential was shown on them.',
      labelNames: ['authenticated'],
      registers,
      collect() {
        this.set({ authenticated: 'no' }, strangers.size)
        this.set({ authenticated: 'yes' }, strangers.connections - strangers.size)
      },
    })
    new Counter({
      name: 'orrery_connections_ended_total',
      help: 'Connections without a credential that the server ended, by the bound that was reached.',
      labelNames: ['bound'],
      registers,
      collect() {
        this.reset()
        for (const bound of END_REASONS) this.inc({ bound }, strangers.ended(bound))
      },
    })
  }

  /** Shows what is used of the server's room. To be called once. */
  followBudgets(gauges: BudgetGauges): void {
    budgetMetrics(this.#registry, gauges)
  }

  /** Text exposition format and its content type. */
  async render(): Promise<{ contentType: string; body: string }> {
    const flows = this.#inFlight === undefined ? '' : flowMetrics(this.#inFlight.flowControl)
    return { contentType: this.#registry.contentType, body: `${await this.#registry.metrics()}${flows}` }
  }
}

function labelsOf(type: ResourceType | undefined): { group: string; resource: string } {
  if (type === undefined) return { group: '', resource: '' }
  return type.form === 'custom' ? { group: '', resource: 'custom' } : { group: type.group, resource: type.resource }
}
