/** Clock, chance and turns for parts under test: only the clock differs between tests. */
import { type Clock, systemClock } from '../../src/client/clock.ts'
import type { WorkTurns } from '../../src/program/workTurns.ts'
import { endlessTurns } from './endlessTurns.ts'

export interface Time {
  readonly clock: Clock
  readonly random: () => number
  readonly turns: WorkTurns
}

/** Chance gives the middle each time. */
export function timeBy(clock: Clock): Time {
  return { clock, random: () => 0.5, turns: endlessTurns() }
}

/** The clock of the machine. */
export function realTime(): Time {
  return timeBy(systemClock)
}
