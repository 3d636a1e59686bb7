/**
 * Division of the server's seats among the priority levels: nominal seats, guaranteed ones and the bound on growth. The present share of
 * each is adjusted again and again, so that seats are where the demand is.
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/1040-priority-and-fairness
 */
import type { DemandStatistics } from './seatDemand.ts'

export interface Portion {
  /** Share of the server's seats, in proportion to the others'. */
  readonly shares: number
  /** How much of it others may use. */
  readonly lendablePercent: number
  /** How much of others' it may use; absent: as much as there is. */
  readonly borrowingLimitPercent?: number | undefined
}

export interface SeatBounds {
  readonly nominal: number
  readonly min: number
  readonly max: number
  /** Seats before the first demand. */
  readonly first: number
}

/** For each level, `seats` being the whole server's. Rounded up, so the sum may be a little more. */
export function boundsOf(portions: readonly Portion[], seats: number): SeatBounds[] {
  const shares = portions.reduce((sum, level) => sum + level.shares, 0)
  const nominals = portions.map(level => (shares === 0 ? 0 : Math.ceil((seats * level.shares) / shares)))
  const total = nominals.reduce((sum, nominal) => sum + nominal, 0)
  return portions.map(({ lendablePercent, borrowingLimitPercent }, index) => {
    const nominal = nominals[index]!
    const lendable = Math.round((nominal * lendablePercent) / 100)
    const borrowed = borrowingLimitPercent === undefined ? total : Math.round((nominal * borrowingLimitPercent) / 100)
    return {
      nominal,
      min: nominal - lendable,
      max: nominal + borrowed,
      first: nominal - Math.trunc(lendable / 2),
    }
  })
}

export interface LevelDemand {
  readonly bounds: SeatBounds
  readonly exempt: boolean
  readonly demand: DemandStatistics
  /** Smoothed demand of the adjustment before. */
  readonly smoothed: number
}

interface Allotment {
  limit: number
  smoothed: number
  target: number
}

const KEPT = 0.977

/** Seats of each level until the next adjustment. */
export function allot(levels: readonly LevelDemand[]): { allotments: Allotment[]; fairFraction: number } {
  const total = levels.reduce((sum, { bounds }) => sum + bounds.nominal, 0)
  const wishes = levels.map(({ bounds, exempt, demand, smoothed: before }) => {
    const envelope = demand.average + demand.deviation
    const smoothed = Math.max(envelope, KEPT * before + (1 - KEPT) * envelope)
    const wanted = exempt ? demand.peak : Math.min(bounds.nominal, demand.peak)
    const lower = Math.max(bounds.min, wanted)
    return { smoothed, lower, target: Math.max(lower, smoothed), min: bounds.min, max: bounds.max, exempt }
  })
  const bounded = wishes.filter(wish => !wish.exempt)
  const taken = wishes.reduce((sum, wish) => sum + (wish.exempt ? wish.lower : 0), 0)
  const { limitOf, fairFraction } = divide(bounded, total - taken)
  const allotments = wishes.map(wish => ({
    limit: wish.exempt ? wish.lower : limitOf(wish),
    smoothed: wish.smoothed,
    target: wish.target,
  }))
  return { allotments, fairFraction }
}

interface Wish {
  min: number
  lower: number
  target: number
  max: number
}

/**
 * Divides what is left once the exempt have what they use. (A kube-apiserver divides the nominal sum even then, and so hands
 * out more than it has.)
 */
function divide(wishes: readonly Wish[], seats: number): { limitOf(wish: Wish): number; fairFraction: number } {
  const mins = wishes.reduce((sum, wish) => sum + wish.min, 0)
  const lowers = wishes.reduce((sum, wish) => sum + wish.lower, 0)
  if (seats <= mins) return { limitOf: wish => wish.min, fairFraction: 0 }
  if (seats <= lowers) {
    const part = (seats - mins) / (lowers - mins)
    return { limitOf: wish => Math.round(wish.min + part * (wish.lower - wish.min)), fairFraction: part }
  }
  const fairFraction = solveFraction(wishes, seats)
  return { limitOf: wish => Math.round(clamp(fairFraction * wish.target, wish.lower, wish.max)), fairFraction }
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), Math.max(low, high))

/**
 * The fraction f at which clamp(f·target, lower, max) add up to `seats`, or the least at which all have their most. The sum
 * grows with f, in straight lines between the points where somebody leaves their lower bound or meets their upper one.
 */
export function solveFraction(wishes: readonly Omit<Wish, 'min'>[], seats: number): number {
  const sum = (fraction: number): number =>
    wishes.reduce((total, wish) => total + clamp(fraction * wish.target, wish.lower, wish.max), 0)
  const points = wishes
    .filter(wish => wish.target > 0)
    .flatMap(wish => [wish.lower / wish.target, Math.max(wish.lower, wish.max) / wish.target])
    .sort((a, b) => a - b)
  let before = 0
  for (const point of points) {
    const reached = sum(point)
    if (reached < seats) {
      before = point
      continue
    }
    const start = sum(before)
    return reached === start ? point : before + ((seats - start) / (reached - start)) * (point - before)
  }
  return before
}
