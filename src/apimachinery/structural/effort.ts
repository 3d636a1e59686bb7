/**
 * How much checking one object may take. Units alone decide whether an object is refused, which are the same on every machine; time only
 * bounds the hold-up of a thread.
 */
import { type TimeBound, threadTimeBound } from '../threadTime.ts'

export interface Effort {
  /** For comparing the object with its schema. */
  schemaUnits: number
  /** For all rules together. */
  ruleUnits: number
  /** Time bound of both together. */
  isLate: TimeBound
  /** An exhausted trial refuses nothing: the caller gets {@link UnfinishedCheck}. */
  isTrial: boolean
}

/** Neither right nor wrong: the trial was too short to tell. */
export class UnfinishedCheck extends Error {
  constructor() {
    super('the check takes longer than it may take here')
    this.name = 'UnfinishedCheck'
  }
}

/**
 * Cost bound of a schema for one object: a unit for each schema that a value is compared with. Sensible objects have some thousand values,
 * and large ones a hundred thousand; a schema multiplies that by its branches.
 */
export const MAX_SCHEMA_UNITS = 1_000_000
/** Cost of all rules of one object, as upstream's. */
export const MAX_RULE_UNITS = 10_000_000
/** Less than one evaluation may cost, so that a trial says nothing of what one costs. Some ten milliseconds. */
export const TRIAL_UNITS = 50_000
/** Where nobody else waits, or where there is nobody to hand it to. */
const FULL_MS = 5000

export function fullEffort(ms = FULL_MS): Effort {
  return {
    schemaUnits: MAX_SCHEMA_UNITS,
    ruleUnits: MAX_RULE_UNITS,
    isLate: threadTimeBound(ms),
    isTrial: false,
  }
}

export function trialEffort(ms: number): Effort {
  return { schemaUnits: TRIAL_UNITS, ruleUnits: TRIAL_UNITS, isLate: threadTimeBound(ms), isTrial: true }
}
