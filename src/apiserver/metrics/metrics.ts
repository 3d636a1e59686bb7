/**
 * Prometheus metrics. Labels hold only what the server itself names: built-in resources, verbs, codes; every custom resource
 * counts as one, so no client can make series.
 * @see https://kubernetes.io/docs/reference/instrumentation/metrics/
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { Distribution } from '../../apimachinery/distribution.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { END_REASONS, type Strangers } from '../connections/strangers.ts'
import { flowMetrics, histogramText } from '../flowcontrol/flowMetrics.ts'
import type { InFlight } from '../http/inFlight.ts'
import type { PathEntry } from '../http/paths.ts'
import { type BudgetGauges, budgetMetrics } from './budgetMetrics.ts'
import type { CarryBoard } from './carryMetrics.ts'
import { sumMetrics } from './metricSums.ts'

export interface Observation {
  verb: string
  /** Absent where it is about no resource that is served. */
  type?: Pick<ResourceType, 'group' | 'resource' | 'form'> | undefined
  code: number
  /** From the arrival of the headers to the end of the answer. */
  seconds: number
}

interface RequestCount {
  readonly labels: Record<'verb' | 'group' | 'resource' | 'code', string>
  count: number
}

const DURATION_BOUNDS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]

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

/** The threads that answer beside this one. */
export interface ThreadGauges {
  readonly size: number
  /** How many ended that were to go on, by why. */
  readonly ended: Readonly<Record<string, number>>
  /** What each of them has of {@link Metrics.renderOwn}. */
  figures(): Promise<readonly string[]>
}

export class Metrics {
  readonly #registry = new Registry()
  /** What each thread that answers has of its own. */
  readonly #own = new Registry()
  /** By what their labels say. Counted here, and told when somebody looks: counters that look up labels each time cost more. */
  readonly #requests = new Map<string, RequestCount>()
  /** Of one verb. */
  readonly #durations = new Map<string, Distribution>()
  #inFlight: InFlight | undefined
  #board: CarryBoard | undefined
  #commits: Distribution | undefined
  #threads: ThreadGauges | undefined

  constructor(gauges: Gauges) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    const requests = this.#requests
    new Counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, resource and HTTP code.',
      labelNames: ['verb', 'group', 'resource', 'code'],
      registers: [this.#own],
      collect() {
        this.reset()
        for (const { labels, count } of requests.values()) this.inc(labels, count)
      },
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

  /** Shows what runs at the moment. To be called once. */
  follow(inFlight: InFlight): void {
    this.#inFlight = inFlight
    new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests that run, long-running ones excluded.',
      labelNames: ['request_kind'],
      registers: [this.#own],
      collect() {
        this.set({ request_kind: 'readOnly' }, inFlight.running('reading'))
        this.set({ request_kind: 'mutating' }, inFlight.running('mutating'))
      },
    })
    new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches and space streams that are open.',
      labelNames: ['verb'],
      // threads tell each other how many there are
      registers: [this.#registry],
      collect() {
        this.set({ verb: 'WATCH' }, inFlight.running('watching'))
      },
    })
  }

  /** Shows how many are connected. To be called once. */
  followConnections(strangers: Strangers): void {
    const registers = [this.#own]
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

  /** Shows how long commits of the store took. */
  followCommits(seconds: Distribution): void {
    this.#commits = seconds
  }

  /** Shows how what is placed gets on. To be called once. */
  followCarrying(board: CarryBoard): void {
    this.#board = board
    board.tell(this.#registry)
  }

  /** Shows the threads that answer beside this one, and counts what they have with what is here. To be called once. */
  followThreads(threads: ThreadGauges): void {
    const registers = [this.#registry]
    this.#threads = threads
    new Gauge({
      name: 'orrery_api_threads',
      help: 'Threads that answer requests beside the main one.',
      registers,
      collect() {
        this.set(threads.size)
      },
    })
    new Counter({
      name: 'orrery_api_threads_ended_total',
      help: 'Threads that ended and were replaced, by why.',
      labelNames: ['reason'],
      registers,
      collect() {
        this.reset()
        for (const [reason, count] of Object.entries(threads.ended)) this.inc({ reason }, count)
      },
    })
  }

  /** The part of each thread in the sums: requests, connections and flow control. */
  async renderOwn(): Promise<string> {
    const durations = histogramText(
      'apiserver_request_duration_seconds',
      'Time to answer, watches excluded.',
      Array.from(this.#durations, ([verb, of]) => [{ verb }, of]),
    )
    const flows = this.#inFlight === undefined ? '' : flowMetrics(this.#inFlight.flowControl)
    return `${await this.#own.metrics()}${durations}${flows}`
  }

  /** Text exposition format and its content type. */
  async render(): Promise<{ contentType: string; body: string }> {
    const own = await this.renderOwn()
    const summed = this.#threads === undefined ? own : sumMetrics([own, ...(await this.#threads.figures())])
    const commits =
      this.#commits === undefined
        ? ''
        : histogramText('orrery_store_commit_duration_seconds', 'Time that a commit takes until it is on disk.', [
            [{}, this.#commits],
          ])
    return {
      contentType: this.#registry.contentType,
      body: `${await this.#registry.metrics()}${commits}${summed}${this.#board?.text() ?? ''}`,
    }
  }
}

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

/** What it is counted as. */
function labelsOf(type: Observation['type']): { group: string; resource: string } {
  if (type === undefined) return { group: '', resource: '' }
  return type.form === 'custom' ? { group: '', resource: 'custom' } : { group: type.group, resource: type.resource }
}
