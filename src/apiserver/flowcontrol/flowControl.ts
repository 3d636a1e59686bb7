/**
 * API priority and fairness. Each request belongs to a FlowSchema, by that to a priority level, and within it to a flow. A flow is a user,
 * or a namespace, of one space. A level has its part of the server's seats; the flows of a level are served fairly.
 *
 * Unlike upstream, a flow of a tenant has no queues of its own. A tenant is a space directly below the root, with all below it, and whoever
 * counts in one of these only. Its administrator makes as many ServiceAccounts, users and spaces as they like, each of which would be a
 * flow. The queues are therefore dealt to the tenant, and its flows take turns in them ({@link WaitingLine}).
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
import { StatusError } from '../../apimachinery/errors.ts'
import type { Clock } from '../../client/clock.ts'
import type { UserInfo } from '../auth/types.ts'
import { EXTRAS } from '../auth/users.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import { allot, boundsOf, type SeatBounds } from './borrowing.ts'
import { dealHand, flowHash } from './dealing.ts'
import type { FlowRule, FlowSchemaSpec, PriorityLevelSpec } from './flowConfiguration.ts'
import { FlowFigures } from './flowFigures.ts'
import { covers, identityOf, inOrder, rulesFor } from './flowMatching.ts'
import { QueueSet } from './queueSet.ts'
import { RetryAfter } from './retryAfter.ts'
import type { DemandStatistics } from './seatDemand.ts'
import type { Seat } from './seatQueue.ts'
import { SeatRefused, seatsOf, type Work } from './seats.ts'
import { widestOf } from './workEstimates.ts'

export interface FlowControlOptions {
  clock: Clock
  /** Requests at a time, of all levels together. */
  seats: number
  /** Id of the space whose schemas these are. */
  root: string
  /** Whether a user is the syncer of a mailbox. Called for users that count in one space only. */
  isSyncer(user: UserInfo): boolean
  /** Ids of the spaces above one, from the root, and its own; none when there is no such space. */
  lineageOf(space: string): readonly string[]
}

export interface Level {
  readonly set: QueueSet
  spec: PriorityLevelSpec
  bounds: SeatBounds
  /** Seats that one request takes at most. */
  widest: number
  /** Demand of the last period. */
  demand: DemandStatistics
  smoothed: number
  target: number
  readonly retryAfter: RetryAfter
}

export interface Schema {
  readonly spec: FlowSchemaSpec
  readonly level: Level
  readonly figures: FlowFigures
}

/** Where a request belongs. */
export interface Flow {
  readonly schema: Schema
  /** The space that it counts for, behind those above it. */
  readonly spaces: readonly string[]
  /** Its identity in the space. */
  readonly who: string
  readonly hand: readonly number[]
  /** Where it stands in a queue, among others that have the same. */
  readonly path: readonly string[]
}

interface Candidate {
  readonly schema: Schema
  readonly rules: readonly FlowRule[]
  /** Whether its queues are its own, whatever tenant it is of. */
  readonly isSyncer: boolean
  /** By space, or by space and namespace. */
  readonly flows: Map<string, Flow>
}

const ADJUST_MS = 10_000
/** A request waits a quarter of its time, which is a minute by default. */
export const WAIT_LIMIT_MS = 15_000
/** Flows remembered of one user and schema; hands are dealt anew beyond. */
const FLOWS_KEPT = 256
const TOO_MANY = 'Too many requests, please try again later.'

export class FlowControl {
  readonly #options: FlowControlOptions
  readonly #levels = new Map<string, Level>()
  #schemas: Schema[] = []
  #byName = new Map<string, Schema>()
  /** Facts about users; thrown away with each change of the configuration. */
  #users = new WeakMap<UserInfo, Candidate[]>()
  #fairFraction = 1
  #cancelAdjusting: (() => void) | undefined

  constructor(options: FlowControlOptions) {
    this.#options = options
  }

  get levels(): Iterable<Level> {
    return this.#levels.values()
  }

  /** In the order in which they are tried. */
  get schemas(): readonly Schema[] {
    return this.#schemas
  }

  get fairFraction(): number {
    return this.#fairFraction
  }

  /** Moves seats between levels from time to time, until `stop`. */
  start(): void {
    const adjust = (): void => {
      this.adjust()
      this.#cancelAdjusting = this.#options.clock.after(ADJUST_MS, adjust)
    }
    this.#cancelAdjusting ??= this.#options.clock.after(ADJUST_MS, adjust)
  }

  stop(): void {
    this.#cancelAdjusting?.()
    this.#cancelAdjusting = undefined
  }

  /** There is always one that takes every request, and a level for it. Schemas without a level do not count. */
  configure(schemas: readonly FlowSchemaSpec[], levels: readonly PriorityLevelSpec[]): void {
    const { clock, seats } = this.#options
    const bounds = boundsOf(levels, seats)
    const kept = new Set(levels.map(level => level.name))
    for (const name of this.#levels.keys()) if (!kept.has(name)) this.#levels.delete(name)
    for (const [index, spec] of levels.entries()) {
      const widest = widestOf(bounds[index]!.nominal, spec.queuing?.handSize)
      const known = this.#levels.get(spec.name)
      if (known === undefined) {
        const set = new QueueSet({ clock, queuing: spec.queuing, limit: bounds[index]!.first, exempt: spec.exempt })
        this.#levels.set(spec.name, {
          set,
          spec,
          bounds: bounds[index]!,
          widest,
          demand: { average: 0, deviation: 0, peak: 0 },
          smoothed: 0,
          target: 0,
          retryAfter: new RetryAfter(clock.now()),
        })
      } else {
        const hasChanged = JSON.stringify(known.bounds) !== JSON.stringify(bounds[index])
        known.spec = spec
        known.bounds = bounds[index]!
        known.widest = widest
        known.set.configure(spec.queuing)
        if (hasChanged) known.set.setLimit(known.bounds.first)
      }
    }
    const before = this.#byName
    this.#byName = new Map()
    this.#schemas = inOrder(schemas).flatMap(spec => {
      const level = this.#levels.get(spec.level)
      if (level === undefined) return []
      const figures = before.get(spec.name)?.figures ?? new FlowFigures()
      const schema = { spec, level, figures }
      this.#byName.set(spec.name, schema)
      return [schema]
    })
    this.#users = new WeakMap()
  }

  /** Gives the levels what they may use until the next adjustment. */
  adjust(): void {
    const now = this.#options.clock.now()
    const levels = [...this.#levels.values()]
    for (const level of levels) level.demand = level.set.demand.harvest(now)
    const { allotments, fairFraction } = allot(
      levels.map(({ bounds, spec, demand, smoothed }) => ({ bounds, exempt: spec.exempt, demand, smoothed })),
    )
    this.#fairFraction = fairFraction
    for (const [index, level] of levels.entries()) {
      const { limit, smoothed, target } = allotments[index]!
      level.smoothed = smoothed
      level.target = target
      level.set.setLimit(limit)
    }
  }

  /** Where a request belongs. `user` is to be the same object for each request of somebody, as far as it can be. */
  flowOf(user: UserInfo, info: RequestInfo, space: string): Flow {
    let candidates = this.#users.get(user)
    if (candidates === undefined) {
      candidates = this.#candidatesOf(user)
      this.#users.set(user, candidates)
    }
    for (const candidate of candidates) {
      if (covers(candidate.rules, info)) return this.#flowIn(candidate, user, info, space)
    }
    return this.#flowIn(candidates.at(-1)!, user, info, space)
  }

  /**
   * A seat, until `leave`; where it is `waiting`, `turn` is to be awaited, at once.
   * @throws StatusError TooManyRequests
   */
  enter(flow: Flow, work: Work): Seat {
    const { figures, level } = flow.schema
    figures.seats.add(work.initialSeats)
    let seat: Seat
    try {
      seat = level.set.enter(flow.hand, work, flow.path)
    } catch (error) {
      throw this.#refusal(flow, error)
    }
    if (seat.state === 'running') this.#started(flow, seat)
    else {
      figures.waiting++
      figures.waitingSeats += seatsOf(work)
    }
    return seat
  }

  /**
   * Resolves when the seat is there. `deadlineMs`: how long the request may take in all, where it says so.
   * @throws StatusError TooManyRequests; SeatRefused `cancelled` when it was left
   */
  async turn(flow: Flow, seat: Seat, deadlineMs?: number): Promise<void> {
    const { figures, level } = flow.schema
    try {
      await level.set.turn(seat, deadlineMs === undefined ? WAIT_LIMIT_MS : Math.min(deadlineMs / 4, WAIT_LIMIT_MS))
    } catch (error) {
      figures.vainSeconds.add((this.#options.clock.now() - seat.arrivedMs) / 1000)
      throw this.#refusal(flow, error)
    } finally {
      figures.waiting--
      figures.waitingSeats -= seatsOf(seat.work)
    }
    this.#started(flow, seat)
  }

  /** Once for each seat; again does nothing. `watches`: what runs until a watch has begun is counted apart. */
  leave(flow: Flow, seat: Seat, watches: boolean): void {
    if (seat.state === 'running') this.#ends(flow, seat, watches)
    flow.schema.level.set.leave(seat)
  }

  /** The holder of the seat waits: others may run. */
  pause(flow: Flow, seat: Seat): void {
    if (seat.state !== 'running') return
    this.#ends(flow, seat, false)
    flow.schema.level.set.pause(seat)
  }

  resume({ schema: { figures, level } }: Flow, seat: Seat): void {
    if (seat.state !== 'paused') return
    figures.executing++
    figures.executingSeats += seatsOf(seat.work)
    level.set.resume(seat)
  }

  #candidatesOf(user: UserInfo): Candidate[] {
    const { root, isSyncer } = this.#options
    const syncs = isSyncer(user)
    const identity = identityOf(user, root, syncs)
    const candidate = (schema: Schema, rules: readonly FlowRule[]): Candidate => ({
      schema,
      rules,
      isSyncer: syncs,
      flows: new Map(),
    })
    const found = this.#schemas.flatMap(schema => {
      const rules = rulesFor(schema.spec, identity)
      return rules.length === 0 ? [] : [candidate(schema, rules)]
    })
    // It takes whoever is in no group, too.
    return [...found, candidate(this.#byName.get('catch-all')!, [])]
  }

  #flowIn({ schema, isSyncer, flows }: Candidate, user: UserInfo, { resource }: RequestInfo, space: string): Flow {
    const { distinguishes } = schema.spec
    const namespace = distinguishes === 'namespace' ? (resource?.namespace ?? '') : ''
    const key = namespace === '' ? space : `${space}\0${namespace}`
    const queuing = schema.level.spec.queuing
    const known = flows.get(key)
    if (known !== undefined) return known
    const who = distinguishes === 'user' ? whoIs(user) : namespace
    const tenant = this.#tenantOf(homeOf(user) ?? space)
    const path = [...tenant, '', tenant.length > 0 ? who : `${space}\0${who}`]
    const hash =
      tenant.length > 0 && !isSyncer
        ? flowHash(schema.spec.name, tenant[0]!, '')
        : flowHash(schema.spec.name, space, who)
    const hand = queuing ? dealHand(hash, queuing.queues, queuing.handSize) : []
    const spaces = tenant.length > 0 ? tenant : [space]
    const flow = { schema, spaces, who, hand, path }
    if (flows.size >= FLOWS_KEPT) flows.clear()
    flows.set(key, flow)
    return flow
  }

  /** Spaces from the one below the root to `home`; none where that is the root, or all spaces. */
  #tenantOf(home: string): readonly string[] {
    const { root, lineageOf } = this.#options
    const [, ...below] = lineageOf(home)
    // A space that has just gone is nobody's.
    return below.length > 0 || home === root || home === '*' ? below : [home]
  }

  #started({ schema: { figures } }: Flow, seat: Seat): void {
    figures.dispatched++
    figures.executing++
    figures.executingSeats += seatsOf(seat.work)
    figures.waitSeconds.add((seat.startedMs - seat.arrivedMs) / 1000)
  }

  #ends({ schema: { figures } }: Flow, seat: Seat, watches: boolean): void {
    figures.executing--
    figures.executingSeats -= seatsOf(seat.work)
    const seconds = (this.#options.clock.now() - seat.startedMs) / 1000
    if (watches) figures.watchSeconds.add(seconds)
    else figures.regularSeconds.add(seconds)
  }

  #refusal({ schema }: Flow, error: unknown): unknown {
    if (!(error instanceof SeatRefused)) return error
    if (error.reason !== 'cancelled') return this.refuse(schema, error.reason)
    schema.figures.reject(error.reason)
    return error
  }

  /** The answer to a request that its level refuses; counted by `reason`. */
  refuse({ figures, level }: Schema, reason: string): StatusError {
    figures.reject(reason)
    const retryAfterSeconds = level.retryAfter.refused(this.#options.clock.now())
    return new StatusError('TooManyRequests', TOO_MANY, { retryAfterSeconds })
  }
}

/** The space that somebody counts in, if it is one only. */
function homeOf({ extra }: UserInfo): string | undefined {
  return extra?.[EXTRAS.clusterName]?.[0]
}

/** Names count in their space only, where there is one that they are of. */
function whoIs(user: UserInfo): string {
  const home = homeOf(user)
  const { name } = user
  return home === undefined ? name : `${name}\0${home}`
}
